"""Who is counted, and who may pass: the model of slots and of dependencies between jobs."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, Trigger, WaitsFor
from gnomon.core.executions.gates import gate, is_counted, last_gate, slots
from gnomon.core.explain.executions import Needed, QueuePlace
from gnomon.core.jobs.job import Job, JobId, Revision
from tests.contract.model.state import Run, State


def is_watched(state: State, job: Job) -> bool:
    return is_counted(job.definition) or job.id in state.awaited


def enter(state: State, run: Run) -> None:
    state.runs[run.id] = run
    run.watched = is_watched(state, state.jobs[run.job_id])


def enter_again(state: State, ended: Run, new_id: ExecutionId, revision: Revision, now: datetime) -> None:
    """A new execution that does what an ended one did."""
    run = Run(
        id=new_id,
        tenant_id=ended.tenant_id,
        revision=revision,
        trigger=Trigger.REDRIVE,
        nominal_time=ended.nominal_time,
        due=now,
        priority=ended.priority,
        input=ended.input,
        unique_key=None,
        created_at=now,
        waits_for=gate(slots(state.jobs[ended.job_id].definition)),
    )
    enter(state, run)


def watch(state: State, job_ids: Collection[JobId]) -> None:
    """What is live of a job that begins to be watched is counted too."""
    for run in state.runs.values():
        if run.job_id in job_ids and run.end is None and is_watched(state, state.jobs[run.job_id]):
            run.watched = True


def admit(state: State, job_ids: Collection[JobId], now: datetime, limit: int = 10_000) -> int:
    return sum(_admit(state, state.jobs[job_id], now, limit) for job_id in job_ids)


def with_dependents(state: State, job_ids: Collection[JobId]) -> set[JobId]:
    dependents = {job.id for job in state.jobs.values() if not job.dependencies.isdisjoint(job_ids)}
    return dependents | {job_id for job_id in job_ids if job_id in state.jobs}


def may_open(state: State, job: Job, now: datetime) -> bool:
    return bool(_fulfilled(state, job)) or bool(_next(state, job, now, 10_000))


def _admit(state: State, job: Job, now: datetime, limit: int) -> int:
    count = 0
    for run in _fulfilled(state, job)[:limit]:
        run.waits_for = gate(slots(job.definition))
        count += run.waits_for is None
    passing = _next(state, job, now, limit)
    for run in passing:
        run.waits_for = last_gate(run.crashes)
    return count + sum(run.waits_for is None for run in passing)


def _fulfilled(state: State, job: Job) -> list[Run]:
    return [
        run
        for run in _at(state, job, WaitsFor.JOBS)
        if all(_has_completed(state, needed, run.newer_than) for needed in job.dependencies)
    ]


def _has_completed(state: State, job_id: JobId, newer_than: datetime | None) -> bool:
    return any(
        run.job_id == job_id
        and run.end is ExecutionStatus.COMPLETED
        and run.finished_at is not None
        and (newer_than is None or run.finished_at > newer_than)
        for run in state.runs.values()
    )


def _next(state: State, job: Job, now: datetime, limit: int) -> list[Run]:
    due = [run for run in _at(state, job, WaitsFor.SLOT) if run.due <= now]
    places = slots(job.definition)
    if places is None:
        return due[:limit]
    return due[: max(0, min(limit, places - _taken(state, job)))]


def _taken(state: State, job: Job) -> int:
    return sum(
        run.job_id == job.id and run.watched and (run.lease is not None or run.is_let_in)
        for run in state.runs.values()
    )


def place(state: State, run: Run) -> QueuePlace:
    """How a run that waits stands, and what its gate still wants."""
    job = state.jobs[run.job_id]
    unmet = [one for one in sorted(job.dependencies) if not _has_completed(state, one, run.newer_than)]
    return QueuePlace(
        execution_id=run.id,
        lane=run.lane,
        priority=run.priority,
        due=run.due,
        waits_for=run.waits_for,
        slots=slots(job.definition),
        taken=_taken(state, job),
        needed=tuple(Needed(one, state.jobs[one].name) for one in unmet if run.waits_for is WaitsFor.JOBS),
        tenant_running=0 if state.limited(run) is None else state.running(run.tenant_id),
        tenant_limit=state.tenants[run.tenant_id].max_concurrent,
        crashes=run.crashes,
    )


def _at(state: State, job: Job, gate: WaitsFor) -> list[Run]:
    runs = [run for run in state.runs.values() if run.job_id == job.id and run.waits_for is gate]
    return sorted(runs, key=lambda run: (-run.priority, run.due, run.id))
