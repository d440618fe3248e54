"""A schedule written down and read back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.time.dst import Fold, Gap
from gnomon.core.time.schedule import CronTiming, Delayed, Interval, Manual, Misfire, Once, Overlap, Schedule
from gnomon.core.time.schedule_document import from_document, to_document
from gnomon.errors import InvalidInput
from tests.unit.core.builders import MINUTE, NOON

MICROSECONDS_OF_A_CENTURY = 100 * 365 * 86_400 * 10**6


def instants(*, first_year: int, last_year: int) -> st.SearchStrategy[datetime]:
    start, end = datetime(first_year, 1, 1, tzinfo=UTC), datetime(last_year, 1, 1, tzinfo=UTC)
    return st.integers(0, (end - start) // timedelta(microseconds=1)).map(
        lambda n: start + timedelta(microseconds=n)
    )


def durations(low: timedelta, high: timedelta) -> st.SearchStrategy[timedelta]:
    return st.timedeltas(min_value=low, max_value=high)


ANY = instants(first_year=1970, last_year=8999)
TEN_YEARS = timedelta(days=3650)
SECOND = timedelta(seconds=1)
TIMINGS = st.one_of(
    st.just(Manual()),
    st.builds(
        CronTiming,
        st.sampled_from(["* * * * *", "@daily", "0 30 2 * * MON-FRI", "H 2 * * *"]),
        st.sampled_from(["UTC", "Europe/Berlin"]),
        st.sampled_from(Gap),
        st.sampled_from(Fold),
    ),
    st.builds(Interval, durations(SECOND, TEN_YEARS), st.none() | ANY),
    st.builds(Once, instants(first_year=2100, last_year=2200)),
    st.builds(
        Delayed, durations(timedelta(0), TEN_YEARS), st.none() | instants(first_year=2100, last_year=2200)
    ),
)
SCHEDULES = st.builds(
    Schedule,
    TIMINGS,
    start_at=st.none() | instants(first_year=1970, last_year=2100),
    end_at=st.none() | instants(first_year=2200, last_year=8999),
    max_runs=st.none() | st.integers(1, 10**9),
    jitter=durations(timedelta(0), SECOND),
    calendar=st.none() | st.just("holidays"),
    misfire=st.sampled_from(Misfire),
    misfire_grace=durations(timedelta(0), timedelta(days=30)),
    catchup_limit=st.integers(1, 10_000),
    catchup_window=st.none() | durations(SECOND, TEN_YEARS),
    overlap=st.sampled_from(Overlap),
)


@given(schedule=SCHEDULES)
@settings(deadline=None)
def test_a_schedule_comes_back_from_json_as_it_was(schedule: Schedule) -> None:
    assert from_document(json.loads(json.dumps(to_document(schedule)))) == schedule


def test_a_document_has_plain_fields_and_leaves_out_what_is_not_set() -> None:
    schedule = Schedule(
        CronTiming("0 6 * * *", "Europe/Berlin"), start_at=NOON, jitter=timedelta(seconds=0.5), max_runs=3
    )

    assert to_document(schedule) == {
        "type": "cron",
        "cron": "0 6 * * *",
        "timezone": "Europe/Berlin",
        "gap": "shift",
        "fold": "first",
        "start_at": "2026-06-01T12:00:00.000000Z",
        "max_runs": 3,
        "jitter_seconds": 0.5,
        "misfire_policy": "FIRE_NOW",
        "misfire_grace_seconds": 60,
        "catchup_limit": 100,
        "overlap_policy": "allow",
    }


def test_what_a_document_does_not_say_has_its_default() -> None:
    assert from_document({}) == Schedule()
    assert from_document({"type": "interval", "interval_seconds": 60, "anchor": None}) == Schedule(
        Interval(MINUTE)
    )
    once = from_document({"type": "once", "run_at": "2026-06-01T14:00:00+02:00"})
    assert once == Schedule(Once(NOON))


@pytest.mark.parametrize(
    ("field", "document"),
    [
        ("schedule", []),
        ("schedule", None),
        ("type", {"type": "sometimes"}),
        ("type", {"type": ["cron"]}),
        ("cron", {"type": "cron"}),
        ("cron", {"type": "cron", "cron": 5}),
        ("interval_seconds", {"type": "interval"}),
        ("interval_seconds", {"type": "interval", "interval_seconds": 0}),
        ("interval_seconds", {"type": "interval", "interval_seconds": -5}),
        ("interval_seconds", {"type": "interval", "interval_seconds": 1e308}),
        ("interval_seconds", {"type": "interval", "interval_seconds": 10**400}),
        ("interval_seconds", {"type": "interval", "interval_seconds": float("nan")}),
        ("interval_seconds", {"type": "interval", "interval_seconds": float("inf")}),
        ("interval_seconds", {"type": "interval", "interval_seconds": "5"}),
        ("interval_seconds", {"type": "interval", "interval_seconds": 0.0001}),
        ("interval_seconds", {"type": "interval", "interval_seconds": True}),
        ("run_at", {"type": "once"}),
        ("run_at", {"type": "once", "run_at": "2026-02-30T00:00:00Z"}),
        ("run_at", {"type": "once", "run_at": "0000-01-01T00:00:00Z"}),
        ("run_at", {"type": "once", "run_at": "10000-01-01T00:00:00Z"}),
        ("run_at", {"type": "once", "run_at": "2026-01-01T00:00:00"}),
        ("run_at", {"type": "once", "run_at": "2026-12-31T23:59:60Z"}),
        ("run_at", {"type": "once", "run_at": 1767225600}),
        ("delay_seconds", {"type": "delayed", "run_at": "2026-01-01T00:00:00Z"}),
        ("misfire_policy", {"misfire_policy": "fire_later"}),
        ("overlap_policy", {"overlap_policy": ["skip"]}),
        ("cron", {"type": "interval", "interval_seconds": 5, "cron": "* * * * *"}),
        ("max_run", {"max_run": 5}),
        ("timezone", {"type": "cron", "cron": "* * * * *", "timezone": 5}),
        ("calendar", {"calendar": 5}),
    ],
)
def test_a_wrong_document_is_refused_by_the_name_of_its_field(field: str, document: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        from_document(document)
    assert refused.value.field == field
