"""A deadlock that PostgreSQL breaks at the cost of a cancel is nobody's error: it cancels again."""

from __future__ import annotations

import asyncio

import asyncpg

from gnomon.app import open_store
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionStatus
from tests.concurrency.waiting import until_somebody_waits_for
from tests.conftest import MakeDatabase
from tests.contract.given import NOW, ask, claim, create_one, enqueue, new_job
from tests.postgres import PostgresServer


async def test_a_cancel_that_loses_a_deadlock_cancels_again(
    migrated_database: MakeDatabase, postgres_server: PostgresServer
) -> None:
    url = await migrated_database(postgres_server)
    store = await open_store(url)
    # The other one waits in patience, so it is the cancel that looks for a deadlock, and pays for it.
    other = await asyncpg.connect(url, server_settings={"deadlock_timeout": "10min"})
    try:
        job = await create_one(store, new_job())
        [running] = await enqueue(store, ask(job))
        await claim(store, limit=1)
        [waiting] = await enqueue(store, ask(job))

        async with other.transaction():
            await other.fetch("SELECT FROM queue WHERE execution_id = $1 FOR UPDATE", waiting)
            cancelling = asyncio.create_task(
                store.executions.cancel(DEFAULT_TENANT, [running, waiting], now=NOW)
            )
            await until_somebody_waits_for(other)
            await other.fetch("SELECT FROM leases WHERE execution_id = $1 FOR UPDATE", running)
            assert not cancelling.done()

        told = await cancelling
        assert told == {running: ExecutionStatus.RUNNING, waiting: ExecutionStatus.CANCELLED}
        assert (await store.executions.get(DEFAULT_TENANT, running, now=NOW)).cancel_requested
    finally:
        await other.close()
        await store.close()
