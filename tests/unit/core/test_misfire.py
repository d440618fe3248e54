"""What becomes of due times that a scheduler came to too late, story by story."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from gnomon.core.jobs.job import JobStatus
from gnomon.core.schedules.occurrence import SkipReason
from gnomon.core.time.dst import Gap
from gnomon.core.time.schedule import CronTiming, Interval, Misfire, Schedule
from tests.unit.core.builders import (
    DAY,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    after_firing,
    at,
    fired,
    job_with,
    skipped,
    step,
)

HOURLY = CronTiming("0 * * * *")
MINUTELY = CronTiming("* * * * *")
EVERY_MINUTE = Interval(MINUTE, anchor=NOON)


def test_a_time_within_the_grace_time_is_not_missed() -> None:
    schedule = Schedule(HOURLY, misfire=Misfire.IGNORE, misfire_grace=timedelta(minutes=5))

    assert fired(step(job_with(schedule, due=NOON), now=NOON + 5 * MINUTE).occurrences) == [NOON]
    late = step(job_with(schedule, due=NOON), now=NOON + 5 * MINUTE + SECOND)
    assert skipped(late.occurrences) == [(NOON, 1, SkipReason.MISFIRE)]


def test_fire_now_runs_the_latest_missed_time_once() -> None:
    firing = step(job_with(Schedule(HOURLY), due=NOON), now=NOON + 5 * HOUR + 10 * MINUTE)

    assert skipped(firing.occurrences) == [(NOON, 5, SkipReason.MISFIRE)]
    assert fired(firing.occurrences) == [NOON + 5 * HOUR]
    assert firing.next_run_time == NOON + 6 * HOUR


@pytest.mark.parametrize("late", [timedelta(0), SECOND, MINUTE])
def test_fire_now_runs_no_missed_time_beside_one_that_is_still_in_time(late: timedelta) -> None:
    firing = step(job_with(Schedule(HOURLY), due=NOON), now=NOON + 5 * HOUR + late)

    assert skipped(firing.occurrences) == [(NOON, 5, SkipReason.MISFIRE)]
    assert fired(firing.occurrences) == [NOON + 5 * HOUR]


def test_fire_now_passes_over_dates_that_the_calendar_excludes() -> None:
    schedule = Schedule(CronTiming("0 12 * * *"), calendar="holidays")
    holidays = frozenset({date(2026, 6, 3), date(2026, 6, 4)})

    firing = step(job_with(schedule, due=NOON), now=NOON + 3 * DAY + HOUR, excluded=holidays)

    assert fired(firing.occurrences) == [NOON + DAY]
    assert skipped(firing.occurrences) == [
        (NOON, 1, SkipReason.MISFIRE),
        (NOON + 2 * DAY, 2, SkipReason.CALENDAR),
    ]


def test_fire_now_passes_over_times_that_a_gap_swallowed() -> None:
    schedule = Schedule(CronTiming("30 2 * * *", "America/New_York", gap=Gap.SKIP))

    firing = step(job_with(schedule, due=at("03-07 07:30")), now=at("03-08 20:00"))

    assert fired(firing.occurrences) == [at("03-07 07:30")]
    assert skipped(firing.occurrences) == [(at("03-08 07:00"), 1, SkipReason.DST_GAP)]


def test_fire_all_runs_every_missed_time_oldest_first() -> None:
    schedule = Schedule(HOURLY, misfire=Misfire.FIRE_ALL)

    firing = step(job_with(schedule, due=NOON), now=NOON + 3 * HOUR + 10 * MINUTE)

    assert fired(firing.occurrences) == [NOON, NOON + HOUR, NOON + 2 * HOUR, NOON + 3 * HOUR]
    assert firing.fires == 4


def test_fire_all_keeps_the_newest_within_the_limit_and_the_window() -> None:
    schedule = Schedule(HOURLY, misfire=Misfire.FIRE_ALL, catchup_limit=2, catchup_window=4 * HOUR)

    firing = step(job_with(schedule, due=NOON), now=NOON + 10 * HOUR + 10 * MINUTE)

    assert fired(firing.occurrences) == [NOON + 9 * HOUR, NOON + 10 * HOUR]
    assert skipped(firing.occurrences) == [
        (NOON, 7, SkipReason.CATCHUP_WINDOW),
        (NOON + 7 * HOUR, 2, SkipReason.CATCHUP_LIMIT),
    ]


def test_the_catchup_limit_holds_over_all_steps_of_a_long_backlog() -> None:
    schedule = Schedule(MINUTELY, misfire=Misfire.FIRE_ALL, catchup_limit=5, misfire_grace=timedelta(0))
    now, job, all_fired = NOON + 101 * MINUTE + SECOND, job_with(schedule, due=NOON), []

    while job.next_run_time is not None and job.next_run_time <= now:
        firing = step(job, now=now, limit=7)
        all_fired += fired(firing.occurrences)
        job = after_firing(job, firing)

    assert all_fired == [NOON + n * MINUTE for n in range(97, 102)]


def test_ignore_runs_no_missed_time_and_goes_on() -> None:
    schedule = Schedule(HOURLY, misfire=Misfire.IGNORE)

    firing = step(job_with(schedule, due=NOON), now=NOON + 3 * HOUR + 10 * MINUTE)

    assert fired(firing.occurrences) == []
    assert skipped(firing.occurrences) == [(NOON, 4, SkipReason.MISFIRE)]
    assert firing.next_run_time == NOON + 4 * HOUR
    assert firing.last_run_time is None


def test_reschedule_counts_an_interval_anew_from_now() -> None:
    schedule = Schedule(Interval(7 * MINUTE, anchor=NOON), misfire=Misfire.RESCHEDULE)
    now = NOON + HOUR

    firing = step(job_with(schedule, due=NOON), now=now)

    assert skipped(firing.occurrences) == [(NOON, 9, SkipReason.MISFIRE)]
    assert (firing.anchor, firing.next_run_time) == (now, now + 7 * MINUTE)
    again = step(after_firing(job_with(schedule, due=NOON), firing), now=now + 7 * MINUTE)
    assert fired(again.occurrences) == [now + 7 * MINUTE]
    assert (again.anchor, again.next_run_time) == (now, now + 14 * MINUTE)


def test_reschedule_takes_the_times_still_in_grace_along_when_it_counts_anew() -> None:
    schedule = Schedule(Interval(10 * SECOND, anchor=NOON), misfire=Misfire.RESCHEDULE)
    now = NOON + 90 * SECOND

    firing = step(job_with(schedule, due=NOON), now=now)

    assert skipped(firing.occurrences) == [(NOON, 10, SkipReason.MISFIRE)]
    assert firing.next_run_time == now + 10 * SECOND


def test_reschedule_takes_one_step_for_a_backlog_of_any_length() -> None:
    schedule = Schedule(Interval(SECOND, anchor=NOON), misfire=Misfire.RESCHEDULE, calendar="holidays")
    now = NOON + 30 * DAY

    firing = step(job_with(schedule, due=NOON), now=now, limit=1, excluded=frozenset({date(2026, 6, 7)}))

    assert skipped(firing.occurrences) == [(NOON, 30 * 86_400 + 1, SkipReason.MISFIRE)]
    assert firing.next_run_time == now + SECOND


def test_reschedule_leaves_an_interval_alone_that_is_in_time() -> None:
    schedule = Schedule(EVERY_MINUTE, misfire=Misfire.RESCHEDULE)

    firing = step(job_with(schedule, due=NOON), now=NOON + SECOND)

    assert fired(firing.occurrences) == [NOON]
    assert (firing.anchor, firing.next_run_time) == (None, NOON + MINUTE)


def test_reschedule_of_a_cron_expression_waits_for_its_next_time() -> None:
    schedule = Schedule(HOURLY, misfire=Misfire.RESCHEDULE)

    firing = step(job_with(schedule, due=NOON), now=NOON + 90 * MINUTE)

    assert skipped(firing.occurrences) == [(NOON, 2, SkipReason.MISFIRE)]
    assert (firing.anchor, firing.next_run_time) == (None, NOON + 2 * HOUR)


@pytest.mark.parametrize("misfire", Misfire)
@pytest.mark.parametrize("missed", [1, 61, 100, 101, 1440])
def test_no_number_of_missed_times_stops_a_schedule_for_good(misfire: Misfire, missed: int) -> None:
    schedule = Schedule(EVERY_MINUTE, misfire=misfire)
    job, now = job_with(schedule, due=NOON), NOON + missed * MINUTE

    for _ in range(missed // 100 + 2):
        if job.next_run_time is not None and job.next_run_time <= now:
            job = after_firing(job, step(job, now=now, limit=100))

    assert job.status is JobStatus.ACTIVE
    assert job.next_run_time is not None
    assert now < job.next_run_time <= now + MINUTE
