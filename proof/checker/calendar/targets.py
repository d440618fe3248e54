"""The due times that follow from what a history says of a job, worked out by hand: civil time by civil time.

It knows nothing of how Gnomon finds its next run time, and must not: it is what that is held against.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple
from zoneinfo import ZoneInfo

from proof.checker.calendar.civil import Pattern, pattern
from proof.checker.history.events import SchedSet

DAY, HOUR, MINUTE, SECOND = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)
DAYS_KNOWN_MAX = 4096
GAP, FOLD = "gap", "fold"


class Target(NamedTuple):
    """A due time. `lost` counts the civil times that a gap swallowed there; if any, it does not fire.

    `shift` is GAP or FOLD where the clock on the wall jumped or repeats itself.
    """

    at: datetime
    lost: int = 0
    shift: str = ""


@cache
def zone(name: str) -> ZoneInfo:
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


@cache
def tzdata_version() -> str:
    return (
        resources.files("tzdata").joinpath("__init__.py").read_text("utf-8").split('IANA_VERSION = "')[1][:5]
    )


def targets(
    spec: SchedSet, after: datetime, until: datetime, *, anchor: datetime | None = None
) -> list[Target]:
    """The due times of a revision in (after, until], in order. `anchor`: where its interval was moved to."""
    if spec.start_at is not None:
        after = max(after, spec.start_at - MICROSECOND)
    if spec.end_at is not None:
        until = min(until, spec.end_at)
    if spec.cron is not None:
        return _of_cron(spec, after, until)
    if spec.every is not None:
        return _of_interval(spec, after, until, anchor)
    if spec.at is not None and after < spec.at <= until:
        return [Target(spec.at)]
    return []


def is_closed(spec: SchedSet, at: datetime) -> bool:
    """Whether its calendar takes the date out: read in the zone of the expression, else in UTC."""
    if not spec.closed:
        return False
    return at.astimezone(zone(spec.tz) if spec.cron is not None else UTC).date() in spec.closed


def _of_interval(spec: SchedSet, after: datetime, until: datetime, anchor: datetime | None) -> list[Target]:
    assert spec.every is not None
    origin = anchor or spec.anchor or spec.start_at or spec.since or spec.db
    assert origin is not None
    every = timedelta(seconds=spec.every)
    at = origin + ((after - origin) // every + 1) * every
    found = []
    while at <= until:
        found.append(Target(at))
        at += every
    return found


def _of_cron(spec: SchedSet, after: datetime, until: datetime) -> list[Target]:
    assert spec.cron is not None
    wanted, where = pattern(spec.cron, spec.seed), zone(spec.tz)
    regular: dict[datetime, str] = {}
    lost: Counter[datetime] = Counter()
    # No zone is further from UTC than a day, and no gap is longer than one.
    day, last = (after - 2 * DAY).date(), (until + 2 * DAY).date()
    while day <= last:
        if wanted.names_day(day):
            _read_day(spec, wanted, where, day, regular, lost)
        day += DAY
    found = [Target(at, shift=shift) for at, shift in regular.items() if after < at <= until]
    found += [
        Target(at, count, GAP) for at, count in lost.items() if after < at <= until and at not in regular
    ]
    return sorted(found)


def _read_day(
    spec: SchedSet,
    wanted: Pattern,
    where: ZoneInfo,
    day: date,
    regular: dict[datetime, str],
    lost: Counter[datetime],
) -> None:
    """What becomes of the matching civil times of one date."""
    offset = _only_offset(where, day)
    for clock in wanted.times:
        civil = datetime.combine(day, clock)
        if offset is not None:
            regular.setdefault((civil - offset).replace(tzinfo=UTC), "")
            continue
        instants = instants_of(civil, where)
        # With a wildcard hour, in elapsed time: at every instant at which the clock on the wall shows it.
        if instants or wanted.hour_starts_with_star:
            fold = "both" if wanted.hour_starts_with_star else spec.fold
            chosen = {"first": instants[:1], "last": instants[-1:], "both": instants}[fold]
            for at in chosen:
                regular[at] = regular.get(at) or (FOLD if len(instants) > 1 else "")
        elif spec.gap == "shift" and day_exists(day, where):
            regular[end_of_gap(civil, where)] = GAP
        else:
            lost[end_of_gap(civil, where)] += 1


def instants_of(civil: datetime, where: ZoneInfo) -> list[datetime]:
    """The instants at which the clock on the wall shows a civil time: none, one or two."""
    both = {civil.replace(tzinfo=where, fold=fold).astimezone(UTC) for fold in (0, 1)}
    return sorted(at for at in both if at.astimezone(where).replace(tzinfo=None, fold=0) == civil)


def end_of_gap(civil: datetime, where: ZoneInfo) -> datetime:
    """The first instant after a civil time that does not exist: go on until the clock shows something."""
    for stride in (HOUR, MINUTE, SECOND):
        while not instants_of(civil + stride, where):
            civil += stride
    return instants_of(civil + SECOND, where)[0]


@lru_cache(maxsize=DAYS_KNOWN_MAX)
def day_exists(day: date, where: ZoneInfo) -> bool:
    return any(instants_of(civil, where) for civil in _minutes(day))


def _minutes(day: date) -> Iterator[datetime]:
    start = datetime.combine(day, datetime.min.time())
    return (start + n * MINUTE for n in range(24 * 60))


@lru_cache(maxsize=DAYS_KNOWN_MAX)
def _only_offset(where: ZoneInfo, day: date) -> timedelta | None:
    """The offset of the zone, if it has one and the same on this date and the hours around it."""
    start = datetime.combine(day, datetime.min.time(), UTC) - DAY
    offsets = {(start + n * HOUR).astimezone(where).utcoffset() for n in range(3 * 24 + 1)}
    return offsets.pop() if len(offsets) == 1 else None
