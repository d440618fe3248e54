"""A scheduler stepped by hand: what fires, when, and how long it sleeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionStatus, Trigger
from gnomon.core.executions.lifecycle import JobAction, change_of
from gnomon.core.executions.records import ExecutionFilter
from gnomon.core.jobs.job import Definition, Job, JobId
from gnomon.core.schedules.occurrence import Firing, SkipReason
from gnomon.core.time.calendars import Calendar
from gnomon.core.time.schedule import CronTiming, Interval, Misfire, Overlap, Schedule
from gnomon.core.values.document import JSON
from gnomon.engine.schedulers.scheduler import OTHERS_TURN
from gnomon.engine.service import NOW, POLL
from gnomon.engine.telemetry import What
from gnomon.handlers.base import Context
from gnomon.store.protocols.jobs import ScheduleStore
from gnomon.testing.clock import ManualClock
from tests.contract.firings import vanish
from tests.integration.engine.rig import Rig

MINUTE = timedelta(minutes=1)


def every(period: timedelta, **more: object) -> Definition:
    return Definition(kind="test", schedule=Schedule(Interval(period), **more))  # type: ignore[arg-type]


async def runs(rig: Rig, job: Job) -> int:
    page = await rig.store.executions.page(
        DEFAULT_TENANT, ExecutionFilter(job_id=job.id), now=rig.clock.now(), limit=100
    )
    assert {one.trigger for one in page.items} <= {Trigger.SCHEDULE}
    return len(page.items)


async def test_with_nothing_to_do_it_looks_again_after_the_poll_interval(rig: Rig) -> None:
    assert await rig.scheduler().step() == POLL


async def test_it_sleeps_until_the_next_due_time_and_not_longer(rig: Rig) -> None:
    await rig.job(every(MINUTE))
    rig.clock.advance(MINUTE - timedelta(milliseconds=300))

    assert await rig.scheduler().step() == timedelta(milliseconds=300)


async def test_a_due_time_fires_once_whoever_comes_first(rig: Rig) -> None:
    job = await rig.job(every(MINUTE))
    rig.clock.advance(MINUTE)
    first, second = rig.scheduler(), rig.scheduler()

    await first.step()
    await second.step()

    assert await runs(rig, job) == 1
    assert rig.telemetry.counts[What.FIRED] == 1
    assert rig.fired == 1


async def test_a_fire_runs_on_a_worker_for_its_nominal_time(rig: Rig) -> None:
    seen = []

    async def notes(context: Context) -> JSON:
        seen.append(context.nominal_time)
        return None

    job = await rig.job(Definition(kind="test", schedule=Schedule(CronTiming("0 9 * * *"))))
    rig.clock.advance(timedelta(hours=9, seconds=2))
    await rig.scheduler().step()

    await rig.worker(notes).work()

    assert seen == [rig.clock.now() - timedelta(seconds=2)]
    page = await rig.store.executions.page(
        DEFAULT_TENANT,
        ExecutionFilter(job_id=job.id, status=ExecutionStatus.COMPLETED),
        now=rig.clock.now(),
        limit=10,
    )
    assert len(page.items) == 1


async def test_after_a_long_downtime_every_due_time_has_its_outcome(rig: Rig) -> None:
    job = await rig.job(every(5 * MINUTE, misfire=Misfire.FIRE_NOW))
    rig.clock.advance(timedelta(days=3))

    scheduler = rig.scheduler()
    while (await scheduler.step()) == timedelta(0):
        pass

    ledger = await rig.store.schedules.occurrences(DEFAULT_TENANT, job.id, limit=1000)
    assert sum(one.count for one in ledger) == 3 * 24 * 12
    assert await runs(rig, job) == 1


async def test_a_date_of_its_calendar_is_skipped_with_the_reason(rig: Rig) -> None:
    today = rig.clock.now().date()
    calendar = Calendar(DEFAULT_TENANT, "holidays", frozenset({today}))
    await rig.store.calendars.save(calendar, now=rig.clock.now())
    schedule = Schedule(CronTiming("0 9 * * *"), calendar="holidays")
    job = await rig.job(Definition(kind="test", schedule=schedule))
    rig.clock.advance(timedelta(hours=10))

    await rig.scheduler().step()

    [skipped] = await rig.store.schedules.occurrences(DEFAULT_TENANT, job.id, limit=10)
    assert skipped.reason is SkipReason.CALENDAR
    assert rig.telemetry.counts[What.SKIPPED] == 1


async def test_a_job_whose_zone_vanished_is_reported_and_passed_over_for_a_while(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    in_calcutta = Definition(kind="test", schedule=Schedule(CronTiming("* * * * *", "Asia/Calcutta")))
    lost = await rig.job(in_calcutta, name="lost")
    job = await rig.job(every(MINUTE))
    vanish("Asia/Calcutta", monkeypatch)
    rig.clock.advance(MINUTE)
    scheduler = rig.scheduler()

    assert await scheduler.step() == NOW

    assert await runs(rig, job) == 1
    assert [record.job for record in caplog.records] == [str(lost.id)]  # type: ignore[attr-defined]
    assert await scheduler.step() > NOW
    assert len(caplog.records) == 1
    rig.clock.advance(MINUTE)
    await scheduler.step()
    assert len(caplog.records) == 2


@dataclass
class Held:
    """A store whose due jobs somebody else has locked."""

    inner: ScheduleStore

    async def fire(self, firings: Sequence[Firing], *, now: datetime) -> Sequence[JobId]:
        return []

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


async def test_due_jobs_that_somebody_holds_are_not_asked_for_all_the_time(rig: Rig) -> None:
    await rig.job(every(MINUTE))
    rig.clock.advance(MINUTE)
    scheduler = rig.scheduler()
    scheduler._schedules = Held(rig.store.schedules)  # type: ignore[assignment]

    assert await scheduler.step() == OTHERS_TURN


async def test_a_job_that_cannot_be_fired_is_passed_over_and_the_others_fire(rig: Rig) -> None:
    bad, *good = [await rig.job(every(MINUTE), name=name) for name in ("bad", "one", "two")]
    await rig.store.database.on_writer(  # type: ignore[attr-defined]
        lambda: rig.store.database.writer.raw.execute(  # type: ignore[attr-defined]
            "CREATE TRIGGER refuse BEFORE INSERT ON occurrences "
            f"WHEN new.job_id = x'{bad.id.hex}' BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    )
    rig.clock.advance(MINUTE)
    scheduler = rig.scheduler()

    await scheduler.step()

    assert [await runs(rig, job) for job in good] == [1, 1]
    assert await scheduler.step() > NOW


async def test_what_is_due_soon_is_planned_before_and_fired_on_time(rig: Rig) -> None:
    job = await rig.job(every(MINUTE))
    scheduler = rig.scheduler()
    rig.clock.advance(MINUTE - timedelta(milliseconds=100))

    assert await scheduler.step() == timedelta(milliseconds=100)
    assert await runs(rig, job) == 0
    rig.clock.advance(timedelta(milliseconds=100))
    await scheduler.step()

    assert await runs(rig, job) == 1


async def test_a_plan_made_ahead_is_void_when_the_job_was_changed_meanwhile(rig: Rig) -> None:
    job = await rig.job(every(MINUTE))
    scheduler = rig.scheduler()
    rig.clock.advance(MINUTE - timedelta(milliseconds=100))
    await scheduler.step()
    paused = change_of(job, JobAction.PAUSE, next_run_time=job.next_run_time)
    await rig.store.jobs.change([paused], now=rig.clock.now())
    rig.clock.advance(timedelta(milliseconds=100))

    while await scheduler.step() == timedelta(0):
        pass

    assert await runs(rig, job) == 0
    [skipped] = await rig.store.schedules.occurrences(DEFAULT_TENANT, job.id, limit=10)
    assert skipped.reason is SkipReason.PAUSED


@pytest.mark.parametrize(("grace", "late"), [(5.0, 30.0), (1.0, 1.5)])
async def test_a_plan_made_ahead_is_void_for_who_slept_past_its_instant(
    rig: Rig, grace: float, late: float
) -> None:
    job = await rig.job(every(MINUTE, misfire=Misfire.IGNORE, misfire_grace=timedelta(seconds=grace)))
    scheduler = rig.scheduler()
    rig.clock.advance(MINUTE - timedelta(milliseconds=100))
    await scheduler.step()
    rig.clock.advance(timedelta(milliseconds=100) + timedelta(seconds=late))

    while await scheduler.step() == NOW:
        pass

    assert await runs(rig, job) == 0
    [skipped] = await rig.store.schedules.occurrences(DEFAULT_TENANT, job.id, limit=10)
    assert skipped.reason is SkipReason.MISFIRE


class Ticking(ManualClock):
    """A millisecond goes by with each look at it."""

    def now(self) -> datetime:
        self.advance(timedelta(milliseconds=1))
        return super().now()


async def test_what_was_in_time_when_it_was_decided_is_not_written_down_as_late(rig: Rig) -> None:
    job = await rig.job(every(MINUTE, misfire=Misfire.IGNORE, misfire_grace=timedelta(seconds=1)))
    assert job.next_run_time is not None
    # Looked at once before the decision, which is in time by nothing.
    rig.clock = Ticking(job.next_run_time + timedelta(seconds=1) - timedelta(milliseconds=2))

    await rig.scheduler().step()

    page = await rig.store.executions.page(
        DEFAULT_TENANT, ExecutionFilter(job_id=job.id), now=rig.clock.now(), limit=10
    )
    [fired] = page.items
    assert fired.created_at == job.next_run_time + timedelta(seconds=1)


async def test_who_fires_at_once_is_in_time_without_any_grace(rig: Rig) -> None:
    job = await rig.job(every(MINUTE, misfire=Misfire.IGNORE, misfire_grace=timedelta(0)))
    scheduler = rig.scheduler()
    rig.clock.advance(MINUTE - timedelta(milliseconds=100))
    await scheduler.step()
    rig.clock.advance(timedelta(milliseconds=101))
    await scheduler.step()

    assert await runs(rig, job) == 1


async def test_a_plan_made_ahead_is_void_for_who_waited_too_long_for_others(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = every(MINUTE, misfire=Misfire.IGNORE, misfire_grace=timedelta(seconds=5))
    first, second = await rig.job(schedule), await rig.job(schedule, name="second")
    scheduler = rig.scheduler(batch=1)
    rig.clock.advance(MINUTE - timedelta(milliseconds=100))
    await scheduler.step()
    rig.clock.advance(timedelta(milliseconds=100))
    fire = rig.store.schedules.fire

    async def slowly(firings: Sequence[Firing], *, now: datetime) -> Sequence[JobId]:
        taken = await fire(firings, now=now)
        rig.clock.advance(timedelta(seconds=10))
        return taken

    monkeypatch.setattr(rig.store.schedules, "fire", slowly)
    while await scheduler.step() == NOW:
        pass

    assert await runs(rig, first) + await runs(rig, second) == 1


async def test_what_came_due_while_it_read_is_decided_too(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    job = await rig.job(every(MINUTE, overlap=Overlap.REPLACE))
    scheduler = rig.scheduler()
    rig.clock.advance(MINUTE)
    live = scheduler._live

    async def slowly(jobs: Sequence[Job]) -> Mapping[JobId, int]:
        rig.clock.advance(MINUTE)
        return await live(jobs)

    monkeypatch.setattr(scheduler, "_live", slowly)
    await scheduler.step()

    replaced, fired = sorted(
        await rig.store.schedules.occurrences(DEFAULT_TENANT, job.id, limit=10),
        key=lambda one: one.nominal_time,
    )
    assert replaced.reason is SkipReason.OVERLAP
    assert fired.reason is None
