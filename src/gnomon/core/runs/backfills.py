"""Runs of the past: which nominal times of a range are run, from what became of each of them.

A backfill is kept: which times it runs is settled when it is made, and a run of each begins when there is
room for it among those that the backfill may have at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import NewType, assert_never
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.jobs.job import JobId, check_priority
from gnomon.core.runs.state import RunStatus
from gnomon.core.schedules.misfire import ClosedDays
from gnomon.core.time.nominal import Ticks, zone_of
from gnomon.core.time.schedule import CronTiming, Interval, LostCron, Schedule
from gnomon.core.values.choices import Choice
from gnomon.core.values.document import Document
from gnomon.core.values.instants import MICROSECOND, check_instant, parse_instant
from gnomon.errors import IllegalTransition, InvalidInput

BackfillId = NewType("BackfillId", UUID)

CONCURRENCY_MAX = 100
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
BACKFILL_RUNS_MAX = 10_000
TIMES_PER_RUN_MAX = 10  # How many times are looked at for each that may run: a second of work, and no more.


class Existing(Choice):
    """What a backfill does about times that have a run already."""

    SKIP = "skip_existing"  # Only times without a run.
    ONLY_FAILED = "only_failed"  # Only times whose last run failed or was cancelled.
    ALL = "all"  # Every time; one whose run is under way is left alone.


# The plan --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BackfillPlan:
    """The past to run, oldest first. `left_out` counts the times that do not run, by reason."""

    first: datetime
    last: datetime
    times: tuple[datetime, ...]
    left_out: Mapping[str, int]

    @property
    def count(self) -> int:
        return len(self.times)


def plan_backfill(
    schedule: Schedule,
    *,
    start: datetime,
    end: datetime,
    existing: Existing,
    runs: Mapping[datetime, RunStatus],
    seed: str,
    anchor: datetime | None = None,
    cursor: datetime | None = None,
    excluded_dates: frozenset[date] = frozenset(),
    runs_max: int = BACKFILL_RUNS_MAX,
) -> BackfillPlan:
    """The nominal times from `start` to `end`, both included, that would run. A dry run shows just this.

    `runs` says how the latest run of each nominal time stands. From `cursor` on, times belong to the
    schedule, which comes to them by itself. The bounds of the schedule hold here too, but not `max_runs`: it
    counts fires, and a backfill is none.
    """
    start, end = check_instant(start, field="start"), check_instant(end, field="end")
    _check(schedule, start, end)
    times: list[datetime] = []
    left_out: dict[str, int] = {}
    for at, reason in _times(schedule, start, end, seed=seed, anchor=anchor, excluded_dates=excluded_dates):
        if cursor is not None and at >= cursor:
            reason = "scheduled"
        reason = reason or _reason_to_leave_out(existing, runs.get(at))
        if reason is not None:
            left_out[reason] = left_out.get(reason, 0) + 1
            if sum(left_out.values()) > TIMES_PER_RUN_MAX * runs_max:
                most = TIMES_PER_RUN_MAX * runs_max
                raise InvalidInput("start", f"more than {most} times are left out; take a shorter range.")
        elif len(times) == runs_max:
            raise InvalidInput("end", f"more than {runs_max} runs; take a shorter range.")
        else:
            times.append(at)
    return BackfillPlan(start, end, tuple(times), left_out)


def _check(schedule: Schedule, start: datetime, end: datetime) -> None:
    if end < start:
        raise InvalidInput("end", "lies before start.")
    if isinstance(schedule.timing, LostCron):
        raise schedule.timing.reason
    if not isinstance(schedule.timing, CronTiming | Interval):
        raise InvalidInput("schedule", "has no times of its own; a backfill needs cron or an interval.")


def bounds(schedule: Schedule, start: str, end: str) -> tuple[datetime, datetime]:
    """From what somebody wrote. A day is one of the schedule's zone, from its first instant to its last."""
    first, last = _day(start, field="start"), _day(end, field="end")
    zone = zone_of(schedule)
    return (
        _instant(start, field="start") if first is None else datetime.combine(first, time(), zone),
        _instant(end, field="end")
        if last is None
        else datetime.combine(last + timedelta(days=1), time(), zone) - MICROSECOND,
    )


def _day(text: str, *, field: str) -> date | None:
    if not _DAY.fullmatch(text):
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise InvalidInput(field, f"{text!r} is not a day: {error}.") from None
    check_instant(datetime.combine(day, time(12), UTC), field=field)
    return day


