"""What a person's change does to the due times of a job: none is lost, and none is decided twice.

`next_run_time` is a cursor: every nominal time before it has its outcome in the ledger. A change that moves
the cursor, or what the times after it mean, first decides about the due ones, as `settled` says. They belong
to the job as it was. Only then, with the cursor in the future, may `course_after` set it anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime

from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.lifecycle import JobAction
from gnomon.core.jobs.job import Job, JobStatus
from gnomon.core.schedules.firing import plan
from gnomon.core.schedules.occurrence import Firing, Occurrence, SkipReason
from gnomon.core.time.nominal import Ticks, first_run, is_exhausted, next_run, seed_of
from gnomon.core.time.schedule import CronTiming, Delayed, Interval, LostCron, Once, Schedule, resolved
from gnomon.errors import InvalidCron

# More than a scheduler decides in a step: nearly all of them are skipped, and share a row.
TIMES_PER_ROUND_MAX = 5000

# Pausing leaves the cursor where it is. Due times are then skipped like those to come.
SETTLING = frozenset({JobAction.UPDATE, JobAction.RESUME, JobAction.CANCEL, JobAction.DELETE})
ENDING = frozenset({JobAction.CANCEL, JobAction.DELETE})


def is_behind(job: Job, *, now: datetime) -> bool:
    """Whether there are due times that nobody has decided about yet. A schedule that is lost has none."""
    is_firing = job.status in (JobStatus.ACTIVE, JobStatus.PAUSED)
    if isinstance(job.definition.schedule.timing, LostCron):
        return False
    return is_firing and job.next_run_time is not None and job.next_run_time <= now


def since(job: Job, *, now: datetime) -> datetime:
    """From when on a change counts: now, but not before a nominal time that has its outcome already.

    Somebody whose clock is a little ahead of ours may have come to it before our now.
    """
    schedule, cursor = job.definition.schedule, job.next_run_time
    if cursor is None or isinstance(schedule.timing, LostCron):
        return max(now, job.last_run_time or now)
    ticks = Ticks.of(schedule, seed=seed_of(job.tenant_id, job.name), anchor=job.anchor, known=cursor)
    last = ticks.before(cursor)
    return now if last is None else max(now, last.at)


def settled(
    job: Job,
    action: JobAction,
    *,
    now: datetime,
    live: int,
    excluded_dates: frozenset[date],
    new_id: Callable[[], ExecutionId],
    limit: int = TIMES_PER_ROUND_MAX,
) -> Firing:
    """What becomes of the due times of a job that is about to be changed.

    Those of an active job fire, as its old revision says. Those of a paused job are skipped. Who cancels or
    deletes a job wants nothing of it to start any more, so these are skipped too.
    """
    assert action in SETTLING
    if action not in ENDING:
        return plan(job, now=now, live=live, excluded_dates=excluded_dates, new_id=new_id, limit=limit)
    silent = replace(job, status=JobStatus.PAUSED)
    firing = plan(silent, now=now, live=live, excluded_dates=excluded_dates, new_id=new_id, limit=limit)
    return replace(
        firing,
        status=job.status if firing.next_run_time is not None else firing.status,
        occurrences=tuple(map(_not_wanted, firing.occurrences)),
    )


def _not_wanted(row: Occurrence) -> Occurrence:
    return replace(row, reason=SkipReason.CANCELLED) if row.reason is SkipReason.PAUSED else row


@dataclass(frozen=True, slots=True)
class Course:
    """A schedule as it is kept, its first nominal time to come, and where its interval was moved to."""

    schedule: Schedule
    next_run_time: datetime | None
    anchor: datetime | None = None


def course_of_new(schedule: Schedule, *, now: datetime, seed: str) -> Course:
    """The course of a job that is created now."""
    kept = resolved(schedule, now=now)
    _check_years(kept, now=now)
    return Course(kept, first_run(kept, now=now, seed=seed))


def course_after(job: Job, schedule: Schedule, *, name: str, now: datetime) -> Course:
    """The course of a job that gets this schedule and this name now.

    A schedule that says what the old one said changes nothing. Another one begins after now.
    """
    old = job.definition.schedule
    kept = resolved(completed(schedule, old), now=now)
    is_renamed = name != job.name and type(kept.timing) is CronTiming  # `H` is spread by the name.
    if kept == old and not is_renamed:
        return Course(old, job.next_run_time, job.anchor)
    assert not is_behind(job, now=now)
    _check_years(kept, now=now)
    anchor = job.anchor if kept.timing == old.timing else None
    return Course(kept, _next_run_time(job, kept, anchor=anchor, name=name, now=now), anchor)


def _check_years(schedule: Schedule, *, now: datetime) -> None:
    """Raises InvalidCron if the last year of the expression has passed: it would never fire."""
    if type(schedule.timing) is CronTiming and schedule.timing.ends_before(now):
        expression = schedule.timing.expression
        reason = "never fires again: its years have passed"
        raise InvalidCron(expression, part="year", value=expression.split()[-1], reason=reason)


def _next_run_time(
    job: Job, schedule: Schedule, *, anchor: datetime | None, name: str, now: datetime
) -> datetime | None:
    if isinstance(schedule.timing, Once | Delayed):
        if schedule.timing == job.definition.schedule.timing:
            return job.next_run_time  # Its one time is still to come, or has its outcome.
        return None if is_exhausted(schedule, job.fires) else schedule.timing.at
    return next_run(schedule, now, anchor=anchor, fires=job.fires, seed=seed_of(job.tenant_id, name))


def completed(schedule: Schedule, old: Schedule) -> Schedule:
    """The schedule with what it leaves open taken from the old one, where both say the same.

    Else a client that sends the same interval again, without the anchor it never chose, would shift it.
    """
    match schedule.timing, old.timing:
        case Interval(every, anchor=None), Interval(every=before) if (
            every == before and schedule.start_at == old.start_at
        ):
            return replace(schedule, timing=old.timing)
        case Delayed(delay, at=None), Delayed(delay=before) if delay == before:
            return replace(schedule, timing=old.timing)
        case _:
            return schedule
