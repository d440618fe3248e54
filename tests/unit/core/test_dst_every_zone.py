"""Every shift that matters, walked minute by minute beside the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random

import pytest

from gnomon.core.time import zones
from gnomon.core.time.cron import parse
from gnomon.core.time.dst import CronTimes, Fold, Gap
from tests.unit.core import oracle

END = datetime(2038, 1, 1, tzinfo=UTC)
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)

SCHEDULES = [
    ("10,30 0-3,23 * * *", Gap.SHIFT, Fold.FIRST),
    ("*/20 0-3,23 * * *", Gap.SHIFT, Fold.LAST),
    ("0,45 1,2,3 * * *", Gap.SKIP, Fold.BOTH),
    ("15 * * * *", Gap.SHIFT, Fold.FIRST),
    ("*/30 */2 * * SUN", Gap.SHIFT, Fold.FIRST),
    ("5 0 L * ?", Gap.SHIFT, Fold.BOTH),
]

FULLY_WALKED = """
    Africa/Cairo Africa/Casablanca Africa/El_Aaiun Africa/Johannesburg Africa/Windhoek America/Asuncion
    America/Bogota America/Caracas America/Havana America/Los_Angeles America/Mexico_City America/New_York
    America/Nuuk America/Santiago America/Sao_Paulo America/Scoresbysund America/St_Johns Antarctica/Troll
    Antarctica/Casey Asia/Amman Asia/Beirut Asia/Gaza Asia/Jerusalem Asia/Kathmandu Asia/Pyongyang Asia/Tehran
    Asia/Tokyo Atlantic/Azores Australia/Adelaide Australia/Lord_Howe Australia/Sydney Europe/Berlin
    Europe/Dublin Europe/Istanbul Europe/London Europe/Lisbon Europe/Moscow Pacific/Apia Pacific/Auckland
    Pacific/Chatham Pacific/Easter Pacific/Fiji Pacific/Kiritimati Pacific/Kwajalein Pacific/Norfolk
""".split()  # noqa: SIM905 - a table of names reads better than fifty lines.


def agrees_with_the_oracle(
    zone_name: str,
    centre: datetime,
    *,
    reach: timedelta,
    step: timedelta = oracle.MINUTE,
    schedules: list[tuple[str, Gap, Fold]] = SCHEDULES,
) -> None:
    """Walk `reach` to both sides of `centre`, forward and back, from fires and from odd instants."""
    walk = oracle.Walk(oracle.zone(zone_name), centre - 2 * reach, centre + 2 * reach, step)
    low, high = centre - reach, centre + reach
    for expression, gap, fold in schedules:
        # A new object each time: one that remembers would answer without a search.
        fresh = partial(CronTimes, parse(expression), zone_name, gap, fold)
        expected = [t for t in walk.fires(expression, gap, fold) if low < t <= high]
        told = f"{expression} {gap} {fold} in {zone_name} around {centre}"

        assert list(forward(fresh(), low, high)) == expected, told
        assert list(backward(fresh(), high, low)) == expected[::-1], told
        for instant in (low + k * reach / 9 for k in range(4, 16, 2)):
            later, earlier = fresh().next(instant), fresh().previous(instant)
            assert later is not None
            assert earlier is not None
            assert earlier < instant < later, told
            assert later == min((t for t in expected if t > instant), default=later), told
            assert earlier == max((t for t in expected if t < instant), default=earlier), told
        skipped = [(s.civil, s.instant) for s in fresh().skipped_between(low, high)]
        assert skipped == [(c, t) for c, t in walk.skipped(expression, gap) if low < t <= high], told


def forward(times: CronTimes, after: datetime, until: datetime) -> Iterator[datetime]:
    found = times.next(after)
    while found is not None and found <= until:
        yield found
        found = times.next(found)


def backward(times: CronTimes, until: datetime, after: datetime) -> Iterator[datetime]:
    found = times.previous(until + timedelta(microseconds=1))
    while found is not None and found > after:
        yield found
        found = times.previous(found)


@pytest.mark.parametrize("zone_name", FULLY_WALKED)
def test_around_each_shift_since_1900_the_fires_are_those_of_the_oracle(zone_name: str) -> None:
    for at in oracle.shifts(oracle.zone(zone_name), datetime(1900, 1, 1, tzinfo=UTC), END):
        if has_whole_minutes(zone_name, at):
            agrees_with_the_oracle(zone_name, at, reach=reach_of(zone_name, at))


def test_in_every_zone_a_sample_of_years_since_1970_agrees_with_the_oracle() -> None:
    for zone_name in sorted(zones.names()):
        random = Random(zone_name)
        for _ in range(2):
            start = datetime(random.randrange(1970, 2037), 1, 1, tzinfo=UTC)
            quiet_day = start + timedelta(days=random.randrange(365))
            shifts = list(oracle.shifts(oracle.zone(zone_name), start, start + timedelta(days=366)))
            at = random.choice([*shifts, quiet_day])
            if has_whole_minutes(zone_name, at):
                agrees_with_the_oracle(zone_name, at, reach=reach_of(zone_name, at))


@pytest.mark.parametrize(
    ("zone_name", "year"),
    [("Africa/Monrovia", 1972), ("Europe/Amsterdam", 1937), ("Europe/Dublin", 1916), ("Asia/Kolkata", 1906)],
)
def test_offsets_with_odd_seconds_agree_with_the_oracle(zone_name: str, year: int) -> None:
    start = datetime(year, 1, 1, tzinfo=UTC)
    for at in oracle.shifts(oracle.zone(zone_name), start, start + timedelta(days=366)):
        agrees_with_the_oracle(zone_name, at, reach=HOUR, step=SECOND)


def test_schedules_with_seconds_agree_with_the_oracle() -> None:
    schedules = [("*/40 59,0 1,2,3 * * *", gap, fold) for gap in Gap for fold in Fold] + [
        ("7/20 */13 * * * *", Gap.SHIFT, Fold.FIRST)
    ]
    for at in (datetime(2026, 3, 8, 7, tzinfo=UTC), datetime(2026, 11, 1, 6, tzinfo=UTC)):
        agrees_with_the_oracle("America/New_York", at, reach=2 * HOUR, step=SECOND, schedules=schedules)


def reach_of(zone_name: str, at: datetime) -> timedelta:
    before, after = offsets_around(zone_name, at)
    return max(abs(after - before), 2 * HOUR)


def has_whole_minutes(zone_name: str, at: datetime) -> bool:
    """Local mean time has seconds: only a walk in seconds meets its whole minutes."""
    return not any(offset % timedelta(minutes=1) for offset in offsets_around(zone_name, at))


def offsets_around(zone_name: str, at: datetime) -> tuple[timedelta, timedelta]:
    zone = oracle.zone(zone_name)
    before, after = (at - SECOND).astimezone(zone).utcoffset(), at.astimezone(zone).utcoffset()
    assert before is not None
    assert after is not None
    return before, after
