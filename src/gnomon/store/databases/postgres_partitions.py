"""Making and dropping months of a PostgreSQL database that is at work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import asyncpg

from gnomon.core.executions.retention import Month, months_between
from gnomon.core.values.ids import first_id_of
from gnomon.store.databases.database import UniqueViolation
from gnomon.store.schema.partitions import (
    AHEAD,
    PARTITIONED,
    drop_statement,
    month_of_partition,
    statements_for,
)

if TYPE_CHECKING:
    from gnomon.store.databases.postgres import PostgresDatabase, PostgresSession

# Changing a table needs it alone for a moment, and whoever comes later waits behind us. Better to give up
# soon and try again another time: there are weeks to do it in.
LOCK_TIMEOUT = timedelta(milliseconds=250)
ALONE_TIMEOUT = timedelta(seconds=2)


class PostgresPartitions:
    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def make(self, *, now: datetime) -> Sequence[str]:
        """Make what is missing of this month and of those to come. Returns the names of what was made."""
        made: list[str] = []
        known = set(await self._names())
        for month in months_between(now, now + AHEAD):
            missing = {name: text for name, text in statements_for(month).items() if name not in known}
            if not missing:
                continue
            span = {"first": first_id_of(month.starts), "end": first_id_of(month.ends)}
            late = {row["name"] for row in await self._database.read("default_partitions_hold", **span)}
            for name, text in missing.items():
                # Its rows are in the default partition already, and stay there: late is not lost.
                if name.removesuffix(f"_{month}") not in late:
                    made += [name] if await self._make(text) else []
        return made

    async def months(self) -> Sequence[Month]:
        """The months that have partitions, oldest first."""
        return sorted(month for name in await self._names() if (month := month_of_partition(name)))

    async def drop(self, month: Month) -> bool:
        """Drop all that is kept by the id of a month, unless something in it still waits or runs."""
        async with self._alone() as session:
            # First all locks, in one order: whoever was still writing has then committed, and is seen.
            await session.run_text(
                f"LOCK TABLE {', '.join(f'ONLY {table}' for table in PARTITIONED)} IN ACCESS EXCLUSIVE MODE"
            )
            span = {"first": first_id_of(month.starts), "end": first_id_of(month.ends)}
            if await session.fetch("month_lives", **span):
                return False
            await session.run_text(drop_statement(month))
        return True

    async def _names(self) -> Sequence[str]:
        return [row["name"] for row in await self._database.read("partition_names")]

    async def _make(self, text: str) -> bool:
        """False if another process was faster: IF NOT EXISTS does not help two at the same moment."""
        with suppress(
            UniqueViolation,
            asyncpg.exceptions.DuplicateTableError,
            asyncpg.exceptions.DuplicateObjectError,
            asyncpg.exceptions.CheckViolationError,  # A row went to the default partition just now.
        ):
            async with self._alone() as session:
                await session.run_text(text)
            return True
        return False

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[PostgresSession]:
        async with self._database.transaction() as session:
            await session.run_text(f"SET LOCAL lock_timeout = {LOCK_TIMEOUT // timedelta(milliseconds=1)}")
            await session.run_text(
                f"SET LOCAL statement_timeout = {ALONE_TIMEOUT // timedelta(milliseconds=1)}"
            )
            yield session
