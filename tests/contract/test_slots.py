"""Slots: how many runs of a job may be with workers at once, and who gets the next free one."""

from __future__ import annotations

from dataclasses import replace

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, WaitsFor
from gnomon.core.executions.lease import LEASE
from gnomon.core.executions.lifecycle import JobAction, LeaseExpired, Released, Snoozed, change_of
from gnomon.core.executions.records import ExecutionFilter, Redrive
from gnomon.core.jobs.job import Definition, Job
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.time.schedule import Overlap, Schedule
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    BROKEN,
    FAILED,
    MINUTE,
    NOW,
    SECOND,
    act,
    ask,
    claim,
    claim_one,
    create_one,
    end,
    enqueue,
    enqueue_one,
    new_id,
    new_job,
    seen,
)

RETRIES = RetryPolicy(max_attempts=9, backoff_base=MINUTE, jitter=0.0)
QUEUE = Definition("echo", schedule=Schedule(overlap=Overlap.QUEUE), retry=RETRIES)


def with_slots(slots: int | None) -> Definition:
    return Definition("echo", max_concurrent=slots, retry=RETRIES)


async def job_with_slots(store: Store, slots: int | None) -> Job:
    return await create_one(store, new_job(definition=with_slots(slots)))


async def given_definition(store: Store, job: Job, definition: Definition) -> Job:
    change = replace(change_of(job, JobAction.UPDATE, next_run_time=None), definition=definition)
    [changed] = await store.jobs.change([change], now=NOW)
    return changed


async def gates_of(store: Store, ids: list[ExecutionId]) -> list[WaitsFor | None]:
    return [(await seen(store, one)).waits_for for one in ids]


async def test_no_more_are_let_in_than_there_are_slots(store: Store) -> None:
    job = await job_with_slots(store, 2)
    ids = await enqueue(store, *(ask(job) for _ in range(5)))

    assert await gates_of(store, ids) == [None, None, *[WaitsFor.SLOT] * 3]
    assert len(await claim(store)) == 2
    assert await claim(store) == []


async def test_what_waits_for_a_slot_is_pending(store: Store) -> None:
    job = await job_with_slots(store, 1)
    first, second = await enqueue(store, ask(job), ask(job))

    assert (await seen(store, first)).status is ExecutionStatus.QUEUED
    assert (await seen(store, second)).status is ExecutionStatus.PENDING
    wanted = ExecutionFilter(status=ExecutionStatus.PENDING)
    page = await store.executions.page(DEFAULT_TENANT, wanted, now=NOW, limit=10)
    assert [(one.id, one.waits_for) for one in page.items] == [(second, WaitsFor.SLOT)]


async def test_an_end_lets_in_the_next(store: Store) -> None:
    job = await job_with_slots(store, 1)
    ids = await enqueue(store, ask(job), ask(job))

    await end(store, await claim_one(store))

    assert (await claim_one(store)).claim.execution_id == ids[1]


async def test_a_free_slot_goes_by_priority_then_due_time_then_id(store: Store) -> None:
    job = await job_with_slots(store, 1)
    running = await enqueue_one(store, job)
    last, early, urgent = await enqueue(store, ask(job), ask(job, due=NOW - SECOND), ask(job, priority=9))
    order = []
    for _ in range(4):
        leased = await claim_one(store)
        order.append(leased.claim.execution_id)
        await end(store, leased)

    assert order == [running, urgent, early, last]


async def test_a_slot_is_not_kept_for_what_is_not_due(store: Store) -> None:
    job = await job_with_slots(store, 1)
    later, now = await enqueue(store, ask(job, due=NOW + MINUTE, priority=9), ask(job))

    assert await gates_of(store, [later, now]) == [WaitsFor.SLOT, None]
    await end(store, await claim_one(store))
    assert await claim(store, now=NOW + MINUTE) == []

    assert await store.executions.admit([job.id], now=NOW + MINUTE, limit=10) == 1
    assert (await claim_one(store, now=NOW + MINUTE)).claim.execution_id == later


