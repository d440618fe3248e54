"""Many callers with one key: one of them does the work, and all of them learn of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.lifecycle import JobAction, JobChange, change_of
from gnomon.core.executions.records import ExecutionFilter, JobFilter
from gnomon.core.jobs.job import Definition
from gnomon.core.values.idempotency import Idempotency
from gnomon.store.sql_store import SqlStore
from tests.concurrency.conftest import Crowd
from tests.contract.given import NOW, ask, claim, create_one, end, new_job


async def test_sixty_four_enqueues_with_one_unique_key_make_one_execution(crowd: Crowd) -> None:
    stores = await crowd(8)
    job = await create_one(stores[0])
    answers = await asyncio.gather(
        *(
            store.executions.enqueue(DEFAULT_TENANT, [ask(job, unique_key="one")], now=NOW)
            for store in stores * 8
        )
    )
    kept = [answer[0] for answer in answers]
    assert len({one.id for one in kept}) == 1
    assert [one.is_new for one in kept].count(True) == 1
    page = await stores[0].executions.page(DEFAULT_TENANT, ExecutionFilter(), now=NOW, limit=100)
    assert [one.id for one in page.items] == [kept[0].id]


async def test_sixty_four_creates_with_one_idempotency_key_make_one_job(crowd: Crowd) -> None:
    stores = await crowd(8)
    once = Idempotency("once", "the same request")
    answers = await asyncio.gather(
        *(store.jobs.create([new_job("nightly")], now=NOW, idempotency=once) for store in stores * 8)
    )
    assert len({answer[0].id for answer in answers}) == 1
    page = await stores[0].jobs.page(DEFAULT_TENANT, JobFilter(), limit=100)
    assert len(page.items) == 1


async def test_a_unique_key_that_its_holder_gives_up_meanwhile_is_no_error(crowd: Crowd) -> None:
    stores = await crowd(8)
    job = await create_one(stores[0])
    made: set[ExecutionId] = set()
    over = asyncio.Event()

    async def ask_again_and_again(store: SqlStore) -> None:
        for _ in range(60):
            asked = ask(job, unique_key="one")
            [answer] = await store.executions.enqueue(DEFAULT_TENANT, [asked], now=NOW)
            assert answer.is_new == (answer.id == asked.id)
            made.update({answer.id} if answer.is_new else ())

    async def finish(store: SqlStore) -> None:
        while not over.is_set():
            for leased in await claim(store):
                await end(store, leased)

    async with asyncio.TaskGroup() as group:
        group.create_task(finish(stores[0]))
        group.create_task(finish(stores[1]))
        await asyncio.gather(*(ask_again_and_again(store) for store in stores[2:]))
        over.set()
    page = await stores[0].executions.page(DEFAULT_TENANT, ExecutionFilter(), now=NOW, limit=1000)
    assert {one.id for one in page.items} == made


async def test_an_enqueue_finds_its_job_while_the_job_gets_new_revisions(crowd: Crowd) -> None:
    stores = await crowd(4)
    job = await create_one(stores[0])

    async def revise(store: SqlStore) -> None:
        for number in range(60):
            current = await store.jobs.get(DEFAULT_TENANT, job.id)
            change = change_of(current, JobAction.UPDATE, next_run_time=None)
            await store.jobs.change([with_priority(change, number % 10)], now=NOW)

    async def ask_again_and_again(store: SqlStore) -> None:
        for _ in range(60):
            await store.executions.enqueue(DEFAULT_TENANT, [ask(job)], now=NOW)

    await asyncio.gather(revise(stores[0]), *(ask_again_and_again(store) for store in stores[1:]))
    page = await stores[0].executions.page(DEFAULT_TENANT, ExecutionFilter(), now=NOW, limit=1000)
    assert len(page.items) == 180


def with_priority(change: JobChange, priority: int) -> JobChange:
    return replace(change, definition=Definition("echo", priority=priority))
