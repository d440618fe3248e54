"""What a scheduler does with a job whose time has come: a decision about each due time, as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.gates import gate_of_fire
from gnomon.core.jobs.job import Job, JobStatus
from gnomon.core.schedules.misfire import Judge, judge, last_that_may_fire
from gnomon.core.schedules.occurrence import Firing, Occurrence, SkipReason
from gnomon.core.schedules.overlap import Entry, entry
from gnomon.core.time.nominal import Tick, Ticks, is_exhausted, jitter_of, seed_of
from gnomon.core.time.schedule import Interval, Misfire, Overlap, Schedule
from gnomon.core.values.instants import MICROSECOND

OCCURRENCES_PER_STEP_MAX = 1000
FIRST_INSTANT = datetime.min.replace(tzinfo=UTC)


def plan(
    job: Job,
    *,
    now: datetime,
    live: int,
    excluded_dates: frozenset[date],
    new_id: Callable[[], ExecutionId],
    limit: int = OCCURRENCES_PER_STEP_MAX,
) -> Firing:
    """Decide about the due times of a job, at most `limit` of them, oldest first.

    Every nominal time gets exactly one outcome. If more are due than `limit`, the next run time stays at
    the first undecided one, so that the next step goes on there. `live` counts the job's unfinished runs.
    """
    first, schedule = job.next_run_time, job.definition.schedule
    assert first is not None
    assert first <= now
    assert limit >= 1
    assert job.status in (JobStatus.ACTIVE, JobStatus.PAUSED)

    ticks = Ticks.of(schedule, seed=seed_of(job.tenant_id, job.name), anchor=job.anchor, known=first)
    paused = job.status is JobStatus.PAUSED
    ruling = judge(ticks, first=first, now=now, excluded_dates=excluded_dates, paused=paused)
    ledger = _Ledger(job, new_id, live=live)
    if _counts_anew(schedule, ruling, first=first):
        return _count_anew(ledger, ticks, first=first, now=now)
    tick = _decide(ledger, ticks, ruling, first=first, now=now, limit=limit)
    return ledger.firing(next_run_time=tick.at if tick else None, anchor=job.anchor)


def _decide(
    ledger: _Ledger, ticks: Ticks, ruling: Judge, *, first: datetime, now: datetime, limit: int
) -> Tick | None:
    """Write down what becomes of the due times, at most `limit`. Returns the first undecided one."""
    schedule = ticks.schedule
    replaced_before = _replaced_before(ticks, ruling, now=now)
    tick: Tick | None = ticks.at(first)
    for _ in range(limit):
        if tick is None or tick.at > now or is_exhausted(schedule, ledger.fires):
            break
        reason = ruling.reason_to_skip(tick)
        if reason is None and (
            tick.at < replaced_before or entry(schedule.overlap, live=ledger.live) is Entry.SKIP
        ):
            reason = SkipReason.OVERLAP
        if reason is None:
            ledger.fire(tick)
        else:
            ledger.skip(tick.at, tick.at, count=max(1, tick.lost), reason=reason)
        tick = ticks.after(tick.at)
    return None if is_exhausted(schedule, ledger.fires) else tick


def _replaced_before(ticks: Ticks, ruling: Judge, *, now: datetime) -> datetime:
    """Due times before this one do not fire: a later one would replace them before they could start.

    Looked up backwards from now, so it does not depend on where a bounded step begins.
    """
    if ticks.schedule.overlap is not Overlap.REPLACE:
        return FIRST_INSTANT
    return last_that_may_fire(ticks, ruling.closed, before=now + MICROSECOND) or FIRST_INSTANT


# An interval that counts anew ------------------------------------------------------------------------


def _counts_anew(schedule: Schedule, ruling: Judge, *, first: datetime) -> bool:
    return (
        isinstance(schedule.timing, Interval)
        and schedule.misfire is Misfire.RESCHEDULE
        and not ruling.paused
        and ruling.is_missed(Tick(first))
    )


def _count_anew(ledger: _Ledger, ticks: Ticks, *, first: datetime, now: datetime) -> Firing:
    """Skip every due time and count on from now.

    The times still in grace go along: they belong to the count that ends here. An interval can be counted
    without a walk, so a backlog of any length is one row and one step.
    """
    assert isinstance(ticks.schedule.timing, Interval)
    latest = ticks.before(now + MICROSECOND)
    last = first if latest is None else max(first, latest.at)
    count = (last - first) // ticks.schedule.timing.every + 1
    ledger.skip(first, last, count=count, reason=SkipReason.MISFIRE)
    anew = replace(ticks, origin=now).after(now)
    return ledger.firing(next_run_time=anew.at if anew else None, anchor=now)


# Writing down -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Ledger:
    """The outcomes of one step, in order. Neighbours that were skipped for one reason share a row."""

    job: Job
    new_id: Callable[[], ExecutionId]
    live: int
    fires: int = field(init=False)
    last_run_time: datetime | None = field(init=False)
    rows: list[Occurrence] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.fires, self.last_run_time = self.job.fires, self.job.last_run_time

    def fire(self, tick: Tick) -> None:
        due = tick.at + jitter_of(self.job.definition.schedule, self.job.id, tick.at)
        self.rows.append(Occurrence(tick.at, tick.at, execution_id=self.new_id(), due=due))
        self.live += 1
        self.fires += 1
        self.last_run_time = tick.at

    def skip(self, first: datetime, last: datetime, *, count: int, reason: SkipReason) -> None:
        if self.rows and self.rows[-1].reason is reason:
            first, count = self.rows[-1].nominal_time, self.rows[-1].count + count
            self.rows.pop()
        self.rows.append(Occurrence(first, last, count, reason))

    def firing(self, *, next_run_time: datetime | None, anchor: datetime | None) -> Firing:
        job = self.job
        assert job.next_run_time is not None
        return Firing(
            job_id=job.id,
            tenant_id=job.tenant_id,
            expected_version=job.version,
            expected_next_run_time=job.next_run_time,
            status=JobStatus.COMPLETED if next_run_time is None else job.status,
            next_run_time=next_run_time,
            last_run_time=self.last_run_time,
            fires=self.fires,
            anchor=anchor,
            occurrences=tuple(self.rows),
            waits_for=gate_of_fire(job),
            previous_run_time=job.last_run_time,
            replaces=job.definition.schedule.overlap is Overlap.REPLACE and self.fires > job.fires,
        )
