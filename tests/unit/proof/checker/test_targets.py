"""The second reading of schedules beside the first: both must name the same times."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.time.dst import Fold, Gap
from gnomon.core.time.nominal import Tick, Ticks
from gnomon.core.time.schedule import CronTiming, Delayed, Interval, Once, Schedule
from gnomon.errors import InvalidCron
from proof.checker.calendar.targets import Target, is_closed, targets
from proof.checker.history.events import SchedSet
from tests.unit.core.expressions import expressions

# Where and when a clock on the wall did something odd, and a quiet place.
SHIFTS = [
    ("America/New_York", datetime(2026, 3, 8, 7, tzinfo=UTC)),
    ("America/New_York", datetime(2026, 11, 1, 6, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2024, 10, 5, 15, 30, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2024, 4, 6, 15, tzinfo=UTC)),
    ("America/Santiago", datetime(2024, 9, 8, 4, tzinfo=UTC)),
    ("Pacific/Apia", datetime(2011, 12, 30, 10, tzinfo=UTC)),
    ("Africa/Cairo", datetime(2024, 4, 25, 22, tzinfo=UTC)),
    ("Antarctica/Troll", datetime(2024, 3, 31, 1, tzinfo=UTC)),
    ("Asia/Tokyo", datetime(2026, 5, 1, tzinfo=UTC)),
    ("UTC", datetime(2026, 2, 28, tzinfo=UTC)),
]
REACH = timedelta(days=2)
SEED = "tenant/job"
hashed = st.sampled_from(
    ["H H * * *", "H/15 * * * *", "H(30-59)/10 H(0-7) * * *", "0 0 H * *", "H H H * * H", "0 0 * * FRI-SUN",
     "@daily", "@hourly", "@weekly", "0 0 * * SUN,TUE-SUN/2", "0 0 * * 2/5", "H H(1-3) * * H(MON-FRI)"]
)  # fmt: skip


def spec(**fields: object) -> SchedSet:
    return SchedSet(src="store", n=1, job="j", rev=1, **fields)  # type: ignore[arg-type]


def walked(schedule: Schedule, after: datetime, until: datetime) -> Iterator[Tick]:
    ticks = Ticks.of(schedule, seed=SEED, anchor=None, known=after)
    tick = ticks.after(after)
    while tick is not None and tick.at <= until:
        yield tick
        tick = ticks.after(tick.at)


def pairs(found: list[Target]) -> list[tuple[datetime, int]]:
    return [(target.at, target.lost) for target in found]


@given(
    expression=st.one_of(expressions, hashed),
    shift=st.sampled_from(SHIFTS),
    gap=st.sampled_from(Gap),
    fold=st.sampled_from(Fold),
)
@settings(max_examples=100, deadline=None)
def test_both_readings_of_cron_name_the_same_times(
    expression: str, shift: tuple[str, datetime], gap: Gap, fold: Fold
) -> None:
    zone, centre = shift
    try:
        timing = CronTiming(expression, zone, gap=gap, fold=fold)
    except InvalidCron:  # It never fires.
        return
    after, until = centre - REACH, centre + REACH

    found = targets(spec(cron=expression, tz=zone, gap=gap, fold=fold, seed=SEED), after, until)

    assert pairs(found) == [(tick.at, tick.lost) for tick in walked(Schedule(timing), after, until)]


@given(
    every=st.integers(1, 100_000),
    offset=st.integers(-(10**7), 10**7),
    start=st.none() | st.integers(0, 10**5),
    end=st.none() | st.integers(10**5 + 1, 10**6),
)
@settings(max_examples=100, deadline=None)
def test_both_readings_of_an_interval_name_the_same_times(
    every: int, offset: int, start: int | None, end: int | None
) -> None:
    noon = datetime(2026, 6, 1, 12, tzinfo=UTC)
    anchor = noon + timedelta(seconds=offset)
    start_at = None if start is None else noon + timedelta(seconds=start)
    end_at = None if end is None else noon + timedelta(seconds=end)
    schedule = Schedule(Interval(timedelta(seconds=every), anchor), start_at=start_at, end_at=end_at)
    until = noon + timedelta(seconds=200 * every)

    found = targets(spec(every=every, anchor=anchor, start_at=start_at, end_at=end_at), noon, until)

    assert pairs(found) == [(tick.at, 0) for tick in walked(schedule, noon, until)]


@pytest.mark.parametrize("timing", [Once, lambda at: Delayed(timedelta(hours=1), at)])
def test_one_instant_is_one_time(timing: type[Once]) -> None:
    at = datetime(2026, 6, 1, 12, tzinfo=UTC)
    hour = timedelta(hours=1)

    assert pairs(targets(spec(at=at), at - hour, at)) == [(at, 0)]
    assert [tick.at for tick in walked(Schedule(timing(at)), at - hour, at)] == [at]
    assert targets(spec(at=at), at, at + hour) == []


def test_a_closed_date_is_read_in_the_zone_of_the_expression() -> None:
    holiday = datetime(2026, 12, 25, tzinfo=UTC).date()
    late = datetime(2026, 12, 26, 3, tzinfo=UTC)

    assert is_closed(spec(cron="0 22 * * *", tz="America/New_York", closed=(holiday,)), late)
    assert not is_closed(spec(every=60, closed=(holiday,)), late)


def test_a_moved_interval_counts_from_where_it_was_moved_to() -> None:
    noon = datetime(2026, 6, 1, 12, tzinfo=UTC)
    moved = noon + timedelta(minutes=7)

    found = targets(spec(every=3600, anchor=noon), moved, moved + timedelta(hours=1), anchor=moved)

    assert pairs(found) == [(moved + timedelta(hours=1), 0)]
