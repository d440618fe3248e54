"""Whatever people do to a job, and whenever: every nominal time of its schedule has exactly one outcome."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.executions.lifecycle import JOB_TRANSITIONS, JobAction
from gnomon.core.jobs.job import Job, JobStatus
from gnomon.core.schedules.firing import plan
from gnomon.core.schedules.occurrence import Firing, Occurrence, SkipReason
from gnomon.core.schedules.rescheduling import (
    SETTLING,
    course_after,
    course_of_new,
    is_behind,
    settled,
    since,
)
from gnomon.core.time.nominal import Ticks, seed_of
from gnomon.core.time.schedule import CronTiming, Delayed, Interval, Manual, Misfire, Once, Schedule
from gnomon.errors import InvalidCron
from tests.unit.core.builders import (
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    after_firing,
    counted_ids,
    fired,
    job_with,
    skipped,
)

HOURLY = Schedule(CronTiming("0 * * * *"))


# Stories --------------------------------------------------------------------------------------------


def settle(
    job: Job, action: JobAction, now: datetime, limit: int = 1000
) -> tuple[Job, tuple[Occurrence, ...]]:
    rows: tuple[Occurrence, ...] = ()
    while is_behind(job, now=now):
        firing = settled(
            job, action, now=now, live=0, excluded_dates=frozenset(), new_id=counted_ids(), limit=limit
        )
        job, rows = after_firing(job, firing), rows + firing.occurrences
    return job, rows


def test_an_expression_whose_years_have_passed_is_refused_and_one_that_ends_is_not() -> None:
    past = Schedule(CronTiming(f"0 0 12 * * * {NOON.year - 1}"))
    with pytest.raises(InvalidCron, match="its years have passed"):
        course_of_new(past, now=NOON, seed="")
    with pytest.raises(InvalidCron, match="its years have passed"):
        course_after(job_with(HOURLY, due=NOON + HOUR), past, name="report", now=NOON)

    ends = Schedule(CronTiming(f"0 0 12 31 12 * {NOON.year}"))
    assert course_of_new(ends, now=NOON, seed="").next_run_time == NOON.replace(month=12, day=31)


def test_due_times_of_a_paused_job_are_skipped_before_it_is_resumed() -> None:
    job, rows = settle(job_with(HOURLY, due=NOON, paused=True), JobAction.RESUME, NOON + 2 * HOUR)

    assert skipped(rows) == [(NOON, 3, SkipReason.PAUSED)]
    assert (job.status, job.next_run_time) == (JobStatus.PAUSED, NOON + 3 * HOUR)


@pytest.mark.parametrize("schedule", [HOURLY, Schedule(Interval(HOUR, NOON))])
def test_a_change_counts_from_the_last_time_that_is_decided_even_if_our_clock_is_slow(
    schedule: Schedule,
) -> None:
    fired_at_noon = job_with(schedule, due=NOON + HOUR)

    assert since(fired_at_noon, now=NOON - SECOND) == NOON
    assert since(fired_at_noon, now=NOON + SECOND) == NOON + SECOND


def test_a_change_of_a_job_without_due_times_counts_from_now() -> None:
    assert since(job_with(Schedule(Manual()), due=None), now=NOON) == NOON


def test_due_times_fire_as_the_old_revision_says_before_an_update() -> None:
    _, rows = settle(job_with(HOURLY, due=NOON), JobAction.UPDATE, NOON + SECOND)

    assert fired(rows) == [NOON]


@pytest.mark.parametrize("action", [JobAction.CANCEL, JobAction.DELETE])
def test_nothing_starts_because_a_job_is_ended(action: JobAction) -> None:
    job, rows = settle(job_with(HOURLY, due=NOON), action, NOON + SECOND)

    assert skipped(rows) == [(NOON, 1, SkipReason.CANCELLED)]
    assert job.status is JobStatus.ACTIVE


def test_the_last_time_of_a_job_that_is_ended_completes_it_first() -> None:
    job, rows = settle(job_with(Schedule(Once(NOON)), due=NOON), JobAction.CANCEL, NOON)

    assert skipped(rows) == [(NOON, 1, SkipReason.CANCELLED)]
    assert job.status is JobStatus.COMPLETED


def test_the_same_schedule_sent_again_changes_nothing() -> None:
    for schedule in (
        HOURLY,
        Schedule(Interval(HOUR)),
        Schedule(Delayed(HOUR)),
        Schedule(Once(NOON)),
        Schedule(),
    ):
        course = course_of_new(
            schedule, now=NOON, seed=seed_of(job_with(HOURLY, due=None).tenant_id, "nightly")
        )
        job = job_with(course.schedule, due=course.next_run_time)

        again = course_after(job, schedule, name=job.name, now=NOON - MINUTE)

        assert (again.schedule, again.next_run_time) == (job.definition.schedule, job.next_run_time)


def test_an_interval_of_another_length_counts_from_the_change() -> None:
    job = job_with(Schedule(Interval(HOUR, NOON)), due=NOON + HOUR)

    course = course_after(job, Schedule(Interval(MINUTE)), name=job.name, now=NOON + SECOND)

    assert course.next_run_time == NOON + SECOND + MINUTE


def test_a_moved_interval_stays_where_a_misfire_moved_it_if_only_a_policy_changes() -> None:
    moved = NOON + 7 * SECOND
    job = replace(job_with(Schedule(Interval(HOUR, NOON)), due=moved + HOUR), anchor=moved)

    course = course_after(
        job, Schedule(Interval(HOUR), misfire=Misfire.IGNORE), name=job.name, now=NOON + MINUTE
    )

    assert (course.next_run_time, course.anchor) == (moved + HOUR, moved)


def test_a_time_that_came_once_does_not_come_again_with_another_policy() -> None:
    job = replace(job_with(Schedule(Once(NOON)), due=None, fires=1), status=JobStatus.COMPLETED)

    course = course_after(job, Schedule(Once(NOON), misfire=Misfire.IGNORE), name=job.name, now=NOON + HOUR)

    assert course.next_run_time is None


def test_another_instant_in_the_past_is_a_time_that_was_missed() -> None:
    job = job_with(Schedule(), due=None)

    assert course_after(job, Schedule(Once(NOON)), name=job.name, now=NOON + HOUR).next_run_time == NOON


def test_fires_so_far_count_against_a_new_number_of_runs() -> None:
    job = job_with(HOURLY, due=NOON, fires=3)

    assert (
        course_after(job, replace(HOURLY, max_runs=3), name=job.name, now=NOON - MINUTE).next_run_time is None
    )
    assert (
        course_after(job, replace(HOURLY, max_runs=4), name=job.name, now=NOON - MINUTE).next_run_time == NOON
    )


def test_an_expression_that_is_spread_by_the_name_moves_with_the_name() -> None:
    spread = Schedule(CronTiming("H * * * *"))
    job = job_with(spread, due=NOON + HOUR)

    courses = {course_after(job, spread, name=name, now=NOON).next_run_time for name in "abcdefgh"}

    assert len(courses) > 1


# Any story ------------------------------------------------------------------------------------------


@dataclass
class Epoch:
    """A schedule, from when on it held, and what the ledger got while it did."""

    schedule: Schedule
    begins: datetime
    rows: list[Occurrence] = field(default_factory=list)


@dataclass
class Life:
    """A job in the hands of a scheduler and of people, as the client and the engine treat it."""

    job: Job
    now: datetime
    epochs: list[Epoch]

    def step(self) -> None:
        if is_behind(self.job, now=self.now):
            self.note(plan(
                self.job, now=self.now, live=0, excluded_dates=frozenset(), new_id=counted_ids(), limit=3
            ))  # fmt: skip

    def note(self, firing: Firing) -> None:
        self.job = after_firing(self.job, firing)
        self.epochs[-1].rows += firing.occurrences

    def act(self, action: JobAction, schedule: Schedule) -> None:
        if (self.job.status, action) not in JOB_TRANSITIONS:
            return
        if action in SETTLING:
            self.job, rows = settle(self.job, action, self.now, limit=3)
            self.epochs[-1].rows += rows
            if (self.job.status, action) not in JOB_TRANSITIONS:
                return
        status = JOB_TRANSITIONS[self.job.status, action]
        if action is JobAction.UPDATE:
            course = course_after(self.job, schedule, name=self.job.name, now=self.now)
            if course.schedule != self.job.definition.schedule:
                self.epochs.append(Epoch(course.schedule, self.now))
            is_over = course.next_run_time is None and not isinstance(course.schedule.timing, Manual)
            self.job = replace(
                self.job,
                definition=replace(self.job.definition, schedule=course.schedule),
                next_run_time=course.next_run_time,
                anchor=course.anchor,
                status=JobStatus.COMPLETED if is_over else status,
            )
        else:
            is_live = status in (JobStatus.ACTIVE, JobStatus.PAUSED)
            self.job = replace(
                self.job, status=status, next_run_time=self.job.next_run_time if is_live else None
            )


def nominal_times(epoch: Epoch, job: Job, until: datetime) -> Iterator[datetime]:
    ticks = Ticks.of(epoch.schedule, seed=seed_of(job.tenant_id, job.name), anchor=None, known=epoch.begins)
    tick = ticks.after(epoch.begins)
    while tick is not None and tick.at <= until:
        yield tick.at
        tick = ticks.after(tick.at)


timings = st.sampled_from([
    CronTiming("* * * * *"),
    CronTiming("*/7 * * * *"),
    CronTiming("H/5 * * * *"),
    Interval(timedelta(seconds=90)),
    Interval(timedelta(seconds=60), NOON),
    Manual(),
])  # fmt: skip
schedules = st.builds(
    Schedule,
    timing=timings,
    misfire=st.sampled_from([Misfire.FIRE_NOW, Misfire.FIRE_ALL, Misfire.IGNORE]),
    catchup_limit=st.integers(1, 3),
)
people = st.sampled_from([JobAction.UPDATE, JobAction.PAUSE, JobAction.RESUME, None, None])
moments = st.tuples(st.integers(0, 600), people, schedules)


@given(schedules, st.lists(moments, max_size=25))
def test_no_nominal_time_is_lost_or_decided_twice(
    schedule: Schedule, moments: list[tuple[int, JobAction | None, Schedule]]
) -> None:
    job = job_with(schedule, due=None)
    course = course_of_new(schedule, now=NOON, seed=seed_of(job.tenant_id, job.name))
    job = replace(
        job,
        definition=replace(job.definition, schedule=course.schedule),
        next_run_time=course.next_run_time,
    )
    life = Life(job, NOON, [Epoch(course.schedule, NOON)])

    for seconds, action, wanted in moments:
        life.now += timedelta(seconds=seconds)
        if action is None:
            life.step()
        else:
            life.act(action, wanted)
    life.job, rows = settle(life.job, JobAction.UPDATE, life.now)
    life.epochs[-1].rows += rows

    for epoch, ends in zip(
        life.epochs, [*(later.begins for later in life.epochs[1:]), life.now], strict=True
    ):
        expected = list(nominal_times(epoch, life.job, ends))
        assert sum(row.count for row in epoch.rows) == len(expected)
        assert all(row.nominal_time in expected and row.nominal_until in expected for row in epoch.rows)
        spans = [(row.nominal_time, row.nominal_until) for row in epoch.rows]
        assert all(before[1] < after[0] for before, after in pairwise(spans))
