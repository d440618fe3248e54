"""Workflows over any SQL database: a job, and an immutable revision of what its tasks do."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.records import Page
from gnomon.core.jobs.job import Definition, JobId, JobStatus
from gnomon.core.values.document import Document
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.values.limits import check_limit
from gnomon.core.workflows.dag import Dag, DagChange, DagRevision, NewDag, task_revision
from gnomon.core.workflows.workflow import Execute, Plan
from gnomon.errors import DagNotFound, JobNotFound
from gnomon.store.databases.database import Database, Row, Rows, Session
from gnomon.store.databases.rows import INTEGER_MAX, LAST_ID, definition_columns, job_of
from gnomon.store.jobs.jobs import SqlJobs
from gnomon.store.queue.lanes import Lanes, lane_of
from gnomon.store.workflows.backfills import SqlBackfills

# A statement is packed in one go, during which no other thread has a turn.
TASKS_AT_ONCE = 2000
_TASK = (
    "revision", "lane_id", "kind", "queue", "capabilities", "priority", "timeout_seconds", "delivery",
    "payload", "retry", "schedule",
)  # fmt: skip


class SqlDags:
    def __init__(self, database: Database, lanes: Lanes, jobs: SqlJobs, backfills: SqlBackfills) -> None:
        self.backfills = backfills
        self._database = database
        self._lanes = lanes
        self._jobs = jobs

    async def create(self, dag: NewDag, *, now: datetime, idempotency: Idempotency | None = None) -> Dag:
        """Raises JobAlreadyExists: a workflow and a job cannot have one name. Else as `create` of jobs."""
        await self._ensure_lanes(dag.job.tenant_id, dag.plan)
        also = partial(self._add_first, dag, now=now)
        [job] = await self._jobs.create([dag.job], now=now, idempotency=idempotency, also=also)
        return await self.get(job.tenant_id, job.id)

    async def change(
        self, change: DagChange, *, now: datetime, idempotency: Idempotency | None = None
    ) -> Dag:
        """A new revision. Runs that have begun, or wait to, stay on theirs. Raises as `change` of jobs."""
        await self._ensure_lanes(change.job.tenant_id, change.plan)
        also = partial(self._add_next, change, now=now)
        [job] = await self._jobs.change([change.job], now=now, idempotency=idempotency, also=also)
        return await self.get(job.tenant_id, job.id)

    async def get(self, tenant_id: TenantId, dag_id: JobId) -> Dag:
        """Raises DagNotFound. A deleted one can still be read."""
        rows = await self._database.read("dag_get", tenant_id=tenant_id, dag_id=dag_id)
        if not rows:
            raise DagNotFound(dag_id)
        return _dag_of(rows[0])

    async def named(self, tenant_id: TenantId, name: str) -> Dag:
        """The live one of that name. Raises DagNotFound."""
        try:
            return await self.get(tenant_id, (await self._jobs.named(tenant_id, name)).id)
        except (JobNotFound, DagNotFound):
            raise DagNotFound(name) from None

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
        rows = await self._database.read(
            "dags_page",
            tenant_id=tenant_id,
            status=status,
            tag=tag,
            name_prefix=name_prefix,
            name_contains=name_contains,
            after=after or LAST_ID,
            limit=check_limit(limit) + 1,
        )
        found = tuple(_dag_of(row) for row in rows[:limit])
        return Page(found, found[-1].job.id if len(rows) > limit else None)

    async def revision(self, tenant_id: TenantId, dag_id: JobId, number: int) -> DagRevision:
        rows = []
        if 0 < number <= INTEGER_MAX:
            rows = list(
                await self._database.read("dag_revision", tenant_id=tenant_id, dag_id=dag_id, revision=number)
            )
        if not rows:
            raise DagNotFound(f"{dag_id} at revision {number}")
        return _dag_revision_of(rows[0])

    async def revisions(
        self, tenant_id: TenantId, dag_id: JobId, *, limit: int, before: int | None = None
    ) -> Sequence[DagRevision]:
        """Newest first."""
        rows = await self._database.read(
            "dag_revisions_page",
            tenant_id=tenant_id,
            dag_id=dag_id,
            before=INTEGER_MAX if before is None else min(before, INTEGER_MAX),
            limit=check_limit(limit),
        )
        return [_dag_revision_of(row) for row in rows]

    # -------------------------------------------------------------------------------------------------

    async def _ensure_lanes(self, tenant_id: TenantId, plan: Plan) -> None:
        await self._lanes.ensure(
            {lane_of(tenant_id, definition) for definition in _definitions(plan).values()}
        )

    async def _add_first(self, dag: NewDag, session: Session, *, now: datetime) -> int:
        await session.fetch("dag_add", dag_id=dag.job.id, tenant_id=dag.job.tenant_id)
        return await self._add(session, dag.job.id, dag, number=1, base=1, now=now)

    async def _add_next(self, change: DagChange, session: Session, *, now: datetime) -> int:
        dag_id = change.job.job_id
        found = await session.fetch("dag_newest", dag_id=dag_id, tenant_id=change.job.tenant_id)
        if not found:
            raise DagNotFound(dag_id)
        [newest] = found
        number, base = newest["revision"] + 1, task_revision(newest["base"], newest["tasks"])
        await session.fetch("dag_move", dag_id=dag_id, revision=number)
        return await self._add(session, dag_id, change, number=number, base=base, now=now)

    async def _add(
        self,
        session: Session,
        dag_id: JobId,
        kept: NewDag | DagChange,
        *,
        number: int,
        base: int,
        now: datetime,
    ) -> int:
        tenant_id, plan = kept.job.tenant_id, kept.plan
        await session.fetch(
            "dag_revision_add",
            dag_id=dag_id,
            tenant_id=tenant_id,
            revision=number,
            base=base,
            tasks=len(plan.graph.names),
            definition=kept.definition.text,
            now=now,
        )
        tasks = iter(_definitions(plan).items())
        while batch := list(islice(tasks, TASKS_AT_ONCE)):
            rows = [self._task_row(tenant_id, base, task, definition) for task, definition in batch]
            await session.fetch(
                "dag_tasks_add", Rows("new_task", _TASK, rows), dag_id=dag_id, tenant_id=tenant_id, now=now
            )
        return base

    def _task_row(
        self, tenant_id: TenantId, base: int, task: int, definition: Definition
    ) -> tuple[object, ...]:
        columns = definition_columns(definition, self._lanes.known[lane_of(tenant_id, definition)])
        values = columns | {"revision": task_revision(base, task)}
        return tuple(values[name] for name in _TASK)


def _definitions(plan: Plan) -> dict[int, Definition]:
    """What workers run. The other tasks are runs of other workflows, or wait."""
    return {
        task: work.definition
        for task in range(len(plan.graph.names))
        if isinstance(work := plan.task(task).work, Execute)
    }


def _dag_of(row: Row) -> Dag:
    return Dag(job_of(row), row["dag_revision"])


def _dag_revision_of(row: Row) -> DagRevision:
    return DagRevision(
        dag_id=JobId(row["dag_id"]),
        tenant_id=TenantId(row["tenant_id"]),
        number=row["revision"],
        base=row["base"],
        tasks=row["tasks"],
        definition=Document(row["definition"]),
        created_at=row["created_at"],
    )
