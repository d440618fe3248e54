"""The ledger in which every nominal time has exactly one outcome."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, Trigger
from gnomon.core.executions.lifecycle import JobAction, change_of
from gnomon.core.executions.records import ExecutionFilter
from gnomon.core.jobs.job import Definition, Job, JobStatus
from gnomon.core.schedules.occurrence import Firing, Occurrence, SkipReason
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    HOUR,
    MINUTE,
    NOW,
    SECOND,
    act,
    claim,
    claim_one,
    create,
    create_one,
    new_id,
    new_job,
    other_tenant,
    seen,
)


def fired(nominal_time: datetime, *, jitter: int = 0) -> Occurrence:
    execution_id = ExecutionId(new_id())
    return Occurrence(
        nominal_time, nominal_time, execution_id=execution_id, due=nominal_time + jitter * SECOND
    )


def firing_of(job: Job, *occurrences: Occurrence, next_run_time: datetime | None = NOW + HOUR) -> Firing:
    assert job.next_run_time is not None
    times = [row.nominal_time for row in occurrences if row.execution_id]
    return Firing(
        job_id=job.id,
        tenant_id=job.tenant_id,
        expected_version=job.version,
        expected_next_run_time=job.next_run_time,
        status=JobStatus.COMPLETED if next_run_time is None else job.status,
        next_run_time=next_run_time,
        last_run_time=times[-1] if times else job.last_run_time,
        fires=job.fires + len(times),
        anchor=job.anchor,
        occurrences=occurrences,
    )


async def due_job(store: Store, *, at: datetime = NOW) -> Job:
    return await create_one(store, new_job(next_run_time=at))


async def ledger(store: Store, job: Job) -> list[Occurrence]:
    return list(await store.schedules.occurrences(job.tenant_id, job.id, limit=100))


async def executions_of(store: Store, job: Job) -> list[ExecutionId]:
    page = await store.executions.page(DEFAULT_TENANT, ExecutionFilter(job_id=job.id), now=NOW, limit=100)
    return [execution.id for execution in page.items]


async def test_a_firing_writes_the_ledger_the_execution_and_the_next_time(store: Store) -> None:
    job = await create_one(store, new_job(next_run_time=NOW, definition=Definition("echo", priority=7)))
    row = fired(NOW, jitter=30)

    assert await store.schedules.fire([firing_of(job, row)], now=NOW + SECOND) == [job.id]

    after = await store.jobs.get(DEFAULT_TENANT, job.id)
    assert (after.next_run_time, after.last_run_time, after.fires) == (NOW + HOUR, NOW, 1)
    assert (after.version, after.status) == (1, JobStatus.ACTIVE)
    assert await ledger(store, job) == [row]
    assert row.execution_id is not None
    execution = await seen(store, row.execution_id, now=NOW + SECOND)
    assert (execution.trigger, execution.nominal_time) == (Trigger.SCHEDULE, NOW)
    assert (execution.due, execution.priority) == (NOW + 30 * SECOND, 7)
    assert (execution.status, execution.created_at) == (ExecutionStatus.PENDING, NOW + SECOND)


async def test_a_fired_execution_is_claimed_with_its_nominal_time(store: Store) -> None:
    job = await due_job(store)
    await store.schedules.fire([firing_of(job, fired(NOW, jitter=5))], now=NOW)

    assert await claim(store, now=NOW + 4 * SECOND) == []
    leased = await claim_one(store, now=NOW + 5 * SECOND)

    assert (leased.job_id, leased.nominal_time, leased.due) == (job.id, NOW, NOW + 5 * SECOND)


async def test_the_same_firing_takes_effect_once(store: Store) -> None:
    job = await due_job(store)
    firing = firing_of(job, fired(NOW))
    await store.schedules.fire([firing], now=NOW)

    assert await store.schedules.fire([firing], now=NOW) == []

    assert len(await ledger(store, job)) == 1
    assert len(await executions_of(store, job)) == 1


async def test_the_same_firing_twice_in_a_batch_takes_effect_once(store: Store) -> None:
    job = await due_job(store)
    first, second = firing_of(job, fired(NOW)), firing_of(job, fired(NOW))

    assert await store.schedules.fire([first, second], now=NOW) == [job.id]

    assert await ledger(store, job) == list(first.occurrences)
    assert len(await executions_of(store, job)) == 1


async def test_many_schedulers_that_decide_the_same_fire_once(store: Store) -> None:
    jobs = await create(store, *(new_job(next_run_time=NOW) for _ in range(5)))

    answers = await asyncio.gather(
        *(store.schedules.fire([firing_of(job, fired(NOW)) for job in jobs], now=NOW) for _ in range(12))
    )

    assert sorted(job_id for answer in answers for job_id in answer) == [job.id for job in jobs]
    for job in jobs:
        assert len(await ledger(store, job)) == 1
        assert len(await executions_of(store, job)) == 1


async def test_a_firing_for_an_older_version_does_nothing(store: Store) -> None:
    job = await due_job(store)
    changed = await act(store, job, JobAction.PAUSE)

    assert await store.schedules.fire([firing_of(job, fired(NOW))], now=NOW) == []

    assert await store.jobs.get(DEFAULT_TENANT, job.id) == changed
    assert await ledger(store, job) == []
    assert await executions_of(store, job) == []


async def test_a_firing_for_another_next_run_time_does_nothing(store: Store) -> None:
    job = await due_job(store)
    mistaken = replace(firing_of(job, fired(NOW)), expected_next_run_time=NOW - HOUR)

    assert await store.schedules.fire([mistaken], now=NOW) == []

    assert await store.jobs.get(DEFAULT_TENANT, job.id) == job
    assert await ledger(store, job) == []


async def test_a_nominal_time_that_has_its_outcome_fires_no_second_time_and_stops_nobody(
    store: Store,
) -> None:
    ahead, well = await create(store, new_job(next_run_time=NOW), new_job(next_run_time=NOW))
    first = fired(NOW)
    # A scheduler whose clock runs ahead fires; then somebody changes the job, which makes it due again.
    await store.schedules.fire([firing_of(ahead, first)], now=NOW)
    current = await store.jobs.get(DEFAULT_TENANT, ahead.id)
    [changed] = await store.jobs.change([change_of(current, JobAction.UPDATE, next_run_time=NOW)], now=NOW)

    batch = [firing_of(changed, fired(NOW), fired(NOW + MINUTE)), firing_of(well, fired(NOW))]
    took_effect = await store.schedules.fire(batch, now=NOW)

    assert set(took_effect) == {ahead.id, well.id}
    assert [row.nominal_time for row in await ledger(store, ahead)] == [NOW + MINUTE, NOW]
    assert (await ledger(store, ahead))[1] == first
    assert len(await executions_of(store, ahead)) == 2
    assert (await store.jobs.get(DEFAULT_TENANT, ahead.id)).next_run_time == NOW + HOUR


async def test_stale_firings_do_not_hold_up_their_neighbours(store: Store) -> None:
    a, b, c = await create(store, *(new_job(next_run_time=NOW) for _ in range(3)))
    stale = replace(firing_of(b, fired(NOW)), expected_version=9)

    took_effect = await store.schedules.fire(
        [firing_of(a, fired(NOW)), stale, firing_of(c, fired(NOW))], now=NOW
    )

    assert set(took_effect) == {a.id, c.id}
    assert await ledger(store, b) == []


async def test_skipped_times_are_in_the_ledger_with_their_reason(store: Store) -> None:
    job = await due_job(store, at=NOW - 9 * MINUTE)
    missed = Occurrence(NOW - 9 * MINUTE, NOW - MINUTE, count=9, reason=SkipReason.MISFIRE)
    latest = fired(NOW)

    await store.schedules.fire([firing_of(job, missed, latest)], now=NOW)

    assert await ledger(store, job) == [latest, missed]
    assert len(await executions_of(store, job)) == 1


async def test_a_firing_may_skip_everything(store: Store) -> None:
    job = await act(store, await due_job(store), JobAction.PAUSE)
    skipped = Occurrence(NOW, NOW, reason=SkipReason.PAUSED)

    assert await store.schedules.fire([firing_of(job, skipped)], now=NOW) == [job.id]

    after = await store.jobs.get(DEFAULT_TENANT, job.id)
    assert (after.status, after.fires, after.last_run_time) == (JobStatus.PAUSED, 0, None)
    assert await executions_of(store, job) == []


async def test_the_last_firing_completes_the_job(store: Store) -> None:
    job = await due_job(store)

    await store.schedules.fire([firing_of(job, fired(NOW), next_run_time=None)], now=NOW)

    after = await store.jobs.get(DEFAULT_TENANT, job.id)
    assert (after.status, after.next_run_time) == (JobStatus.COMPLETED, None)
    assert await store.schedules.next_due() is None


async def test_a_firing_moves_the_anchor(store: Store) -> None:
    job = await due_job(store)
    skipped = Occurrence(NOW, NOW, reason=SkipReason.MISFIRE)

    await store.schedules.fire([replace(firing_of(job, skipped), anchor=NOW + SECOND)], now=NOW)

    assert (await store.jobs.get(DEFAULT_TENANT, job.id)).anchor == NOW + SECOND


async def test_a_job_fires_again_from_where_it_stands(store: Store) -> None:
    job = await due_job(store)
    for n in range(3):
        current = await store.jobs.get(DEFAULT_TENANT, job.id)
        time = NOW + n * HOUR
        await store.schedules.fire([firing_of(current, fired(time), next_run_time=time + HOUR)], now=time)

    after = await store.jobs.get(DEFAULT_TENANT, job.id)
    assert (after.fires, after.next_run_time) == (3, NOW + 3 * HOUR)
    assert [row.nominal_time for row in await ledger(store, job)] == [NOW + 2 * HOUR, NOW + HOUR, NOW]


async def test_the_ledger_is_read_in_pages_backwards(store: Store) -> None:
    job = await due_job(store)
    rows = [fired(NOW + n * MINUTE) for n in range(5)]
    await store.schedules.fire([firing_of(job, *rows)], now=NOW)

    newest = await store.schedules.occurrences(DEFAULT_TENANT, job.id, limit=2)
    older = await store.schedules.occurrences(
        DEFAULT_TENANT, job.id, limit=10, before=newest[-1].nominal_time
    )

    assert [*newest, *older] == rows[::-1]


async def test_the_ledger_of_another_tenants_job_is_empty(store: Store) -> None:
    job = await due_job(store)
    await store.schedules.fire([firing_of(job, fired(NOW))], now=NOW)

    assert list(await store.schedules.occurrences(await other_tenant(store), job.id, limit=10)) == []
