"""Cancel and delete against everything that moves an execution at the same moment."""

from __future__ import annotations

import asyncio

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.executions.lifecycle import JobAction, change_of
from gnomon.errors import JobNotFound
from gnomon.store.sql_store import SqlStore
from tests.concurrency.conftest import Crowd
from tests.concurrency.crowds import all_of, claim_and_give_back
from tests.contract.given import NOW, act, ask, create_one, enqueue

ROUNDS = 15


async def test_a_cancelled_execution_never_waits_again_whoever_claims_or_retries_it(crowd: Crowd) -> None:
    stores = await crowd(6)
    job = await create_one(stores[0])
    ids = await enqueue(stores[0], *(ask(job) for _ in range(120)))
    over = asyncio.Event()

    async def cancel(store: SqlStore) -> None:
        for start in range(0, len(ids), 4):
            answer = await store.executions.cancel(DEFAULT_TENANT, ids[start : start + 4], now=NOW)
            assert set(answer.values()) <= {ExecutionStatus.CANCELLED, ExecutionStatus.RUNNING}

    async with asyncio.TaskGroup() as group:
        for store in stores[1:]:
            group.create_task(claim_and_give_back(store, over))
        await cancel(stores[0])
        over.set()

    for one in await all_of(stores[0]):
        assert one.status is ExecutionStatus.CANCELLED or one.cancel_requested


async def test_a_deleted_job_has_nothing_that_waits_whoever_claims_or_retries(crowd: Crowd) -> None:
    stores = await crowd(6)
    over = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for store in stores[1:]:
            group.create_task(claim_and_give_back(store, over))
        for _ in range(ROUNDS):
            job = await create_one(stores[0])
            await enqueue(stores[0], *(ask(job) for _ in range(10)))
            await act(stores[0], job, JobAction.DELETE)
        over.set()
    for one in await all_of(stores[0]):
        assert one.status is ExecutionStatus.CANCELLED or one.cancel_requested


async def test_an_enqueue_that_races_with_a_delete_leaves_nothing_that_waits(crowd: Crowd) -> None:
    stores = await crowd(5)
    refused = 0

    async def enqueue_until_deleted(store: SqlStore, asked: object) -> int:
        try:
            for _ in range(20):
                await enqueue(store, ask(asked))  # type: ignore[arg-type]
        except JobNotFound:
            return 1
        return 0

    for _ in range(ROUNDS):
        job = await create_one(stores[0])
        delete = stores[0].jobs.change([change_of(job, JobAction.DELETE, next_run_time=None)], now=NOW)
        counts = await asyncio.gather(delete, *(enqueue_until_deleted(store, job) for store in stores[1:]))
        refused += sum(counts[1:])
    assert refused > 0
    assert {one.status for one in await all_of(stores[0])} <= {ExecutionStatus.CANCELLED}
