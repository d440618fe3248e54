"""What every store promises about jobs. Nothing here knows which store it is talking to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.executions.lifecycle import JobAction, JobChange, change_of
from gnomon.core.executions.records import JobFilter
from gnomon.core.jobs.job import Definition, Delivery, Job, JobStatus, Revision
from gnomon.core.jobs.retry import Backoff, RetryPolicy
from gnomon.core.time.calendars import Calendar
from gnomon.core.time.schedule import CronTiming, Interval, Schedule
from gnomon.core.values.document import Document
from gnomon.errors import JobAlreadyExists, JobNotFound, VersionConflict
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    HOUR,
    MINUTE,
    NOW,
    SECOND,
    act,
    claim_one,
    create,
    create_one,
    enqueue_one,
    new_job,
    seen,
)

LATER = NOW + HOUR


def updated(job: Job, **wishes: object) -> JobChange:
    change = change_of(job, JobAction.UPDATE, next_run_time=job.next_run_time)
    return replace(change, **wishes)  # type: ignore[arg-type]


async def all_jobs(store: Store) -> tuple[Job, ...]:
    return (await store.jobs.page(DEFAULT_TENANT, JobFilter(), limit=1000)).items


# Create -----------------------------------------------------------------------------------------------


async def test_a_new_job_is_active_at_version_one(store: Store) -> None:
    new = new_job("report", next_run_time=LATER, tags={"daily", "money"})

    [job] = await store.jobs.create([new], now=NOW)

    assert job == Job(
        id=new.id,
        tenant_id=DEFAULT_TENANT,
        name="report",
        status=JobStatus.ACTIVE,
        version=1,
        revision=1,
        definition=new.definition,
        next_run_time=LATER,
        last_run_time=None,
        fires=0,
        anchor=None,
        tags=frozenset({"daily", "money"}),
        dependencies=frozenset(),
        created_at=NOW,
        updated_at=NOW,
    )
    assert await store.jobs.get(DEFAULT_TENANT, new.id) == job
    assert await store.jobs.named(DEFAULT_TENANT, "report") == job


async def test_every_word_of_a_definition_comes_back(store: Store) -> None:
    definition = Definition(
        kind="http",
        payload=Document.of({"url": "https://example.org", "tries": [1, 2.5, None, True]}, field="payload"),
        schedule=Schedule(CronTiming("0 9 * * MON", "Europe/Berlin"), jitter=MINUTE, calendar="holidays"),
        retry=RetryPolicy(
            max_attempts=7,
            backoff=Backoff.FIXED,
            backoff_base=SECOND * 1.5,
            multiplier=1.25,
            backoff_max=HOUR,
            jitter=0.3,
            retry_on=frozenset({"http_503", "timeout"}),
        ),
        queue="slow",
        capabilities=frozenset({"gpu", "eu"}),
        priority=9,
        timeout=SECOND * 90,
        max_concurrent=3,
        delivery=Delivery.AT_MOST_ONCE,
    )

    await store.calendars.save(Calendar(DEFAULT_TENANT, "holidays", frozenset()), now=NOW)
    job = await create_one(store, new_job(definition=definition))

    assert job.definition == definition
    assert (await store.jobs.revision(DEFAULT_TENANT, job.id, 1)) == Revision(
        DEFAULT_TENANT, job.id, 1, definition
    )


async def test_jobs_come_back_in_the_order_in_which_they_were_sent(store: Store) -> None:
    asked = [new_job(name) for name in ("zoe", "ann", "mia")]

    created = await store.jobs.create([asked[2], asked[0], asked[1]], now=NOW)

    assert [job.name for job in created] == ["mia", "zoe", "ann"]


async def test_a_live_name_is_taken(store: Store) -> None:
    await create_one(store, new_job("report"))

    with pytest.raises(JobAlreadyExists) as refused:
        await store.jobs.create([new_job("report")], now=NOW)

    assert refused.value.name == "report"


async def test_one_taken_name_refuses_the_whole_batch(store: Store) -> None:
    report = await create_one(store, new_job("report"))

    with pytest.raises(JobAlreadyExists):
        await store.jobs.create([new_job("invoice"), new_job("report"), new_job("letter")], now=NOW)

    assert await all_jobs(store) == (report,)


async def test_a_name_can_be_sent_once_in_a_batch(store: Store) -> None:
    with pytest.raises(JobAlreadyExists):
        await store.jobs.create([new_job("report"), new_job("report")], now=NOW)

    assert await all_jobs(store) == ()


async def test_names_that_differ_in_case_or_space_are_different_names(store: Store) -> None:
    await create(store, new_job("Report"), new_job("report"), new_job("report "), new_job("rèport"))

    assert (await store.jobs.named(DEFAULT_TENANT, "report ")).name == "report "


async def test_a_cancelled_job_keeps_its_name_and_a_deleted_one_gives_it_back(store: Store) -> None:
    first = await act(store, await create_one(store, new_job("report")), JobAction.CANCEL)
    with pytest.raises(JobAlreadyExists):
        await create_one(store, new_job("report"))

    await act(store, first, JobAction.DELETE)
    second = await create_one(store, new_job("report"))
    await act(store, second, JobAction.DELETE)
    third = await create_one(store, new_job("report"))

    assert await store.jobs.named(DEFAULT_TENANT, "report") == third


async def test_a_deleted_job_can_still_be_read_but_not_found_by_name(store: Store) -> None:
    job = await act(store, await create_one(store, new_job("report")), JobAction.DELETE)

    assert job.status is JobStatus.DELETED
    assert await store.jobs.get(DEFAULT_TENANT, job.id) == job
    with pytest.raises(JobNotFound):
        await store.jobs.named(DEFAULT_TENANT, "report")


# Change -----------------------------------------------------------------------------------------------


async def test_an_update_replaces_what_people_may_change(store: Store) -> None:
    job = await create_one(store, new_job("report", tags={"old", "kept"}))
    other = await create_one(store)
    change = updated(
        job,
        name="rapport",
        tags=frozenset({"kept", "new"}),
        dependencies=frozenset({other.id}),
        next_run_time=LATER,
    )

    [changed] = await store.jobs.change([change], now=NOW + MINUTE)

    assert changed == replace(
        job,
        name="rapport",
        version=2,
        tags=frozenset({"kept", "new"}),
        dependencies=frozenset({other.id}),
        next_run_time=LATER,
        updated_at=NOW + MINUTE,
    )
    assert await store.jobs.get(DEFAULT_TENANT, job.id) == changed


async def test_a_new_definition_is_a_new_revision_and_the_old_one_stays(store: Store) -> None:
    job = await create_one(store)
    anew = Definition("http", priority=1, schedule=Schedule(Interval(HOUR, anchor=NOW)))

    [changed] = await store.jobs.change([updated(job, definition=anew)], now=NOW)

    assert (changed.revision, changed.definition) == (2, anew)
    assert (await store.jobs.revision(DEFAULT_TENANT, job.id, 1)).definition == job.definition
    assert (await store.jobs.revision(DEFAULT_TENANT, job.id, 2)).definition == anew


async def test_a_change_without_a_definition_keeps_the_revision(store: Store) -> None:
    job = await create_one(store)

    paused = await act(store, job, JobAction.PAUSE)

    assert (paused.version, paused.revision) == (2, 1)


async def test_a_change_at_another_version_changes_nothing(store: Store) -> None:
    job = await act(store, await create_one(store), JobAction.PAUSE)

    with pytest.raises(VersionConflict) as refused:
        await store.jobs.change([updated(replace(job, version=1), name="other")], now=NOW + MINUTE)

    assert (refused.value.expected, refused.value.actual) == (1, 2)
    assert await store.jobs.get(DEFAULT_TENANT, job.id) == job


async def test_one_stale_change_refuses_the_whole_batch(store: Store) -> None:
    ada, bob = await create(store, new_job("ada"), new_job("bob"))
    stale = replace(bob, version=9)

    with pytest.raises(VersionConflict):
        await store.jobs.change([updated(ada, name="eve"), updated(stale)], now=NOW)

    assert await all_jobs(store) == (bob, ada)


async def test_a_job_cannot_take_the_name_of_another(store: Store) -> None:
    ada, bob = await create(store, new_job("ada"), new_job("bob"))

    with pytest.raises(JobAlreadyExists):
        await store.jobs.change([updated(bob, name="ada")], now=NOW)

    assert await all_jobs(store) == (bob, ada)


async def test_pausing_resuming_cancelling_and_deleting_are_changes_of_status(store: Store) -> None:
    job = await create_one(store, new_job(next_run_time=LATER))

    paused = await act(store, job, JobAction.PAUSE)
    resumed = await act(store, paused, JobAction.RESUME)
    cancelled = await act(store, resumed, JobAction.CANCEL)
    deleted = await act(store, cancelled, JobAction.DELETE)

    trail = [paused, resumed, cancelled, deleted]
    assert [one.status for one in trail] == ["PAUSED", "ACTIVE", "CANCELLED", "DELETED"]
    assert [one.version for one in trail] == [2, 3, 4, 5]
    assert [one.next_run_time for one in trail] == [LATER, LATER, None, None]


@pytest.mark.parametrize("action", [JobAction.CANCEL, JobAction.DELETE])
async def test_ending_a_job_ends_what_waits_and_asks_what_runs(store: Store, action: JobAction) -> None:
    job = await create_one(store)
    started = await enqueue_one(store, job)
    await claim_one(store)
    ready = await enqueue_one(store, job)
    delayed = await enqueue_one(store, job, due=LATER)
    stranger = await enqueue_one(store)

    await act(store, job, action, now=NOW + MINUTE)

    for waited in (ready, delayed):
        ended = await seen(store, waited)
        assert (ended.status, ended.finished_at) == (ExecutionStatus.CANCELLED, NOW + MINUTE)
    asked = await seen(store, started)
    assert (asked.status, asked.cancel_requested) == (ExecutionStatus.RUNNING, True)
    assert (await seen(store, stranger)).status is ExecutionStatus.QUEUED


@pytest.mark.parametrize("action", [JobAction.PAUSE, JobAction.UPDATE])
async def test_pausing_or_updating_leaves_executions_alone(store: Store, action: JobAction) -> None:
    job = await create_one(store)
    waiting = await enqueue_one(store, job)

    await act(store, job, action)

    assert (await seen(store, waiting)).status is ExecutionStatus.QUEUED
