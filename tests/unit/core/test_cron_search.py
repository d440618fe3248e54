"""The search through civil time, beside a walk that looks at every day."""

from __future__ import annotations

from datetime import datetime, timedelta
from time import perf_counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gnomon.core.time.cron import YEAR_MAX, YEAR_MIN, Cron, parse
from gnomon.errors import InvalidCron
from tests.unit.core import oracle
from tests.unit.core.expressions import expressions, expressions_with_years

DAYS_WALKED = 500

civil_times = st.datetimes(
    min_value=datetime.fromisoformat("1890-01-01"), max_value=datetime.fromisoformat("2110-01-01")
).flatmap(lambda moment: st.sampled_from([moment, moment.replace(second=0, microsecond=0)]))


def parsed(expression: str) -> Cron:
    try:
        return parse(expression)
    except InvalidCron as refusal:
        assume("never fires" not in refusal.cause)
        raise


@settings(max_examples=80, deadline=None)
@given(expressions, civil_times)
def test_next_is_what_a_walk_through_every_day_finds(expression: str, after: datetime) -> None:
    found = parsed(expression).next(after)
    assert found is not None

    expected = oracle.civil_after(expression, after, DAYS_WALKED)
    if expected is None:
        assert found > after + timedelta(days=DAYS_WALKED - 1)
    else:
        assert found == expected


@settings(max_examples=80, deadline=None)
@given(expressions_with_years, civil_times)
def test_next_with_a_year_field_is_what_the_walk_finds(expression: str, after: datetime) -> None:
    found = parsed(expression).next(after)

    expected = oracle.civil_after(expression, after, DAYS_WALKED)
    if expected is not None:
        assert found == expected
    elif found is not None:
        assert found > after + timedelta(days=DAYS_WALKED - 1)


@settings(max_examples=100, deadline=None)
@given(expressions_with_years, civil_times)
def test_previous_and_next_meet_where_years_begin_and_end(expression: str, moment: datetime) -> None:
    cron = parsed(expression)
    earlier, later = cron.previous(moment), cron.next(moment)

    assert (
        earlier is not None or later is not None or cron.at_or_after(moment.replace(microsecond=0)) == moment
    )
    if earlier is not None:
        assert oracle.pattern(expression).matches(earlier)
        assert cron.next(earlier) in (moment, later)
    if later is not None:
        assert oracle.pattern(expression).matches(later)
        assert cron.previous(later) in (moment, earlier)


@settings(max_examples=300, deadline=None)
@given(expressions, civil_times)
def test_previous_mirrors_next(expression: str, moment: datetime) -> None:
    cron = parsed(expression)
    later, earlier = cron.next(moment), cron.previous(moment)
    assert later is not None
    assert earlier is not None

    assert earlier < moment < later
    moment_fires = oracle.pattern(expression).matches(moment) and not moment.microsecond
    assert cron.next(earlier) == (moment if moment_fires else later)
    assert cron.previous(later) == (moment if moment_fires else earlier)


@given(expressions, civil_times, st.timedeltas(timedelta(0), timedelta(days=500)))
@settings(max_examples=200, deadline=None)
def test_the_search_is_monotone(expression: str, moment: datetime, pause: timedelta) -> None:
    cron = parsed(expression)
    first, second = cron.next(moment), cron.next(moment + pause)
    assert first is not None
    assert second is not None

    assert first <= second


@given(expressions)
@settings(max_examples=200, deadline=None)
def test_an_expression_that_is_accepted_fires_within_forty_years(expression: str) -> None:
    found = parsed(expression).next(datetime.fromisoformat("2080-03-01"))
    assert found is not None

    assert found.year <= 2080 + 40


def test_fractions_of_a_second_round_to_the_strictly_later_and_earlier_second() -> None:
    cron = parse("0 9 * * *")
    nine, a_bit = datetime.fromisoformat("2026-01-01 09:00"), timedelta(microseconds=1)

    assert cron.next(nine - a_bit) == nine
    assert cron.next(nine) == cron.next(nine + a_bit) == nine + timedelta(days=1)
    assert cron.previous(nine + a_bit) == nine
    assert cron.previous(nine) == cron.previous(nine - a_bit) == nine - timedelta(days=1)


def test_the_calendar_has_ends_and_the_search_stops_there() -> None:
    cron = parse("0 0 29 2 *")
    first, last = datetime.fromisoformat("0001-01-01"), datetime.fromisoformat("9999-12-31 23:59:59.999999")

    assert cron.next(last) is None
    assert cron.previous(first) is None
    assert cron.next(first) == datetime.fromisoformat("0004-02-29")
    assert cron.previous(last) == datetime.fromisoformat("9996-02-29")
    assert cron.next(datetime.fromisoformat("9996-02-29")) is None
    assert cron.previous(datetime.fromisoformat("0004-02-29")) is None
    assert (YEAR_MIN, YEAR_MAX) == (2, 9998)


@pytest.mark.parametrize("expression", ["0 0 29 2 *", "0 0 * 2 MON#5", "0 0 31W 12 *", "59 59 23 L 2 ?"])
def test_a_sparse_expression_is_found_without_looking_at_each_minute(expression: str) -> None:
    cron, civil = parse(expression), datetime.fromisoformat("2026-01-01")
    started = perf_counter()
    for _ in range(20):
        found = cron.next(civil)
        assert found is not None
        civil = found

    # A walk in minutes would need a minute or more; this is far more than the search needs.
    assert perf_counter() - started < 0.1
