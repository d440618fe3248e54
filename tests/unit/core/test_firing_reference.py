"""Firing against a naive reference: all nominal times in a list, looked at one by one, without steps."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.jobs.job import Job, JobStatus
from gnomon.core.schedules.occurrence import Occurrence, SkipReason
from gnomon.core.time.schedule import CronTiming, Interval, Misfire, Overlap
from tests.unit.core.builders import after_firing, step
from tests.unit.core.firing_stories import Story, stories, zone_of

Row = tuple[datetime, datetime, int, SkipReason | None]


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
