"""The nominal times that follow from a schedule, before anything is decided about them.

A civil time that a DST gap swallowed is a nominal time too, at the instant where the gap ends: it never
fires, but it is in the ledger with its reason, like a date that a calendar excludes. Nominal times are
told apart by instant. Where a regular time has the same instant as a lost one, the regular one counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import blake2b
from typing import assert_never
from uuid import UUID

from gnomon.core.time import dst, zones
from gnomon.core.time.dst import CronTimes
from gnomon.core.time.schedule import CronTiming, Delayed, Interval, Manual, Once, Schedule
from gnomon.core.values.instants import INSTANT_MIN, MICROSECOND


@dataclass(frozen=True, slots=True)
class Tick:
    """A nominal time. `lost` counts the civil times that a gap swallowed there; if any, it never fires."""

    at: datetime
    lost: int = 0


@dataclass(frozen=True, slots=True)
class Ticks:
    """The nominal times of a schedule within its bounds, forwards and backwards.

    `origin` is where an interval counts from. `max_runs` is not looked at: it counts fires, not times.
    """

    schedule: Schedule
    seed: str
    origin: datetime

    @classmethod
    def of(cls, schedule: Schedule, *, seed: str, anchor: datetime | None, known: datetime) -> Ticks:
        """`anchor` is where a misfire moved an interval to; `known` is a nominal time to fall back on."""
        own = schedule.timing.anchor if isinstance(schedule.timing, Interval) else None
        return cls(schedule, seed, anchor or own or schedule.start_at or known)

    def after(self, instant: datetime) -> Tick | None:
        """The first one strictly later than `instant`."""
        start_at, end_at = self.schedule.start_at, self.schedule.end_at
        if start_at is not None and instant < start_at:
            instant = start_at - MICROSECOND
        tick = self._after(instant)
        return None if tick is None or (end_at is not None and tick.at > end_at) else tick

    def before(self, instant: datetime) -> Tick | None:
        """The last one strictly earlier than `instant`."""
        start_at, end_at = self.schedule.start_at, self.schedule.end_at
        if end_at is not None and instant > end_at:
            instant = end_at + MICROSECOND
        tick = self._before(instant)
        return None if tick is None or (start_at is not None and tick.at < start_at) else tick

    def at(self, instant: datetime) -> Tick:
        """The one at `instant`. It counts even if a newer time zone database no longer knows it."""
        tick = self.after(instant - MICROSECOND)
        return tick if tick is not None and tick.at == instant else Tick(instant)

    def _after(self, instant: datetime) -> Tick | None:
        match self.schedule.timing:
            case CronTiming() as timing:
                return _cron_after(_times(timing, self.seed), instant)
            case Interval(every):
                return Tick(self.origin + ((instant - self.origin) // every + 1) * every)
            case Once(at) | Delayed(at=at):
                return Tick(at) if at is not None and at > instant else None
            case Manual():
                return None
            case _ as other:
                assert_never(other)

    def _before(self, instant: datetime) -> Tick | None:
        match self.schedule.timing:
            case CronTiming() as timing:
                return _cron_before(_times(timing, self.seed), instant)
            case Interval(every):
                return Tick(self.origin - ((self.origin - instant) // every + 1) * every)
            case Once(at) | Delayed(at=at):
                return Tick(at) if at is not None and at < instant else None
            case Manual():
                return None
            case _ as other:
                assert_never(other)


def first_run(schedule: Schedule, *, now: datetime, seed: str) -> datetime | None:
    """The `next_run_time` of a job that is created, resumed or rescheduled at `now`.

    A fixed instant is given even if it has passed: then it was missed, and the misfire policy decides.
    """
    match schedule.timing:
        case Once(at):
            return at
        case Delayed(delay, at):
            due = at or now + delay
            return due if schedule.end_at is None or due <= schedule.end_at else None
        case _:
            return next_run(schedule, now, anchor=None, fires=0, seed=seed)


def next_run(
    schedule: Schedule, after: datetime, *, anchor: datetime | None, fires: int, seed: str
) -> datetime | None:
    """The first nominal time strictly later than `after`; None if the schedule has ended."""
    if is_exhausted(schedule, fires):
        return None
    tick = Ticks.of(schedule, seed=seed, anchor=anchor, known=after).after(after)
    return None if tick is None else tick.at


def is_exhausted(schedule: Schedule, fires: int) -> bool:
    return schedule.max_runs is not None and fires >= schedule.max_runs


def seed_of(tenant_id: UUID, name: str) -> str:
    """What the `H` of a cron expression is spread by: stable for a job, also when it is created again."""
    return f"{tenant_id}/{name}"


def zone_of(schedule: Schedule) -> tzinfo:
    """The zone in which the dates of a schedule are read."""
    return zones.zone(schedule.timing.timezone) if isinstance(schedule.timing, CronTiming) else UTC


def jitter_of(schedule: Schedule, job_id: UUID, nominal: datetime) -> timedelta:
    """How long a fire is held back: evenly spread over [0, jitter), always the same for one occurrence."""
    if not schedule.jitter:
        return timedelta(0)
    key = job_id.bytes + ((nominal - INSTANT_MIN) // MICROSECOND).to_bytes(8, "big", signed=True)
    fraction = int.from_bytes(blake2b(key, digest_size=8).digest(), "big")
    return (schedule.jitter // MICROSECOND * fraction >> 64) * MICROSECOND


def _times(timing: CronTiming, seed: str) -> CronTimes:
    return dst.times(timing.expression, timing.timezone, gap=timing.gap, fold=timing.fold, seed=seed)


def _cron_after(times: CronTimes, instant: datetime) -> Tick | None:
    regular = times.next(instant)
    if regular is None:
        return None
    return next(iter(_lost_between(times, instant, regular)), Tick(regular))


def _cron_before(times: CronTimes, instant: datetime) -> Tick | None:
    regular = times.previous(instant)
    lost = list(_lost_between(times, regular or INSTANT_MIN, instant))
    if lost:
        return lost[-1]
    return None if regular is None else Tick(regular)


def _lost_between(times: CronTimes, after: datetime, before: datetime) -> Iterable[Tick]:
    """Ticks of lost civil times strictly between two instants, with no regular time between them."""
    counts = Counter(
        lost.instant for lost in times.skipped_between(after, before) if after < lost.instant < before
    )
    return [Tick(at, lost=count) for at, count in counts.items()]
