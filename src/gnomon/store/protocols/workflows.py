"""What the rest of Gnomon needs from durable workflows.

The rules of `store/protocols` hold here, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId, NewExecution, RecentRun
from gnomon.core.executions.records import Page
from gnomon.core.jobs.job import JobId, JobStatus
from gnomon.core.runs.backfills import Backfill, BackfillAction, BackfillId, BackfillTime, NewBackfill
from gnomon.core.runs.events import Event
from gnomon.core.runs.run import Brought, FailedTask, OpenTask, Run, RunId, TaskPlace, TaskRun
from gnomon.core.runs.state import RunStatus
from gnomon.core.values.document import Document
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.workflows.dag import Dag, DagChange, DagRevision, NewDag
from gnomon.store.protocols.store import Store


class BackfillStore(Protocol):
    """Which times it runs is settled when it is made. Its runs are neither counted nor replaced by others."""

    async def create(
        self, new: NewBackfill, *, now: datetime, idempotency: Idempotency | None = None
    ) -> Backfill:
        """Raises DagNotFound, BackfillOverlaps, IdempotencyConflict."""

    async def get(self, tenant_id: TenantId, backfill_id: BackfillId) -> Backfill:
        """Raises BackfillNotFound."""

    async def page(
        self, tenant_id: TenantId, dag_id: JobId, *, limit: int, after: UUID | None = None
    ) -> Page[Backfill]:
        """Those of a workflow, newest first."""

    async def times(
        self, tenant_id: TenantId, backfill_id: BackfillId, *, limit: int, after: datetime | None = None
    ) -> Sequence[BackfillTime]:
        """Oldest first, after that time."""

    async def past(
        self, tenant_id: TenantId, dag_id: JobId, *, first: datetime, last: datetime, limit: int
    ) -> Mapping[datetime, RunStatus]:
        """How the latest run of each nominal time stands, oldest first; of as many runs as `limit`."""

    async def act(
        self, tenant_id: TenantId, backfill_id: BackfillId, action: BackfillAction, *, now: datetime
    ) -> Backfill:
        """What has not begun of a cancelled one never will; what runs goes on. Raises BackfillNotFound,
        IllegalTransition."""

    async def advance(
        self, *, now: datetime, limit: int, dag_ids: Collection[UUID] | None = None
    ) -> Sequence[RunId]:
        """Ask for the next runs of those that have room, and end those that are done. Returns the runs."""


class DagStore(Protocol):
    @property
    def backfills(self) -> BackfillStore: ...

    async def create(self, dag: NewDag, *, now: datetime, idempotency: Idempotency | None = None) -> Dag:
        """Raises JobAlreadyExists: a workflow and a job cannot have one name. Else as `create` of jobs."""

    async def change(
        self, change: DagChange, *, now: datetime, idempotency: Idempotency | None = None
    ) -> Dag:
        """A new revision. Runs that have begun, or wait to, stay on theirs. Raises as `change` of jobs.

        To pause, resume, cancel or delete a workflow is to do it to its job.
        """

    async def get(self, tenant_id: TenantId, dag_id: JobId) -> Dag:
        """Raises DagNotFound. A deleted one can still be read."""

    async def named(self, tenant_id: TenantId, name: str) -> Dag:
        """The live one of that name. Raises DagNotFound."""

    async def page(
        self,
        tenant_id: TenantId,
        *,
        limit: int,
        status: JobStatus | None = None,
        tag: str | None = None,
        name_prefix: str | None = None,
        name_contains: str | None = None,
        after: UUID | None = None,
    ) -> Page[Dag]:
        """Newest first."""

    async def revision(self, tenant_id: TenantId, dag_id: JobId, number: int) -> DagRevision:
        """Raises DagNotFound."""

    async def revisions(
        self, tenant_id: TenantId, dag_id: JobId, *, limit: int, before: int | None = None
    ) -> Sequence[DagRevision]:
        """Newest first."""


class Waiting(NamedTuple):
    """Whether a run or the end of a wait is due, and when the next one will be."""

    is_due: bool
    next_due: datetime | None


class RunStore(Protocol):
    """To run a workflow is to enqueue its job; to cancel a run, to cancel its execution.

    What an end of a task makes of its run is written by `apply`, in the transaction that accepts the end.
    """

    async def wait_for_us(self, *, now: datetime) -> Waiting:
        """What there is for `start` and `expire`: the one question that is asked all the time."""

    async def start(self, *, now: datetime, limit: int) -> int:
        """Begin runs whose turn has come: make their tasks and release the first ones. Returns how many
        there were. Runs of backfills that have room are among them."""

    async def begin(self, dag: Dag, asked: NewExecution, *, now: datetime) -> Run | None:
        """Ask for a run of this workflow and begin it, all at once. None if that takes more than one
        statement, or if the workflow has changed: nothing has happened, so ask for it by `enqueue`.

        Raises InvalidInput for a configuration that it cannot run with."""

    async def start_now(self, run_ids: Collection[RunId], *, now: datetime, may_replace: bool = True) -> int:
        """Begin these at once, if their turn has come. If it fails, the next `start` does it.

        Returns how many runs were asked to stop first, because one of these replaces them. Who knows that
        none of them does says so, and nobody looks.
        """

    async def act(self, tenant_id: TenantId, run_id: RunId, event: Event, *, now: datetime) -> Run:
        """What a person does to a run. Raises RunNotFound, IllegalTransition, InvalidInput."""

    async def send(
        self, tenant_id: TenantId, event: str, correlation: str, data: Document, *, now: datetime
    ) -> int:
        """Tell the tasks that wait for this event. Returns how many there were."""

    async def expire(self, *, now: datetime, limit: int) -> int:
        """End what was held for as long as it may be. Returns how many there were."""

    async def stop_all(self, dag_id: JobId, *, now: datetime, limit: int) -> int:
        """Cancel runs of a workflow that is gone. Returns how many."""

    async def repair(self, *, now: datetime, limit: int, after: UUID | None = None) -> Page[RunId]:
        """Look over `limit` runs: cancel those of workflows that are gone, or that a newer one replaces, and
        tell runs the ends that nobody told them. The page names those it moved."""

    async def get(self, tenant_id: TenantId, run_id: RunId) -> Run:
        """Raises RunNotFound."""

    async def page(
        self,
        tenant_id: TenantId,
        dag_id: JobId,
        *,
        limit: int,
        status: RunStatus | None = None,
        after: UUID | None = None,
    ) -> Page[Run]:
        """The runs of a workflow, newest first."""

    async def recent(
        self, tenant_id: TenantId, dag_ids: Collection[JobId], *, limit: int
    ) -> Mapping[JobId, Sequence[RecentRun]]:
        """The newest runs of each workflow that have begun, newest first, at most `limit` each."""

    async def tasks(
        self, tenant_id: TenantId, run_id: RunId, *, limit: int, after: int = -1
    ) -> Sequence[TaskRun]:
        """Tasks in the order of the definition, after that place. Empty if the run has not begun."""

    async def places(
        self, tenant_id: TenantId, execution_ids: Collection[ExecutionId]
    ) -> Mapping[ExecutionId, TaskPlace]:
        """Those of these executions that are for tasks of runs, and for which."""

    async def open_tasks(self, tenant_id: TenantId, run_id: RunId, *, limit: int) -> Sequence[OpenTask]:
        """Tasks that have begun and not ended: first those that are halted, then those that are held."""

    async def brought(
        self, tenant_id: TenantId, execution_ids: Collection[ExecutionId], *, bytes_max: int
    ) -> Mapping[ExecutionId, Brought]:
        """What those of these executions that have ended brought. A longer result is left out."""

    async def failed_tasks(self, tenant_id: TenantId, run_id: RunId, *, limit: int) -> Sequence[FailedTask]:
        """Tasks that failed, and fan-outs of which an item failed, in the order of the definition."""


class WorkflowStore(Store, Protocol):
    @property
    def dags(self) -> DagStore: ...
    @property
    def runs(self) -> RunStore: ...
