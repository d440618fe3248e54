"""From civil times to instants: what a schedule does where the clock on the wall jumps or repeats.

An instant is an aware datetime in UTC. `docs/explanation/daylight-saving.md` holds the rules in words.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from gnomon.core.time import zones
from gnomon.core.time.cron import YEAR_MAX, YEAR_MIN, Cron, parse
from gnomon.core.time.zones import Shift, shift_around, shifts_between
from gnomon.core.values.choices import Choice

# Together some 20 MB, when every shared schedule has been walked as far as it remembers.
SHARED_SCHEDULES_MAX = 4096
KNOWN_TIMES_MAX = 64


class Gap(Choice):
    """What becomes of a civil time that does not exist."""

    SHIFT = "shift"
    SKIP = "skip"


class Fold(Choice):
    """Which of the two instants of a civil time that happens twice."""

    FIRST = "first"
    LAST = "last"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A civil time that does not exist, and the first instant after it."""

    civil: datetime
    instant: datetime


# H that is neither part of a name (THU) nor of a macro (@hourly).
_HASHED = re.compile(r"(?<![A-Za-z@])[Hh]")
# Two days of room: no offset of any zone is larger.
_CALENDAR_STARTS = datetime(YEAR_MIN, 1, 1, tzinfo=UTC) - timedelta(days=2)
_CALENDAR_ENDS = datetime(YEAR_MAX + 1, 1, 1, tzinfo=UTC) + timedelta(days=2)
_NOTHING_KNOWN = (datetime.max.replace(tzinfo=UTC),)
_ONE_DAY = timedelta(days=1)


class _KnownTimes:
    """Consecutive fire times found so far, behind the instant from which the search began.

    The tuple is replaced, never changed: a thread that reads it sees one true state, and a thread that
    loses the race to replace it loses only the work.
    """

    __slots__ = ("run",)

    def __init__(self) -> None:
        self.run: tuple[datetime, ...] = _NOTHING_KNOWN