def _instant(text: str, *, field: str) -> datetime:
    try:
        return parse_instant(text, field=field)
    except InvalidInput as error:
        raise InvalidInput(field, f"{error.reason} A day, such as 2026-03-29, will do, too.") from None


def _times(
    schedule: Schedule,
    start: datetime,
    end: datetime,
    *,
    seed: str,
    anchor: datetime | None,
    excluded_dates: frozenset[date],
) -> Iterator[tuple[datetime, str | None]]:
    closed = ClosedDays(excluded_dates, zone_of(schedule))
    ticks = Ticks.of(schedule, seed=seed, anchor=anchor, known=start)
    tick = ticks.after(start - MICROSECOND)
    while tick is not None and tick.at <= end:
        yield tick.at, "dst_gap" if tick.lost else "calendar" if closed.excludes(tick.at) else None
        tick = ticks.after(tick.at)


def _reason_to_leave_out(existing: Existing, status: RunStatus | None) -> str | None:
    is_live = status is not None and not status.is_final
    match existing:
        case Existing.SKIP:
            return None if status is None else "exists"
        case Existing.ONLY_FAILED:
            return None if status in (RunStatus.FAILED, RunStatus.CANCELLED) else "not_failed"
        case Existing.ALL:
            return "under_way" if is_live else None
        case _:
            assert_never(existing)


# What is kept of it ----------------------------------------------------------------------------------


class BackfillStatus(Choice):
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"  # No more runs begin. Those under way go on.
    COMPLETED = "COMPLETED"  # All its runs have ended, in whatever way.
    CANCELLED = "CANCELLED"

    @property
    def is_final(self) -> bool:
        return self in (BackfillStatus.COMPLETED, BackfillStatus.CANCELLED)


class BackfillAction(StrEnum):
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"


class TimeState(StrEnum):
    """How far a time of a backfill is."""

    WAITING = "WAITING"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


@dataclass(frozen=True, slots=True)
class BackfillTerms:
    """How it goes about it. `priority` is that of all tasks of its runs; None: as each of them says.

    `config` goes over the configuration of the workflow in each run, key by key.
    """

    existing: Existing = Existing.SKIP
    concurrency: int = 1
    priority: int | None = None
    config: Document | None = None

    def __post_init__(self) -> None:
        if type(self.concurrency) is not int or not 1 <= self.concurrency <= CONCURRENCY_MAX:
            raise InvalidInput("concurrency", f"is not a whole number from 1 to {CONCURRENCY_MAX}.")
        if self.priority is not None:
            check_priority(self.priority)


@dataclass(frozen=True, slots=True)
class NewBackfill:
    id: BackfillId
    tenant_id: TenantId
    dag_id: JobId
    terms: BackfillTerms
    plan: BackfillPlan


@dataclass(frozen=True, slots=True)
class Backfill:
    """As a reader sees it. The numbers count its times, each as its run first ended."""

    id: BackfillId
    tenant_id: TenantId
    dag_id: JobId
    status: BackfillStatus
    first: datetime
    last: datetime
    terms: BackfillTerms
    waiting: int
    running: int
    completed: int
    failed: int
    cancelled: int
    created_at: datetime
    finished_at: datetime | None

    @property
    def total(self) -> int:
        return self.waiting + self.running + self.completed + self.failed + self.cancelled


@dataclass(frozen=True, slots=True)
class BackfillTime:
    """A nominal time of it. It has a run from when it began; it has none if it was cancelled before."""

    nominal_time: datetime
    state: TimeState
    run_id: ExecutionId | None


def after_action(status: BackfillStatus, action: BackfillAction) -> BackfillStatus:
    """Raises IllegalTransition. To ask for what is already so is fine."""
    if status.is_final and (action, status) != (BackfillAction.CANCEL, BackfillStatus.CANCELLED):
        raise IllegalTransition("backfill", status=status, action=action)
    match action:
        case BackfillAction.PAUSE:
            return BackfillStatus.PAUSED
        case BackfillAction.RESUME:
            return BackfillStatus.RUNNING
        case BackfillAction.CANCEL:
            return BackfillStatus.CANCELLED
        case _:
            assert_never(action)


def room(status: BackfillStatus, *, concurrency: int, running: int) -> int:
    """How many more runs may begin."""
    return max(0, concurrency - running) if status is BackfillStatus.RUNNING else 0
