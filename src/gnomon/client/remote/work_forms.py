"""The worker protocol as a worker writes and reads it: from values to forms, and from answers to values."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from gnomon.client.remote.worker_protocol import (
    CheckpointOne,
    ClaimForm,
    Completion,
    Held,
    Lease,
    LineOne,
    NewWorker,
    OutcomeWord,
    Token,
    WorkerAnswer,
)
from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import AttemptOutcome, ExecutionId, WorkerId
from gnomon.core.executions.lease import Claim, ClaimRequest, Leased
from gnomon.core.executions.lifecycle import DeadReason
from gnomon.core.executions.records import Checkpoint, LogLine
from gnomon.core.jobs.job import Definition, Delivery, JobId, Revision
from gnomon.core.jobs.retry import CRASH_LIMIT, Backoff, RetryPolicy
from gnomon.core.operations.workers import Registration, Worker, WorkerStatus
from gnomon.core.time.schedule_document import from_kept
from gnomon.core.values.document import Document
from gnomon.core.values.instants import instant_text, seconds_of


class LeaseRead(Lease, kw_only=True):
    """A lease as a worker reads it: servers from before workflows do not say what is a task."""

    is_task: bool = False


class ClaimedRead(msgspec.Struct):
    leases: list[LeaseRead]


class WorkerRead(WorkerAnswer, kw_only=True):
    """What is answered to a worker, as it reads it: servers from before the keys of workers name none."""

    key_id: str | None = None


class RetryOnWire(msgspec.Struct):
    max_attempts: int
    backoff: str
    backoff_seconds: float
    backoff_multiplier: float
    max_backoff_seconds: float
    jitter: float
    retry_on: list[str] | None
    crash_limit: int = CRASH_LIMIT


# From the wire ---------------------------------------------------------------------------------------


def claim_of(one: Token | Lease) -> Claim:
    return Claim(ExecutionId(UUID(one.execution_id)), one.claim)


def leased_of(one: Lease, worker: WorkerId, revision: Revision) -> Leased:
    return Leased(
        claim_of(one),
        revision.tenant_id,
        revision.job_id,
        revision,
        worker,
        one.priority,
        one.nominal_time,
        one.due,
        _input_of(one),
        one.attempts,
        one.crashes,
        one.started_at,
        one.lease_until,
        one.cancel_requested,
    )


def revision_of(one: Lease) -> Revision:
    definition = Definition(
        one.kind,
        document_of(one.payload),
        from_kept(one.schedule),
        _retry_of(msgspec.convert(one.retry_policy, RetryOnWire)),
        one.queue,
        frozenset(one.capabilities),
        one.priority,
        None if one.timeout_seconds is None else timedelta(seconds=one.timeout_seconds),
        one.max_concurrent,
        Delivery(one.delivery),
    )
    tenant_id, job_id = TenantId(UUID(one.tenant_id)), JobId(UUID(one.job_id))
    return Revision(tenant_id, job_id, one.revision, definition, one.is_task)


def _input_of(one: Lease) -> Document | None:
    """A task of a workflow comes with its own payload, which is the input of its execution."""
    if one.is_task:
        return document_of(one.payload)
    return document_of(one.input) if one.has_input else None


def document_of(raw: msgspec.Raw) -> Document:
    return Document(bytes(raw).decode())


def worker_of(one: WorkerAnswer) -> Worker:
    return Worker(
        WorkerId(one.worker_id),
        UUID(one.boot),
        one.hostname,
        one.capacity,
        frozenset(one.kinds),
        frozenset(one.queues),
        frozenset(one.capabilities),
        WorkerStatus(one.status),
        one.current_jobs,
        one.registered_at,
        one.last_heartbeat,
    )


def _retry_of(one: RetryOnWire) -> RetryPolicy:
    return RetryPolicy(
        one.max_attempts,
        Backoff(one.backoff),
        timedelta(seconds=one.backoff_seconds),
        one.backoff_multiplier,
        timedelta(seconds=one.max_backoff_seconds),
        one.jitter,
        None if one.retry_on is None else frozenset(one.retry_on),
        one.crash_limit,
    )


# To the wire -----------------------------------------------------------------------------------------


def held(claim: Claim) -> Held:
    return Held(execution_id=str(claim.execution_id), claim=claim.number)


def registration_form(own: Registration) -> NewWorker:
    return NewWorker(
        worker_id=own.id,
        boot=str(own.boot),
        hostname=own.hostname,
        capacity=own.slots,
        kinds=sorted(own.kinds),
        queues=sorted(own.queues),
        capabilities=sorted(own.capabilities),
    )


def claim_form(request: ClaimRequest, *, wait: timedelta) -> ClaimForm:
    return ClaimForm(
        worker_id=request.worker,
        request_id=str(request.id),
        kinds=sorted(request.kinds),
        queues=sorted(request.queues),
        capabilities=sorted(request.capabilities),
        limit=request.limit,
        wait_seconds=wait.total_seconds(),
        is_repeat=request.is_repeat,
    )


_OUTCOMES = {
    AttemptOutcome.COMPLETED: OutcomeWord.SUCCEEDED,
    AttemptOutcome.FAILED: OutcomeWord.FAILED,
    AttemptOutcome.TIMEOUT: OutcomeWord.TIMED_OUT,
    AttemptOutcome.CANCELLED: OutcomeWord.CANCELLED,
    AttemptOutcome.SNOOZED: OutcomeWord.SNOOZED,
    AttemptOutcome.RELEASED: OutcomeWord.RELEASED,
}


def completion_form(decision: Decision, *, now: datetime) -> Completion:
    """What the worker decided, told as the outcome that it decided on: the server decides again, and alike.

    The wait before a retry has been drawn here, and the wish of a receiver is in it: the server keeps to it.
    """
    claim, change = decision.claim, decision.change
    form = Completion(
        execution_id=str(claim.execution_id), claim=claim.number, outcome=_OUTCOMES[change.attempt]
    )
    wait = None if change.due is None else seconds_of(max(change.due - now, timedelta(0)))
    match change.attempt:
        case AttemptOutcome.COMPLETED if change.result is not None:
            form.result = msgspec.Raw(change.result.text.encode())
        case AttemptOutcome.FAILED if change.failure is not None:
            form.error_kind, form.error_message = change.failure.kind, change.failure.message
            form.permanent = change.dead is DeadReason.PERMANENT
            form.retry_after_seconds, form.wait_is_drawn = wait, wait is not None
        case AttemptOutcome.SNOOZED:
            form.delay_seconds, form.has_started = wait, change.dead is DeadReason.ABANDONED
            if change.failure is not None and change.dead is None:  # What this worker lacks.
                form.error_kind, form.error_message = change.failure.kind, change.failure.message
        case AttemptOutcome.RELEASED:
            form.has_started = change.dead is DeadReason.ABANDONED
        case _:
            pass
    return form


def checkpoint_form(one: Checkpoint) -> CheckpointOne:
    return CheckpointOne(
        execution_id=str(one.claim.execution_id),
        claim=one.claim.number,
        state=msgspec.Raw(one.state.text.encode()),
        progress=one.progress,
    )


def line_form(one: LogLine) -> LineOne:
    return LineOne(
        execution_id=str(one.claim.execution_id),
        claim=one.claim.number,
        number=one.number,
        message=one.message,
        level=one.level,
        at=instant_text(one.at),
        context=msgspec.UNSET if one.context is None else msgspec.Raw(one.context.text.encode()),
    )
