"""When one session of PostgreSQL waits for another."""

from __future__ import annotations

import asyncio

import asyncpg

WAITS_FOR_ME = (
    "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
)


async def until_somebody_waits_for(connection: asyncpg.Connection) -> None:
    async with asyncio.timeout(30):
        for _ in range(3000):
            if await connection.fetchval(WAITS_FOR_ME):
                return
            await asyncio.sleep(0.01)
