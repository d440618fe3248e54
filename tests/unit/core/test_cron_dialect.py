"""What each notation means, by the first civil times it names."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import islice

import pytest

from gnomon.core.time.cron import MACROS, Cron, parse

# 2026-01-01 is a Thursday.
NEW_YEAR = datetime.fromisoformat("2026-01-01")


def first_times(expression: str, count: int, *, after: datetime = NEW_YEAR, seed: str = "") -> list[str]:
    return [
        f"{civil:%Y-%m-%d %H:%M:%S}".removesuffix(":00")
        for civil in islice(walk(expression, after, seed), count)
    ]


def walk(expression: str, after: datetime, seed: str) -> Iterator[datetime]:
    cron, civil = parse(expression, seed=seed), after
    while (found := cron.next(civil)) is not None:
        yield found
        civil = found


@pytest.mark.parametrize(
    ("expression", "times"),
    [
        ("15 10 * * *", "2026-01-01 10:15, 2026-01-02 10:15"),
        (
            "5-59/15 9 * * *",
            "2026-01-01 09:05, 2026-01-01 09:20, 2026-01-01 09:35, 2026-01-01 09:50, 2026-01-02 09:05",
        ),
        ("50/5 9 * * *", "2026-01-01 09:50, 2026-01-01 09:55, 2026-01-02 09:50"),
        ("*/25 9 * * *", "2026-01-01 09:00, 2026-01-01 09:25, 2026-01-01 09:50, 2026-01-02 09:00"),
        ("*/60 9 * * *", "2026-01-01 09:00, 2026-01-02 09:00"),
        ("0 6,18 * * *", "2026-01-01 06:00, 2026-01-01 18:00"),
        ("05 09 01 02 *", "2026-02-01 09:05, 2027-02-01 09:05"),
        ("\t0  0 1   1 * ", "2027-01-01 00:00"),
        ("30 59 23 31 12 *", "2026-12-31 23:59:30, 2027-12-31 23:59:30"),
        ("*/20 * * * * *", "2026-01-01 00:00:20, 2026-01-01 00:00:40, 2026-01-01 00:01"),
        ("30 8 * feb-Apr Mon", "2026-02-02 08:30, 2026-02-09 08:30"),
        ("0 0 * JAN,mar fri", "2026-01-02 00:00, 2026-01-09 00:00"),
        ("0 0 * * 0", "2026-01-04 00:00, 2026-01-11 00:00"),
        ("0 0 * * 7", "2026-01-04 00:00, 2026-01-11 00:00"),
        ("0 0 * * 5-7", "2026-01-02 00:00, 2026-01-03 00:00, 2026-01-04 00:00, 2026-01-09 00:00"),
        ("0 0 * * FRI-SUN", "2026-01-02 00:00, 2026-01-03 00:00, 2026-01-04 00:00, 2026-01-09 00:00"),
        ("0 0 * * SUN-MON", "2026-01-04 00:00, 2026-01-05 00:00, 2026-01-11 00:00"),
        ("0 0 * * SUN-SUN", "2026-01-04 00:00, 2026-01-11 00:00"),
        ("0 0 * * 0-SUN", "2026-01-04 00:00, 2026-01-11 00:00"),
        ("0 0 * * 1/2", "2026-01-02 00:00, 2026-01-04 00:00, 2026-01-05 00:00, 2026-01-07 00:00"),
        ("0 0 ? * MON", "2026-01-05 00:00, 2026-01-12 00:00"),
        ("0 0 15 * ?", "2026-01-15 00:00, 2026-02-15 00:00"),
        ("0 0 ? * ?", "2026-01-02 00:00, 2026-01-03 00:00"),
    ],
)
def test_lists_ranges_steps_and_names(expression: str, times: str) -> None:
    expected = times.split(", ")
    assert first_times(expression, len(expected)) == expected


@pytest.mark.parametrize(
    ("expression", "times"),
    [
        ("0 0 L * *", "2026-01-31 00:00, 2026-02-28 00:00, 2026-03-31 00:00, 2026-04-30 00:00"),
        ("0 0 L-1 * *", "2026-01-30 00:00, 2026-02-27 00:00, 2026-03-30 00:00"),
        ("0 0 L-30 * *", "2026-03-01 00:00, 2026-05-01 00:00, 2026-07-01 00:00"),
        ("0 0 15,L * *", "2026-01-15 00:00, 2026-01-31 00:00, 2026-02-15 00:00, 2026-02-28 00:00"),
        # 31 January 2026 is a Saturday and 31 May a Sunday: the last working day comes before.
        (
            "0 0 LW * *",
            "2026-01-30 00:00, 2026-02-27 00:00, 2026-03-31 00:00, 2026-04-30 00:00, 2026-05-29 00:00",
        ),
        # 15 February 2026 is a Sunday, 15 August a Saturday.
        ("0 12 15W 2,8 *", "2026-02-16 12:00, 2026-08-14 12:00"),
        # The nearest weekday stays in its month: 1 August 2026 is a Saturday, 31 May a Sunday.
        ("0 0 1W 8 *", "2026-08-03 00:00"),
        ("0 0 31W 5,6 *", "2026-05-29 00:00, 2027-05-31 00:00"),
        ("0 0 1W,15W 2 *", "2026-02-02 00:00, 2026-02-16 00:00"),
        ("0 0 * * 5L", "2026-01-30 00:00, 2026-02-27 00:00, 2026-03-27 00:00"),
        ("0 0 * * FRIL", "2026-01-30 00:00, 2026-02-27 00:00, 2026-03-27 00:00"),
        ("0 0 * * fri#l", "2026-01-30 00:00, 2026-02-27 00:00, 2026-03-27 00:00"),
        ("0 0 * * TUE#3", "2026-01-20 00:00, 2026-02-17 00:00"),
        ("0 0 * * 7#1", "2026-01-04 00:00, 2026-02-01 00:00"),
        ("0 0 * * MON#5", "2026-03-30 00:00, 2026-06-29 00:00"),
        ("0 0 * * MON#1,FRI", "2026-01-02 00:00, 2026-01-05 00:00, 2026-01-09 00:00"),
    ],
)
def test_last_nearest_and_numbered_days(expression: str, times: str) -> None:
    expected = times.split(", ")
    assert first_times(expression, len(expected)) == expected


@pytest.mark.parametrize(
    ("expression", "times"),
    [
        # Both restricted: either may match.
        ("0 12 1 * MON", "2026-01-01 12:00, 2026-01-05 12:00, 2026-01-12 12:00"),
        ("0 12 1-31 * MON", "2026-01-01 12:00, 2026-01-02 12:00"),
        ("0 0 L * SUN#1", "2026-01-04 00:00, 2026-01-31 00:00, 2026-02-01 00:00, 2026-02-28 00:00"),
        # One unrestricted: the other decides.
        ("0 12 * * MON", "2026-01-05 12:00, 2026-01-12 12:00"),
        ("0 12 1 * *", "2026-01-01 12:00, 2026-02-01 12:00"),
        # A star with a step is not a restriction of its own: both must match. Mondays with an odd date.
        ("0 0 */2 * MON", "2026-01-05 00:00, 2026-01-19 00:00, 2026-02-09 00:00, 2026-02-23 00:00"),
        ("0 0 13 * */5", "2026-02-13 00:00, 2026-03-13 00:00, 2026-09-13 00:00"),
    ],
)
def test_the_two_day_fields_decide_as_in_vixie_cron(expression: str, times: str) -> None:
    expected = times.split(", ")
    assert first_times(expression, len(expected)) == expected


@pytest.mark.parametrize("macro", MACROS)
def test_a_macro_is_the_expression_it_stands_for(macro: str) -> None:
    assert first_times(macro, 30) == first_times(MACROS[macro], 30)
    assert parse(macro).expression == macro


def test_h_is_chosen_by_the_seed_and_stays() -> None:
    assert first_times("H H * * *", 2, seed="acme/report") == ["2026-01-01 14:32", "2026-01-02 14:32"]
    chosen = {first_times("H H * * *", 1, seed=f"acme/job-{n}")[0] for n in range(200)}
    assert len(chosen) > 150


def test_h_chooses_each_field_on_its_own() -> None:
    pairs = [parse("H H * * * *", seed=f"acme/job-{n}") for n in range(50)]
    assert any(cron.seconds != cron.minutes for cron in pairs)


@pytest.mark.parametrize(
    ("expression", "field", "allowed"),
    [
        ("H(10-20) * * * *", "minutes", range(10, 21)),
        ("0 H(0-7) * * *", "hours", range(8)),
        ("0 0 * H *", "months", range(1, 13)),
    ],
)
def test_h_keeps_to_its_range(expression: str, field: str, allowed: range) -> None:
    masks = {getattr(parse(expression, seed=f"acme/job-{n}"), field) for n in range(400)}
    assert masks == {1 << value for value in allowed}


def test_h_in_the_day_of_month_exists_in_every_month() -> None:
    masks = {parse("0 0 H * *", seed=f"acme/job-{n}").days.dates for n in range(800)}
    assert masks == {1 << day for day in range(1, 29)}


def test_h_with_a_step_chooses_where_the_steps_begin() -> None:
    def minutes(expression: str, seed: str) -> list[int]:
        cron = parse(expression, seed=seed)
        return [minute for minute in range(60) if cron.minutes >> minute & 1]

    for n in range(100):
        fifteen = minutes("H/15 * * * *", f"acme/job-{n}")
        assert [minute - fifteen[0] for minute in fifteen] == [0, 15, 30, 45]
        in_range = minutes("H(30-59)/10 * * * *", f"acme/job-{n}")
        assert in_range == list(range(in_range[0], 60, 10))
        assert 30 <= in_range[0] < 40
        assert minutes("H(5-8)/30 * * * *", f"acme/job-{n}")[0] in range(5, 9)


@pytest.mark.parametrize(
    ("expression", "elapsed"),
    [
        *(("*/15 * * * *", True), ("0 */6 * * *", True), ("@hourly", True), ("* * * * * *", True)),
        *(("*/15 2 * * *", False), ("0 0-23 * * *", False), ("H H * * *", False), ("@daily", False)),
    ],
)
def test_a_schedule_runs_in_elapsed_time_when_its_hour_starts_with_a_star(
    expression: str, elapsed: bool
) -> None:
    assert parse(expression).runs_in_elapsed_time is elapsed


def test_an_expression_is_a_value() -> None:
    assert parse("0 9 * * MON") == parse("0 9 * * MON")
    assert hash(parse("0 9 * * MON")) == hash(parse("0 9 * * MON"))
    with pytest.raises(AttributeError):
        parse("0 9 * * MON").hours = 1  # type: ignore[misc]
    assert isinstance(parse("@daily"), Cron)
