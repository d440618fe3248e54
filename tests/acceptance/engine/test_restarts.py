"""A database that goes away under load: nothing is lost, and no process needs to be started again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from gnomon.app import open_database
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus
from gnomon.core.jobs.job import Job
from gnomon.errors import StoreUnavailable
from gnomon.store.schema.migrations import migrate
from tests.acceptance.engine.processes import PATIENCE, Cluster, open_cluster
from tests.checks import add_checks
from tests.conftest import BUNDLED, SERVERS
from tests.postgres import PostgresServer, ShutdownMode

Answer = TypeVar("Answer")

FIRST_CLAIM_WITHIN_SECONDS = 5.0


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    """A server that no other test uses, since this one restarts it."""
    with PostgresServer(SERVERS[BUNDLED]) as server:
        yield server


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_work_goes_on_after_a_restart_of_the_database(
    own_server: PostgresServer, tmp_path: Path, mode: ShutdownMode
) -> None:
    url = await own_server.create_database("gnomon")
    database = await open_database(url)
    await migrate(database, now=datetime.now(UTC))
    await database.close()
    await add_checks(url)
    async with open_cluster(url, tmp_path) as cluster:
        processes = [await cluster.scheduler(), *[await cluster.worker(slots=8) for _ in range(2)]]
        for process in processes:
            await process.says("is up")
        job = await cluster.job("touch", sink=str(cluster.sink), seconds=0.1)
        producer = asyncio.create_task(keep_asking(cluster, job, enough := asyncio.Event()))

        for _ in range(2):
            await asyncio.sleep(2)
            await asyncio.to_thread(own_server.restart, mode)
            accepting_at = time.monotonic()
            [probe] = await insist(lambda: cluster.enqueue(job))
            await insist(partial(cluster.until, probe, lambda one: one.claim > 0))
            assert time.monotonic() - accepting_at < FIRST_CLAIM_WITHIN_SECONDS

        enough.set()
        asked = await producer
        assert len(asked) > 20
        for run in asked:
            assert (await cluster.ended(run)).status is ExecutionStatus.COMPLETED
        assert not any(process.has_ended for process in processes)


async def keep_asking(cluster: Cluster, job: Job, enough: asyncio.Event) -> list[ExecutionId]:
    """Ids are the caller's own, so what may or may not have been kept is asked for again."""
    asked: list[ExecutionId] = []
    while not enough.is_set():
        ids = cluster.new_ids(5)
        asked += await insist(partial(cluster.enqueue_as, job, ids))
        await asyncio.sleep(0.05)
    return asked


async def insist(ask: Callable[[], Awaitable[Answer]]) -> Answer:
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return await ask()
            except StoreUnavailable:
                await asyncio.sleep(0.05)
