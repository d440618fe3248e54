"""What a user sees of a schedule before it runs."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from gnomon.core.schedules.occurrence import SkipReason
from gnomon.core.schedules.preview import Preview, preview
from gnomon.core.time.dst import Fold, Gap
from gnomon.core.time.schedule import CronTiming, Delayed, Interval, Once, Schedule
from gnomon.errors import InvalidInput
from tests.unit.core.builders import DAY, HOUR, MINUTE, NOON, at

EST, EDT = timedelta(hours=-5), timedelta(hours=-4)


def new_york(expression: str, *, gap: Gap = Gap.SHIFT, fold: Fold = Fold.FIRST) -> Schedule:
    return Schedule(CronTiming(expression, "America/New_York", gap, fold))


def test_a_time_in_a_gap_is_shown_shifted_with_a_note() -> None:
    shown = preview(new_york("30 2 * * *"), after=at("03-07 12:00"), limit=2, seed="")

    assert shown == (
        Preview(at("03-08 07:00"), EDT, "shifted out of a gap"),
        Preview(at("03-09 06:30"), EDT),
    )


def test_a_time_in_a_gap_is_shown_skipped_if_the_policy_says_so() -> None:
    shown = preview(new_york("30 2 * * *", gap=Gap.SKIP), after=at("03-07 12:00"), limit=2, seed="")

    assert [(one.nominal_time, one.skip) for one in shown] == [
        (at("03-08 07:00"), SkipReason.DST_GAP),
        (at("03-09 06:30"), None),
    ]


def test_a_time_at_the_end_of_a_gap_that_is_meant_so_has_no_note() -> None:
    (shown,) = preview(new_york("0 3 * * *"), after=at("03-07 12:00"), limit=1, seed="")

    assert shown == Preview(at("03-08 07:00"), EDT)


def test_a_time_that_happens_twice_says_which_one_it_is() -> None:
    (first,) = preview(new_york("30 1 * * *"), after=at("10-31 12:00"), limit=1, seed="")
    (last,) = preview(new_york("30 1 * * *", fold=Fold.LAST), after=at("10-31 12:00"), limit=1, seed="")

    assert first == Preview(at("11-01 05:30"), EDT, "first of two 01:30")
    assert last == Preview(at("11-01 06:30"), EST, "second of two 01:30")


@pytest.mark.parametrize(("day", "fires"), [("03-08", 92), ("11-01", 100)])
def test_every_quarter_of_an_hour_is_real_on_the_long_and_the_short_day(day: str, fires: int) -> None:
    offset = EST if day == "03-08" else EDT
    midnight = at(f"{day} 00:00") - offset

    shown = preview(new_york("*/15 * * * *"), after=midnight - MINUTE, limit=fires + 1, seed="")

    *of_the_day, next_day = [one.nominal_time for one in shown]
    assert of_the_day == [midnight + n * 15 * MINUTE for n in range(fires)]
    assert next_day == midnight + fires * 15 * MINUTE


def test_excluded_dates_are_shown_and_do_not_count_as_runs() -> None:
    schedule = Schedule(CronTiming("0 12 * * *"), max_runs=2, calendar="holidays")

    shown = preview(schedule, after=NOON, limit=10, seed="", excluded_dates=frozenset({date(2026, 6, 3)}))

    assert [(one.nominal_time, one.skip) for one in shown] == [
        (NOON + DAY, None),
        (NOON + 2 * DAY, SkipReason.CALENDAR),
        (NOON + 3 * DAY, None),
    ]


def test_other_timings_are_shown_in_utc() -> None:
    assert preview(Schedule(Once(NOON)), after=NOON - DAY, limit=9, seed="") == (Preview(NOON, timedelta(0)),)
    assert preview(Schedule(Once(NOON)), after=NOON, limit=9, seed="") == ()
    assert preview(Schedule(), after=NOON, limit=9, seed="") == ()
    (delayed,) = preview(Schedule(Delayed(HOUR)), after=NOON, limit=9, seed="")
    assert delayed.nominal_time == NOON + HOUR
    every = preview(Schedule(Interval(HOUR, NOON), end_at=NOON + 2 * HOUR), after=NOON, limit=9, seed="")
    assert [one.nominal_time for one in every] == [NOON + HOUR, NOON + 2 * HOUR]


@pytest.mark.parametrize("limit", [0, -1, 1001, True, "5"])
def test_a_preview_has_a_sane_length(limit: int) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        preview(Schedule(), after=NOON, limit=limit, seed="")
