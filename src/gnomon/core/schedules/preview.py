"""What a schedule will do, shown before it does: the next nominal times, with notes where the clock jumps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from gnomon.core.schedules.misfire import ClosedDays
from gnomon.core.schedules.occurrence import SkipReason
from gnomon.core.time import dst
from gnomon.core.time.dst import Gap
from gnomon.core.time.nominal import Tick, Ticks, first_run, zone_of
from gnomon.core.time.schedule import CronTiming, Schedule
from gnomon.core.values.instants import MICROSECOND, check_instant
from gnomon.core.values.limits import check_limit

PREVIEW_LIMIT_MAX = 1000


@dataclass(frozen=True, slots=True)
class Preview:
    """A nominal time to come. `skip` says why it will not fire, `note` what a DST change does to it."""

    nominal_time: datetime
    utc_offset: timedelta
    note: str | None = None
    skip: SkipReason | None = None


def preview(
    schedule: Schedule,
    *,
    after: datetime,
    limit: int,
    seed: str,
    excluded_dates: frozenset[date] = frozenset(),
) -> tuple[Preview, ...]:
    """The first `limit` nominal times strictly later than `after`, skipped ones included."""
    after = check_instant(after, field="after")
    check_limit(limit, limit_max=PREVIEW_LIMIT_MAX)
    start = first_run(schedule, now=after, seed=seed)
    if start is None or start <= after:
        return ()
    closed = ClosedDays(excluded_dates, zone_of(schedule))
    ticks = Ticks.of(schedule, seed=seed, anchor=None, known=start)
    previews: list[Preview] = []
    fires = 0
    tick: Tick | None = ticks.at(start)
    while tick is not None and len(previews) < limit and fires != schedule.max_runs:
        shown = _shown(schedule, tick, closed, seed=seed)
        fires += shown.skip is None
        previews.append(shown)
        tick = ticks.after(tick.at)
    return tuple(previews)


def _shown(schedule: Schedule, tick: Tick, closed: ClosedDays, *, seed: str) -> Preview:
    local = tick.at.astimezone(closed.zone)
    offset = local.utcoffset()
    assert offset is not None
    if tick.lost:
        note = f"{tick.lost} civil time(s) before {local:%H:%M} do not exist on this day"
        return Preview(tick.at, offset, note, SkipReason.DST_GAP)
    skip = SkipReason.CALENDAR if closed.excludes(tick.at) else None
    return Preview(tick.at, offset, _note(schedule, tick.at, closed.zone, seed=seed), skip)


def _note(schedule: Schedule, instant: datetime, zone: tzinfo, *, seed: str) -> str | None:
    if not isinstance(schedule.timing, CronTiming):
        return None
    local = instant.astimezone(zone)
    other = local.replace(fold=1 - local.fold)
    if other.utcoffset() != local.utcoffset():
        return f"{'second' if local.fold else 'first'} of two {local:%H:%M}"
    return "shifted out of a gap" if _is_shifted(schedule.timing, instant, seed=seed) else None


def _is_shifted(timing: CronTiming, instant: datetime, *, seed: str) -> bool:
    """Whether the time is there only because it was moved: with gap=skip it would not be."""
    if timing.gap is not Gap.SHIFT:
        return False
    strict = dst.times(timing.expression, timing.timezone, gap=Gap.SKIP, fold=timing.fold, seed=seed)
    return strict.next(instant - MICROSECOND) != instant
