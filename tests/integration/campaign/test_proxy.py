"""The wire of the campaign, in front of a real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import asyncpg
import pytest

from campaign.proxy import Mode, PgProxy
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
    proxy.faults.lose_replies = 1

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
    proxy.faults.mode = Mode.HOLD
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(connection.execute("SELECT 1"), 0.3)
    connection.terminate()


async def test_a_cut_is_a_reset(dsn: str, proxy: PgProxy) -> None:
    connection = await asyncpg.connect(dsn)
    proxy.cut_all()
    with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
        await asyncio.wait_for(connection.execute("SELECT 1"), 10)
