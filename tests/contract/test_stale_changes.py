"""A change that was decided before something else happened: refused, or harmless."""

from __future__ import annotations

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT, Tenant, TenantId
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.lease import Claim
from gnomon.core.executions.lifecycle import JobAction
from gnomon.core.executions.records import Checkpoint, LogLevel, LogLine
from gnomon.core.jobs.job import Definition, Job, JobStatus
from gnomon.core.schedules.firing import plan
from gnomon.core.time.schedule import Interval, Schedule
from gnomon.core.values.document import Document
from gnomon.errors import InvalidInput, JobFired, JobNotFound, TenantAlreadyExists
from gnomon.store.protocols.store import Store
from tests.contract.given import MINUTE, NOW, act, ask, claim, create_one, new_id, new_job

EVERY_MINUTE = Definition("echo", schedule=Schedule(Interval(MINUTE, NOW)))


async def fire(store: Store, job: Job, *, minutes: int) -> None:
    now = NOW + minutes * MINUTE
    firing = plan(job, now=now, live=0, excluded_dates=frozenset(), new_id=lambda: ExecutionId(new_id()))
    assert await store.schedules.fire([firing], now=now) == [job.id]


async def test_a_change_decided_before_a_firing_is_refused_and_puts_no_old_time_back(store: Store) -> None:
    read_before = await create_one(store, new_job(next_run_time=NOW, definition=EVERY_MINUTE))
    await fire(store, read_before, minutes=0)

    with pytest.raises(JobFired):
        await act(store, read_before, JobAction.PAUSE)

    fired = await store.jobs.get(DEFAULT_TENANT, read_before.id)
    assert fired.next_run_time == NOW + MINUTE
    assert (await act(store, fired, JobAction.PAUSE)).next_run_time == NOW + MINUTE


async def test_every_minute_has_its_row_when_a_pause_meets_a_firing(store: Store) -> None:
    read_before = await create_one(store, new_job(next_run_time=NOW, definition=EVERY_MINUTE))
    await fire(store, read_before, minutes=0)
    paused = await act(store, await store.jobs.get(DEFAULT_TENANT, read_before.id), JobAction.PAUSE)
    await fire(store, paused, minutes=5)

    ledger = await store.schedules.occurrences(DEFAULT_TENANT, paused.id, limit=100)
    assert sum(row.count for row in ledger) == 6  # One fired, five skipped.


async def test_deleting_what_is_deleted_is_fine(store: Store) -> None:
    deleted = await act(store, await create_one(store), JobAction.DELETE)

    assert (await act(store, deleted, JobAction.DELETE)).status is JobStatus.DELETED


async def test_numbers_that_no_column_holds_are_not_there(store: Store) -> None:
    job = await create_one(store)
    forged = Claim(ExecutionId(new_id()), 2**40)

    with pytest.raises(JobNotFound):
        await store.jobs.revision(DEFAULT_TENANT, job.id, 2**40)
    assert await store.logs.read(DEFAULT_TENANT, forged.execution_id, limit=1, after=(2**40, 2**40)) == []
    assert await store.checkpoints.save([Checkpoint(forged, Document("{}"), None, NOW)]) == []
    assert await store.logs.append([LogLine(forged, 1, NOW, LogLevel.INFO, "too late")]) == []


async def test_one_id_twice_in_a_batch_is_bad_input(store: Store) -> None:
    job = await create_one(store)
    one = ask(job)

    with pytest.raises(InvalidInput):
        await store.executions.enqueue(DEFAULT_TENANT, [one, one], now=NOW)
    assert await claim(store) == []


async def test_two_tenants_cannot_have_one_name(store: Store) -> None:
    with pytest.raises(TenantAlreadyExists):
        await store.tenants.save(Tenant(TenantId(new_id()), "default"), now=NOW)
