"""The hard days, by name: where the clock on the wall jumps, repeats, or loses a day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gnomon.core.time import zones
from gnomon.core.time.cron import parse
from gnomon.core.time.dst import CronTimes, Fold, Gap, times
from gnomon.errors import InvalidCron, InvalidTimezone
from tests.unit.core.expressions import expressions

NEW_YORK = "America/New_York"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def on(
    day: str, expression: str, zone: str = NEW_YORK, *, gap: Gap = Gap.SHIFT, fold: Fold = Fold.FIRST
) -> list[str]:
    """What fires on a civil day: the clock on the wall, with its offset."""
    schedule = CronTimes(parse(expression), zone, gap, fold)
    fired: list[str] = []
    moment = datetime.fromisoformat(day).replace(tzinfo=UTC) - timedelta(days=2)
    while (found := schedule.next(moment)) is not None:
        local = found.astimezone(zones.zone(zone))
        if f"{local:%Y-%m-%d}" > day:
            return fired
        if f"{local:%Y-%m-%d}" == day:
            fired.append(f"{local:%H:%M%z}")
        moment = found
    return fired


def test_a_time_in_a_gap_fires_once_at_the_first_valid_instant() -> None:
    assert on("2026-03-08", "30 2 * * *") == ["03:00-0400"]
    assert times("30 2 * * *", NEW_YORK).next(at("2026-03-07T12:00")) == at("2026-03-08T07:00")


def test_several_times_in_one_gap_fire_once() -> None:
    assert on("2026-03-08", "*/10 2 * * *") == ["03:00-0400"]
    assert on("2026-03-08", "*/30 1-3 * * *") == [
        *("01:00-0500", "01:30-0500"),
        *("03:00-0400", "03:30-0400"),
    ]


def test_a_skipped_time_in_a_gap_is_told_with_the_instant_it_would_have_had() -> None:
    schedule = times("*/30 2,3 * * *", NEW_YORK, gap=Gap.SKIP)
    day = at("2026-03-08T00:00"), at("2026-03-09T00:00")

    assert on("2026-03-08", "30 2 * * *", gap=Gap.SKIP) == []
    assert on("2026-03-08", "*/30 2,3 * * *", gap=Gap.SKIP) == ["03:00-0400", "03:30-0400"]
    assert [(str(s.civil), s.instant) for s in schedule.skipped_between(*day)] == [
        ("2026-03-08 02:00:00", at("2026-03-08T07:00")),
        ("2026-03-08 02:30:00", at("2026-03-08T07:00")),
    ]
    assert list(times("*/30 2 * * *", NEW_YORK).skipped_between(*day)) == []
    assert list(times("*/30 * * * *", NEW_YORK, gap=Gap.SKIP).skipped_between(*day)) == []


@pytest.mark.parametrize(
    ("fold", "fired"),
    [
        (Fold.FIRST, ["01:30-0400"]),
        (Fold.LAST, ["01:30-0500"]),
        (Fold.BOTH, ["01:30-0400", "01:30-0500"]),
    ],
)
def test_a_time_that_happens_twice_fires_as_its_policy_says(fold: Fold, fired: list[str]) -> None:
    assert on("2026-11-01", "30 1 * * *", fold=fold) == fired


def test_the_default_fires_at_the_first_half_past_one() -> None:
    assert times("30 1 * * *", NEW_YORK).next(at("2026-10-31T12:00")) == at("2026-11-01T05:30")
    assert times("30 1 * * *", NEW_YORK).next(at("2026-11-01T05:30")) == at("2026-11-02T06:30")


@pytest.mark.parametrize(
    ("day", "count"), [("2026-03-07", 96), ("2026-03-08", 92), ("2026-10-31", 96), ("2026-11-01", 100)]
)
def test_a_wildcard_hour_fires_every_real_quarter_of_an_hour(day: str, count: int) -> None:
    assert len(on(day, "*/15 * * * *")) == count
    schedule, moment = times("*/15 * * * *", NEW_YORK), at(day)
    fires = [moment := schedule.next(moment) or moment for _ in range(200)]
    assert {later - earlier for earlier, later in pairwise(fires)} == {timedelta(minutes=15)}


def test_policies_do_not_touch_a_wildcard_hour() -> None:
    for gap in Gap:
        for fold in Fold:
            assert len(on("2026-11-01", "0 * * * *", gap=gap, fold=fold)) == 25
            assert len(on("2026-03-08", "0 * * * *", gap=gap, fold=fold)) == 23
            assert on("2026-03-08", "30 */2 * * *", gap=gap, fold=fold)[:2] == ["00:30-0500", "04:30-0400"]


def test_a_named_range_of_all_hours_follows_the_policies() -> None:
    assert len(on("2026-03-08", "0 0-23 * * *")) == 23
    assert len(on("2026-11-01", "0 0-23 * * *")) == 24


def test_a_wildcard_hour_on_one_day_of_the_week_keeps_to_that_day() -> None:
    assert len(on("2026-11-01", "*/15 * * * SUN")) == 100
    assert on("2026-11-02", "*/15 * * * SUN") == []
    assert len(on("2026-03-08", "*/15 * 8 3 *")) == 92


def test_lord_howe_shifts_by_half_an_hour() -> None:
    zone = "Australia/Lord_Howe"
    # 6 October 2024, 02:00 becomes 02:30; 7 April 2024, 02:00 becomes 01:30.
    assert on("2024-10-06", "15 2 * * *", zone) == ["02:30+1100"]
    assert on("2024-10-06", "0,15,30,45 2 * * *", zone) == ["02:30+1100", "02:45+1100"]
    assert on("2024-04-07", "45 1 * * *", zone, fold=Fold.BOTH) == ["01:45+1100", "01:45+1030"]
    assert on("2024-04-07", "45 1 * * *", zone) == ["01:45+1100"]
    assert len(on("2024-10-06", "*/15 * * * *", zone)) == 94
    assert len(on("2024-04-07", "*/15 * * * *", zone)) == 98


@pytest.mark.parametrize(
    ("zone", "missing", "following"),
    [
        ("Pacific/Apia", "2011-12-30", "2011-12-31"),
        ("Pacific/Kwajalein", "1993-08-21", "1993-08-22"),
        ("Pacific/Kiritimati", "1994-12-31", "1995-01-01"),
    ],
)
@pytest.mark.parametrize("gap", Gap)
def test_a_day_that_never_was_is_skipped_whatever_the_policy(
    zone: str, missing: str, following: str, gap: Gap
) -> None:
    assert on(missing, "0 9,10 * * *", zone, gap=gap) == []
    assert len(on(following, "0 9,10 * * *", zone, gap=gap)) == 2
    assert len(on(following, "*/15 * * * *", zone, gap=gap)) == 96

    schedule = times("0 9,10 * * *", zone, gap=gap)
    span = at(missing) - timedelta(days=2), at(following) + timedelta(days=1)
    assert [str(s.civil) for s in schedule.skipped_between(*span)] == [
        f"{missing} 09:00:00",
        f"{missing} 10:00:00",
    ]


@pytest.mark.parametrize(
    ("zone", "day", "fired"),
    [
        ("America/Santiago", "2024-09-08", "01:00-0300"),
        ("America/Sao_Paulo", "2017-10-15", "01:00-0200"),
        ("Africa/Cairo", "2024-04-26", "01:00+0300"),
        ("Asia/Beirut", "2024-03-31", "01:00+0300"),
        ("America/Havana", "2024-03-10", "01:00-0400"),
        ("Asia/Tehran", "2022-03-22", "01:00+0430"),
    ],
)
def test_a_day_that_begins_at_one_o_clock_has_its_midnight_then(zone: str, day: str, fired: str) -> None:
    assert on(day, "@daily", zone) == [fired]
    assert on(day, "0,30 0 * * *", zone) == [fired]
    assert on(day, "0 0 * * *", zone, gap=Gap.SKIP) == []
    assert len(on(day, "0 * * * *", zone)) == 23


def test_a_midnight_that_happens_twice_fires_once() -> None:
    # Havana goes back from 01:00 to 00:00; Santiago from 24:00 to 23:00 of the same Saturday.
    assert on("2024-11-03", "0 0 * * *", "America/Havana") == ["00:00-0400"]
    assert on("2024-11-03", "0 0 * * *", "America/Havana", fold=Fold.LAST) == ["00:00-0500"]
    assert on("2024-04-06", "30 23 * * *", "America/Santiago") == ["23:30-0300"]
    assert on("2024-04-07", "@daily", "America/Santiago") == ["00:00-0400"]


def test_dublin_winter_is_the_exception_and_changes_nothing() -> None:
    assert on("2024-03-31", "30 1 * * *", "Europe/Dublin") == ["02:00+0100"]
    assert on("2024-10-27", "30 1 * * *", "Europe/Dublin", fold=Fold.BOTH) == ["01:30+0100", "01:30+0000"]
    assert len(on("2024-10-27", "0 * * * *", "Europe/Dublin")) == 25


def test_casablanca_leaves_summer_time_for_ramadan() -> None:
    zone = "Africa/Casablanca"
    assert on("2024-03-10", "30 2 * * *", zone, fold=Fold.BOTH) == ["02:30+0100", "02:30+0000"]
    assert on("2024-04-14", "30 2 * * *", zone) == ["03:00+0100"]


def test_a_duplicate_day_of_1867_fires_once_or_twice() -> None:
    # Juneau went from Russian to American dates: a Friday and a Saturday shared their date.
    assert len(on("1867-10-19", "0 12 * * *", "America/Juneau")) == 1
    assert len(on("1867-10-19", "0 12 * * *", "America/Juneau", fold=Fold.BOTH)) == 2


def test_the_ends_of_the_calendar_are_none_and_no_crash() -> None:
    start = datetime.min.replace(tzinfo=UTC)
    end = datetime.max.replace(tzinfo=UTC)
    for zone in ("UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/New_York"):
        schedule = CronTimes(parse("0 12 * * *"), zone)
        assert schedule.next(end) is None
        assert schedule.previous(start) is None
        first, last = schedule.next(start), schedule.previous(end)
        assert first is not None
        assert last is not None
        assert first < datetime(2, 1, 3, tzinfo=UTC)
        assert last > datetime(9998, 12, 30, tzinfo=UTC)
        assert schedule.previous(first) is None
        assert schedule.next(last) is None


@settings(max_examples=400, deadline=None)
@given(
    expression=expressions,
    zone=st.sampled_from(sorted(zones.names())),
    gap=st.sampled_from(Gap),
    fold=st.sampled_from(Fold),
    moment=st.datetimes(
        min_value=datetime.fromisoformat("1970-01-01"),
        max_value=datetime.fromisoformat("2038-01-01"),
        timezones=st.just(UTC),
    ),
    pause=st.timedeltas(timedelta(0), timedelta(days=3)),
)
def test_next_and_previous_keep_their_promises(
    expression: str, zone: str, gap: Gap, fold: Fold, moment: datetime, pause: timedelta
) -> None:
    try:
        cron = parse(expression)
    except InvalidCron:
        assume(False)
    schedule, other = (CronTimes(cron, zone, gap, fold) for _ in range(2))
    later, earlier, paused = schedule.next(moment), other.previous(moment), schedule.next(moment + pause)
    assert later is not None
    assert earlier is not None
    assert paused is not None

    assert earlier < moment < later <= paused
    assert (other.previous(later) or later) <= moment
    assert (other.next(earlier) or earlier) >= moment


def test_a_wrong_zone_or_expression_is_refused_before_any_search() -> None:
    with pytest.raises(InvalidTimezone):
        times("0 9 * * *", "Mars/Phobos")
    with pytest.raises(InvalidCron):
        times("0 0 30 2 *", "UTC")
