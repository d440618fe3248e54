"""Which due times still fire when a scheduler comes to them, and why the others do not.

A due time is missed if it is older than the grace time. The missed ones are a beginning of all due times,
so each policy comes down to one question: from which missed one on do they fire? The answer is looked up
backwards from now. It does not depend on where a bounded step begins, so a backlog that takes many steps
is decided as if it were one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from typing import assert_never

from gnomon.core.schedules.occurrence import SkipReason
from gnomon.core.time.nominal import Tick, Ticks, zone_of
from gnomon.core.time.schedule import Misfire
from gnomon.core.values.instants import MICROSECOND


@dataclass(frozen=True, slots=True)
class ClosedDays:
    """The dates on which a schedule does not fire, read in its zone."""

    excluded: frozenset[date]
    zone: tzinfo

    def excludes(self, instant: datetime) -> bool:
        return bool(self.excluded) and instant.astimezone(self.zone).date() in self.excluded

    def start_of_day(self, instant: datetime) -> datetime:
        """Where the civil day of an instant begins; never later than the instant."""
        midnight = datetime.combine(instant.astimezone(self.zone).date(), time(), self.zone)
        # A shift at midnight gives it two meanings. The later one leaves no part of the day before out.
        begins = max(midnight.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
        return min(begins, instant)


@dataclass(frozen=True, slots=True)
class Judge:
    """Decides about single due times. What depends on the others was looked up when the judge was made."""

    policy: Misfire
    closed: ClosedDays
    paused: bool
    missed_before: datetime
    window_from: datetime | None
    missed_fire_from: datetime | None  # None: no missed one fires.

    def reason_to_skip(self, tick: Tick) -> SkipReason | None:
        if tick.lost:
            return SkipReason.DST_GAP
        if self.paused:
            return SkipReason.PAUSED
        if self.closed.excludes(tick.at):
            return SkipReason.CALENDAR
        if not self.is_missed(tick):
            return None
        if self.missed_fire_from is not None and tick.at >= self.missed_fire_from:
            return None
        if self.policy is not Misfire.FIRE_ALL:
            return SkipReason.MISFIRE
        is_outside = self.window_from is not None and tick.at < self.window_from
        return SkipReason.CATCHUP_WINDOW if is_outside else SkipReason.CATCHUP_LIMIT

    def is_missed(self, tick: Tick) -> bool:
        return tick.at < self.missed_before


def judge(
    ticks: Ticks, *, first: datetime, now: datetime, excluded_dates: frozenset[date], paused: bool
) -> Judge:
    """The judge over the due times from `first` to `now`."""
    schedule = ticks.schedule
    closed = ClosedDays(excluded_dates, zone_of(schedule))
    missed_before = now - schedule.misfire_grace
    window_from = now - schedule.catchup_window if schedule.catchup_window is not None else None
    fire_from = None
    if first < missed_before and not paused:
        fire_from = _missed_fire_from(ticks, closed, first=max(first, window_from or first), now=now)
    return Judge(schedule.misfire, closed, paused, missed_before, window_from, fire_from)


def _missed_fire_from(ticks: Ticks, closed: ClosedDays, *, first: datetime, now: datetime) -> datetime | None:
    schedule = ticks.schedule
    match schedule.misfire:
        case Misfire.IGNORE | Misfire.RESCHEDULE:
            return None
        case Misfire.FIRE_NOW:
            # "Once" is the promise: if the latest is still in time, that one is the catch-up.
            return last_that_may_fire(ticks, closed, before=now + MICROSECOND)
        case Misfire.FIRE_ALL:
            oldest, at = None, now - schedule.misfire_grace
            for _ in range(schedule.catchup_limit):
                found = last_that_may_fire(ticks, closed, before=at)
                if found is None or found < first:
                    break
                oldest = at = found
            return oldest
        case _:
            assert_never(schedule.misfire)


def last_that_may_fire(ticks: Ticks, closed: ClosedDays, *, before: datetime) -> datetime | None:
    """The latest nominal time before an instant that neither a DST gap nor the calendar takes out.

    Goes over excluded dates day by day, so it is bounded by the size of the calendar.
    """
    while (tick := ticks.before(before)) is not None:
        if closed.excludes(tick.at):
            before = closed.start_of_day(tick.at)
        elif tick.lost:
            before = tick.at
        else:
            return tick.at
    return None