@dataclass(frozen=True, slots=True)
class CronTimes:
    """The instants of a cron expression in a zone. Raises `InvalidTimezone`."""

    cron: Cron
    timezone: str
    gap: Gap = Gap.SHIFT
    fold: Fold = Fold.FIRST
    _zone: ZoneInfo = field(init=False, repr=False, compare=False)
    _known: _KnownTimes = field(init=False, repr=False, compare=False, default_factory=_KnownTimes)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_zone", zones.zone(self.timezone))

    def next(self, after: datetime) -> datetime | None:
        """The first fire strictly later than `after`; None past the end of the calendar."""
        run = self._known.run
        if run[0] <= after < run[-1]:
            return run[bisect_right(run, after)]
        # Most callers walk forward together: try to lengthen the run before starting another.
        if run[-1] <= after:
            found = self._search_forward(run[-1])
            if found is not None and found > after:
                self._known.run = (*run[1 - KNOWN_TIMES_MAX :], found)
                return found
        found = self._search_forward(after)
        if found is not None:
            self._known.run = (after.astimezone(UTC), found)
        return found

    def previous(self, before: datetime) -> datetime | None:
        """The last fire strictly earlier than `before`; None past the start of the calendar."""
        run = self._known.run
        if len(run) > 1 and run[1] < before <= run[-1]:
            return run[bisect_left(run, before) - 1]
        return self._search_backward(before)

    def skipped_between(self, after: datetime, until: datetime) -> Iterator[Skipped]:
        """The civil times whose gap ends in (after, until] and which do not fire, oldest first.

        Times that share a gap share an instant, and a regular fire may have that instant too.
        """
        if self.cron.runs_in_elapsed_time:
            return
        for shift in shifts_between(self._zone, after, until):
            civil = self.cron.at_or_after(shift.starts) if shift.is_gap else None
            while civil is not None and civil < shift.ends:
                if not self._moves(civil, shift):
                    yield Skipped(civil, shift.at)
                civil = self.cron.next(civil)

    def _search_forward(self, after: datetime) -> datetime | None:
        if not _CALENDAR_STARTS <= after < _CALENDAR_ENDS:
            return self._search_forward(_CALENDAR_STARTS) if after < _CALENDAR_STARTS else None
        local = after.astimezone(self._zone)
        found = self._instants_from(self.cron.next(local))
        fold = shift_around(self._zone, local)
        if fold is None:
            return found[0] if found else None
        # Which pass of the fold `after` is in decides what comes next: let the instants say.
        found += self._instants_from(self.cron.at_or_after(fold.starts))
        found += self._instants_from(self.cron.at_or_after(fold.ends))
        return min((instant for instant in found if instant > after), default=None)

    def _search_backward(self, before: datetime) -> datetime | None:
        if not _CALENDAR_STARTS < before <= _CALENDAR_ENDS:
            return self._search_backward(_CALENDAR_ENDS) if before > _CALENDAR_ENDS else None
        local = before.astimezone(self._zone)
        found = self._instants_until(self.cron.previous(local), before)
        fold = shift_around(self._zone, local)
        if fold is None:
            return found[-1] if found else None
        found += self._instants_until(self.cron.previous(fold.ends), before)
        found += self._instants_until(self.cron.previous(fold.starts), before)
        return max((instant for instant in found if instant < before), default=None)

    def _instants_from(self, civil: datetime | None) -> tuple[datetime, ...]:
        """The instants of the first matching civil time that has any, from `civil` on."""
        while civil is not None:
            shift = shift_around(self._zone, civil)
            if shift is None or not shift.is_gap:
                return self._instants(civil, shift)
            if self._moves(civil, shift):
                return (shift.at,)
            civil = self.cron.at_or_after(min(_midnight(civil) + _ONE_DAY, shift.ends))
        return ()

    def _instants_until(self, civil: datetime | None, before: datetime) -> tuple[datetime, ...]:
        """The instants of the last matching civil time that has any, from `civil` back."""
        while civil is not None:
            shift = shift_around(self._zone, civil)
            if shift is None or not shift.is_gap:
                return self._instants(civil, shift)
            # From the end of a gap backward: the fire at that end is not strictly earlier.
            if self._moves(civil, shift) and shift.at < before:
                return (shift.at,)
            civil = self.cron.previous(max(_midnight(civil), shift.starts))
        return ()

    def _instants(self, civil: datetime, fold: Shift | None) -> tuple[datetime, ...]:
        """The instants of a civil time that exists, in order."""
        if fold is None:
            return (civil.replace(tzinfo=self._zone).astimezone(UTC),)
        utc = civil.replace(tzinfo=UTC)
        match Fold.BOTH if self.cron.runs_in_elapsed_time else self.fold:
            case Fold.FIRST:
                return (utc - fold.before,)
            case Fold.LAST:
                return (utc - fold.after,)
            case Fold.BOTH:
                return utc - fold.before, utc - fold.after

    def _moves(self, civil: datetime, gap: Shift) -> bool:
        """Whether a civil time in a gap fires at the end of the gap.

        A day that is missing as a whole has no fires to move: nobody there lived it.
        """
        if self.gap == Gap.SKIP or self.cron.runs_in_elapsed_time:
            return False
        day = _midnight(civil)
        return day < gap.starts or gap.ends < day + _ONE_DAY


def times(
    expression: str, timezone: str, *, gap: Gap = Gap.SHIFT, fold: Fold = Fold.FIRST, seed: str = ""
) -> CronTimes:
    """The instants of an expression in a zone. Equal arguments share one object and the times it found.

    Raises `InvalidCron` and `InvalidTimezone`.
    """
    # Only H looks at the seed. Without it, jobs of any name share.
    return _shared(expression, timezone, gap, fold, seed if seed and _HASHED.search(expression) else "")


@lru_cache(maxsize=SHARED_SCHEDULES_MAX)
def _shared(expression: str, timezone: str, gap: Gap, fold: Fold, seed: str) -> CronTimes:
    return CronTimes(parse(expression, seed=seed), timezone, gap, fold)


def _midnight(civil: datetime) -> datetime:
    return civil.replace(hour=0, minute=0, second=0)
