"""Beside cronsim and croniter: equal where the dialects agree, and different only as documented.

Each row of the table in docs/reference/cron.md has its test here.
"""

from __future__ import annotations

import re
from datetime import datetime

import pytest
from croniter import CroniterError, croniter
from cronsim import CronSim, CronSimError
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gnomon.core.cron import parse
from gnomon.errors import InvalidCron
from tests.unit.core.expressions import lists, words

NEW_YEAR = datetime.fromisoformat("2026-01-01")
# The peers take 5-5/9, and croniter 5-5 and 23/1 too, for more than one value: see the table.
RANGE_OF_ONE = re.compile(r"\b(\d+)-\1\b|\b(59|23|12)/")

five_plain_fields = st.tuples(
    lists(words(0, 59)),
    lists(words(0, 23)),
    st.one_of(st.just("*"), lists(st.one_of(st.integers(1, 31).map(str), st.just("1-7")))),
    st.one_of(st.just("*"), lists(st.one_of(words(1, 12), st.sampled_from(["JAN", "DEC"])))),
    st.one_of(
        st.just("*"), lists(st.one_of(st.integers(0, 7).map(str), st.sampled_from(["SUN", "MON-FRI"])))
    ),
).map(" ".join)
moments = st.datetimes(
    min_value=datetime.fromisoformat("1990-01-01"), max_value=datetime.fromisoformat("2060-01-01")
)


def gnomon(expression: str, after: datetime = NEW_YEAR, count: int = 4) -> list[str] | None:
    """The next times as text, or None when the expression is refused."""
    try:
        cron = parse(expression)
    except InvalidCron:
        return None
    found = []
    for _ in range(count):
        following = cron.next(after)
        assert following is not None
        after = following
        found.append(f"{after:%Y-%m-%d %H:%M:%S}")
    return found


def cronsim(expression: str, after: datetime = NEW_YEAR, count: int = 4) -> list[str] | None:
    try:
        walk = CronSim(expression, after)
    except CronSimError:
        return None
    return [f"{next(walk):%Y-%m-%d %H:%M:%S}" for _ in range(count)]


def croniter_(expression: str, after: datetime = NEW_YEAR, count: int = 4) -> list[str] | None:
    try:
        walk = croniter(expression, after)
        return [f"{walk.get_next(datetime):%Y-%m-%d %H:%M:%S}" for _ in range(count)]
    except CroniterError:
        return None


@settings(max_examples=300, deadline=None)
@given(five_plain_fields, moments)
def test_plain_expressions_mean_the_same_to_cronsim(expression: str, after: datetime) -> None:
    assume(not RANGE_OF_ONE.search(expression))
    ours = gnomon(expression, after)
    assume(ours is not None)

    assert cronsim(expression, after) == ours


@settings(max_examples=150, deadline=None)
@given(five_plain_fields, moments)
def test_plain_expressions_mean_the_same_to_croniter(expression: str, after: datetime) -> None:
    assume(not RANGE_OF_ONE.search(expression))
    ours = gnomon(expression, after)
    assume(ours is not None)

    assert croniter_(expression, after) == ours


@pytest.mark.parametrize(
    "expression",
    [
        *("0 0 */2 * MON", "0 0 13 * */5", "0 0 L * *", "0 0 L * MON", "0 0 LW * *", "0 0 * * 5L"),
        *("0 0 * * FRI#2", "0 0 1 * SUN#2", "30 * * * * *", "*/20 0 9 * * *", "0 0 * * 1/2"),
        *("0 0 10-5 * *", "0 0 30 2 *"),
    ],
)
def test_cronsim_reads_these_as_gnomon_does(expression: str) -> None:
    assert cronsim(expression) == gnomon(expression)


@pytest.mark.parametrize(
    "expression", ["0 0 15W * *", "0 0 L * MON", "0 0 * * FRI#2", "0 0 ? * MON", "@daily"]
)
def test_croniter_reads_these_as_gnomon_does(expression: str) -> None:
    assert croniter_(expression) == gnomon(expression)


@pytest.mark.parametrize(
    "expression",
    [
        *("@daily", "0 0 ? * MON", "0 0 15W * *", "0 0 L-3 * *", "0 0 * * FRIL", "0 0 * * FRI#L"),
        *("0 0 * * FRI-SUN", "H H * * *"),
    ],
)
def test_cronsim_refuses_what_gnomon_reads(expression: str) -> None:
    assert cronsim(expression) is None
    assert gnomon(expression) is not None


@pytest.mark.parametrize(
    "expression", ["0 0 L-3 * *", "0 0 LW * *", "0 0 * * 5L", "0 0 * * FRIL", "0 0 * * FRI#L"]
)
def test_croniter_refuses_what_gnomon_reads(expression: str) -> None:
    assert croniter_(expression) is None
    assert gnomon(expression) is not None


@pytest.mark.parametrize(
    "expression", ["0 0 10-5 * *", "0 22-2 * * *", "@Daily", "*/61 * * * *", "0 0 * * L5"]
)
def test_croniter_reads_what_gnomon_refuses(expression: str) -> None:
    assert croniter_(expression) is not None
    assert gnomon(expression) is None


def test_cronsim_reads_a_range_of_one_with_a_step_to_the_end_of_the_field() -> None:
    assert cronsim("0 5-5/9 * * *") == cronsim("0 5/9 * * *")
    assert gnomon("0 5-5/9 * * *") == gnomon("0 5 * * *")


def test_cronsim_reads_a_step_beyond_the_field_which_gnomon_refuses() -> None:
    assert cronsim("*/61 * * * *") is not None
    assert gnomon("*/61 * * * *") is None


@pytest.mark.parametrize(
    ("expression", "ours", "theirs"),
    [
        # A star with a step: gnomon follows Vixie, both must match; croniter lets either match.
        ("0 0 */2 * MON", "2026-01-05 00:00:00", "2026-01-03 00:00:00"),
        # Six fields: seconds first; croniter takes them last.
        ("30 * * * * *", "2026-01-01 00:00:30", "2026-01-01 00:30:00"),
        # A step from a weekday runs to Sunday as 7; croniter stops at Saturday.
        ("0 0 * * 2/5", "2026-01-04 00:00:00", "2026-01-06 00:00:00"),
        # A date beside a numbered weekday: either may match; croniter wants both, or finds nothing.
        ("0 0 2,3 * MON#1", "2026-01-02 00:00:00", "2026-01-05 00:00:00"),
        ("0 0 1,15 * MON#2", "2026-01-12 00:00:00", None),
        # A range of one value is that value; croniter takes it around the whole field.
        ("0 5-5 * * *", "2026-01-01 05:00:00", "2026-01-01 01:00:00"),
    ],
)
def test_croniter_reads_these_differently(expression: str, ours: str, theirs: str | None) -> None:
    assert (gnomon(expression) or [None])[0] == ours
    assert (croniter_(expression) or [None])[0] == theirs
    assert croniter_(expression) != gnomon(expression)
