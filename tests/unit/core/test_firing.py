"""What a scheduler does with a job whose time has come, story by story."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from gnomon.core.executions.execution import WaitsFor
from gnomon.core.jobs.job import JobStatus
from gnomon.core.schedules.occurrence import SkipReason
from gnomon.core.time.dst import Gap
from gnomon.core.time.schedule import CronTiming, Interval, Misfire, Once, Overlap, Schedule
from tests.unit.core.builders import (
    DAY,
    HOUR,
    JOB_ID,
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


def test_a_due_time_fires_and_the_next_one_is_set() -> None:
    job = job_with(Schedule(HOURLY), due=NOON)

    firing = step(job, now=NOON + SECOND)

    assert fired(firing.occurrences) == [NOON]
    assert firing.next_run_time == NOON + HOUR
    assert firing.last_run_time == NOON
    assert (firing.fires, firing.status, firing.anchor) == (1, JobStatus.ACTIVE, None)
    assert (firing.expected_version, firing.expected_next_run_time) == (job.version, NOON)


def test_a_job_that_is_not_due_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(AssertionError):
        step(job_with(Schedule(HOURLY), due=NOON), now=NOON - SECOND)


def test_jitter_moves_the_due_time_and_not_the_nominal_time() -> None:
    schedule = Schedule(HOURLY, jitter=timedelta(minutes=10))

    (row,) = step(job_with(schedule, due=NOON), now=NOON).occurrences

    assert row.nominal_time == NOON
    assert row.due is not None
    assert NOON < row.due < NOON + 10 * MINUTE


# Overlap, pauses, calendars, the clock ------------------------------------------------------------


def test_overlap_skip_does_not_fire_beside_a_live_run() -> None:
    schedule = Schedule(HOURLY, overlap=Overlap.SKIP)

    firing = step(job_with(schedule, due=NOON), now=NOON, live=1)

    assert skipped(firing.occurrences) == [(NOON, 1, SkipReason.OVERLAP)]
    assert firing.fires == 0


def test_overlap_skip_sees_the_fires_of_its_own_step() -> None:
    schedule = Schedule(HOURLY, overlap=Overlap.SKIP, misfire=Misfire.FIRE_ALL)

    firing = step(job_with(schedule, due=NOON), now=NOON + 2 * HOUR)

    assert fired(firing.occurrences) == [NOON]
    assert skipped(firing.occurrences) == [(NOON + HOUR, 2, SkipReason.OVERLAP)]


@pytest.mark.parametrize("overlap", [Overlap.ALLOW, Overlap.QUEUE, Overlap.REPLACE])
def test_the_other_overlap_policies_fire(overlap: Overlap) -> None:
    firing = step(job_with(Schedule(HOURLY, overlap=overlap), due=NOON), now=NOON, live=3)

    assert fired(firing.occurrences) == [NOON]


def test_overlap_replace_fires_only_the_last_of_several_due_times() -> None:
    schedule = Schedule(HOURLY, overlap=Overlap.REPLACE, misfire=Misfire.FIRE_ALL, max_runs=1)

    firing = step(job_with(schedule, due=NOON), now=NOON + 2 * HOUR, live=1)

    assert skipped(firing.occurrences) == [(NOON, 2, SkipReason.OVERLAP)]
    assert fired(firing.occurrences) == [NOON + 2 * HOUR]
    assert (firing.fires, firing.replaces, firing.status) == (1, True, JobStatus.COMPLETED)


def test_a_firing_that_skips_everything_replaces_nothing() -> None:
    schedule = Schedule(HOURLY, overlap=Overlap.REPLACE, misfire=Misfire.IGNORE)

    assert not step(job_with(schedule, due=NOON), now=NOON + 30 * MINUTE, live=1).replaces


@pytest.mark.parametrize("overlap", [Overlap.ALLOW, Overlap.SKIP, Overlap.QUEUE])
def test_the_other_overlap_policies_replace_nothing(overlap: Overlap) -> None:
    assert not step(job_with(Schedule(HOURLY, overlap=overlap), due=NOON), now=NOON).replaces


def test_a_firing_says_at_which_gate_its_runs_wait_and_since_when() -> None:
    job = replace(job_with(Schedule(HOURLY), due=NOON), dependencies=frozenset({JOB_ID}))

    first = step(job, now=NOON)
    second = step(after_firing(job, first), now=NOON + HOUR)

    assert (first.waits_for, first.previous_run_time) == (WaitsFor.JOBS, None)
    assert (second.waits_for, second.previous_run_time) == (WaitsFor.JOBS, NOON)


def test_a_paused_job_skips_its_times_and_stays_paused() -> None:
    schedule = Schedule(HOURLY, misfire=Misfire.FIRE_ALL)

    firing = step(job_with(schedule, due=NOON, paused=True), now=NOON + 3 * HOUR)

    assert skipped(firing.occurrences) == [(NOON, 4, SkipReason.PAUSED)]
    assert firing.status is JobStatus.PAUSED


def test_a_pause_does_not_move_an_interval() -> None:
    schedule = Schedule(EVERY_MINUTE, misfire=Misfire.RESCHEDULE)

    firing = step(job_with(schedule, due=NOON, paused=True), now=NOON + HOUR + SECOND)

    assert (firing.anchor, firing.next_run_time) == (None, NOON + 61 * MINUTE)


def test_a_calendar_is_read_in_the_zone_of_the_schedule() -> None:
    schedule = Schedule(CronTiming("30 1 * * *", "Pacific/Auckland"), calendar="holidays")
    due = at("06-01 13:30")  # The 2nd of June over there.

    firing = step(job_with(schedule, due=due), now=due, excluded=frozenset({date(2026, 6, 2)}))
    other = step(job_with(schedule, due=due), now=due, excluded=frozenset({date(2026, 6, 1)}))

    assert skipped(firing.occurrences) == [(due, 1, SkipReason.CALENDAR)]
    assert fired(other.occurrences) == [due]


def test_a_civil_time_in_a_gap_is_in_the_ledger_when_the_policy_is_skip() -> None:
    schedule = Schedule(CronTiming("30 2 * * *", "America/New_York", gap=Gap.SKIP), misfire=Misfire.FIRE_ALL)

    firing = step(job_with(schedule, due=at("03-07 07:30")), now=at("03-09 07:00"))

    assert fired(firing.occurrences) == [at("03-07 07:30"), at("03-09 06:30")]
    assert skipped(firing.occurrences) == [(at("03-08 07:00"), 1, SkipReason.DST_GAP)]


def test_a_gap_is_decided_on_the_day_of_the_gap() -> None:
    schedule = Schedule(CronTiming("30 2 * * *", "America/New_York", gap=Gap.SKIP))
    job = job_with(schedule, due=at("03-07 07:30"))

    job = after_firing(job, step(job, now=at("03-07 07:30")))
    assert job.next_run_time == at("03-08 07:00")

    firing = step(job, now=at("03-08 07:00"))
    assert skipped(firing.occurrences) == [(at("03-08 07:00"), 1, SkipReason.DST_GAP)]
    assert firing.next_run_time == at("03-09 06:30")


def test_several_times_lost_in_one_gap_are_one_row_with_a_count() -> None:
    schedule = Schedule(CronTiming("*/15 2 * * *", "America/New_York", gap=Gap.SKIP))

    firing = step(job_with(schedule, due=at("03-08 07:00")), now=at("03-08 07:00"))

    assert skipped(firing.occurrences) == [(at("03-08 07:00"), 4, SkipReason.DST_GAP)]


def test_a_regular_time_at_the_end_of_a_gap_fires_in_spite_of_the_lost_ones() -> None:
    schedule = Schedule(CronTiming("0,30 2,3 * * *", "America/New_York", gap=Gap.SKIP))

    firing = step(job_with(schedule, due=at("03-08 07:00")), now=at("03-08 07:00"))

    assert fired(firing.occurrences) == [at("03-08 07:00")]


# How schedules end ------------------------------------------------------------------------------------


def test_the_last_of_max_runs_completes_the_job() -> None:
    schedule = Schedule(HOURLY, max_runs=3, misfire=Misfire.FIRE_ALL)

    firing = step(job_with(schedule, due=NOON, fires=1), now=NOON + 9 * HOUR)

    assert fired(firing.occurrences) == [NOON, NOON + HOUR]
    assert skipped(firing.occurrences) == []
    assert (firing.status, firing.next_run_time, firing.fires) == (JobStatus.COMPLETED, None, 3)


def test_skipped_times_do_not_use_up_max_runs() -> None:
    schedule = Schedule(HOURLY, max_runs=2)

    firing = step(job_with(schedule, due=NOON), now=NOON + 3 * HOUR + 10 * MINUTE)

    assert (firing.fires, firing.status) == (1, JobStatus.ACTIVE)


def test_a_time_at_end_at_is_the_last_one() -> None:
    schedule = Schedule(HOURLY, end_at=NOON + HOUR, misfire=Misfire.FIRE_ALL)

    firing = step(job_with(schedule, due=NOON), now=NOON + 5 * HOUR)

    assert fired(firing.occurrences) == [NOON, NOON + HOUR]
    assert (firing.status, firing.next_run_time) == (JobStatus.COMPLETED, None)


def test_fire_now_finds_the_latest_time_of_a_schedule_that_has_ended() -> None:
    schedule = Schedule(HOURLY, end_at=NOON + HOUR)

    firing = step(job_with(schedule, due=NOON), now=NOON + 5 * HOUR)

    assert fired(firing.occurrences) == [NOON + HOUR]
    assert firing.status is JobStatus.COMPLETED


def test_a_paused_job_completes_when_nothing_is_left() -> None:
    schedule = Schedule(HOURLY, end_at=NOON)

    firing = step(job_with(schedule, due=NOON, paused=True), now=NOON)

    assert skipped(firing.occurrences) == [(NOON, 1, SkipReason.PAUSED)]
    assert (firing.status, firing.next_run_time) == (JobStatus.COMPLETED, None)


def test_an_instant_that_has_passed_fires_and_completes() -> None:
    firing = step(job_with(Schedule(Once(NOON - 300 * DAY)), due=NOON - 300 * DAY), now=NOON)

    assert fired(firing.occurrences) == [NOON - 300 * DAY]
    assert (firing.status, firing.next_run_time) == (JobStatus.COMPLETED, None)


def test_an_interval_that_counts_anew_ends_at_its_bound() -> None:
    schedule = Schedule(EVERY_MINUTE, misfire=Misfire.RESCHEDULE, end_at=NOON + 30 * MINUTE)

    firing = step(job_with(schedule, due=NOON), now=NOON + 29 * MINUTE + 30 * SECOND)

    assert skipped(firing.occurrences) == [(NOON, 30, SkipReason.MISFIRE)]
    assert (firing.status, firing.next_run_time) == (JobStatus.COMPLETED, None)


def test_a_step_stops_at_its_limit_and_the_next_one_goes_on_there() -> None:
    schedule = Schedule(MINUTELY, misfire=Misfire.IGNORE)

    firing = step(job_with(schedule, due=NOON), now=NOON + DAY, limit=10)

    assert skipped(firing.occurrences) == [(NOON, 10, SkipReason.MISFIRE)]
    assert (firing.status, firing.next_run_time) == (JobStatus.ACTIVE, NOON + 10 * MINUTE)
