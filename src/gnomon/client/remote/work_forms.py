"""The worker protocol as a worker writes and reads it. The server's side is api/forms/lease_forms.py."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import AttemptOutcome, ExecutionId, WorkerId
from gnomon.core.executions.lease import Claim, Leased
from gnomon.core.executions.lifecycle import DeadReason
from gnomon.core.executions.records import Checkpoint, LogLine
from gnomon.core.jobs.job import Definition, Delivery, JobId, Revision
from gnomon.core.jobs.retry import CRASH_LIMIT, Backoff, RetryPolicy
from gnomon.core.operations.workers import Registration, Worker, WorkerStatus
from gnomon.core.time.schedule_document import from_kept
from gnomon.core.values.document import Document
from gnomon.core.values.instants import instant_text, seconds_of


class Retry(msgspec.Struct):
    max_attempts: int
    backoff: str
    backoff_seconds: float
    backoff_multiplier: float
    max_backoff_seconds: float
    jitter: float
    retry_on: list[str] | None
    crash_limit: int = CRASH_LIMIT


class Lease(msgspec.Struct):
    execution_id: str
    claim: int
    tenant_id: str
    job_id: str
    revision: int
    attempts: int
    crashes: int
    kind: str
    payload: msgspec.Raw
    input: msgspec.Raw
    has_input: bool
    checkpoint: msgspec.Raw
    has_checkpoint: bool
    queue: str
    capabilities: list[str]
    priority: int
    timeout_seconds: float | None
    max_concurrent: int | None
    delivery: str
    retry_policy: msgspec.Raw
    schedule: msgspec.Raw
    nominal_time: datetime | None
    due: datetime
    started_at: datetime
    lease_until: datetime
    cancel_requested: bool
    is_task: bool = False  # Then `payload` is that of this one execution.


class Claimed(msgspec.Struct):
    leases: list[Lease]


class Held(msgspec.Struct):
    execution_id: str
    claim: int
    command: str | None = None


class RenewAnswer(msgspec.Struct):
    renewed: list[Held]


class Completed(msgspec.Struct):
    answer: str


class CompleteAnswer(msgspec.Struct):
    results: list[Completed]


class KeptAnswer(msgspec.Struct):
    kept: list[Held]


class WorkerAnswer(msgspec.Struct):
    worker_id: str
    boot: str
    status: str
    hostname: str
    capacity: int
    current_jobs: int
    kinds: list[str]
    queues: list[str]
    capabilities: list[str]
    registered_at: datetime
    last_heartbeat: datetime
    lease_seconds: float
    server_time: datetime


# From the wire ---------------------------------------------------------------------------------------


def claim_of(one: Held | Lease) -> Claim:
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
        from_kept(msgspec.json.decode(one.schedule)),
        _retry_of(msgspec.json.decode(one.retry_policy, type=Retry)),
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


def _retry_of(one: Retry) -> RetryPolicy:
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


def held(claim: Claim) -> dict[str, Any]:
    return {"execution_id": str(claim.execution_id), "claim": claim.number}


def registration_form(own: Registration) -> dict[str, Any]:
    return {
        "worker_id": own.id,
        "boot": str(own.boot),
        "hostname": own.hostname,
        "capacity": own.slots,
        "kinds": sorted(own.kinds),
        "queues": sorted(own.queues),
        "capabilities": sorted(own.capabilities),
    }


_OUTCOMES = {
    AttemptOutcome.COMPLETED: "succeeded",
    AttemptOutcome.FAILED: "failed",
    AttemptOutcome.TIMEOUT: "timed_out",
    AttemptOutcome.CANCELLED: "cancelled",
    AttemptOutcome.SNOOZED: "snoozed",
    AttemptOutcome.RELEASED: "released",
}


def completion_form(decision: Decision, *, now: datetime) -> dict[str, Any]:
    """What the worker decided, told as the outcome that it decided on: the server decides again, and alike.

    The wait before a retry has been drawn here, and the wish of a receiver is in it: the server keeps to it.
    """
    change = decision.change
    form = {**held(decision.claim), "outcome": _OUTCOMES[change.attempt]}
    wait = None if change.due is None else seconds_of(max(change.due - now, timedelta(0)))
    match change.attempt:
        case AttemptOutcome.COMPLETED if change.result is not None:
            form["result"] = msgspec.Raw(change.result.text.encode())
        case AttemptOutcome.FAILED if change.failure is not None:
            form |= {"error_kind": change.failure.kind, "error_message": change.failure.message}
            form |= {"permanent": change.dead is DeadReason.PERMANENT}
            form |= {"retry_after_seconds": wait, "wait_is_drawn": wait is not None}
        case AttemptOutcome.SNOOZED:
            form |= {"delay_seconds": wait, "has_started": change.dead is DeadReason.ABANDONED}
            if change.failure is not None and change.dead is None:  # What this worker lacks.
                form |= {"error_kind": change.failure.kind, "error_message": change.failure.message}
        case AttemptOutcome.RELEASED:
            form |= {"has_started": change.dead is DeadReason.ABANDONED}
        case _:
            pass
    return form


def checkpoint_form(one: Checkpoint) -> dict[str, Any]:
    return {**held(one.claim), "state": msgspec.Raw(one.state.text.encode()), "progress": one.progress}


def line_form(one: LogLine) -> dict[str, Any]:
    said = {} if one.context is None else {"context": msgspec.Raw(one.context.text.encode())}
    return {
        **held(one.claim),
        "number": one.number,
        "message": one.message,
        "level": one.level,
        "at": instant_text(one.at),
        **said,
    }
