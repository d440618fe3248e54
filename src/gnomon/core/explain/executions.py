"""Why an execution, or a job, does not run now: every reason, from the predicates by which work is claimed.

There is no reason exactly if some live worker, asking for as many as it has free slots, would be given it and
has not turned it away before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from gnomon.core.executions.execution import Execution, ExecutionId, ExecutionStatus, Trigger, WaitsFor
from gnomon.core.executions.lease import Lane
from gnomon.core.explain.attempts import why_alone
from gnomon.core.explain.obstacles import Obstacle, Reason
from gnomon.core.explain.unrunnable import lacks_in_words
from gnomon.core.jobs.job import DAG_KIND, Job, JobId, JobStatus
from gnomon.core.operations.workers import Worker
from gnomon.core.runs.run import RunId
from gnomon.core.schedules.occurrence import Occurrence, SkipReason
from gnomon.core.time.schedule import Manual, Overlap
from gnomon.core.values.instants import instant_text

AHEAD_MAX = 10_000  # Nobody needs to know more exactly how long a queue is.


class Needed(NamedTuple):
    job_id: JobId
    name: str


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """An execution that waits. `taken` of its job's `slots` are filled; `needed` have not succeeded yet.

    Of its tenant `tenant_running` run, and no more than `tenant_limit` may. `run_id` is the run that it is a
    task of.
    """

    execution_id: ExecutionId
    lane: Lane
    priority: int
    due: datetime
    waits_for: WaitsFor | None
    slots: int | None
    taken: int
    needed: tuple[Needed, ...] = ()
    tenant_running: int = 0
    tenant_limit: int | None = None
    run_id: RunId | None = None
    crashes: int = 0

    @property
    def is_run(self) -> bool:
        """Of a workflow: no worker takes it, its tasks do the work."""
        return self.lane.kind == DAG_KIND

    @property
    def has_begun(self) -> bool:
        return self.waits_for is WaitsFor.TASKS

    @property
    def is_held(self) -> bool:
        """By the run that it is a task of, which is paused."""
        return self.waits_for is WaitsFor.APPROVAL

    @property
    def is_suspect(self) -> bool:
        return self.waits_for is WaitsFor.EMPTY_WORKER

    def room(self, wanted: int) -> int:
        """How many of so many its tenant may still have."""
        if self.tenant_limit is None:
            return wanted
        return max(0, min(wanted, self.tenant_limit - self.tenant_running))


class Prospect(NamedTuple):
    """A live worker that fits, and how many it would claim before this one."""

    worker: Worker
    ahead: int


def why_not(
    execution: Execution,
    place: QueuePlace | None,
    *,
    now: datetime,
    workers: Sequence[Worker],
    prospects: Sequence[Prospect],
    of_its_run: Sequence[Reason] = (),
    of_its_past: Sequence[Reason] = (),
) -> tuple[Reason, ...]:
    """`workers` are all that are known; `prospects` the live ones that fit and have a free slot.

    `of_its_run` are reasons from `core/explain/runs.py`: of a run that has begun, or of a task that its run
    holds. `of_its_past` are reasons from `core/explain/attempts.py`; of a run that failed, why.
    """
    if place is None:
        return tuple(of_its_past) or (_where(execution),)
    if place.is_run:
        return tuple(of_its_run) if place.has_begun else _of_a_run_to_begin(place, of_its_run, now=now)
    own = _its_own(place, of_its_run, of_its_past, now=now)
    return (*own, *_of_tenant(place), *_of_workers(place, workers, prospects, now=now))


def _of_a_run_to_begin(
    place: QueuePlace, of_its_run: Sequence[Reason], *, now: datetime
) -> tuple[Reason, ...]:
    due = instant_text(place.due)
    late = Reason(
        Obstacle.OVERDUE,
        f"Due since {due}: no scheduler has begun it yet. If none runs, start one: gnomon scheduler.",
        {"due": due},
    )
    return tuple(_its_own(place, of_its_run, (), now=now)) or (late,)


def _where(execution: Execution) -> Reason:
    if execution.status.is_final:
        is_done = execution.trigger is Trigger.DAG and execution.status is ExecutionStatus.COMPLETED
        again = "its task again: gnomon dag-run rerun" if is_done else "it again: gnomon run retry"
        told = f"It has ended: {execution.status}. To run {again}."
        return Reason(Obstacle.ENDED, told, {"status": execution.status})
    worker = execution.worker
    since = None if execution.started_at is None else instant_text(execution.started_at)
    if execution.status is not ExecutionStatus.RUNNING:
        return Reason(Obstacle.RUNNING, "It is on its way to a worker. Look again.")
    return Reason(
        Obstacle.RUNNING,
        f"It runs on {worker} since {since}. What it writes: gnomon run logs.",
        {"worker_id": worker, "started_at": since},
    )


def _its_own(
    place: QueuePlace, of_its_run: Sequence[Reason], of_its_past: Sequence[Reason], *, now: datetime
) -> list[Reason]:
    reasons = [*of_its_run, *of_its_past]
    if place.due > now and not of_its_past:
        due = instant_text(place.due)
        reasons.append(
            Reason(
                Obstacle.NOT_DUE,
                f"It is not due before {due}; then it begins, if a slot is free.",
                {"due": due},
            )
        )
    if place.waits_for is WaitsFor.JOBS:
        reasons += [
            Reason(
                Obstacle.WAITS_FOR_JOB,
                f"It waits for a success of the job {needed.name!r}, and begins after it. Trigger that one.",
                {"job_id": str(needed.job_id), "name": needed.name},
            )
            for needed in place.needed
        ]
    if place.waits_for is WaitsFor.SLOT and place.slots is not None and place.taken >= place.slots:
        reasons.append(
            Reason(
                Obstacle.WAITS_FOR_SLOT,
                f"{place.taken} of the {place.slots} runs that its job may have at once are there. "
                "It begins when one of them has ended; max_concurrent of the job sets how many.",
                {"taken": place.taken, "slots": place.slots},
            )
        )
    reasons += [why_alone(place.crashes)] if place.is_suspect else []
    if place.waits_for is not None and not reasons:
        reasons.append(
            Reason(
                Obstacle.WAITS_FOR_SWEEP,
                "What it waited for is there; a scheduler lets it in within seconds.",
            )
        )
    return reasons


def _of_tenant(place: QueuePlace) -> list[Reason]:
    if place.room(1) >= 1:
        return []
    return [
        Reason(
            Obstacle.TENANT_LIMIT,
            f"{place.tenant_running} runs of the tenant are there, and it may have {place.tenant_limit}. "
            "It begins when one of them has ended; an admin sets the limit: gnomon tenant limit.",
            {"running": place.tenant_running, "limit": place.tenant_limit},
        )
    ]


def _of_workers(
    place: QueuePlace, workers: Sequence[Worker], prospects: Sequence[Prospect], *, now: datetime
) -> list[Reason]:
    lane = place.lane
    if place.is_suspect and any(worker.is_live(now) and lane.fits(worker) for worker in workers):
        return []
    if any(ahead < place.room(worker.free) for worker, ahead in prospects):
        return []
    if prospects:
        worker, ahead = min(prospects, key=lambda one: one.ahead - one.worker.free)
        if place.room(1) < 1 and ahead < worker.free:
            return []  # It is the first in the queue; its tenant is what it waits for.
        free = place.room(worker.free)
        return [
            Reason(
                Obstacle.BEHIND_OTHERS,
                f"{ahead} others come first, and {worker.id} has {free} free slots for them. "
                "It follows them; more workers, or a higher priority of its job, bring it forward.",
                {"ahead": ahead, "worker_id": worker.id, "free": free},
            )
        ]
    fitting = [worker for worker in workers if worker.is_live(now) and lane.fits(worker)]
    if fitting:
        busy = {worker.id: f"{worker.running} of {worker.slots}" for worker in fitting}
        return [
            Reason(
                Obstacle.NO_FREE_SLOT,
                "Every worker that fits is full. It begins when a slot is free, or on another worker.",
                {"running": busy},
            )
        ]
    return [_no_worker(lane, [worker for worker in workers if worker.is_live(now)])]


def _no_worker(lane: Lane, live: Sequence[Worker]) -> Reason:
    wanted = {"kind": lane.kind, "queue": lane.queue, "capabilities": sorted(lane.capabilities)}
    told = f"{lacks_in_words(lane, live)} Start one{' that has' if live else ': gnomon worker'}."
    return Reason(Obstacle.NO_WORKER, told, wanted | ({"live_workers": len(live)} if live else {}))


def why_no_fire(
    job: Job, *, now: datetime, last: Occurrence | None = None, is_next_closed: bool = False
) -> tuple[Reason, ...]:
    """Why a job does not start a run by itself now. Empty only in the moment between due and fired.

    `last` is the newest outcome in its ledger; `is_next_closed`: its calendar takes its next time out.
    """
    match job.status:
        case JobStatus.DELETED:
            return (Reason(Obstacle.DELETED, "The job was deleted. It never fires again; make it anew."),)
        case JobStatus.CANCELLED:
            return (Reason(Obstacle.CANCELLED, "The job was cancelled. It never fires again; make it anew."),)
        case JobStatus.COMPLETED:
            return (
                Reason(Obstacle.EXHAUSTED, "Nothing is left to fire. Change its schedule, or trigger it."),
            )
    reasons = []
    if job.status is JobStatus.PAUSED:
        reasons.append(
            Reason(Obstacle.PAUSED, "The job is paused: its due times are skipped until gnomon job resume.")
        )
    if isinstance(job.definition.schedule.timing, Manual):
        reasons.append(Reason(Obstacle.MANUAL, "It has no schedule: it runs when it is triggered."))
    elif job.next_run_time is not None:
        due = instant_text(job.next_run_time)
        overlap = job.definition.schedule.overlap
        details = {"next_run_time": due} | ({} if overlap is Overlap.ALLOW else {"overlap_policy": overlap})
        if job.next_run_time > now:
            reasons.append(Reason(Obstacle.NOT_DUE, f"Its next time is {due}.", details))
        else:
            reasons.append(
                Reason(
                    Obstacle.OVERDUE, f"Due since {due}: no scheduler has come yet. Is one running?", details
                )
            )
    return (*reasons, *_of_calendar(job, last, is_next_closed=is_next_closed))


def _of_calendar(job: Job, last: Occurrence | None, *, is_next_closed: bool) -> Iterator[Reason]:
    name = job.definition.schedule.calendar
    if last is not None and last.reason is SkipReason.CALENDAR:
        at = instant_text(last.nominal_until)
        words = f"Its last time, {at}, was skipped: its calendar excludes the date."
        yield Reason(Obstacle.CALENDAR, words, {"calendar": name, "nominal_time": at})
    if is_next_closed and job.next_run_time is not None:
        at = instant_text(job.next_run_time)
        words = f"Its next time, {at}, will be skipped: the calendar {name!r} excludes the date."
        yield Reason(Obstacle.CALENDAR, words, {"calendar": name, "nominal_time": at})
