"""A fire of a job that depends on others waits until each of them has succeeded since the fire before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, WaitsFor
from gnomon.core.executions.lifecycle import JobAction, Outcome, change_of
from gnomon.core.jobs.job import Definition, Job, JobId
from gnomon.core.time.schedule import Interval, Misfire, Schedule
from gnomon.store.protocols.store import Store
from tests.contract.firings import fire
from tests.contract.given import (
    BROKEN,
    DONE,
    MINUTE,
    NOW,
    SECOND,
    ask,
    claim,
    claim_one,
    create_one,
    end,
    enqueue,
    enqueue_one,
    new_job,
    seen,
)


async def after(store: Store, *needed: Job, slots: int | None = None) -> Job:
    """A job that fires every minute after these have succeeded."""
    schedule = Schedule(Interval(MINUTE, NOW), misfire=Misfire.FIRE_ALL)
    definition = Definition("echo", schedule=schedule, max_concurrent=slots)
    job = new_job(definition=definition, next_run_time=NOW, dependencies=[one.id for one in needed])
    return await create_one(store, job)


async def run(store: Store, job: Job, outcome: Outcome = DONE, *, now: datetime = NOW) -> None:
    execution_id = await enqueue_one(store, job, now=now, priority=9)
    leased = await claim_one(store, now=now)
    assert leased.claim.execution_id == execution_id
    await end(store, leased, outcome, now=now)


async def gate_of(store: Store, execution_id: ExecutionId) -> WaitsFor | None:
    return (await seen(store, execution_id)).waits_for


async def now_depends_on(store: Store, job: Job, needed: Iterable[JobId]) -> None:
    current = await store.jobs.get(DEFAULT_TENANT, job.id)
    change = change_of(current, JobAction.UPDATE, next_run_time=current.next_run_time)
    await store.jobs.change([replace(change, dependencies=frozenset(needed))], now=NOW)


async def test_a_fire_waits_for_the_job_it_depends_on(store: Store) -> None:
    needed = await create_one(store)
    await after(store, needed)
    [execution_id] = await fire(store, now=NOW)

    assert await gate_of(store, execution_id) is WaitsFor.JOBS
    assert (await seen(store, execution_id)).status is ExecutionStatus.PENDING
    await run(store, needed)

    assert (await claim_one(store)).claim.execution_id == execution_id


async def test_a_failure_of_the_other_job_opens_nothing(store: Store) -> None:
    needed = await create_one(store)
    await after(store, needed)
    [execution_id] = await fire(store, now=NOW)

    await run(store, needed, BROKEN)

    assert await gate_of(store, execution_id) is WaitsFor.JOBS


async def test_every_job_that_it_depends_on_must_have_succeeded(store: Store) -> None:
    one, other = await create_one(store), await create_one(store)
    await after(store, one, other)
    [execution_id] = await fire(store, now=NOW)

    await run(store, one)
    assert await gate_of(store, execution_id) is WaitsFor.JOBS
    await run(store, other)

    assert await gate_of(store, execution_id) is None


async def test_the_first_fire_takes_a_success_of_any_age(store: Store) -> None:
    needed = await create_one(store)
    await run(store, needed)
    await after(store, needed)

    [execution_id] = await fire(store, now=NOW)

    assert await gate_of(store, execution_id) is None


async def test_the_next_fire_needs_a_success_since_the_one_before(store: Store) -> None:
    needed = await create_one(store)
    await run(store, needed)
    await after(store, needed)
    await fire(store, now=NOW)
    await end(store, await claim_one(store))

    [second] = await fire(store, now=NOW + MINUTE)
    assert await gate_of(store, second) is WaitsFor.JOBS
    await run(store, needed, now=NOW + MINUTE)

    assert await gate_of(store, second) is None


async def test_of_several_fires_at_once_each_asks_since_the_one_before(store: Store) -> None:
    needed = await create_one(store)
    await run(store, needed, now=NOW + SECOND)
    await after(store, needed)

    first, second, third = await fire(store, now=NOW + 2 * MINUTE)

    gates = [await gate_of(store, one) for one in (first, second, third)]
    assert gates == [None, None, WaitsFor.JOBS]


async def test_what_a_person_asks_for_waits_for_no_other_job(store: Store) -> None:
    job = await after(store, await create_one(store))

    execution_id = await enqueue_one(store, job)

    assert (await claim_one(store)).claim.execution_id == execution_id


async def test_behind_the_other_jobs_a_slot_may_be_waited_for(store: Store) -> None:
    needed = await create_one(store)
    job = await after(store, needed, slots=1)
    await enqueue_one(store, job)
    running = await claim_one(store)
    [execution_id] = await fire(store, now=NOW)

    await run(store, needed)
    assert await gate_of(store, execution_id) is WaitsFor.SLOT
    await end(store, running)

    assert (await claim_one(store)).claim.execution_id == execution_id


async def test_what_ran_when_the_dependency_was_declared_counts_when_it_succeeds(store: Store) -> None:
    needed = await create_one(store)
    await enqueue(store, ask(needed), ask(needed))
    running = await claim_one(store)
    await after(store, needed)
    [first] = await fire(store, now=NOW)

    await end(store, running, BROKEN)
    assert await gate_of(store, first) is WaitsFor.JOBS
    [waited] = await claim(store)
    await end(store, waited)

    assert await gate_of(store, first) is None


async def test_a_dependency_that_is_taken_back_opens_the_gate(store: Store) -> None:
    job = await after(store, await create_one(store))
    [execution_id] = await fire(store, now=NOW)

    await now_depends_on(store, job, [])

    assert await gate_of(store, execution_id) is None


async def test_a_dependency_that_comes_later_takes_what_was_before(store: Store) -> None:
    early, late = await create_one(store), await create_one(store)
    await run(store, late)
    job = await after(store, early)
    await now_depends_on(store, job, [late.id])

    [execution_id] = await fire(store, now=NOW)

    assert await gate_of(store, execution_id) is None


async def test_siblings_that_are_created_together_may_depend_on_each_other(store: Store) -> None:
    needed = new_job()
    schedule = Schedule(Interval(MINUTE, NOW))
    dependent = new_job(
        definition=Definition("echo", schedule=schedule), next_run_time=NOW, dependencies=[needed.id]
    )
    first, _ = await store.jobs.create([needed, dependent], now=NOW)
    [execution_id] = await fire(store, now=NOW)

    await run(store, first)

    assert await gate_of(store, execution_id) is None


async def test_a_sweep_passes_over_who_waits_in_vain_and_who_has_passed(store: Store) -> None:
    needed = await create_one(store)
    job = await after(store, needed)
    await fire(store, now=NOW)

    assert (await store.executions.gated(now=NOW, limit=10)).items == ()
    assert await store.executions.admit([needed.id, job.id], now=NOW, limit=10) == 0
    await run(store, needed)

    assert (await store.executions.gated(now=NOW, limit=10)).items == ()
    assert await store.executions.admit([needed.id], now=NOW, limit=10) == 0


async def test_a_cancelled_execution_waits_for_nothing(store: Store) -> None:
    await after(store, await create_one(store))
    [execution_id] = await fire(store, now=NOW)

    await store.executions.cancel(DEFAULT_TENANT, [execution_id], now=NOW)

    execution = await seen(store, execution_id)
    assert (execution.status, execution.waits_for) == (ExecutionStatus.CANCELLED, None)
