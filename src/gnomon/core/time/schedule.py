"""When a job runs: the timing, its bounds, and what to do with times that were missed or that overlap.

This module says what a schedule is. `core/time/nominal.py` says which times follow from it,
`core/schedules/firing.py` what becomes of each of them, and `core/time/schedule_document.py` how a schedule
is written down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from gnomon.core.time import dst
from gnomon.core.time.dst import Fold, Gap
from gnomon.core.values.choices import Choice
from gnomon.core.values.document import check_name
from gnomon.core.values.instants import check_duration, check_instant
from gnomon.errors import InvalidInput

INTERVAL_MIN = timedelta(seconds=1)
INTERVAL_MAX = timedelta(days=3660)
DELAY_MAX = timedelta(days=3660)
JITTER_MAX = timedelta(days=1)
MISFIRE_GRACE_MAX = timedelta(days=30)
CATCHUP_LIMIT_MAX = 10_000
CATCHUP_WINDOW_MAX = timedelta(days=3660)
RUNS_MAX = 1_000_000_000
_ZERO = timedelta(0)


class Misfire(Choice):
    """What becomes of a due time that is older than the grace time when a scheduler comes to it."""

    FIRE_NOW = "FIRE_NOW"  # The latest missed one runs, once.
    FIRE_ALL = "FIRE_ALL"  # Every missed one runs, oldest first, within the catch-up bounds.
    IGNORE = "IGNORE"  # None runs.
    RESCHEDULE = "RESCHEDULE"  # None runs, and an interval counts anew from now.


class Overlap(Choice):
    """What a fire does while an earlier run of the same job is live."""

    ALLOW = "allow"  # Run beside it.
    SKIP = "skip"  # Do not run.
    QUEUE = "queue"  # Wait until it has ended.
    REPLACE = "replace"  # Cancel it and run.


# How times come about -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CronTiming:
    """A cron expression read in the civil time of a zone, with a policy for both sides of a DST change."""

    expression: str
    timezone: str = "UTC"
    gap: Gap = Gap.SHIFT
    fold: Fold = Fold.FIRST

    def __post_init__(self) -> None:
        check_name(self.expression, field="cron")
        check_name(self.timezone, field="timezone")
        _check_choice(Gap, self.gap, "gap")
        _check_choice(Fold, self.fold, "fold")
        self._times()  # Raises what is wrong.

    def ends_before(self, now: datetime) -> bool:
        """Whether its last time has passed, as that of an expression with years may have."""
        return self._times().next(now) is None

    def _times(self) -> dst.CronTimes:
        return dst.times(self.expression, self.timezone, gap=self.gap, fold=self.fold)


@dataclass(frozen=True, slots=True)
class LostCron(CronTiming):
    """One that was kept and cannot be read any more: its zone has left tzdata since. It has no times.

    Only a store makes it, so that its job can still be seen, repaired and deleted, and its runs can end.
    """

    def __post_init__(self) -> None:
        check_name(self.expression, field="cron")
        check_name(self.timezone, field="timezone")

    @property
    def reason(self) -> InvalidInput:
        try:
            CronTiming(self.expression, self.timezone, self.gap, self.fold)
        except InvalidInput as error:
            return error
        return InvalidInput("cron", "could not be read when it was looked at.")


@dataclass(frozen=True, slots=True)
class Interval:
    """anchor + n x every, for every whole n: no drift. Without an anchor, counted from the creation."""

    every: timedelta
    anchor: datetime | None = None

    def __post_init__(self) -> None:
        check_duration(self.every, field="interval_seconds", low=INTERVAL_MIN, high=INTERVAL_MAX)
        _keep_in_utc(self, "anchor")


@dataclass(frozen=True, slots=True)
class Once:
    """One instant. It may lie in the past: then it was missed, and the misfire policy decides."""

    at: datetime

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", check_instant(self.at, field="run_at"))


@dataclass(frozen=True, slots=True)
class Delayed:
    """A delay from the creation of the job. `at` is the instant this came to, once it was created."""

    delay: timedelta
    at: datetime | None = None

    def __post_init__(self) -> None:
        check_duration(self.delay, field="delay_seconds", low=_ZERO, high=DELAY_MAX)
        _keep_in_utc(self, "at", field="run_at")


@dataclass(frozen=True, slots=True)
class Manual:
    """Runs only when somebody asks."""


Timing = CronTiming | Interval | Once | Delayed | Manual


# The schedule -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Schedule:
    """A timing, its bounds and its policies. Both bounds are inclusive. `Schedule()` is manual."""

    timing: Timing = Manual()
    start_at: datetime | None = None
    end_at: datetime | None = None
    max_runs: int | None = None
    jitter: timedelta = _ZERO
    calendar: str | None = None
    misfire: Misfire = Misfire.FIRE_NOW
    misfire_grace: timedelta = timedelta(seconds=60)
    catchup_limit: int = 100
    catchup_window: timedelta | None = None
    overlap: Overlap = Overlap.ALLOW

    def __post_init__(self) -> None:
        assert isinstance(self.timing, Timing)
        _keep_in_utc(self, "start_at")
        _keep_in_utc(self, "end_at")
        _check_bounds(self)
        check_duration(self.jitter, field="jitter_seconds", low=_ZERO, high=JITTER_MAX)
        if isinstance(self.timing, Interval) and self.jitter > self.timing.every:
            raise InvalidInput("jitter_seconds", "must not be longer than the interval.")
        if self.max_runs is not None:
            _check_whole(self.max_runs, "max_runs", RUNS_MAX)
        if self.calendar is not None:
            check_name(self.calendar, field="calendar")
        _check_choice(Misfire, self.misfire, "misfire_policy")
        check_duration(self.misfire_grace, field="misfire_grace_seconds", low=_ZERO, high=MISFIRE_GRACE_MAX)
        _check_whole(self.catchup_limit, "catchup_limit", CATCHUP_LIMIT_MAX)
        if self.catchup_window is not None:
            check_duration(
                self.catchup_window, field="catchup_window_seconds", low=INTERVAL_MIN, high=CATCHUP_WINDOW_MAX
            )
        _check_choice(Overlap, self.overlap, "overlap_policy")


def resolved(schedule: Schedule, *, now: datetime) -> Schedule:
    """The schedule with what depends on the moment of creation pinned to it: call once, when a job is made.

    A delay becomes an instant; an interval without an anchor counts from `start_at`, else from now.
    """
    match schedule.timing:
        case Delayed(delay, at=None):
            return replace(schedule, timing=Delayed(delay, now + delay))
        case Interval(every, anchor=None):
            return replace(schedule, timing=Interval(every, schedule.start_at or now))
        case _:
            return schedule


def _check_bounds(schedule: Schedule) -> None:
    start_at, end_at, timing = schedule.start_at, schedule.end_at, schedule.timing
    if start_at is not None and end_at is not None and not start_at < end_at:
        raise InvalidInput("end_at", "must be later than start_at.")
    if isinstance(timing, Once | Delayed) and timing.at is not None:
        if start_at is not None and timing.at < start_at:
            raise InvalidInput(
                "start_at", "lies after the only time of this schedule, so it could never run."
            )
        if end_at is not None and timing.at > end_at:
            raise InvalidInput("end_at", "lies before the only time of this schedule, so it could never run.")


def _keep_in_utc(owner: object, attribute: str, *, field: str | None = None) -> None:
    value = getattr(owner, attribute)
    if value is not None:
        object.__setattr__(owner, attribute, check_instant(value, field=field or attribute))


def _check_whole(value: object, field: str, high: int) -> None:
    if type(value) is not int or not 1 <= value <= high:
        raise InvalidInput(field, f"{value!r} is not a whole number from 1 to {high}.")


def _check_choice(choices: type[StrEnum], value: object, field: str) -> None:
    if not isinstance(value, choices):
        raise InvalidInput(field, f"{value!r} is not one of {', '.join(choices)}.")