async def test_a_retry_gives_its_slot_away_while_it_waits(store: Store) -> None:
    job = await job_with_slots(store, 1)
    first, second = await enqueue(store, ask(job), ask(job))

    await end(store, await claim_one(store), FAILED)

    assert await gates_of(store, [first, second]) == [WaitsFor.SLOT, None]
    await end(store, await claim_one(store), now=NOW + MINUTE)
    assert (await claim_one(store, now=NOW + MINUTE)).claim.execution_id == first


async def test_what_a_dead_worker_held_frees_its_slot_and_waits_for_one(store: Store) -> None:
    job = await job_with_slots(store, 1)
    first, second = await enqueue(store, ask(job), ask(job))
    late = NOW + LEASE + SECOND

    await end(store, await claim_one(store), LeaseExpired(), now=late)

    assert (await claim_one(store, now=late)).claim.execution_id == second
    assert await gates_of(store, [first]) == [WaitsFor.SLOT]


async def test_what_is_given_back_gets_the_slot_again_if_it_is_the_next(store: Store) -> None:
    job = await job_with_slots(store, 1)
    first, _ = await enqueue(store, ask(job), ask(job))

    await end(store, await claim_one(store), Released())

    assert (await claim_one(store)).claim.execution_id == first


async def test_under_the_policy_queue_a_retry_keeps_its_slot(store: Store) -> None:
    job = await create_one(store, new_job(definition=QUEUE))
    first, second = await enqueue(store, ask(job), ask(job))

    await end(store, await claim_one(store), FAILED)
    assert await gates_of(store, [first, second]) == [None, WaitsFor.SLOT]
    assert await claim(store) == []

    await end(store, await claim_one(store, now=NOW + MINUTE), Snoozed(MINUTE), now=NOW + MINUTE)
    await end(store, await claim_one(store, now=NOW + 2 * MINUTE), now=NOW + 2 * MINUTE)
    assert (await claim_one(store, now=NOW + 2 * MINUTE)).claim.execution_id == second


async def test_slots_of_one_job_are_nothing_to_another(store: Store) -> None:
    narrow, wide, plain = [await job_with_slots(store, slots) for slots in (1, 3, None)]
    await enqueue(store, *(ask(job) for job in (narrow, wide, plain) for _ in range(4)))

    taken = [leased.job_id for leased in await claim(store, limit=100)]

    assert [taken.count(job.id) for job in (narrow, wide, plain)] == [1, 3, 4]


async def test_a_cancelled_execution_frees_the_slot_that_it_held(store: Store) -> None:
    job = await job_with_slots(store, 1)
    ready, waiting, last = await enqueue(store, ask(job), ask(job), ask(job))

    answer = await store.executions.cancel(DEFAULT_TENANT, [waiting], now=NOW)
    assert answer == {waiting: ExecutionStatus.CANCELLED}
    assert (await seen(store, waiting)).waits_for is None
    await store.executions.cancel(DEFAULT_TENANT, [ready], now=NOW)

    assert (await claim_one(store)).claim.execution_id == last


async def test_a_deleted_job_ends_what_waits_at_its_gate(store: Store) -> None:
    job = await job_with_slots(store, 1)
    ids = await enqueue(store, ask(job), ask(job))

    await act(store, job, JobAction.DELETE)

    assert {(await seen(store, one)).status for one in ids} == {ExecutionStatus.CANCELLED}
    assert await store.executions.admit([job.id], now=NOW, limit=10) == 0


async def test_a_redriven_execution_waits_for_a_slot_like_any_other(store: Store) -> None:
    job = await job_with_slots(store, 1)
    dead, _ = await enqueue(store, ask(job), ask(job))
    await end(store, await claim_one(store), BROKEN)

    again = ExecutionId(new_id())
    await store.dead_letters.redrive(DEFAULT_TENANT, [Redrive(dead, again)], now=NOW)

    assert await gates_of(store, [again]) == [WaitsFor.SLOT]
    await end(store, await claim_one(store))
    assert (await claim_one(store)).claim.execution_id == again


