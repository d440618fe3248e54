"""The wire of the campaign, in front of a real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import asyncpg
import pytest

from gnomon.store.databases import statements
from proof.campaign.faults.proxy import ANY, Mode, PgProxy, op_of
from tests.conftest import BUNDLED, StartServer


@pytest.fixture
async def proxy(postgres: StartServer) -> AsyncIterator[PgProxy]:
    parts = urlsplit(postgres(BUNDLED).tcp_dsn())
    assert parts.hostname is not None
    assert parts.port is not None
    async with PgProxy(parts.hostname, parts.port).running() as running:
        yield running


@pytest.fixture
def dsn(postgres: StartServer, proxy: PgProxy) -> str:
    direct = postgres(BUNDLED).tcp_dsn()
    parts = urlsplit(direct)
    return direct.replace(f":{parts.port}", f":{proxy.listens_at}")


async def test_it_forwards(dsn: str) -> None:
    connection = await asyncpg.connect(dsn)
    assert await connection.fetchval("SELECT sum(n) FROM generate_series(1, 100000) AS n") == 5000050000
    await connection.close()


async def test_a_reply_that_is_lost_belongs_to_a_commit_that_happened(dsn: str, proxy: PgProxy) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute("CREATE TABLE IF NOT EXISTS kept (n integer)")
    await connection.execute("TRUNCATE kept")
    proxy.faults.lose = ANY

    with pytest.raises((asyncpg.PostgresConnectionError, OSError)):
        await asyncio.wait_for(connection.execute("INSERT INTO kept VALUES (1)"), 10)

    again = await asyncpg.connect(dsn)
    assert await again.fetchval("SELECT count(*) FROM kept") == 1
    assert proxy.faults.lost == 1
    await again.execute("DROP TABLE kept")
    await again.close()


async def test_it_refuses_when_told(dsn: str, proxy: PgProxy) -> None:
    proxy.faults.mode = Mode.REFUSE
    with pytest.raises((asyncpg.PostgresConnectionError, OSError)):
        await asyncio.wait_for(asyncpg.connect(dsn), 10)


async def test_a_black_hole_says_nothing(dsn: str, proxy: PgProxy) -> None:
    connection = await asyncpg.connect(dsn)
    proxy.faults.hold()
    asked = asyncio.create_task(connection.fetchval("SELECT 1"))
    done, _ = await asyncio.wait([asked], timeout=0.3)
    assert not done

    proxy.faults.forward()

    assert await asyncio.wait_for(asked, 10) == 1
    await connection.close()


async def test_a_cut_is_a_reset(dsn: str, proxy: PgProxy) -> None:
    connection = await asyncpg.connect(dsn)
    proxy.cut_all()
    with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
        await asyncio.wait_for(connection.execute("SELECT 1"), 10)


@pytest.mark.parametrize(
    ("statement", "op"),
    [("claim", "claim"), ("apply", "complete"), ("apply_endings", "complete"), ("fire", "fire"),
     ("idempotency_take", "submit"), ("renew", ANY), ("executions_end_waiting", ANY), ("enqueue", ANY)],
)  # fmt: skip
def test_it_knows_the_statements_of_the_store(statement: str, op: str) -> None:
    assert op_of(statements.load("postgres")[statement]) == op


async def test_the_reply_to_one_kind_of_statement_is_lost(dsn: str, proxy: PgProxy) -> None:
    lost: list[str] = []
    proxy.faults.told = lost.append
    connection = await asyncpg.connect(dsn)
    await connection.execute("CREATE TEMPORARY TABLE idempotency_keys (n integer)")
    proxy.faults.lose = "submit"

    with pytest.raises((asyncpg.PostgresConnectionError, OSError)):
        await submit(connection)

    assert lost == ["submit"]


async def submit(connection: asyncpg.Connection) -> None:
    async with connection.transaction():
        await connection.execute("INSERT INTO idempotency_keys VALUES ($1)", 1)
        await connection.fetchval("SELECT 1")
