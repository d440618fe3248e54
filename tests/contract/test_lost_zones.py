"""A zone that has left tzdata since a job was made: its job has no times, and nobody else suffers."""

from __future__ import annotations

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.executions.lifecycle import JobAction, LeaseExpired
from gnomon.core.executions.records import JobFilter
from gnomon.core.jobs.job import Definition, Job
from gnomon.core.time.schedule import CronTiming, Schedule
from gnomon.store.protocols.changes import Applied
from gnomon.store.protocols.store import Store
from tests.contract.firings import vanish
from tests.contract.given import (
    HOUR,
    MINUTE,
    NOW,
    act,
    claim,
    create,
    decided,
    end,
    enqueue_one,
    new_job,
    seen,
)

CALCUTTA = "Asia/Calcutta"


async def lost_and_other(store: Store) -> tuple[Job, Job]:
    definition = Definition("echo", schedule=Schedule(CronTiming("0 9 * * *", CALCUTTA)))
    lost, other = await create(
        store, new_job("lost", definition=definition, next_run_time=NOW + HOUR), new_job("other")
    )
    return lost, other


async def test_jobs_of_a_lost_zone_are_shown_with_the_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost, other = await lost_and_other(store)
    vanish(CALCUTTA, monkeypatch)

    page = await store.jobs.page(DEFAULT_TENANT, JobFilter(), limit=10)

    assert {job.id for job in page.items} == {lost.id, other.id}
    found = await store.jobs.get(DEFAULT_TENANT, lost.id)
    assert isinstance(found.definition.schedule.timing, CronTiming)
    assert found.definition.schedule.timing.timezone == CALCUTTA
    assert (await store.jobs.named(DEFAULT_TENANT, "lost")).id == lost.id
    assert (await store.jobs.revision(DEFAULT_TENANT, lost.id, 1)).definition.kind == "echo"


async def test_runs_of_a_lost_zone_are_claimed_with_the_others_and_end(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = await lost_and_other(store)
    runs = {await enqueue_one(store, job) for job in jobs}
    vanish(CALCUTTA, monkeypatch)

    leased = await claim(store)

    assert {one.claim.execution_id for one in leased} == runs
    assert [await end(store, one) for one in leased] == [Applied.APPLIED] * 2


async def test_runs_of_a_lost_zone_are_taken_back_with_the_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for job in await lost_and_other(store):
        await enqueue_one(store, job)
    await claim(store)
    vanish(CALCUTTA, monkeypatch)

    later = NOW + HOUR
    expired = await store.executions.expired(now=later, limit=10)
    answers = await store.executions.apply(
        [decided(one, LeaseExpired(), now=later) for one in expired], now=later
    )

    assert list(answers) == [Applied.APPLIED] * 2


async def test_a_job_of_a_lost_zone_can_be_deleted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    lost, _ = await lost_and_other(store)
    run = await enqueue_one(store, lost)
    vanish(CALCUTTA, monkeypatch)

    await act(store, await store.jobs.get(DEFAULT_TENANT, lost.id), JobAction.DELETE, now=NOW + MINUTE)

    assert (await seen(store, run)).status is ExecutionStatus.CANCELLED
