"""Stories of schedules, drawn by Hypothesis."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from gnomon.core.jobs.job import Job
from gnomon.core.time import zones
from gnomon.core.time.dst import Gap
from gnomon.core.time.schedule import CronTiming, Interval, Misfire, Overlap, Schedule
from gnomon.core.values.instants import MICROSECOND
from tests.unit.core.builders import job_with

DOWNTIMES = [0, 1, 61, 101, 1440]


FAR = 3000  # More ticks than any downtime here has.


# The reference's own reading of a few expressions: which (hour, minute) of a civil day.
CIVIL_TIMES: dict[str, list[time]] = {
    "30 2 * * *": [time(2, 30)],
    "0,15 1-3 * * *": [time(hour, minute) for hour in (1, 2, 3) for minute in (0, 15)],
    "0 0,12 * * *": [time(0), time(12)],
}


# These run in elapsed time: every real so many minutes.
ELAPSED: dict[str, timedelta] = {"* * * * *": timedelta(minutes=1), "*/15 * * * *": timedelta(minutes=15)}


ZONES = ["UTC", "America/New_York", "Australia/Lord_Howe"]


@dataclass(frozen=True)
class Story:
    schedule: Schedule
    ticks: list[tuple[datetime, int]]  # All from the first due one on, with how many civil times were lost.
    now: datetime
    live: int
    excluded: frozenset[date]
    paused: bool
    fires: int

    @property
    def job(self) -> Job:
        return job_with(self.schedule, due=self.ticks[0][0], paused=self.paused, fires=self.fires)


def civil_ticks(timing: CronTiming, start: datetime) -> list[tuple[datetime, int]]:
    """Nominal times from `start` on, by walking the civil days."""
    zone, regular, lost = zones.zone(timing.timezone), set[datetime](), Counter[datetime]()
    day = start.astimezone(zone).date()
    times = CIVIL_TIMES[timing.expression]
    for n in range(FAR // len(times)):
        for clock in times:
            civil = datetime.combine(day + timedelta(days=n), clock, zone)
            instant = civil.astimezone(UTC)
            if instant.astimezone(zone).replace(tzinfo=None) == civil.replace(tzinfo=None):
                regular.add(instant)
            else:
                gap_end = end_of_gap(civil)
                if timing.gap is Gap.SHIFT:
                    regular.add(gap_end)
                else:
                    lost[gap_end] += 1
    ticks = {**lost, **dict.fromkeys(regular, 0)}
    return sorted((at, count) for at, count in ticks.items() if at >= start)


def end_of_gap(civil: datetime) -> datetime:
    """The first civil minute after a time that exists, as an instant."""
    while True:
        civil += timedelta(minutes=1)
        instant = civil.astimezone(UTC)
        if instant.astimezone(civil.tzinfo).replace(tzinfo=None) == civil.replace(tzinfo=None):
            return instant


@st.composite
def timings(draw: st.DrawFn) -> tuple[CronTiming | Interval, list[tuple[datetime, int]]]:
    kind = draw(st.sampled_from(["civil", "elapsed", "interval"]))
    start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=draw(st.integers(0, 366 * 1440)))
    if kind == "interval":
        every = timedelta(seconds=draw(st.sampled_from([1, 7, 60, 3600, 86_399])))
        return Interval(every, start), [(start + n * every, 0) for n in range(FAR)]
    zone = draw(st.sampled_from(ZONES))
    if kind == "elapsed":
        expression, every = draw(st.sampled_from(sorted(ELAPSED.items())))
        # Offsets of these zones are multiples of a quarter of an hour, so UTC tells when it fires.
        start = start.replace(minute=start.minute // 15 * 15)
        return CronTiming(expression, zone), [(start + n * every, 0) for n in range(FAR)]
    expression = draw(st.sampled_from(sorted(CIVIL_TIMES)))
    timing = CronTiming(expression, zone, gap=draw(st.sampled_from(Gap)))
    return timing, civil_ticks(timing, start)


@st.composite
def stories(draw: st.DrawFn) -> Story:
    timing, ticks = draw(timings())
    missed = draw(st.sampled_from(DOWNTIMES))
    now = ticks[missed][0] + draw(
        st.sampled_from([timedelta(0), timedelta(milliseconds=1), timedelta(seconds=70)])
    )
    end_at = draw(st.none() | st.sampled_from([0, 50, 100, 1000]).map(lambda n: ticks[n][0] + MICROSECOND))
    period = ticks[1][0] - ticks[0][0]
    schedule = Schedule(
        timing,
        end_at=end_at,
        max_runs=draw(st.none() | st.integers(1, 120)),
        misfire=draw(st.sampled_from(Misfire)),
        misfire_grace=min(draw(st.sampled_from([0, 1, 3, 40])) * period, timedelta(days=30)),
        catchup_limit=draw(st.sampled_from([1, 2, 100, 2000])),
        catchup_window=draw(st.none() | st.sampled_from([1, 30, 500]).map(lambda n: n * period)),
        overlap=draw(st.sampled_from(Overlap)),
    )
    days = sorted({at.astimezone(zone_of(timing)).date() for at, _ in ticks[: missed + 1]})
    excluded = draw(st.frozensets(st.sampled_from(days), max_size=len(days)))
    if end_at is not None:
        ticks = [tick for tick in ticks if tick[0] <= end_at]
    return Story(
        schedule,
        ticks,
        now,
        live=draw(st.integers(0, 1)),
        excluded=excluded,
        paused=draw(st.sampled_from([False, False, False, True])),
        fires=draw(st.integers(0, 1)) if schedule.max_runs != 1 else 0,
    )


def zone_of(timing: CronTiming | Interval) -> ZoneInfo:
    return zones.zone(timing.timezone if isinstance(timing, CronTiming) else "UTC")
