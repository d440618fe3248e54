"""A run in the transaction of the caller: there exactly if the caller commits."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pytest

from gnomon import Gnomon, InvalidInput
from gnomon.app.jobs.run import Run
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.errors import ExecutionNotFound
from gnomon.store.databases import statements
from gnomon.store.databases.hints import Topic
from tests.conftest import MakeDatabase
from tests.integration.app.shop import make_app


@pytest.fixture
async def server(migrated_database: MakeDatabase) -> str:
    return await migrated_database()


@pytest.fixture
async def app(server: str) -> AsyncIterator[Gnomon]:
    async with make_app(server) as app:
        yield app


async def is_there(run: Run[Any]) -> bool:
    try:
        return await run.status() is ExecutionStatus.QUEUED
    except ExecutionNotFound:
        return False


async def test_asyncpg(app: Gnomon, server: str) -> None:
    add = app.jobs["add"]
    connection = await asyncpg.connect(server)
    try:
        # As many users have it: our own text must not be encoded twice.
        for kind in ("json", "jsonb"):
            await connection.set_type_codec(kind, encoder=json.dumps, decoder=json.loads, schema="pg_catalog")
        async with connection.transaction():
            kept = await add.options(priority=8).enqueue_in(connection, a=1)
            assert not await is_there(kept)
        assert await is_there(kept)
        execution = await kept.execution()
        assert execution.input is not None
        assert (execution.input.value, execution.priority) == ({"a": 1}, 8)

        transaction = connection.transaction()
        await transaction.start()
        dropped = await add.enqueue_in(connection, a=2)
        await transaction.rollback()
        assert not await is_there(dropped)
        with pytest.raises(InvalidInput, match="transaction"):
            await add.enqueue_in(connection, a=3)
    finally:
        await connection.close()


async def test_a_connection_from_a_pool_of_asyncpg(app: Gnomon, server: str) -> None:
    async with (
        asyncpg.create_pool(server, min_size=1) as pool,
        pool.acquire() as connection,
        connection.transaction(),
    ):
        kept = await app.jobs["add"].enqueue_in(connection, a=1)
    assert await is_there(kept)


async def test_psycopg_async(app: Gnomon, server: str) -> None:
    add = app.jobs["add"]
    async with await psycopg.AsyncConnection.connect(server) as connection:
        await connection.execute("CREATE TABLE orders (number int)")
        await connection.execute("INSERT INTO orders VALUES (%s)", [1])
        kept = await add.enqueue_in(connection, a=1, unique_key="order 1")
        assert not await is_there(kept)
        await connection.commit()
        assert await is_there(kept)

        again = await add.enqueue_in(connection, a=1, unique_key="order 1")
        assert (again.id, again.is_new) == (kept.id, False)
        dropped = await add.enqueue_in(connection, a=2, unique_key="order 2")
        await connection.rollback()
        assert not await is_there(dropped)

        await connection.set_autocommit(True)
        with pytest.raises(InvalidInput, match="transaction"):
            await add.enqueue_in(connection, a=3)
        async with connection.transaction():
            assert (await add.enqueue_in(connection, a=4)).is_new


def test_psycopg_without_a_loop(server: str) -> None:
    app = make_app(server)
    with psycopg.connect(server, cursor_factory=psycopg.ClientCursor) as connection:
        kept = app.sync(app.jobs["add"].enqueue_in(connection, a=1))
        assert not app.sync(is_there(kept))
        connection.commit()
        assert app.sync(is_there(kept))
        dropped = app.sync(app.jobs["add"].enqueue_in(connection, a=1))
        connection.rollback()
        assert not app.sync(is_there(dropped))
    app.sync.close()


async def test_a_sync_connection_in_a_loop(app: Gnomon, server: str) -> None:
    with psycopg.connect(server) as connection:
        kept = await app.jobs["add"].enqueue_in(connection, a=1)
        connection.commit()
    assert await is_there(kept)


async def test_the_same_checks_hold(app: Gnomon, server: str) -> None:
    async with await psycopg.AsyncConnection.connect(server) as connection:
        with pytest.raises(InvalidInput, match=r"arguments\.a"):
            await app.jobs["add"].enqueue_in(connection, a="one")
        with pytest.raises(InvalidInput, match="neither"):
            await app.jobs["add"].enqueue_in(object(), a=1)


async def test_nobody_waits_at_a_gate_for_a_transaction_that_stays_open(server: str) -> None:
    app = Gnomon(server)

    @app.job(max_concurrent=1)
    async def one_by_one() -> None: ...

    async with app:
        client = await app.connect()
        connection = await asyncpg.connect(server)
        try:
            async with connection.transaction():
                asked = await one_by_one.enqueue_in(connection)
                async with asyncio.timeout(5):
                    other = await one_by_one.enqueue()
                    assert await other.cancel() is ExecutionStatus.CANCELLED
            assert await asked.status() is ExecutionStatus.PENDING
            job = await client.jobs.named("one_by_one")
            store, now = (await app.connected()).store, (await app.connected()).clock.now()
            assert job.id in (await store.executions.gated(now=now, limit=10)).items
            await store.executions.admit([job.id], now=now, limit=10)
            assert await is_there(asked)
        finally:
            await connection.close()


async def test_no_hint_is_sent_inside_the_transaction(app: Gnomon, server: str) -> None:
    heard: list[object] = []
    told = asyncio.Event()

    def hear(*said: object) -> None:
        if said[-1] == Topic.SCHEDULE:
            return  # The job of the app was made just before, and that may be heard late.
        heard.append(said)
        told.set()

    listener, connection = await asyncpg.connect(server), await asyncpg.connect(server)
    try:
        channel = await listener.fetchval(statements.load("postgres")["hints_channel"])
        await listener.add_listener(channel, hear)
        async with connection.transaction():
            await app.jobs["add"].enqueue_in(connection, a=1)
        await listener.fetch("SELECT 1")
        assert heard == []
        await app.jobs["add"].enqueue(a=1)  # Beside the transactions, one is sent.
        await asyncio.wait_for(told.wait(), 10)
    finally:
        await connection.close()
        await listener.close()


# SQLite ---------------------------------------------------------------------------------------------


async def test_sqlite(tmp_path: Path) -> None:
    async with make_app(f"sqlite://{tmp_path}/shop.db") as app:
        with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
            connection.row_factory = sqlite3.Row
            connection.execute("CREATE TABLE wanted (mine)")
            connection.execute("INSERT INTO wanted VALUES (1)")
            kept = await app.jobs["add"].enqueue_in(connection, a=1, unique_key="k")
            assert not await is_there(kept)
            connection.commit()
            assert await is_there(kept)
            assert [tuple(row) for row in connection.execute("SELECT mine FROM wanted")] == [(1,)]
            dropped = await app.jobs["add"].enqueue_in(connection, a=2)
            connection.rollback()
            assert not await is_there(dropped)

            connection.isolation_level = None
            with pytest.raises(InvalidInput, match="transaction"):
                await app.jobs["add"].enqueue_in(connection, a=3)


async def test_sqlite_has_one_writer_so_the_app_connects_first(tmp_path: Path) -> None:
    async with make_app(f"sqlite://{tmp_path}/shop.db"):
        pass
    app = make_app(f"sqlite://{tmp_path}/shop.db")
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(InvalidInput, match="connect"):
            await app.jobs["add"].enqueue_in(connection, a=1)
