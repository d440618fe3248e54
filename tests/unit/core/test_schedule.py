"""What a schedule may say, and what is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from gnomon.core.time.schedule import (
    CronTiming,
    Delayed,
    Interval,
    Manual,
    Misfire,
    Once,
    Overlap,
    Schedule,
    resolved,
)
from gnomon.errors import InvalidCron, InvalidInput, InvalidTimezone
from tests.unit.core.builders import DAY, HOUR, MINUTE, NOON, SECOND

NAIVE = NOON.replace(tzinfo=None)
HOURLY = CronTiming("0 * * * *")


def test_a_schedule_without_words_is_manual_and_has_the_documented_defaults() -> None:
    schedule = Schedule()

    assert schedule.timing == Manual()
    assert (schedule.misfire, schedule.misfire_grace) == (Misfire.FIRE_NOW, timedelta(seconds=60))
    assert (schedule.catchup_limit, schedule.catchup_window) == (100, None)
    assert (schedule.overlap, schedule.jitter, schedule.max_runs) == (Overlap.ALLOW, timedelta(0), None)


def test_a_schedule_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Schedule().max_runs = 5  # type: ignore[misc]


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("interval_seconds", lambda: Interval(timedelta(0))),
        ("interval_seconds", lambda: Interval(timedelta(seconds=-5))),
        ("interval_seconds", lambda: Interval(timedelta(microseconds=100))),
        ("interval_seconds", lambda: Interval(timedelta.max)),
        ("interval_seconds", lambda: Interval(5)),  # type: ignore[arg-type]
        ("anchor", lambda: Interval(MINUTE, NAIVE)),
        ("run_at", lambda: Once(NAIVE)),
        ("run_at", lambda: Once("2026-01-01T00:00:00Z")),  # type: ignore[arg-type]
        ("run_at", lambda: Once(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5))))),
        ("run_at", lambda: Once(datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))))),
        ("delay_seconds", lambda: Delayed(timedelta(seconds=-1))),
        ("delay_seconds", lambda: Delayed(timedelta.max)),
        ("start_at", lambda: Schedule(start_at=NAIVE)),
        ("end_at", lambda: Schedule(end_at=NAIVE)),
        ("end_at", lambda: Schedule(start_at=NOON, end_at=NOON)),
        ("end_at", lambda: Schedule(start_at=NOON, end_at=NOON - DAY)),
        ("end_at", lambda: Schedule(Once(NOON), end_at=NOON - DAY)),
        ("start_at", lambda: Schedule(Once(NOON), start_at=NOON + DAY)),
        ("max_runs", lambda: Schedule(max_runs=0)),
        ("max_runs", lambda: Schedule(max_runs=True)),
        ("max_runs", lambda: Schedule(max_runs=2.0)),  # type: ignore[arg-type]
        ("max_runs", lambda: Schedule(max_runs=10**12)),
        ("jitter_seconds", lambda: Schedule(jitter=timedelta(seconds=-1))),
        ("jitter_seconds", lambda: Schedule(jitter=timedelta(days=2))),
        ("jitter_seconds", lambda: Schedule(Interval(MINUTE), jitter=HOUR)),
        ("calendar", lambda: Schedule(calendar=" ")),
        ("misfire_policy", lambda: Schedule(misfire="FIRE_NOW")),  # type: ignore[arg-type]
        ("misfire_grace_seconds", lambda: Schedule(misfire_grace=timedelta(seconds=-1))),
        ("catchup_limit", lambda: Schedule(catchup_limit=0)),
        ("catchup_limit", lambda: Schedule(catchup_limit=10**9)),
        ("catchup_window_seconds", lambda: Schedule(catchup_window=timedelta(0))),
        ("overlap_policy", lambda: Schedule(overlap="skip")),  # type: ignore[arg-type]
        ("gap", lambda: CronTiming("* * * * *", gap="skip")),  # type: ignore[arg-type]
        ("fold", lambda: CronTiming("* * * * *", fold="last")),  # type: ignore[arg-type]
        ("cron", lambda: CronTiming("")),
        ("cron", lambda: CronTiming(5)),  # type: ignore[arg-type]
        ("cron", lambda: CronTiming("61 * * * *")),
        ("cron", lambda: CronTiming("0 0 30 2 *")),
        ("timezone", lambda: CronTiming("* * * * *", "Mars/Phobos")),
        ("timezone", lambda: CronTiming("* * * * *", "")),
    ],
)
def test_what_cannot_be_is_refused_by_the_name_of_its_field(field: str, make: Callable[[], object]) -> None:
    with pytest.raises(InvalidInput) as refused:
        make()
    assert refused.value.field == field


def test_a_wrong_expression_and_a_wrong_zone_have_errors_of_their_own() -> None:
    with pytest.raises(InvalidCron):
        CronTiming("@reboot")
    with pytest.raises(InvalidTimezone):
        CronTiming("0 0 * * *", "../../etc/passwd")


def test_instants_are_kept_in_utc_whatever_offset_they_came_with() -> None:
    berlin = datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin"))

    timing = Once(berlin)

    assert timing.at == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    assert timing.at.tzinfo is UTC
    assert timing == Once(datetime(2026, 10, 25, 1, 30, tzinfo=UTC))


def test_an_instant_in_the_past_is_accepted_because_the_misfire_policy_decides() -> None:
    assert Once(NOON - 3000 * DAY).at == NOON - 3000 * DAY


def test_a_delay_becomes_an_instant_when_the_job_is_made_and_is_kept_beside_it() -> None:
    made = resolved(Schedule(Delayed(90 * SECOND)), now=NOON)

    assert made.timing == Delayed(90 * SECOND, NOON + 90 * SECOND)
    assert resolved(made, now=NOON + DAY) == made


def test_a_delay_beyond_the_end_is_refused_when_the_job_is_made() -> None:
    with pytest.raises(InvalidInput, match="end_at"):
        resolved(Schedule(Delayed(DAY), end_at=NOON + HOUR), now=NOON)


def test_an_interval_is_anchored_when_the_job_is_made() -> None:
    assert resolved(Schedule(Interval(MINUTE)), now=NOON).timing == Interval(MINUTE, NOON)
    later = Schedule(Interval(MINUTE), start_at=NOON + DAY)
    assert resolved(later, now=NOON).timing == Interval(MINUTE, NOON + DAY)
    anchored = Schedule(Interval(MINUTE, NOON - DAY))
    assert resolved(anchored, now=NOON) == anchored
    assert resolved(Schedule(HOURLY), now=NOON) == Schedule(HOURLY)
