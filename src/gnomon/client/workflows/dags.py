"""What a user does with workflows: write them down, change them, run them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from uuid import UUID

from gnomon.client.access.admission import admission, kinds_in
from gnomon.client.context import ClientContext
from gnomon.client.jobs.changes import JobChanges, JobWish
from gnomon.client.workflows.runs import begin_run
from gnomon.core.executions.lifecycle import JobAction, JobChange
from gnomon.core.executions.records import Page
from gnomon.core.jobs.job import Definition, Job, JobId, JobStatus, NewJob
from gnomon.core.runs.run import Run
from gnomon.core.schedules.rescheduling import course_of_new
from gnomon.core.time.nominal import seed_of
from gnomon.core.values.document import JSON, Document
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX
from gnomon.core.workflows.dag import (
    DEFINITION_BYTES_MAX,
    Dag,
    DagChange,
    DagRevision,
    NewDag,
    dag_definition,
)
from gnomon.core.workflows.diff import DagDiff, diff
from gnomon.core.workflows.document import WrittenDag, read_dag
from gnomon.core.workflows.graph import GraphLimits
from gnomon.core.workflows.workflow import Execute, Plan, of_task
from gnomon.errors import CalendarNotFound, DagNotFound, InvalidInput, JobAlreadyExists
from gnomon.store.databases.hints import Topic


@dataclass(frozen=True, slots=True)
class RevisionDiff:
    """What changed from revision `old` to revision `new`."""

    old: int
    new: int
    diff: DagDiff


class Dags:
    def __init__(self, context: ClientContext) -> None:
        self._context = context
        self._dags = context.store.dags
        self._changes = JobChanges(context)

    # Writing -------------------------------------------------------------------------------------------

    async def check(self, document: object) -> tuple[WrittenDag, Plan]:
        """Raises InvalidInput or InvalidDag that names the task, the field and the reason. Keeps nothing."""
        written, plan = checked(document, self._context.graph_limits, self._context.check)
        (await admission(self._context, kinds_in(written))).check_dag(written)
        return written, plan

    async def create(self, document: object, *, idempotency: Idempotency | None = None) -> Dag:
        """Raises what `check` raises, JobAlreadyExists, CalendarNotFound, IdempotencyConflict."""
        written, plan = await self.check(document)
        await self._check_calendar(written)
        now, tenant_id = self._context.clock.now(), self._context.tenant_id
        course = course_of_new(written.schedule, now=now, seed=seed_of(tenant_id, written.name))
        job = NewJob(
            JobId(self._context.ids.next(now)),
            tenant_id,
            written.name,
            dag_definition(course.schedule),
            course.next_run_time,
            written.tags,
        )
        dag = await self._dags.create(NewDag(job, _kept(document), plan), now=now, idempotency=idempotency)
        if dag.job.next_run_time is not None:
            self._context.announce(Topic.SCHEDULE)
        return dag

    async def update(
        self,
        dag_id: JobId,
        document: object,
        *,
        version: int | None = None,
        idempotency: Idempotency | None = None,
    ) -> Dag:
        """A new revision, unless nothing changes. Runs that exist stay on theirs.

        Raises DagNotFound, VersionConflict, and what `create` raises.
        """
        written, plan = await self.check(document)
        await self._check_calendar(written)
        kept = _kept(document)
        dag = await self.get(dag_id)
        if version in (None, dag.job.version):
            current = await self._dags.revision(self._context.tenant_id, dag_id, dag.revision)
            if current.definition == kept:
                return dag
        wish = JobWish(
            JobAction.UPDATE,
            name=written.name,
            definition=dag_definition(written.schedule),
            tags=written.tags,
        )
        keep = partial(self._keep, kept, plan, idempotency=idempotency)
        await self._changes.make(dag_id, wish, version=version, idempotency=idempotency, keep=keep)
        return await self.get(dag_id)

    async def apply(self, document: object) -> Dag:
        """Make the workflow of this name what the definition says: new, a new revision, or as it is."""
        name = read_dag(document).name
        try:
            found = await self.named(name)
        except DagNotFound:
            try:
                return await self.create(document)
            except JobAlreadyExists as taken:
                try:
                    found = await self.named(name)  # Somebody else was faster.
                except DagNotFound:  # It is the name of a job.
                    raise taken from None
        return await self.update(found.job.id, document)

    async def _keep(
        self,
        kept: Document,
        plan: Plan,
        change: JobChange,
        job: Job,
        *,
        now: datetime,
        idempotency: Idempotency | None,
    ) -> Job:
        # The tasks are new, even where the schedule is not.
        change = replace(change, definition=change.definition or job.definition)
        return (await self._dags.change(DagChange(change, kept, plan), now=now, idempotency=idempotency)).job

    async def pause(self, dag_id: JobId, *, version: int | None = None) -> Dag:
        """Skip its due times from now on. Runs go on."""
        return await self._act(dag_id, JobAction.PAUSE, version)

    async def resume(self, dag_id: JobId, *, version: int | None = None) -> Dag:
        return await self._act(dag_id, JobAction.RESUME, version)

    async def delete(self, dag_id: JobId, *, version: int | None = None) -> Dag:
        """Its name is free again, its history stays. Its runs are stopped."""
        dag = await self._act(dag_id, JobAction.DELETE, version)
        await self._context.store.runs.stop_all(dag_id, now=self._context.clock.now(), limit=PAGE_LIMIT_MAX)
        self._context.announce(Topic.CANCEL)
        return dag

    async def _act(self, dag_id: JobId, action: JobAction, version: int | None) -> Dag:
        await self.get(dag_id)
        await self._changes.make(dag_id, JobWish(action), version=version)
        return await self.get(dag_id)

    # Running -------------------------------------------------------------------------------------------

    async def trigger(
        self, dag_id: JobId, *, config: JSON = None, idempotency: Idempotency | None = None
    ) -> Run:
        """Run it now. `config` goes over its configuration, key by key.

        Raises DagNotFound, InvalidInput, IllegalTransition if it is deleted.
        """
        dag = await self.get(dag_id)
        if config is not None and not isinstance(config, dict):
            raise InvalidInput("config", f"must be an object, not {type(config).__name__}.")
        return await begin_run(self._context, dag, config, idempotency=idempotency)

    # Looking -------------------------------------------------------------------------------------------

    async def get(self, dag_id: JobId) -> Dag:
        """Raises DagNotFound. A deleted one can still be read."""
        return await self._dags.get(self._context.tenant_id, dag_id)

    async def named(self, name: str) -> Dag:
        """The live one of that name. Raises DagNotFound."""
        return await self._dags.named(self._context.tenant_id, name)

    async def list(
        self,
        *,
        status: JobStatus | None = None,
        tag: str | None = None,
        name_prefix: str | None = None,
        name_contains: str | None = None,
        limit: int = PAGE_LIMIT_DEFAULT,
        after: UUID | None = None,
    ) -> Page[Dag]:
        """Newest first."""
        return await self._dags.page(
            self._context.tenant_id,
            status=status,
            tag=tag,
            name_prefix=name_prefix,
            name_contains=name_contains,
            limit=limit,
            after=after,
        )

    async def revision(self, dag: Dag, number: int | None = None) -> DagRevision:
        """The current one, or that of this number. Raises DagNotFound."""
        return await self._dags.revision(
            self._context.tenant_id, dag.job.id, dag.revision if number is None else number
        )

    async def revisions(
        self, dag_id: JobId, *, limit: int = PAGE_LIMIT_DEFAULT, before: int | None = None
    ) -> Sequence[DagRevision]:
        """Newest first."""
        return await self._dags.revisions(self._context.tenant_id, dag_id, limit=limit, before=before)

    async def diff(self, dag_id: JobId, *, old: int | None = None, new: int | None = None) -> RevisionDiff:
        """What changed between two revisions: from the one before to the current one, unless you say others.

        Raises DagNotFound.
        """
        dag = await self.get(dag_id)
        after = await self.revision(dag, new)
        before = await self.revision(dag, old if old is not None else max(after.number - 1, 1))
        return RevisionDiff(
            before.number, after.number, diff(before.definition.value, after.definition.value)
        )

    async def _check_calendar(self, written: WrittenDag) -> None:
        name = written.schedule.calendar
        if name is not None and not await self._context.store.schedules.calendars(
            {(self._context.tenant_id, name)}
        ):
            raise CalendarNotFound(name)


def checked(
    document: object, limits: GraphLimits, check: Callable[[Definition], None]
) -> tuple[WrittenDag, Plan]:
    """`check` knows the payloads of some kinds. Raises InvalidInput, InvalidDag."""
    written = read_dag(document, limits)
    plan = Plan.of(written.workflow, limits)
    for place, task in enumerate(written.workflow.tasks):
        # What a template comes to is known when the task begins.
        if isinstance(task.work, Execute) and not plan.is_template[place]:
            try:
                check(task.work.definition)
            except InvalidInput as error:
                raise of_task(task.name, error) from None
    return written, plan


def _kept(document: object) -> Document:
    return Document.of(document, field="dag", bytes_max=DEFINITION_BYTES_MAX)