async def test_more_slots_let_more_in_at_once(store: Store) -> None:
    job = await job_with_slots(store, 1)
    await enqueue(store, *(ask(job) for _ in range(5)))

    await given_definition(store, job, with_slots(3))

    assert len(await claim(store)) == 3


async def test_without_slots_nothing_waits_any_more(store: Store) -> None:
    job = await job_with_slots(store, 1)
    await enqueue(store, *(ask(job) for _ in range(5)))

    await given_definition(store, job, with_slots(None))

    assert len(await claim(store)) == 5


async def test_what_was_there_before_the_job_had_slots_takes_them_too(store: Store) -> None:
    job = await job_with_slots(store, None)
    await enqueue(store, ask(job), ask(job))
    running = await claim_one(store)

    await given_definition(store, job, with_slots(2))
    new = await enqueue_one(store, job)

    assert await gates_of(store, [new]) == [WaitsFor.SLOT]
    await end(store, running)
    assert len(await claim(store)) == 2


async def test_asking_once_too_often_lets_nobody_in(store: Store) -> None:
    job = await job_with_slots(store, 2)
    await enqueue(store, *(ask(job) for _ in range(5)))

    for _ in range(3):
        assert await store.executions.admit([job.id], now=NOW, limit=10) == 0
    assert await store.executions.admit([], now=NOW, limit=10) == 0

    assert len(await claim(store)) == 2


async def test_a_limit_lets_in_no_more_of_each_job(store: Store) -> None:
    job = await job_with_slots(store, 5)
    await enqueue(store, *(ask(job, due=NOW + SECOND) for _ in range(5)))

    admitted = [await store.executions.admit([job.id], now=NOW + SECOND, limit=2) for _ in range(4)]

    assert admitted == [2, 2, 1, 0]


async def test_a_unique_key_that_waits_for_a_slot_makes_nothing_new(store: Store) -> None:
    job = await job_with_slots(store, 1)
    await enqueue_one(store, job)
    waiting = await enqueue_one(store, job, unique_key="k")

    assert await enqueue_one(store, job, unique_key="k") == waiting


# The sweep ------------------------------------------------------------------------------------------


async def test_a_sweep_finds_the_jobs_that_can_let_something_in(store: Store) -> None:
    full, later = await job_with_slots(store, 1), await job_with_slots(store, 1)
    await enqueue(store, ask(full), ask(full), ask(later, due=NOW + MINUTE))

    assert (await store.executions.gated(now=NOW, limit=10)).items == ()
    page = await store.executions.gated(now=NOW + MINUTE, limit=10)

    assert (page.items, page.next) == ((later.id,), None)


async def test_a_sweep_goes_on_behind_the_hopeless_ones(store: Store) -> None:
    jobs = [await job_with_slots(store, 1) for _ in range(5)]
    for job in jobs[:4]:
        await enqueue(store, ask(job), ask(job))
    await enqueue_one(store, jobs[4], due=NOW + SECOND)

    first = await store.executions.gated(now=NOW + SECOND, limit=2)
    second = await store.executions.gated(now=NOW + SECOND, limit=2, after=first.next)
    third = await store.executions.gated(now=NOW + SECOND, limit=2, after=second.next)

    assert (first.items, first.next) == ((), jobs[1].id)
    assert (second.items, second.next) == ((), jobs[3].id)
    assert (third.items, third.next) == ((jobs[4].id,), None)


# Counting -------------------------------------------------------------------------------------------


async def test_live_counts_what_has_not_ended_wherever_it_is(store: Store) -> None:
    job, other = await job_with_slots(store, 2), await job_with_slots(store, 2)
    await enqueue(store, *(ask(job) for _ in range(4)))
    assert await store.schedules.live([job.id, other.id]) == {job.id: 4, other.id: 0}

    await end(store, await claim_one(store))
    await claim_one(store)

    assert await store.schedules.live([job.id]) == {job.id: 3}
    assert await store.schedules.live([]) == {}
