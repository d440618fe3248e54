"""Executions as callers get them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from gnomon.client.executions.executions import Executions
from gnomon.client.workflows.places import NamedPlace
from gnomon.core.executions.execution import Attempt, Enqueued, Execution, Failure
from gnomon.core.executions.records import AtRevision, Redriven
from gnomon.core.explain.obstacles import Reason
from gnomon.core.jobs.job import Job, JobId
from gnomon.core.values.document import Document
from gnomon.core.values.forms import Answer, Form

_NULL = msgspec.Raw(b"null")
_MILLISECOND = timedelta(milliseconds=1)


class Trouble(Answer):
    kind: str
    message: str


class ExecutionAnswer(Answer):
    """`task` and `dag_run_id`: of a workflow, what it is for; `item`: which one of a fan-out.

    `progress`: from 0 to 1, what its last checkpoint said, until it has ended.
    """

    execution_id: str
    run_id: str
    job_id: str
    job_name: str | None
    task: str | None
    item: int | None
    dag_run_id: str | None
    status: str
    trigger: str
    attempt_number: int
    attempts: int
    retry_count: int
    claim: int
    priority: int
    revision: int
    worker_id: str | None
    scheduled_time: datetime
    due: datetime
    created_at: datetime
    queued_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    duration_ms: int | None
    input: Any
    result: Any
    error: Trouble | None
    error_message: str | None
    unique_key: str | None
    progress: float | None
    cancel_requested: bool
    waits_for: str | None
    logs_url: str
    tenant_id: str


class ExecutionPage(Answer):
    executions: list[ExecutionAnswer]
    next_cursor: str | None


class Asked(Answer):
    """Where a wish for a run ended up. `is_new` is false if a live run has the same unique key."""

    execution_id: str
    run_id: str
    is_new: bool


class RunAgain(Form):
    """At which revision of its job. A task of a workflow always runs the one that its run began with."""

    revision: AtRevision = AtRevision.NEWEST


class RedrivenAnswer(Answer):
    """What an ended execution became: a new one, or, if it was a task of a workflow, its run, which goes on.

    Then `execution_id` is `dag_run_id`. `revision` is the one that runs, of the job or of the workflow.
    `is_new` is false if it was redriven before.
    """

    execution_id: str
    run_id: str
    is_new: bool
    revision: int | None
    dag_run_id: str | None


class AttemptAnswer(Answer):
    attempt_number: int
    claim: int
    worker_id: str
    outcome: str
    error: Trouble | None
    started_at: datetime
    completed_at: datetime
    duration_ms: int


class ReasonAnswer(Answer):
    code: str
    message: str
    details: dict[str, Any]


async def execution_answers(
    found: Sequence[Execution], jobs: Mapping[JobId, Job], executions: Executions
) -> list[ExecutionAnswer]:
    """With what else is known of them: tasks and progress, each read once for all."""
    places, progress = await executions.places(found), await executions.progress(found)
    return [_execution(one, jobs.get(one.job_id), places.get(one.id), progress.get(one.id)) for one in found]


def _execution(
    one: Execution, job: Job | None, place: NamedPlace | None, progress: float | None
) -> ExecutionAnswer:
    return ExecutionAnswer(
        execution_id=str(one.id),
        run_id=str(one.id),
        job_id=str(one.job_id),
        job_name=None if job is None else job.name,
        task=None if place is None else place.task,
        item=None if place is None else place.item,
        dag_run_id=None if place is None else str(place.run_id),
        status=one.status,
        trigger=one.trigger,
        attempt_number=one.attempt,
        attempts=one.attempts,
        retry_count=max(one.attempt - 1, 0),
        claim=one.claim,
        priority=one.priority,
        revision=one.revision,
        worker_id=one.worker,
        scheduled_time=one.nominal_time or one.due,
        due=one.due,
        created_at=one.created_at,
        queued_at=one.created_at,
        started_at=one.started_at,
        completed_at=one.finished_at,
        duration_ms=_milliseconds(one.started_at, one.finished_at),
        input=raw(one.input),
        result=raw(one.result),
        error=trouble(one.failure),
        error_message=None if one.failure is None else one.failure.message,
        unique_key=one.unique_key,
        progress=progress,
        cancel_requested=one.cancel_requested,
        waits_for=one.waits_for,
        logs_url=f"/v1/executions/{one.id}/logs",
        tenant_id=str(one.tenant_id),
    )


def asked_answer(made: Enqueued) -> Asked:
    text = str(made.id)
    return Asked(execution_id=text, run_id=text, is_new=made.is_new)


def redriven_answer(made: Redriven) -> RedrivenAnswer:
    text = str(made.id)
    return RedrivenAnswer(
        execution_id=text,
        run_id=text,
        is_new=made.is_new,
        revision=made.revision,
        dag_run_id=None if made.dag_run_id is None else str(made.dag_run_id),
    )


def attempt_answer(number: int, one: Attempt) -> AttemptAnswer:
    return AttemptAnswer(
        attempt_number=number,
        claim=one.claim,
        worker_id=one.worker,
        outcome=one.outcome,
        error=trouble(one.failure),
        started_at=one.started_at,
        completed_at=one.finished_at,
        duration_ms=_milliseconds(one.started_at, one.finished_at) or 0,
    )


def reason_answer(reason: Reason) -> ReasonAnswer:
    return ReasonAnswer(code=reason.code, message=reason.message, details=dict(reason.details))


def trouble(failure: Failure | None) -> Trouble | None:
    return None if failure is None else Trouble(kind=failure.kind, message=failure.message)


def raw(document: Document | None) -> msgspec.Raw:
    """A document as it is kept: it is JSON already."""
    return _NULL if document is None else msgspec.Raw(document.text.encode())


def _milliseconds(started: datetime | None, finished: datetime | None) -> int | None:
    return None if started is None or finished is None else (finished - started) // _MILLISECOND
