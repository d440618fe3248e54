"""Where real stores are opened for the contract: migrated once, then given out empty again and again."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Protocol, cast

import asyncpg

from gnomon.app import open_database, open_store
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.store.protocols.store import Store
from gnomon.store.schema.migrations import migrate
from tests.checks import add_checks
from tests.contract.model import ModelStore
from tests.postgres import PostgresServer

MIGRATED_AT = datetime(2029, 12, 31, tzinfo=UTC)


class Ground(Protocol):
    """Gives out one empty store at a time."""

    async def prepare(self) -> None:
        """What is done once: migrate."""

    async def fresh(self, **options: Any) -> Store:
        """An empty store with the default tenant. The caller closes it."""


class ModelGround:
    async def prepare(self) -> None:
        """Dictionaries need no migration."""

    async def fresh(self, **options: Any) -> Store:
        # Some upkeep and a claim with an end are for the databases alone.
        return cast("Store", ModelStore())


class SqliteGround:
    """A migrated file is the template; a fresh store is a copy of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._template = folder / "template.db"
        self._numbers = count(1)

    async def prepare(self) -> None:
        await _migrate(f"sqlite://{self._template}")

    async def fresh(self, **options: Any) -> Store:
        path = self._folder / f"{next(self._numbers)}.db"
        shutil.copyfile(self._template, path)
        return await open_store(f"sqlite://{path}", **options)


class PostgresGround:
    """One migrated database, emptied before each use: deleting a few rows is faster than a new database."""

    def __init__(self, server: PostgresServer, name: str = "contract") -> None:
        self._server = server
        self._name = name
        self._dsn = ""
        self._clear = ""

    async def prepare(self) -> None:
        self._dsn = await self._server.create_database(self._name)
        await _migrate(self._dsn)
        await add_checks(self._dsn)
        async with _connection(self._dsn) as connection:
            self._clear = await _statements_that_clear(connection)

    async def fresh(self, **options: Any) -> Store:
        async with _connection(self._dsn) as connection:
            await connection.execute(self._clear)
        return await open_store(self._dsn, **options)


async def _migrate(url: str) -> None:
    database = await open_database(url)
    try:
        await migrate(database, now=MIGRATED_AT)
    finally:
        await database.close()


@asynccontextmanager
async def _connection(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(dsn)
    try:
        yield connection
    finally:
        await connection.close()


async def _statements_that_clear(connection: asyncpg.Connection) -> str:
    """Delete what tests wrote: everything in the tables that a migration leaves empty, and other tenants."""
    tables = await connection.fetch(
        """
        SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
        WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
        """
    )
    empty = [
        row["name"] for row in tables if not await connection.fetch(f"SELECT FROM {row['name']} LIMIT 1")
    ]
    # The role of a replica checks no foreign keys, so the order of the tables does not matter.
    return ";".join(
        [
            "SET session_replication_role = replica",
            *(f"DELETE FROM {name}" for name in empty),
            f"DELETE FROM tenants WHERE id <> '{DEFAULT_TENANT}'",
            "UPDATE tenants SET max_concurrent = NULL WHERE max_concurrent IS NOT NULL",
        ]
    )
