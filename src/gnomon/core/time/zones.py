"""IANA time zones from the `tzdata` package, and the instants at which their offsets change.

The system's own zone files are never read: every node of a cluster must agree on what a zone means.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from zoneinfo import ZoneInfo

from gnomon.errors import InvalidTimezone

# No zone has ever changed its offset twice within a day; a test watches that this stays true.
STRIDE = timedelta(days=1)
_ONE_SECOND = timedelta(seconds=1)


@cache
def names() -> frozenset[str]:
    """The names of all zones, such as 'Europe/Berlin'."""
    return frozenset(resources.files("tzdata").joinpath("zones").read_text("utf-8").split())


@cache
def zone(name: str) -> ZoneInfo:
    """The zone of that name. Raises `InvalidTimezone` for anything that is not an IANA name."""
    # Only a known name becomes a path, so that no name can leave the package.
    if name not in names():
        raise InvalidTimezone(name)
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


@dataclass(frozen=True, slots=True)
class Shift:
    """An instant at which the offset of a zone changes.

    Forward, the civil times in [starts, ends) do not exist: a gap. Backward, they happen twice: a fold.
    """

    at: datetime
    before: timedelta
    after: timedelta

    @property
    def is_gap(self) -> bool:
        return self.before < self.after

    @property
    def starts(self) -> datetime:
        return self.at.replace(tzinfo=None) + min(self.before, self.after)

    @property
    def ends(self) -> datetime:
        return self.at.replace(tzinfo=None) + max(self.before, self.after)


def shift_around(zone: ZoneInfo, civil: datetime) -> Shift | None:
    """The shift in whose gap or fold the civil time lies, if it lies in one."""
    # A civil time with one meaning has one offset, whichever `fold` asks for it.
    one, other = zone.utcoffset(civil), zone.utcoffset(civil.replace(fold=1 - civil.fold))
    if one == other:
        return None
    assert one is not None
    assert other is not None
    instant = civil.replace(tzinfo=UTC)
    return _shift_within(zone, instant - max(one, other), instant - min(one, other))


def shifts_between(zone: ZoneInfo, after: datetime, until: datetime) -> Iterator[Shift]:
    """The shifts in (after, until], oldest first."""
    # Shifts happen on whole seconds: fractions change neither end.
    low, until = (end.astimezone(UTC).replace(microsecond=0) for end in (after, until))
    while low < until:
        high = min(low + STRIDE, until)
        if _offset(zone, low) != _offset(zone, high):
            yield _shift_within(zone, low, high)
        low = high


def _offset(zone: ZoneInfo, instant: datetime) -> timedelta:
    offset = instant.astimezone(zone).utcoffset()
    assert offset is not None
    return offset


def _shift_within(zone: ZoneInfo, low: datetime, high: datetime) -> Shift:
    """The one shift in (low, high], which are whole seconds apart."""
    before, after = _offset(zone, low), _offset(zone, high)
    assert before != after
    while high - low > _ONE_SECOND:
        middle = low + (high - low) // (2 * _ONE_SECOND) * _ONE_SECOND
        if _offset(zone, middle) == before:
            low = middle
        else:
            high = middle
    return Shift(high.replace(microsecond=0), before, after)
