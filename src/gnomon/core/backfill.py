"""Runs of the past: which nominal times of a range are run, from what became of each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import assert_never

from gnomon.core.instants import MICROSECOND, check_instant
from gnomon.core.misfire import ClosedDays
from gnomon.core.nominal import Ticks, zone_of
from gnomon.core.run_state import RunStatus
from gnomon.core.schedule import CronTiming, Interval, Schedule
from gnomon.errors import InvalidInput

BACKFILL_RUNS_MAX = 10_000


class Existing(StrEnum):
    """What a backfill does about times that have a run already."""

    SKIP = "skip_existing"  # Only times without a run.
    ONLY_FAILED = "only_failed"  # Only times whose last run failed or was cancelled.
    ALL = "all"  # Every time; one whose run is under way is left alone.


@dataclass(frozen=True, slots=True)
class Backfill:
    """A plan to run the past, oldest first. `left_out` counts the times that do not run, by reason."""

    times: tuple[datetime, ...]
    left_out: Mapping[str, int]

    @property
    def count(self) -> int:
        return len(self.times)


def plan_backfill(
    schedule: Schedule,
    *,
    start: datetime,
    end: datetime,
    existing: Existing,
    runs: Mapping[datetime, RunStatus],
    seed: str,
    anchor: datetime | None = None,
    excluded_dates: frozenset[date] = frozenset(),
    runs_max: int = BACKFILL_RUNS_MAX,
) -> Backfill:
    """The nominal times from `start` to `end`, both included, that would run. A dry run shows just this.

    `runs` says how the latest run of each nominal time stands. The bounds of the schedule hold here too, but
    not `max_runs`: it counts fires, and a backfill is none.
    """
    start, end = check_instant(start, field="start"), check_instant(end, field="end")
    if end < start:
        raise InvalidInput("end", "lies before start.")
    if not isinstance(schedule.timing, CronTiming | Interval):
        raise InvalidInput("schedule", "has no times of its own; a backfill needs cron or an interval.")
    times: list[datetime] = []
    left_out: dict[str, int] = {}
    for at, reason in _times(schedule, start, end, seed=seed, anchor=anchor, excluded_dates=excluded_dates):
        reason = reason or _reason_to_leave_out(existing, runs.get(at))
        if reason is not None:
            left_out[reason] = left_out.get(reason, 0) + 1
            if sum(left_out.values()) > 100 * runs_max:
                raise InvalidInput("start", "is too far away; take a shorter range.")
        elif len(times) == runs_max:
            raise InvalidInput("end", f"more than {runs_max} runs; take a shorter range.")
        else:
            times.append(at)
    return Backfill(tuple(times), left_out)


def _times(
    schedule: Schedule,
    start: datetime,
    end: datetime,
    *,
    seed: str,
    anchor: datetime | None,
    excluded_dates: frozenset[date],
) -> Iterator[tuple[datetime, str | None]]:
    closed = ClosedDays(excluded_dates, zone_of(schedule))
    ticks = Ticks.of(schedule, seed=seed, anchor=anchor, known=start)
    tick = ticks.after(start - MICROSECOND)
    while tick is not None and tick.at <= end:
        yield tick.at, "dst_gap" if tick.lost else "calendar" if closed.excludes(tick.at) else None
        tick = ticks.after(tick.at)


def _reason_to_leave_out(existing: Existing, status: RunStatus | None) -> str | None:
    is_live = status is not None and not status.is_final
    match existing:
        case Existing.SKIP:
            return None if status is None else "exists"
        case Existing.ONLY_FAILED:
            return None if status in (RunStatus.FAILED, RunStatus.CANCELLED) else "not_failed"
        case Existing.ALL:
            return "under_way" if is_live else None
        case _:
            assert_never(existing)
