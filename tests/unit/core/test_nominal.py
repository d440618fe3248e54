"""Which nominal times follow from a schedule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.time.dst import Fold, Gap
from gnomon.core.time.nominal import Tick, Ticks, first_run, jitter_of, next_run, seed_of
from gnomon.core.time.schedule import CronTiming, Delayed, Interval, Manual, Once, Schedule
from tests.unit.core.builders import DAY, HOUR, JOB_ID, MINUTE, NOON, SECOND, at

HOURLY = CronTiming("0 * * * *")
SEED = seed_of(DEFAULT_TENANT, "nightly")


def next_of(schedule: Schedule, after: datetime, *, fires: int = 0) -> datetime | None:
    return next_run(schedule, after, anchor=None, fires=fires, seed=SEED)


def test_the_next_time_is_strictly_later() -> None:
    assert next_of(Schedule(HOURLY), NOON) == NOON + HOUR
    assert next_of(Schedule(HOURLY), NOON - SECOND) == NOON
    assert next_of(Schedule(Interval(MINUTE, NOON)), NOON) == NOON + MINUTE


def test_an_anchor_is_a_phase_and_not_a_beginning() -> None:
    schedule = Schedule(Interval(7 * MINUTE, NOON + DAY))

    found = first_run(schedule, now=NOON, seed=SEED)

    assert found is not None
    assert NOON < found <= NOON + 7 * MINUTE
    assert (NOON + DAY - found) % (7 * MINUTE) == timedelta(0)


def test_an_interval_does_not_drift_over_a_million_periods() -> None:
    schedule = Schedule(Interval(timedelta(seconds=1.000001), NOON))
    far = NOON + 1_000_000 * timedelta(seconds=1.000001)

    assert next_of(schedule, far - SECOND) == far


def test_a_misfire_that_moved_the_anchor_moves_the_interval() -> None:
    schedule = Schedule(Interval(MINUTE, NOON))
    moved = NOON + 10 * SECOND

    assert next_run(schedule, moved, anchor=moved, fires=0, seed=SEED) == moved + MINUTE


def test_an_interval_without_an_anchor_counts_from_now_or_from_its_start() -> None:
    assert first_run(Schedule(Interval(MINUTE)), now=NOON, seed=SEED) == NOON + MINUTE
    assert next_of(Schedule(Interval(MINUTE)), NOON + MINUTE) == NOON + 2 * MINUTE
    later = Schedule(Interval(MINUTE), start_at=NOON + DAY + SECOND)
    assert first_run(later, now=NOON, seed=SEED) == NOON + DAY + SECOND


def test_both_bounds_belong_to_the_schedule() -> None:
    schedule = Schedule(HOURLY, start_at=NOON + 3 * HOUR, end_at=NOON + 4 * HOUR)

    assert first_run(schedule, now=NOON, seed=SEED) == NOON + 3 * HOUR
    assert next_of(schedule, NOON + 3 * HOUR) == NOON + 4 * HOUR
    assert next_of(schedule, NOON + 4 * HOUR) is None
    assert first_run(schedule, now=NOON + DAY, seed=SEED) is None


def test_max_runs_ends_a_schedule() -> None:
    schedule = Schedule(HOURLY, max_runs=2)

    assert next_of(schedule, NOON, fires=1) == NOON + HOUR
    assert next_of(schedule, NOON, fires=2) is None


def test_a_fixed_instant_is_given_once_even_if_it_has_passed() -> None:
    once = Schedule(Once(NOON - DAY))

    assert first_run(once, now=NOON, seed=SEED) == NOON - DAY
    assert next_of(once, NOON - DAY) is None


def test_a_delay_counts_from_now_until_it_was_resolved() -> None:
    assert first_run(Schedule(Delayed(HOUR)), now=NOON, seed=SEED) == NOON + HOUR
    resolved = Schedule(Delayed(HOUR, NOON - DAY))
    assert first_run(resolved, now=NOON, seed=SEED) == NOON - DAY
    assert next_of(resolved, NOON - DAY) is None
    assert first_run(Schedule(Delayed(HOUR), end_at=NOON), now=NOON, seed=SEED) is None


def test_a_manual_schedule_has_no_times() -> None:
    assert first_run(Schedule(Manual()), now=NOON, seed=SEED) is None
    assert Ticks(Schedule(), SEED, NOON).before(NOON) is None


def test_h_spreads_jobs_by_tenant_and_name_and_stays_where_it_is() -> None:
    schedule = Schedule(CronTiming("H H * * *"))
    names = [f"job {n}" for n in range(50)]

    times = [first_run(schedule, now=NOON, seed=seed_of(DEFAULT_TENANT, name)) for name in names]

    assert len(set(times)) > 40
    assert times == [first_run(schedule, now=NOON, seed=seed_of(DEFAULT_TENANT, name)) for name in names]


def test_a_day_that_never_was_is_a_lost_time_under_every_policy() -> None:
    schedule = Schedule(CronTiming("0 12 * * *", "Pacific/Apia", gap=Gap.SHIFT))
    ticks = Ticks(schedule, SEED, NOON)
    eve = datetime(2011, 12, 29, 22, tzinfo=UTC)  # Noon of the 29th. The 30th does not exist there.

    lost = ticks.after(eve)

    assert lost == Tick(datetime(2011, 12, 30, 10, tzinfo=UTC), lost=1)
    assert ticks.after(lost.at) == Tick(datetime(2011, 12, 30, 22, tzinfo=UTC))


def test_a_time_that_the_zone_no_longer_knows_still_counts() -> None:
    ticks = Ticks(Schedule(HOURLY), SEED, NOON)

    assert ticks.at(NOON + MINUTE) == Tick(NOON + MINUTE)
    assert ticks.at(NOON) == Tick(NOON)


@given(
    timing=st.sampled_from(
        [
            HOURLY,
            CronTiming("*/15 1-3 * * *", "America/New_York", gap=Gap.SKIP, fold=Fold.BOTH),
            CronTiming("0,30 2,3 * * *", "America/New_York", gap=Gap.SKIP, fold=Fold.LAST),
            CronTiming("15 2 * * *", "Australia/Lord_Howe", gap=Gap.SHIFT),
            Interval(timedelta(seconds=86_399), NOON),
            Interval(timedelta(minutes=7), NOON + DAY),
        ]
    ),
    hours=st.integers(0, 365 * 24),
)
@settings(max_examples=150, deadline=None)
def test_walking_back_is_walking_forward_in_reverse(timing: CronTiming | Interval, hours: int) -> None:
    start = at("01-01 00:00") + hours * HOUR
    ticks = Ticks(Schedule(timing, start_at=start, end_at=start + 40 * DAY), SEED, NOON)

    forward: list[Tick] = []
    tick = ticks.after(start - SECOND)
    while tick is not None and len(forward) < 200:
        forward.append(tick)
        tick = ticks.after(tick.at)
    backward = [ticks.before(later.at) for later in forward]

    assert backward == [None, *forward[:-1]]


@pytest.mark.parametrize("hours", [1, 24])
def test_jitter_is_stable_and_spread_evenly_over_its_range(hours: int) -> None:
    jitter = timedelta(minutes=10)
    schedule = Schedule(HOURLY, jitter=jitter)
    nominal = [NOON + n * hours * HOUR for n in range(2000)]

    held_back = [jitter_of(schedule, JOB_ID, time) for time in nominal]

    assert held_back == [jitter_of(schedule, JOB_ID, time) for time in nominal]
    assert all(timedelta(0) <= wait < jitter for wait in held_back)
    quarters = [sum(wait // (jitter / 4) == n for wait in held_back) for n in range(4)]
    assert all(400 < count < 600 for count in quarters)


def test_two_jobs_of_one_time_are_held_back_differently() -> None:
    schedule = Schedule(HOURLY, jitter=HOUR)

    assert jitter_of(schedule, JOB_ID, NOON) != jitter_of(schedule, UUID(int=2), NOON)
    assert jitter_of(Schedule(HOURLY), JOB_ID, NOON) == timedelta(0)
