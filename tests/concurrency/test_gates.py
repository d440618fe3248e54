"""Many let in, claim, end, ask and change at once: no job has more runs than slots, and none is forgotten."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from uuid import UUID

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus
from gnomon.core.executions.lifecycle import JobAction, Released, change_of
from gnomon.core.jobs.job import Definition, Job, JobId
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.schedules.firing import plan
from gnomon.core.time.schedule import Interval, Overlap, Schedule
from gnomon.errors import JobFired, VersionConflict
from gnomon.store.protocols.changes import Applied
from gnomon.store.sql_store import SqlStore
from tests.concurrency.conftest import Crowd
from tests.concurrency.crowds import all_of, claim_and_give_back
from tests.contract.given import (
    DONE,
    FAILED,
    MINUTE,
    NOW,
    SECOND,
    ask,
    claim,
    create_one,
    decided,
    enqueue,
    new_id,
    new_job,
)

SECONDS_MAX = 60
ROUNDS = 15
AT_ONCE = RetryPolicy(max_attempts=1000, backoff_base=SECOND, jitter=0.0)
NARROW = Definition(
    "echo",
    schedule=Schedule(Interval(MINUTE, NOW), overlap=Overlap.REPLACE),
    max_concurrent=1,
    retry=AT_ONCE,
)
# A run takes a slot from the moment it is let in.
TAKING = {ExecutionStatus.QUEUED, ExecutionStatus.RUNNING}


async def test_sixteen_that_work_and_let_in_never_fill_more_slots_than_there_are(crowd: Crowd) -> None:
    stores = await crowd(16)
    narrow, wide = [
        await create_one(
            stores[0], new_job(definition=Definition("echo", max_concurrent=slots, retry=AT_ONCE))
        )
        for slots in (1, 5)
    ]
    ended, over, wanted = Counter[UUID](), asyncio.Event(), 240

    async def work(store: SqlStore) -> None:
        while ended.total() < wanted:
            ended.update(await work_once(store))
        over.set()

    async def admit(store: SqlStore) -> None:
        while not over.is_set():
            await store.executions.admit([narrow.id, wide.id], now=NOW, limit=10)

    async with asyncio.timeout(SECONDS_MAX), asyncio.TaskGroup() as group:
        for store in stores[:4]:
            group.create_task(ask_often(store, narrow, wide, wide, times=20))
        for store in stores[4:12]:
            group.create_task(work(store))
        for store in stores[12:]:
            group.create_task(admit(store))
        looks = group.create_task(watch(stores[0], {narrow.id: 1, wide.id: 5}, over))

    assert looks.result() > 10
    assert set(ended.values()) == {1}
    assert Counter(one.status for one in await all_of(stores[0])) == {ExecutionStatus.COMPLETED: wanted}


async def work_once(store: SqlStore) -> list[UUID]:
    """Some fail first and go back to the gate. They are due at once, or nobody would come for them."""
    leased = await claim(store, limit=3)
    good = [one for one in leased if one.attempts or one.claim.execution_id.int % 3]
    decisions = [decided(one, DONE if one in good else FAILED, now=NOW - MINUTE) for one in leased]
    assert set(await store.executions.apply(decisions, now=NOW)) <= {Applied.APPLIED}
    return [one.claim.execution_id for one in good]


async def ask_often(store: SqlStore, *jobs: Job, times: int) -> None:
    for _ in range(times):
        await enqueue(store, *map(ask, jobs))


async def watch(store: SqlStore, slots: dict[JobId, int], over: asyncio.Event) -> int:
    """How often it looked. One statement each: a run on its way from one place to the next is seen once."""
    looks = 0
    while not over.is_set():
        taking = Counter(one.job_id for one in await all_of(store) if one.status in TAKING)
        assert all(taking[job_id] <= most for job_id, most in slots.items())
        looks += 1
    return looks


async def test_an_end_and_an_ask_at_the_same_moment_leave_no_slot_empty(crowd: Crowd) -> None:
    """Nobody sweeps here: whoever comes second sees what the first one did."""
    asking, ending = await crowd(2)
    for _ in range(ROUNDS * 3):
        job = await create_one(asking, new_job(definition=Definition("echo", max_concurrent=1)))
        await enqueue(asking, ask(job))
        [leased] = await claim(ending)
        await asyncio.gather(
            enqueue(asking, ask(job)), ending.executions.apply([decided(leased, DONE)], now=NOW)
        )
        [leased] = await claim(ending)
        assert leased.job_id == job.id
        await ending.executions.apply([decided(leased, DONE)], now=NOW)


async def test_a_success_while_the_dependency_is_declared_is_not_lost(crowd: Crowd) -> None:
    stores = await crowd(3)
    definition = Definition("http", schedule=Schedule(Interval(MINUTE, NOW)))
    for round_ in range(ROUNDS * 2):
        needed = await create_one(stores[0])
        await enqueue(stores[0], ask(needed))

        async def work(store: SqlStore, *, gives_back: bool) -> None:
            while not (leased := await claim(store, limit=1)):
                pass
            if gives_back:
                await store.executions.apply([decided(leased[0], Released())], now=NOW)
                await work(store, gives_back=False)
            else:
                await store.executions.apply([decided(leased[0], DONE)], now=NOW)

        dependent = new_job(definition=definition, next_run_time=NOW, dependencies=[needed.id])
        async with asyncio.timeout(SECONDS_MAX):
            _, job = await asyncio.gather(
                work(stores[1], gives_back=round_ % 2 == 0), create_one(stores[2], dependent)
            )
        await fire(stores[0], job)
        [leased] = await claim(stores[0], kinds=frozenset({"http"}))
        assert leased.job_id == job.id
        await stores[0].executions.apply([decided(leased, DONE)], now=NOW)


async def test_a_fire_and_the_success_that_it_waits_for_at_the_same_moment_miss_nothing(crowd: Crowd) -> None:
    firing, working = await crowd(2)
    definition = Definition("http", schedule=Schedule(Interval(MINUTE, NOW)))
    for _ in range(ROUNDS * 2):
        needed = await create_one(firing)
        dependent = new_job(definition=definition, next_run_time=NOW, dependencies=[needed.id])
        job = await create_one(firing, dependent)
        await enqueue(working, ask(needed))
        [leased] = await claim(working)
        await asyncio.gather(fire(firing, job), working.executions.apply([decided(leased, DONE)], now=NOW))
        [leased] = await claim(working, kinds=frozenset({"http"}))
        await working.executions.apply([decided(leased, DONE)], now=NOW)


async def test_every_run_of_a_job_that_gets_slots_is_counted_whoever_moves_it(crowd: Crowd) -> None:
    stores = await crowd(6)
    over = asyncio.Event()
    async with asyncio.timeout(SECONDS_MAX), asyncio.TaskGroup() as group:
        for store in stores[2:]:
            group.create_task(claim_and_give_back(store, over))
        for _ in range(ROUNDS):
            job = await create_one(stores[0])
            await enqueue(stores[0], *(ask(job) for _ in range(10)))
            change = change_of(job, JobAction.UPDATE, next_run_time=None)
            change = replace(change, definition=Definition("echo", max_concurrent=2))
            await asyncio.gather(
                stores[0].jobs.change([change], now=NOW), enqueue(stores[1], ask(job), ask(job))
            )
            assert await stores[0].schedules.live([job.id]) == {job.id: 12}
        over.set()


async def test_a_fire_that_replaces_leaves_nothing_behind_whoever_moves_it(crowd: Crowd) -> None:
    stores = await crowd(5)
    schedule = Schedule(Interval(MINUTE, NOW), overlap=Overlap.REPLACE)
    over = asyncio.Event()
    new: list[ExecutionId] = []
    async with asyncio.timeout(SECONDS_MAX), asyncio.TaskGroup() as group:
        for store in stores[1:]:
            group.create_task(claim_and_give_back(store, over))
        for _ in range(ROUNDS):
            definition = Definition("echo", schedule=schedule)
            job = await create_one(stores[0], new_job(definition=definition, next_run_time=NOW))
            await enqueue(stores[0], *(ask(job) for _ in range(8)))
            new += await fire(stores[0], job)
        over.set()
    for one in await all_of(stores[0]):
        is_old = one.id not in new
        assert is_old == (one.status is ExecutionStatus.CANCELLED or one.cancel_requested)


async def test_those_who_ask_change_cancel_fire_and_let_in_do_not_wait_for_each_other(crowd: Crowd) -> None:
    """A deadlock would be broken by the server, and be an error here if it were more than a rare accident."""
    stores = await crowd(12)
    needed = [await create_one(stores[0], new_job(definition=NARROW, next_run_time=NOW)) for _ in range(3)]
    ids = [job.id for job in needed]
    dependent = [new_job(definition=NARROW, next_run_time=NOW, dependencies=ids) for _ in range(2)]
    jobs = [await create_one(stores[0], job) for job in dependent] + needed
    over = asyncio.Event()

    async def work(store: SqlStore) -> None:
        while not over.is_set():
            await work_once(store)

    async with asyncio.timeout(SECONDS_MAX), asyncio.TaskGroup() as group:
        for store in stores[:3]:
            group.create_task(work(store))
        async with asyncio.TaskGroup() as busy:
            for store in stores[3:7]:
                busy.create_task(ask_and_cancel(store, jobs))
            for store in stores[7:10]:
                busy.create_task(change_often(store, jobs))
            for store in stores[10:]:
                busy.create_task(fire_often(store))
        over.set()


async def ask_and_cancel(store: SqlStore, jobs: list[Job]) -> None:
    for _ in range(ROUNDS * 2):
        asked = await enqueue(store, *(ask(job) for job in jobs for _ in range(2)))
        await store.executions.cancel(DEFAULT_TENANT, asked[::2], now=NOW)


async def change_often(store: SqlStore, jobs: list[Job]) -> None:
    for number in range(ROUNDS * 2):
        current = [await store.jobs.get(DEFAULT_TENANT, job.id) for job in jobs]
        changes = [change_of(one, JobAction.UPDATE, next_run_time=one.next_run_time) for one in current]
        definition = replace(NARROW, max_concurrent=number % 3 + 1)
        with suppress(VersionConflict, JobFired):
            await store.jobs.change([replace(one, definition=definition) for one in changes], now=NOW)


async def fire_often(store: SqlStore) -> None:
    for number in range(ROUNDS):
        for job in (await store.schedules.due(now=NOW + MINUTE * number, limit=10)).jobs:
            await fire(store, job, minutes=number)


async def fire(store: SqlStore, job: Job, *, minutes: int = 0) -> list[ExecutionId]:
    now = NOW + MINUTE * minutes
    firing = plan(job, now=now, live=0, excluded_dates=frozenset(), new_id=lambda: ExecutionId(new_id(now)))
    await store.schedules.fire([firing], now=now)
    return [one.execution_id for one in firing.occurrences if one.execution_id]
