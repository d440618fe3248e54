"""Runs of the past, planned and counted before anything happens."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.runs.backfills import Existing, plan_backfill
from gnomon.core.runs.state import RunStatus
from gnomon.core.time.dst import Gap
from gnomon.core.time.schedule import CronTiming, Interval, Manual, Schedule
from gnomon.errors import InvalidInput
from tests.unit.core.builders import DAY, HOUR, NOON, at

DAILY = Schedule(CronTiming("0 2 * * *"))
_R = RunStatus
RUNS = {at("06-02 02:00"): _R.COMPLETED, at("06-03 02:00"): _R.FAILED, at("06-04 02:00"): _R.RUNNING}


@pytest.mark.parametrize(
    ("existing", "days", "left_out"),
    [
        (Existing.SKIP, [1, 5], {"exists": 3}),
        (Existing.ONLY_FAILED, [3], {"not_failed": 4}),
        (Existing.ALL, [1, 2, 3, 5], {"under_way": 1}),
    ],
)
def test_a_backfill_takes_the_times_that_were_asked_for(
    existing: Existing, days: list[int], left_out: dict[str, int]
) -> None:
    found = plan_backfill(
        DAILY, start=at("06-01 02:00"), end=at("06-05 02:00"), existing=existing, runs=RUNS, seed=""
    )
    assert [time.day for time in found.times] == days
    assert (found.count, found.left_out) == (len(days), left_out)


def test_closed_days_and_lost_hours_are_left_out_with_their_reason() -> None:
    timing = CronTiming("30 2 * * *", "Europe/Berlin", gap=Gap.SKIP)
    found = plan_backfill(
        Schedule(timing),
        start=at("03-27 00:00"),
        end=at("03-30 23:00"),
        existing=Existing.ALL,
        runs={},
        seed="",
        excluded_dates=frozenset({date(2026, 3, 28)}),
    )
    assert found.left_out == {"calendar": 1, "dst_gap": 1}
    assert [time.day for time in found.times] == [27, 30]


def test_a_backfill_that_would_be_too_long_is_refused() -> None:
    every_minute = Schedule(CronTiming("* * * * *"))
    with pytest.raises(InvalidInput, match="more than 100 runs; take a shorter range"):
        plan_backfill(
            every_minute, start=NOON, end=NOON + DAY, existing=Existing.ALL, runs={}, seed="", runs_max=100
        )
    with pytest.raises(InvalidInput, match="end: lies before start"):
        plan_backfill(DAILY, start=NOON, end=NOON - DAY, existing=Existing.ALL, runs={}, seed="")
    with pytest.raises(InvalidInput, match="has no times of its own"):
        plan_backfill(Schedule(Manual()), start=NOON, end=NOON, existing=Existing.ALL, runs={}, seed="")


@given(
    hours=st.integers(1, 30),
    length=st.integers(0, 200),
    states=st.lists(st.sampled_from([None, *RunStatus]), min_size=1, max_size=7),
    existing=st.sampled_from(Existing),
)
def test_every_time_of_the_range_is_run_or_left_out(
    hours: int, length: int, states: list[RunStatus | None], existing: Existing
) -> None:
    every = [NOON + n * hours * HOUR for n in range(length // hours + 1)]
    runs = {time: state for n, time in enumerate(every) if (state := states[n % len(states)]) is not None}
    found = plan_backfill(
        Schedule(Interval(timedelta(hours=hours), NOON)),
        start=NOON,
        end=NOON + length * HOUR,
        existing=existing,
        runs=runs,
        seed="",
    )

    wanted: Callable[[RunStatus | None], bool] = {
        Existing.SKIP: lambda state: state is None,
        Existing.ONLY_FAILED: lambda state: state in (_R.FAILED, _R.CANCELLED),
        Existing.ALL: lambda state: state not in (_R.PENDING, _R.RUNNING, _R.PAUSED),
    }[existing]
    assert list(found.times) == [time for time in every if wanted(runs.get(time))]
    assert found.count + sum(found.left_out.values()) == len(every)
