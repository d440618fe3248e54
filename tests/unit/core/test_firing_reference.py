"""Firing against a naive reference: all nominal times in a list, looked at one by one, without steps."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.jobs.job import Job, JobStatus
from gnomon.core.schedules.occurrence import Occurrence, SkipReason
from gnomon.core.time import zones
from gnomon.core.time.dst import Gap
from gnomon.core.time.schedule import CronTiming, Interval, Misfire, Overlap, Schedule
from gnomon.core.values.instants import MICROSECOND
from tests.unit.core.builders import after_firing, job_with, step

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

Row = tuple[datetime, datetime, int, SkipReason | None]


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


# The reference -----------------------------------------------------------------------------------------


def outcomes(story: Story) -> list[tuple[datetime, int, SkipReason | None]]:
    """What becomes of each due time: when, how many it stands for, and why it is skipped (None: it fires)."""
    schedule, live, fires, done = story.schedule, story.live, story.fires, []
    chosen, starts_anew = missed_that_fire(story), counts_anew(story)
    for at, lost in due(story):
        if fires == schedule.max_runs:
            break
        is_late = story.now - at > schedule.misfire_grace
        if starts_anew:
            reason: SkipReason | None = SkipReason.MISFIRE
        elif lost:
            reason = SkipReason.DST_GAP
        elif story.paused:
            reason = SkipReason.PAUSED
        elif is_excluded(story, at):
            reason = SkipReason.CALENDAR
        elif is_late and at not in chosen:
            reason = why_missed(story, at)
        elif (schedule.overlap is Overlap.SKIP and live) or (
            schedule.overlap is Overlap.REPLACE and at < could_fire(story)[-1]
        ):
            reason = SkipReason.OVERLAP
        else:
            reason, live, fires = None, live + 1, fires + 1
        done.append((at, max(1, lost), reason))
    return done


def due(story: Story) -> list[tuple[datetime, int]]:
    return [tick for tick in story.ticks if tick[0] <= story.now]


def is_excluded(story: Story, at: datetime) -> bool:
    assert isinstance(story.schedule.timing, CronTiming | Interval)
    return at.astimezone(zone_of(story.schedule.timing)).date() in story.excluded


def counts_anew(story: Story) -> bool:
    schedule, first = story.schedule, story.ticks[0][0]
    late = story.now - first > schedule.misfire_grace
    moves = isinstance(schedule.timing, Interval) and schedule.misfire is Misfire.RESCHEDULE
    return moves and late and not story.paused


def could_fire(story: Story) -> list[datetime]:
    return [at for at, lost in due(story) if not lost and not is_excluded(story, at)]


def missed_that_fire(story: Story) -> list[datetime]:
    schedule, now = story.schedule, story.now
    could = could_fire(story)
    late = [at for at in could if now - at > schedule.misfire_grace]
    match schedule.misfire:
        case Misfire.FIRE_NOW:
            return late[-1:] if late == could else []
        case Misfire.FIRE_ALL:
            window = schedule.catchup_window
            return [at for at in late if window is None or now - at <= window][-schedule.catchup_limit :]
        case _:
            return []


def why_missed(story: Story, at: datetime) -> SkipReason:
    if story.schedule.misfire is not Misfire.FIRE_ALL:
        return SkipReason.MISFIRE
    window = story.schedule.catchup_window
    is_outside = window is not None and story.now - at > window
    return SkipReason.CATCHUP_WINDOW if is_outside else SkipReason.CATCHUP_LIMIT


# The properties ----------------------------------------------------------------------------------------


def rows_of(done: list[tuple[datetime, int, SkipReason | None]]) -> list[Row]:
    return merged([(at, at, count, reason) for at, count, reason in done])


def merged(rows: list[Row]) -> list[Row]:
    """Neighbours that were skipped for one reason as one row, also across steps."""
    whole: list[Row] = []
    for row in rows:
        if whole and row[3] is not None and whole[-1][3] is row[3]:
            whole[-1] = (whole[-1][0], row[1], whole[-1][2] + row[2], row[3])
        else:
            whole.append(row)
    return whole


def run(story: Story, *, limit: int) -> tuple[Job, list[Row]]:
    """Steps until nothing is due any more. Every step must decide something."""
    job, rows = story.job, list[Row]()
    live = story.live
    while job.next_run_time is not None and job.next_run_time <= story.now:
        firing = step(job, now=story.now, live=live, excluded=story.excluded, limit=limit)
        assert firing.occurrences
        assert firing.next_run_time is None or firing.next_run_time > job.next_run_time
        rows += [as_row(row) for row in firing.occurrences]
        live += sum(row.reason is None for row in firing.occurrences)
        job = after_firing(job, firing)
    return job, rows


def as_row(row: Occurrence) -> Row:
    return row.nominal_time, row.nominal_until, row.count, row.reason


@given(story=stories())
@settings(max_examples=120, deadline=None)
def test_every_due_time_has_the_outcome_that_the_reference_gives_it(story: Story) -> None:
    job, rows = run(story, limit=10_000)

    done = outcomes(story)
    assert rows == rows_of(done)
    assert job.fires == story.fires + sum(reason is None for *_, reason in done)
    assert job.last_run_time == max((at for at, _, reason in done if reason is None), default=None)


@given(story=stories(), limit=st.sampled_from([1, 2, 7, 60, 100, 1000]))
@settings(max_examples=60, deadline=None)
def test_many_bounded_steps_give_the_ledger_of_one_unbounded_step(story: Story, limit: int) -> None:
    whole_job, whole = run(story, limit=10_000)
    job, rows = run(story, limit=limit)

    assert merged(rows) == merged(whole)
    assert job == whole_job
    assert all(earlier[1] < later[0] for earlier, later in pairwise(rows))


@given(story=stories(), limit=st.sampled_from([7, 1000]))
@settings(max_examples=60, deadline=None)
def test_a_schedule_goes_on_unless_it_has_ended(story: Story, limit: int) -> None:
    job, _ = run(story, limit=limit)

    schedule = story.schedule
    if job.next_run_time is not None:
        assert job.next_run_time > story.now
        assert job.status is story.job.status
    else:
        assert job.status is JobStatus.COMPLETED
        is_used_up = job.fires == schedule.max_runs
        assert is_used_up or (schedule.end_at is not None and next_expected(story) > schedule.end_at)


def next_expected(story: Story) -> datetime:
    """Where the schedule would go on if it had no end."""
    timing = story.schedule.timing
    if isinstance(timing, Interval) and counts_anew(story):
        return story.now + timing.every
    assert isinstance(timing, CronTiming | Interval)
    last = story.ticks[-1][0]
    return last + (timing.every if isinstance(timing, Interval) else timedelta(minutes=1))
