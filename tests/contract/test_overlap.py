"""Overlap policies as a scheduler uses them: count what is live, decide, fire."""

from __future__ import annotations

from datetime import datetime

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Execution, ExecutionId, ExecutionStatus, WaitsFor
from gnomon.core.executions.records import ExecutionFilter
from gnomon.core.jobs.job import Definition, Job
from gnomon.core.schedules.firing import plan
from gnomon.core.time.schedule import Interval, Misfire, Overlap, Schedule
from gnomon.store.protocols.store import Store
from tests.contract.firings import fire
from tests.contract.given import (
    FAILED,
    MINUTE,
    NOW,
    SECOND,
    claim,
    claim_one,
    create_one,
    end,
    enqueue_one,
    new_id,
    new_job,
    seen,
)


async def every_minute(store: Store, overlap: Overlap, *, slots: int | None = None) -> Job:
    schedule = Schedule(Interval(MINUTE, NOW), overlap=overlap, misfire=Misfire.FIRE_ALL)
    definition = Definition("echo", schedule=schedule, max_concurrent=slots)
    return await create_one(store, new_job(definition=definition, next_run_time=NOW))


async def runs_of(store: Store, job: Job, *, now: datetime) -> list[Execution]:
    page = await store.executions.page(DEFAULT_TENANT, ExecutionFilter(job_id=job.id), now=now, limit=100)
    return list(page.items)[::-1]


async def test_skip_fires_nothing_while_a_run_is_live_and_again_when_it_has_ended(store: Store) -> None:
    await every_minute(store, Overlap.SKIP)
    assert len(await fire(store, now=NOW)) == 1
    leased = await claim_one(store)

    assert await fire(store, now=NOW + MINUTE) == []
    await end(store, leased, now=NOW + MINUTE)

    assert len(await fire(store, now=NOW + 2 * MINUTE)) == 1


async def test_skip_counts_a_run_that_waits_for_its_retry(store: Store) -> None:
    await every_minute(store, Overlap.SKIP)
    await fire(store, now=NOW)
    await end(store, await claim_one(store), FAILED)

    assert await fire(store, now=NOW + MINUTE) == []


async def test_skip_counts_what_a_person_asked_for(store: Store) -> None:
    job = await every_minute(store, Overlap.SKIP)
    await enqueue_one(store, job)

    assert await fire(store, now=NOW) == []


async def test_queue_runs_one_after_the_other_in_the_order_of_the_due_times(store: Store) -> None:
    await every_minute(store, Overlap.QUEUE)
    ids = await fire(store, now=NOW + 2 * MINUTE)
    assert len(ids) == 3

    for execution_id in ids:
        [leased] = await claim(store, now=NOW + 2 * MINUTE)
        assert leased.claim.execution_id == execution_id
        await end(store, leased, now=NOW + 2 * MINUTE)


async def test_replace_ends_what_waits_and_asks_what_runs_to_stop(store: Store) -> None:
    job = await every_minute(store, Overlap.REPLACE)
    [first] = await fire(store, now=NOW)
    leased = await claim_one(store)
    asked = await enqueue_one(store, job)

    [new] = await fire(store, now=NOW + MINUTE)

    assert (await seen(store, asked)).status is ExecutionStatus.CANCELLED
    running = await seen(store, first, now=NOW + MINUTE)
    assert (running.status, running.cancel_requested) == (ExecutionStatus.RUNNING, True)
    assert (await claim_one(store, now=NOW + MINUTE)).claim.execution_id == new
    await end(store, leased, FAILED, now=NOW + MINUTE)
    assert (await seen(store, first, now=NOW + MINUTE)).status is ExecutionStatus.CANCELLED


async def test_replace_fires_only_the_last_of_several_due_times(store: Store) -> None:
    job = await every_minute(store, Overlap.REPLACE)

    assert len(await fire(store, now=NOW + 3 * MINUTE)) == 1

    [run] = await runs_of(store, job, now=NOW + 3 * MINUTE)
    assert run.nominal_time == NOW + 3 * MINUTE
    assert (await store.jobs.get(DEFAULT_TENANT, job.id)).fires == 1


async def test_replace_with_one_slot_waits_until_the_old_run_has_stopped(store: Store) -> None:
    await every_minute(store, Overlap.REPLACE, slots=1)
    await fire(store, now=NOW)
    old = await claim_one(store)

    [new] = await fire(store, now=NOW + MINUTE)
    assert (await seen(store, new, now=NOW + MINUTE)).waits_for is WaitsFor.SLOT
    await end(store, old, FAILED, now=NOW + MINUTE)

    assert (await claim_one(store, now=NOW + MINUTE)).claim.execution_id == new


async def test_a_replacing_fire_gets_the_slot_of_what_it_replaced(store: Store) -> None:
    await every_minute(store, Overlap.REPLACE, slots=1)
    [old] = await fire(store, now=NOW)

    [new] = await fire(store, now=NOW + MINUTE)

    assert (await seen(store, old, now=NOW + MINUTE)).status is ExecutionStatus.CANCELLED
    assert (await claim_one(store, now=NOW + MINUTE)).claim.execution_id == new


async def test_a_firing_that_came_too_late_replaces_nothing(store: Store) -> None:
    job = await every_minute(store, Overlap.REPLACE)
    late = plan(job, now=NOW, live=0, excluded_dates=frozenset(), new_id=lambda: ExecutionId(new_id()))
    [first] = await fire(store, now=NOW)

    assert await store.schedules.fire([late], now=NOW + SECOND) == []

    assert (await seen(store, first)).status is ExecutionStatus.QUEUED


async def test_fires_wait_for_a_slot_beside_those_of_other_jobs_that_do_not(store: Store) -> None:
    narrow = await every_minute(store, Overlap.ALLOW, slots=1)
    plain = await every_minute(store, Overlap.ALLOW)

    await fire(store, now=NOW + MINUTE)

    gates = {
        job.id: [run.waits_for for run in await runs_of(store, job, now=NOW + MINUTE)]
        for job in (narrow, plain)
    }
    assert gates == {narrow.id: [None, WaitsFor.SLOT], plain.id: [None, None]}
