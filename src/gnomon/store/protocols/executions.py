"""What the rest of Gnomon needs from durable executions, and what is kept about each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import (
    Attempt,
    AttemptOutcome,
    Enqueued,
    Execution,
    ExecutionId,
    ExecutionStatus,
    NewExecution,
    RecentRun,
    WorkerId,
)
from gnomon.core.executions.lease import Claim, ClaimRequest, Leased, Offer, Renewed
from gnomon.core.executions.records import (
    AtRevision,
    Checkpoint,
    DeadLetter,
    ExecutionFilter,
    LogLine,
    Page,
    Redrive,
    Redriven,
)
from gnomon.core.explain.executions import QueuePlace
from gnomon.core.jobs.job import JobId
from gnomon.core.values.idempotency import Idempotency
from gnomon.store.protocols.changes import Applied, Handover


class ExecutionStore(Protocol):
    async def enqueue(
        self,
        tenant_id: TenantId,
        asked: Sequence[NewExecution],
        *,
        now: datetime,
        idempotency: Idempotency | None = None,
    ) -> Sequence[Enqueued]:
        """Keep all or none, in order. Raises JobNotFound; IllegalTransition if a job was cancelled.

        A unique key that a live execution of the same job holds makes nothing new: the answer names that one.
        If the job has slots, only as many are let in as there are free ones.
        """

    async def repeat(self, tenant_id: TenantId, asked: Redrive, *, now: datetime) -> Enqueued:
        """Run an ended execution again, as a new one with its input and its revision.

        Raises ExecutionNotFound, JobNotFound, IllegalTransition. The same ask repeated makes one execution.
        """

    async def claim(self, request: ClaimRequest, *, now: datetime, lease_until: datetime) -> Sequence[Leased]:
        """Hand out due executions that fit: by priority, then due time, then id. Nothing is handed out twice.

        The same request id asked again by the same worker returns what it got the first time and still
        holds. A suspect is handed out alone: see ClaimRequest.
        """

    async def renew(self, claims: Sequence[Claim], *, lease_until: datetime) -> Sequence[Renewed]:
        """Extend leases. Claims missing from the answer are lost: stop working on them."""

    async def apply(self, decisions: Sequence[Decision], *, now: datetime) -> Sequence[Applied]:
        """The one way in which a running execution changes. Fenced by the claim; answers in order.

        Attempt record, retry, dead letter and the end of the execution are written with it. Then what waited
        for that is let in, as by `admit`; if the store fails between the two, the next sweep does it.
        """

    async def apply_and_claim(
        self, decisions: Sequence[Decision], request: ClaimRequest, *, now: datetime, lease_until: datetime
    ) -> Handover:
        """`apply`; if that releases tasks of workflows, `claim` in the same transaction.

        So a chain of tasks costs one round of writing each. The request must be new. If no answer comes, it
        may have claimed: then ask `claim`, as a repeat.
        """

    async def admit(self, job_ids: Collection[JobId], *, now: datetime, limit: int) -> int:
        """Let in what waits for a slot or for other jobs, of these jobs and of those that depend on them.

        Due executions, by priority, due time and id; at most `limit` of each job, and never more than it has
        slots. Returns how many no gate holds any more. Asking once too often changes nothing.
        """

    async def gated(self, *, now: datetime, limit: int, after: UUID | None = None) -> Page[JobId]:
        """Jobs for which `admit` would let something in, by id: what a sweep asks for.

        Looks at `limit` jobs that have something at a gate, after the job `after`; `next` tells where to go
        on, also if none of these can let anything in.
        """

    async def held(self, claims: Sequence[Claim]) -> Sequence[Leased]:
        """Those of these claims that are current, with all that deciding about them needs."""

    async def settled(self, claims: Sequence[Claim]) -> Mapping[Claim, AttemptOutcome]:
        """Those of these claims that ended or were given back, and how: tells a replay from a theft."""

    async def place(self, tenant_id: TenantId, execution_id: ExecutionId) -> QueuePlace | None:
        """Where it waits and what for. None if it does not wait."""

    async def ahead(self, place: QueuePlace, offer: Offer, *, now: datetime, limit: int) -> int:
        """How many a worker with this offer would claim before it; counted up to `limit`."""

    async def hold_back(self, worker: WorkerId, offer: Offer, *, now: datetime) -> bool:
        """Whether a worker that holds something shall claim nothing until it is empty.

        See core/executions/suspects.py. True if a suspect that fits has waited for PATIENCE, and no other
        worker holds back for its lane. Ask again while it waits: after RESERVED_MAX, the answer is False for
        a while.
        """

    async def next_due(self, offer: Offer, *, after: datetime) -> datetime | None:
        """The first due time after an instant, of what waits for nothing but a worker with this offer."""

    async def next_gated(self, *, after: datetime) -> datetime | None:
        """The first due time after an instant, of what waits for a slot: before it, `admit` lets none in."""

    async def expired(self, *, now: datetime, limit: int) -> Sequence[Leased]:
        """Running executions whose lease ended before `now`, oldest lease first."""

    async def cancel(
        self, tenant_id: TenantId, execution_ids: Sequence[ExecutionId], *, now: datetime
    ) -> Mapping[ExecutionId, ExecutionStatus]:
        """End what waits; ask what runs to stop; leave what has ended. Returns the status afterwards.

        Ids that do not exist are missing from the answer.
        """

    async def get(self, tenant_id: TenantId, execution_id: ExecutionId, *, now: datetime) -> Execution:
        """Raises ExecutionNotFound. `now` tells PENDING from QUEUED."""

    async def page(
        self,
        tenant_id: TenantId,
        wanted: ExecutionFilter,
        *,
        now: datetime,
        limit: int,
        after: UUID | None = None,
    ) -> Page[Execution]: ...

    async def recent(
        self, tenant_id: TenantId, job_ids: Collection[JobId], *, limit: int
    ) -> Mapping[JobId, Sequence[RecentRun]]:
        """The newest executions of each job, newest first, in few words."""

    async def progress(
        self, tenant_id: TenantId, execution_ids: Collection[ExecutionId]
    ) -> Mapping[ExecutionId, float]:
        """How far these are, 0 to 1, by the checkpoint of each. Those that did not say so are missing."""

    async def attempts(self, tenant_id: TenantId, execution_id: ExecutionId) -> Sequence[Attempt]:
        """The finished attempts, oldest first."""

    async def latest_attempts(
        self, tenant_id: TenantId, execution_id: ExecutionId, *, limit: int
    ) -> Sequence[Attempt]:
        """The newest finished ones, newest first."""


class CheckpointStore(Protocol):
    async def save(self, checkpoints: Sequence[Checkpoint]) -> Sequence[Claim]:
        """Fenced. Returns the claims that still hold; the others wrote nothing."""

    async def load(self, execution_ids: Sequence[ExecutionId]) -> Mapping[ExecutionId, Checkpoint]: ...


class LogStore(Protocol):
    async def append(self, lines: Sequence[LogLine]) -> Sequence[Claim]:
        """Fenced. Returns the claims that still hold. A line written twice is one line."""

    async def read(
        self,
        tenant_id: TenantId,
        execution_id: ExecutionId,
        *,
        limit: int,
        after: tuple[int, int] = (0, 0),
    ) -> Sequence[LogLine]:
        """Lines in order, after the position (claim number, line number)."""


class DeadLetterStore(Protocol):
    async def get(self, tenant_id: TenantId, execution_id: ExecutionId) -> DeadLetter:
        """Raises DeadLetterNotFound."""

    async def page(
        self,
        tenant_id: TenantId,
        *,
        limit: int,
        job_id: JobId | None = None,
        after: UUID | None = None,
    ) -> Page[DeadLetter]: ...

    async def redrive(
        self,
        tenant_id: TenantId,
        redrives: Sequence[Redrive],
        *,
        now: datetime,
        revision: AtRevision = AtRevision.NEWEST,
    ) -> Sequence[Redriven]:
        """Run again as new executions, with the input of the dead ones. All or none.

        Tasks of workflows are not run by themselves: their runs go on from them, as by `runs.act`. A dead
        letter that was redriven before answers with what it became.
        Raises DeadLetterNotFound, JobNotFound, IllegalTransition.
        """

    async def purge(self, tenant_id: TenantId, execution_ids: Sequence[ExecutionId]) -> Sequence[ExecutionId]:
        """Forget dead letters, not their executions. Returns what was there."""
