"""What PostgreSQL plans to do for the verbs of the store, with the values that the verbs really bind."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import asyncpg

from gnomon.store.databases import statements
from gnomon.store.databases.database import Partitions, Row, Rows, Session
from gnomon.store.databases.postgres import PostgresDatabase

Mode = Literal["force_custom_plan", "force_generic_plan"]


@dataclass(frozen=True)
class Call:
    """A statement by name and its values, by the names of its parameters."""

    statement: str
    values: dict[str, object]


class OverheardSession:
    """A session that works, and remembers what it was asked."""

    def __init__(self, session: Session, calls: list[Call]) -> None:
        self._session = session
        self.calls = calls

    async def fetch(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        columns = {
            f"{batch.name}.{name}": [row[place] for row in batch.rows]
            for batch in batches
            for place, name in enumerate(batch.columns)
        }
        self.calls.append(Call(statement, values | columns))
        return await self._session.fetch(statement, *batches, **values)


class Overheard(OverheardSession):
    """A database that works, and remembers what it was asked."""

    def __init__(self, database: PostgresDatabase) -> None:
        super().__init__(database, [])
        self._database = database
        self.dead_rows_linger = database.dead_rows_linger

    read = OverheardSession.fetch

    @property
    def partitions(self) -> Partitions | None:
        return self._database.partitions

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Session]:
        async with self._database.transaction() as session:
            yield OverheardSession(session, self.calls)

    async def close(self) -> None:
        await self._database.close()


async def plan_of(connection: asyncpg.Connection, call: Call, mode: Mode) -> dict[str, Any]:
    text, names = statements.numbered(statements.load("postgres")[call.statement])
    await connection.execute(f"SET plan_cache_mode = {mode}")
    await connection.execute(f"PREPARE overheard AS {text}")
    try:
        values = ", ".join(literal(call.values[name]) for name in names)
        answer = await connection.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE overheard ({values})")
    finally:
        await connection.execute("DEALLOCATE overheard")
    plan: dict[str, Any] = json.loads(answer)[0]["Plan"]
    return plan


def read_whole(plan: dict[str, Any], tables: set[str]) -> Iterator[str]:
    """Which of the tables the plan reads from end to end, if only through an index without a condition."""
    by_table = plan["Node Type"] == "Seq Scan"
    by_index = plan["Node Type"] in ("Index Scan", "Index Only Scan") and "Index Cond" not in plan
    if plan.get("Relation Name") in tables and (by_table or by_index):
        yield plan["Relation Name"]
    for child in plan.get("Plans", ()):
        yield from read_whole(child, tables)


def scans_of(plan: dict[str, Any], table: str) -> Iterator[dict[str, Any]]:
    if plan.get("Relation Name") == table:
        yield plan
    for child in plan.get("Plans", ()):
        yield from scans_of(child, table)


def literal(value: object) -> str:
    match value:
        case None:
            return "NULL"
        case list() | tuple():
            return quoted("{" + ",".join(map(element, value)) + "}")
        case _:
            return quoted(written(value))


def element(value: object) -> str:
    return "NULL" if value is None else '"' + written(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def written(value: object) -> str:
    match value:
        case datetime():
            return value.isoformat()
        case bool() | int() | float() | UUID() | str():
            return str(value)
        case _:
            raise AssertionError(f"no literal for {value!r}")


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
