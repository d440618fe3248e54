"""Instants and durations as text and numbers."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.values.instants import (
    INSTANT_MAX,
    INSTANT_MIN,
    MICROSECOND,
    instant_text,
    parse_instant,
    parse_seconds,
    seconds_of,
)
from gnomon.errors import InvalidInput
from tests.unit.core.builders import NOON

INSTANTS = st.integers(0, (INSTANT_MAX - INSTANT_MIN) // MICROSECOND - 1).map(
    lambda n: INSTANT_MIN + n * MICROSECOND
)


@given(instant=INSTANTS, offset_minutes=st.integers(-14 * 60, 14 * 60))
def test_an_instant_comes_back_from_text_whatever_offset_it_was_in(
    instant: datetime, offset_minutes: int
) -> None:
    there = instant.astimezone(timezone(timedelta(minutes=offset_minutes)))

    assert parse_instant(instant_text(there), field="at") == instant
    assert parse_instant(there.isoformat(), field="at") == instant


@given(first=INSTANTS, second=INSTANTS)
def test_texts_sort_like_the_instants(first: datetime, second: datetime) -> None:
    assert (instant_text(first) < instant_text(second)) == (first < second)


def test_an_instant_is_written_in_utc_with_microseconds() -> None:
    assert instant_text(NOON) == "2026-06-01T12:00:00.000000Z"


@pytest.mark.parametrize(
    "text", ["2026-06-01T12:00:00Z", "2026-06-01t12:00:00z", "2026-06-01 14:00:00.0+02:00"]
)
def test_all_forms_of_rfc_3339_are_read(text: str) -> None:
    assert parse_instant(text, field="at") == NOON


@pytest.mark.parametrize(
    "text",
    [
        "",
        "noon",
        "2026-06-01",
        "2026-06-01T12:00:00",
        "20260601T120000Z",
        "2026-W23-1T12:00:00Z",
        "2026-06-01T24:00:00Z",
        "2026-06-01T12:00:60Z",
        "2026-06-01T12:00:00+25:00",
        "2026-06-01T12:00:00Z\n",
        "1969-12-31T23:59:59Z",
        "9999-12-31T23:59:59-12:00",
        "２０２６-06-01T12:00:00Z",
        12,
        None,
    ],
)
def test_what_is_not_an_instant_is_refused(text: object) -> None:
    with pytest.raises(InvalidInput, match="at: "):
        parse_instant(text, field="at")


@given(duration=st.timedeltas(timedelta(0), timedelta(days=36_600)))
def test_a_duration_comes_back_from_its_number_of_seconds(duration: timedelta) -> None:
    assert parse_seconds(seconds_of(duration), field="wait") == duration


def test_whole_seconds_are_whole_numbers() -> None:
    assert repr(seconds_of(timedelta(minutes=1))) == "60"
    assert repr(seconds_of(timedelta(milliseconds=1500))) == "1.5"
