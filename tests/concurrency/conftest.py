"""A crowd: many stores, each with connections of its own, on one new PostgreSQL database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from gnomon.app import open_store
from gnomon.store.sql_store import SqlStore
from tests.conftest import MakeDatabase
from tests.postgres import PostgresServer

Crowd = Callable[[int], Awaitable[list[SqlStore]]]


@pytest.fixture
async def crowd(migrated_database: MakeDatabase, postgres_server: PostgresServer) -> AsyncIterator[Crowd]:
    """A function that opens so many stores. Each is a process of its own as far as the database can tell."""
    opened: list[SqlStore] = []

    async def gather(size: int) -> list[SqlStore]:
        url = await migrated_database(postgres_server)
        opened.extend([await open_store(url) for _ in range(size)])
        return opened

    yield gather
    for store in opened:
        await store.close()
