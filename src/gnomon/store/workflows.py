"""What the rest of Gnomon needs from durable workflows. The rules of `store/base.py` hold here, too."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from gnomon.core.dag import Dag, DagChange, DagRevision, NewDag, Run, RunId, TaskRun
from gnomon.core.document import Document
from gnomon.core.idempotency import Idempotency
from gnomon.core.job import JobId, JobStatus, TenantId
from gnomon.core.records import Page
from gnomon.core.run_events import Event
from gnomon.store.base import Store


class DagStore(Protocol):
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
        after: UUID | None = None,
    ) -> Page[Dag]:
        """Newest first."""

    async def revision(self, tenant_id: TenantId, dag_id: JobId, number: int) -> DagRevision:
        """Raises DagNotFound."""

    async def revisions(
        self, tenant_id: TenantId, dag_id: JobId, *, limit: int, before: int | None = None
    ) -> Sequence[DagRevision]:
        """Newest first."""


class RunStore(Protocol):
    """To run a workflow is to enqueue its job; to cancel a run, to cancel its execution.

    What an end of a task makes of its run is written by `apply`, in the transaction that accepts the end.
    """

    async def start(self, *, now: datetime, limit: int) -> int:
        """Begin runs whose turn has come: make their tasks and release the first ones. Returns how many
        there were."""

    async def start_now(self, run_ids: Collection[RunId], *, now: datetime) -> None:
        """Begin these at once, if their turn has come. If it fails, the next `start` does it."""

    async def act(self, tenant_id: TenantId, run_id: RunId, event: Event, *, now: datetime) -> Run:
        """What a person does to a run. Raises RunNotFound, IllegalTransition."""

    async def send(
        self, tenant_id: TenantId, event: str, correlation: str, data: Document, *, now: datetime
    ) -> int:
        """Tell the tasks that wait for this event. Returns how many there were."""

    async def expire(self, *, now: datetime, limit: int) -> int:
        """End what was held for as long as it may be. Returns how many there were."""

    async def stop_stale(self, *, now: datetime, limit: int) -> int:
        """Cancel runs of workflows that are gone, and those that a newer run replaces. Returns how many."""

    async def repair(self, *, now: datetime, limit: int, after: UUID | None = None) -> Page[RunId]:
        """Tell runs the ends that nobody told them. Looks at `limit` runs; the page names those it moved."""

    async def get(self, tenant_id: TenantId, run_id: RunId) -> Run:
        """Raises RunNotFound."""

    async def page(
        self, tenant_id: TenantId, dag_id: JobId, *, limit: int, after: UUID | None = None
    ) -> Page[Run]:
        """The runs of a workflow, newest first."""

    async def tasks(
        self, tenant_id: TenantId, run_id: RunId, *, limit: int, after: int = -1
    ) -> Sequence[TaskRun]:
        """Tasks in the order of the definition, after that place. Empty if the run has not begun."""


class WorkflowStore(Store, Protocol):
    @property
    def dags(self) -> DagStore: ...
    @property
    def runs(self) -> RunStore: ...
