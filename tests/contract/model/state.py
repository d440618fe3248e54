"""What the model remembers, and how a reader sees an execution."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from gnomon.core.access.keys import ApiKey, KeyId
from gnomon.core.access.tenants import DEFAULT_TENANT, Tenant, TenantId
from gnomon.core.executions.execution import (
    Attempt,
    Execution,
    ExecutionId,
    ExecutionStatus,
    Trigger,
    WaitsFor,
    WorkerId,
)
from gnomon.core.executions.lease import Claim, ClaimRequest, Lane, Leased
from gnomon.core.executions.records import Checkpoint, DeadLetter, LogLine, Page
from gnomon.core.jobs.job import Job, JobId, Revision
from gnomon.core.operations.shards import ShardLease
from gnomon.core.operations.workers import Worker
from gnomon.core.schedules.occurrence import Occurrence
from gnomon.core.time.calendars import KeptCalendar
from gnomon.core.values.document import Document
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.values.limits import check_limit
from gnomon.errors import IdempotencyConflict

Item = TypeVar("Item")


@dataclass(slots=True)
class Lease:
    request: ClaimRequest
    started_at: datetime
    until: datetime


@dataclass(slots=True)
class Reservation:
    """A worker that claims nothing until it is empty."""

    worker: WorkerId
    until: datetime
    give_up_at: datetime
    rest_until: datetime


@dataclass(slots=True)
class Run:
    """An execution: it waits (no lease, no end), runs (a lease) or has ended (an end)."""

    id: ExecutionId
    tenant_id: TenantId
    revision: Revision
    trigger: Trigger
    nominal_time: datetime | None
    due: datetime
    priority: int
    input: Document | None
    unique_key: str | None
    created_at: datetime
    claim: int = 0
    attempts: int = 0
    crashes: int = 0
    cancel_requested: bool = False
    lease: Lease | None = None
    end: ExecutionStatus | None = None
    finished_at: datetime | None = None
    result: Document | None = None
    history: list[Attempt] = field(default_factory=list)
    waits_for: WaitsFor | None = None
    newer_than: datetime | None = None
    watched: bool = False

    @property
    def job_id(self) -> JobId:
        return self.revision.job_id

    @property
    def lane(self) -> Lane:
        definition = self.revision.definition
        return Lane(self.tenant_id, definition.queue, definition.kind, definition.capabilities)

    @property
    def is_waiting(self) -> bool:
        return self.end is None and self.lease is None

    @property
    def is_ready(self) -> bool:
        """Nothing holds it but its time and the lack of a worker."""
        return self.is_waiting and self.waits_for is None

    @property
    def is_let_in(self) -> bool:
        return self.is_ready or self.is_suspect

    @property
    def is_suspect(self) -> bool:
        return self.is_waiting and self.waits_for is WaitsFor.EMPTY_WORKER

    def holds(self, claim: Claim) -> bool:
        """Safety never rests on time: a lease that ran out holds until somebody takes it away."""
        return self.lease is not None and self.claim == claim.number

    def status(self, now: datetime) -> ExecutionStatus:
        if self.end is not None:
            return self.end
        if self.lease is not None:
            return ExecutionStatus.RUNNING
        return ExecutionStatus.QUEUED if self.is_ready and self.due <= now else ExecutionStatus.PENDING

    def stop(self, now: datetime) -> None:
        """What cancelling does: end what waits, ask what runs, leave what has ended."""
        if self.is_waiting:
            self.end_as(ExecutionStatus.CANCELLED, now)
        elif self.lease is not None:
            self.cancel_requested = True

    def end_as(self, status: ExecutionStatus, now: datetime, result: Document | None = None) -> None:
        self.end, self.finished_at, self.result = status, now, result
        self.lease, self.cancel_requested, self.waits_for = None, False, None

    def leased(self) -> Leased:
        assert self.lease is not None
        return Leased(
            claim=Claim(self.id, self.claim),
            tenant_id=self.tenant_id,
            job_id=self.job_id,
            revision=self.revision,
            worker=self.lease.request.worker,
            priority=self.priority,
            nominal_time=self.nominal_time,
            due=self.due,
            input=self.input,
            attempts=self.attempts,
            crashes=self.crashes,
            started_at=self.lease.started_at,
            lease_until=self.lease.until,
            cancel_requested=self.cancel_requested,
        )

    def seen(self, now: datetime) -> Execution:
        """The last attempt tells who and when, but not while the next one waits for a worker."""
        last = self.history[-1] if self.history else None
        worker, started_at = (last.worker, last.started_at) if last and self.end else (None, None)
        if self.lease is not None:
            worker, started_at = self.lease.request.worker, self.lease.started_at
        return Execution(
            id=self.id,
            tenant_id=self.tenant_id,
            job_id=self.job_id,
            revision=self.revision.number,
            status=self.status(now),
            trigger=self.trigger,
            nominal_time=self.nominal_time,
            due=self.due,
            priority=self.priority,
            claim=self.claim,
            attempts=self.attempts,
            worker=worker,
            input=self.input,
            result=self.result,
            failure=last.failure if last else None,
            unique_key=self.unique_key,
            cancel_requested=self.cancel_requested,
            created_at=self.created_at,
            started_at=started_at,
            finished_at=self.finished_at,
            waits_for=self.waits_for,
        )


@dataclass(slots=True)
class State:
    tenants: dict[TenantId, Tenant] = field(
        default_factory=lambda: {DEFAULT_TENANT: Tenant(DEFAULT_TENANT, "default")}
    )
    jobs: dict[JobId, Job] = field(default_factory=dict)
    revisions: dict[tuple[JobId, int], Revision] = field(default_factory=dict)
    ledger: dict[tuple[JobId, datetime], Occurrence] = field(default_factory=dict)
    calendars: dict[tuple[TenantId, str], KeptCalendar] = field(default_factory=dict)
    awaited: set[JobId] = field(default_factory=set)
    runs: dict[ExecutionId, Run] = field(default_factory=dict)
    requests: dict[UUID, datetime] = field(default_factory=dict)
    checkpoints: dict[ExecutionId, Checkpoint] = field(default_factory=dict)
    logs: dict[tuple[Claim, int], LogLine] = field(default_factory=dict)
    dead_letters: dict[ExecutionId, DeadLetter] = field(default_factory=dict)
    workers: dict[WorkerId, Worker] = field(default_factory=dict)
    keys: dict[KeyId, ApiKey] = field(default_factory=dict)
    shards: dict[int, ShardLease] = field(default_factory=dict)
    seats: dict[str, datetime] = field(default_factory=dict)
    reservations: dict[Lane, Reservation] = field(default_factory=dict)
    answers: dict[tuple[TenantId, str], tuple[Idempotency, object]] = field(default_factory=dict)

    def current(self, claim: Claim) -> Run | None:
        """The run that this claim entitles to change, if it still does."""
        run = self.runs.get(claim.execution_id)
        return run if run is not None and run.holds(claim) else None

    def running(self, tenant_id: TenantId) -> int:
        return sum(run.lease is not None for run in self.runs.values() if run.tenant_id == tenant_id)

    def limited(self, run: Run) -> TenantId | None:
        """Whose limit it counts for, if its tenant has one."""
        return None if self.tenants[run.tenant_id].max_concurrent is None else run.tenant_id

    def answered(self, tenant_id: TenantId, idempotency: Idempotency | None) -> object | None:
        """What the same request was answered before. Raises IdempotencyConflict if it was another one."""
        if idempotency is None or (tenant_id, idempotency.key) not in self.answers:
            return None
        first, answer = self.answers[tenant_id, idempotency.key]
        if first != idempotency:
            raise IdempotencyConflict(idempotency.key)
        return answer

    def remember(self, tenant_id: TenantId, idempotency: Idempotency | None, answer: object) -> None:
        if idempotency is not None:
            self.answers[tenant_id, idempotency.key] = (idempotency, answer)


def page_of(found: Iterable[tuple[UUID, Item]], *, limit: int, after: UUID | None) -> Page[Item]:
    """Newest first: ids sort by time."""
    check_limit(limit)
    rest = sorted((row for row in found if after is None or row[0] < after), reverse=True, key=_id)
    shown = rest[:limit]
    return Page(tuple(item for _, item in shown), next=shown[-1][0] if len(rest) > limit else None)


def _id(row: tuple[UUID, object]) -> UUID:
    return row[0]
