"""Jobs in the hands of a user, on both databases."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gnomon.client import Draft
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.records import JobFilter
from gnomon.core.jobs.job import Definition, Job, JobId, JobStatus
from gnomon.core.schedules.occurrence import SkipReason
from gnomon.core.time.calendars import Calendar
from gnomon.core.time.schedule import CronTiming, Interval, Misfire, Once, Schedule
from gnomon.core.values.document import Document
from gnomon.core.values.idempotency import Idempotency
from gnomon.errors import (
    CalendarNotFound,
    IllegalTransition,
    InvalidInput,
    JobAlreadyExists,
    JobNotFound,
    VersionConflict,
)
from gnomon.store.databases.hints import Topic
from tests.contract.firings import vanish
from tests.integration.client.conftest import Office, report

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
HOURLY = Schedule(CronTiming("0 * * * *"))


async def ledger(office: Office, job: Job) -> list[tuple[str, int, str | None]]:
    """What became of the nominal times, oldest first: the time of the day, how many, why not."""
    rows = await office.client.jobs.occurrences(job.id)
    return [(f"{row.nominal_time:%H:%M}", row.count, row.reason) for row in reversed(rows)]


# Making ---------------------------------------------------------------------------------------------


async def test_a_job_that_is_created_knows_when_it_runs_and_schedulers_are_told(office: Office) -> None:
    job = await office.client.jobs.create(Draft("nightly", report(HOURLY), tags=frozenset({"a"})))

    assert job.next_run_time == office.clock.now() + HOUR
    assert office.told == [Topic.SCHEDULE]
    assert await office.client.jobs.named("nightly") == job
    assert (await office.client.jobs.list(JobFilter(tag="a"))).items == (job,)


async def test_an_interval_counts_from_the_creation(office: Office) -> None:
    job = await office.client.jobs.create(Draft("often", report(Schedule(Interval(MINUTE)))))

    assert job.definition.schedule.timing == Interval(MINUTE, office.clock.now())


async def test_a_payload_that_its_handler_refuses_is_not_kept(office: Office) -> None:
    bad = Definition("report", payload=Document.of("bad", field="payload"))

    with pytest.raises(InvalidInput):
        await office.client.jobs.create(Draft("bad", bad))
    job = await office.client.jobs.create(Draft("good", report()))
    with pytest.raises(InvalidInput):
        await office.client.jobs.update(job.id, definition=bad)


async def test_a_calendar_must_exist(office: Office) -> None:
    schedule = Schedule(CronTiming("0 0 * * *"), calendar="holidays")
    with pytest.raises(CalendarNotFound):
        await office.client.jobs.create(Draft("nightly", report(schedule)))

    tomorrow = (office.clock.now() + timedelta(days=1)).date()
    await office.store.calendars.save(
        Calendar(DEFAULT_TENANT, "holidays", frozenset({tomorrow})), now=office.clock.now()
    )
    job = await office.client.jobs.create(Draft("nightly", report(schedule)))
    shown = await office.client.jobs.preview(job.id, limit=2)
    assert [one.skip for one in shown] == [SkipReason.CALENDAR, None]


async def test_the_same_key_creates_once(office: Office) -> None:
    key = Idempotency("key", "print")
    first = await office.client.jobs.create(Draft("nightly", report()), idempotency=key)

    assert await office.client.jobs.create(Draft("nightly", report()), idempotency=key) == first


# Changing -------------------------------------------------------------------------------------------


async def test_an_update_that_changes_nothing_writes_nothing(office: Office) -> None:
    often = report(Schedule(Interval(MINUTE)))
    job = await office.client.jobs.create(Draft("often", often))
    office.clock.advance(timedelta(seconds=7))

    again = await office.client.jobs.update(job.id, definition=often, name="often", tags=(), dependencies=())

    assert again == job


async def test_a_new_definition_is_a_new_revision(office: Office) -> None:
    job = await office.client.jobs.create(Draft("nightly", report()))

    changed = await office.client.jobs.update(job.id, definition=Definition("report", priority=9))

    assert (changed.revision, changed.version) == (2, 2)
    assert (await office.client.jobs.revision(job.id, 1)).definition == job.definition


async def test_a_caller_who_names_a_version_learns_that_it_is_old(office: Office) -> None:
    job = await office.client.jobs.create(Draft("nightly", report(HOURLY)))
    await office.client.jobs.update(job.id, tags={"a"}, version=1)
    office.clock.advance(HOUR)

    with pytest.raises(VersionConflict):
        await office.client.jobs.cancel(job.id, version=1)

    assert await ledger(office, job) == []


async def test_a_replayed_update_is_answered_though_its_version_is_old_by_then(office: Office) -> None:
    job = await office.client.jobs.create(Draft("nightly", report()))
    key = Idempotency("key", "print")

    first = await office.client.jobs.update(job.id, tags={"a"}, version=1, idempotency=key)

    assert await office.client.jobs.update(job.id, tags={"a"}, version=1, idempotency=key) == first


async def test_a_name_that_is_taken_is_refused(office: Office) -> None:
    await office.client.jobs.create(Draft("one", report()))
    two = await office.client.jobs.create(Draft("two", report()))

    with pytest.raises(JobAlreadyExists):
        await office.client.jobs.update(two.id, name="one")


async def test_what_passed_during_a_pause_is_in_the_ledger_when_the_job_is_resumed(office: Office) -> None:
    job = await office.client.jobs.create(Draft("nightly", report(HOURLY)))
    await office.client.jobs.pause(job.id)
    office.clock.advance(3 * HOUR + MINUTE)

    resumed = await office.client.jobs.resume(job.id)

    assert resumed.status is JobStatus.ACTIVE
    assert f"{resumed.next_run_time:%H:%M}" == "04:00"
    assert await ledger(office, job) == [("01:00", 3, "paused")]


async def test_what_was_due_before_an_update_fires_as_the_old_revision_said(office: Office) -> None:
    job = await office.client.jobs.create(Draft("nightly", report(HOURLY)))
    office.clock.advance(HOUR + timedelta(seconds=1))
    office.told.clear()

    changed = await office.client.jobs.update(
        job.id, definition=report(Schedule(CronTiming("30 * * * *"), misfire=Misfire.IGNORE))
    )

    assert await ledger(office, job) == [("01:00", 1, None)]
    assert f"{changed.next_run_time:%H:%M}" == "01:30"
    [execution] = (await office.client.executions.list(job_id=job.id)).items
    assert execution.revision == 1
    assert office.told == [Topic.WORK, Topic.SCHEDULE]


async def test_a_long_pause_of_a_busy_job_is_decided_in_rounds(office: Office) -> None:
    job = await office.client.jobs.create(Draft("busy", report(Schedule(Interval(timedelta(seconds=1))))))
    await office.client.jobs.pause(job.id)
    office.clock.advance(timedelta(hours=2))

    await office.client.jobs.resume(job.id)

    rows = await ledger(office, job)
    assert sum(count for _, count, _ in rows) == 7200
    assert len(rows) == 2


async def test_a_scheduler_that_fires_in_between_is_no_trouble(office: Office) -> None:
    job = await office.client.jobs.create(Draft("nightly", report(HOURLY)))
    read, scheduler = office.store.jobs.get, office.scheduler()
    office.clock.advance(HOUR)

    async def get_and_lose_the_race(tenant_id: object, job_id: JobId) -> Job:
        found = await read(DEFAULT_TENANT, job_id)
        await scheduler.step()
        return found

    office.store.jobs.get = get_and_lose_the_race  # type: ignore[method-assign]
    changed = await office.client.jobs.update(job.id, definition=report(Schedule(Interval(MINUTE))))

    assert changed.next_run_time == office.clock.now() + MINUTE
    assert await ledger(office, job) == [("01:00", 1, None)]


async def test_nothing_starts_because_a_job_is_cancelled(office: Office) -> None:
    job = await office.client.jobs.create(Draft("nightly", report(HOURLY)))
    office.clock.advance(HOUR)

    cancelled = await office.client.jobs.cancel(job.id)

    assert (cancelled.status, cancelled.next_run_time) == (JobStatus.CANCELLED, None)
    assert await ledger(office, job) == [("01:00", 1, "cancelled")]
    assert await office.claim() == []
    with pytest.raises(IllegalTransition):
        await office.client.jobs.resume(job.id)


async def test_a_deleted_job_leaves_its_name_and_its_history(office: Office) -> None:
    job = await office.client.jobs.create(Draft("nightly", report(HOURLY)))

    await office.client.jobs.delete(job.id)

    assert (await office.client.jobs.get(job.id)).status is JobStatus.DELETED
    with pytest.raises(JobNotFound):
        await office.client.jobs.named("nightly")
    await office.client.jobs.create(Draft("nightly", report()))


async def test_a_completed_job_stays_so_unless_it_gets_a_time_to_come(office: Office) -> None:
    now = office.clock.now()
    job = await office.client.jobs.create(Draft("once", report(Schedule(Once(now)))))
    await office.scheduler().step()

    renamed = await office.client.jobs.update(job.id, name="twice")
    assert (renamed.status, renamed.next_run_time) == (JobStatus.COMPLETED, None)
    again = await office.client.jobs.update(job.id, definition=report(Schedule(Once(now + HOUR))))
    assert (again.status, again.next_run_time) == (JobStatus.ACTIVE, now + HOUR)


async def test_actions_that_were_done_already_are_fine(office: Office) -> None:
    job = await office.client.jobs.create(Draft("nightly", report(HOURLY)))
    for action in (office.client.jobs.pause, office.client.jobs.resume, office.client.jobs.cancel):
        first = await action(job.id)
        assert await action(job.id) == first


async def test_a_preview_counts_on_from_where_the_job_is(office: Office) -> None:
    job = await office.client.jobs.create(Draft("thrice", report(Schedule(Interval(HOUR), max_runs=3))))
    office.clock.advance(HOUR)
    await office.scheduler().step()

    shown = await office.client.jobs.preview(job.id)

    assert [f"{one.nominal_time:%H:%M}" for one in shown] == ["02:00", "03:00"]


# What cannot be read any more ------------------------------------------------------------------------


async def test_a_job_whose_zone_vanished_can_be_repaired_and_renamed_and_deleted(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_calcutta = report(Schedule(CronTiming("0 * * * *", "Asia/Calcutta")))
    jobs = office.client.jobs
    repaired, deleted = [await jobs.create(Draft(name, in_calcutta)) for name in ("one", "two")]
    vanish("Asia/Calcutta", monkeypatch)
    office.clock.advance(3 * HOUR)

    renamed = await jobs.update(repaired.id, name="three", tags={"broken"})
    assert (renamed.status, renamed.next_run_time) == (JobStatus.ACTIVE, repaired.next_run_time)
    changed = await jobs.update(repaired.id, definition=report(HOURLY))
    assert changed.next_run_time == office.clock.now() + HOUR
    assert (await jobs.pause(deleted.id)).status is JobStatus.PAUSED
    assert (await jobs.resume(deleted.id)).status is JobStatus.ACTIVE
    assert (await jobs.delete(deleted.id)).status is JobStatus.DELETED
