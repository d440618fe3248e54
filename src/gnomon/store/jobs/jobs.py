"""Jobs over any SQL database: definitions in immutable revisions, changes by optimistic locking."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TypeAlias, TypedDict
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.gates import is_counted, slots
from gnomon.core.executions.lifecycle import JobChange
from gnomon.core.executions.records import JobFilter, Page
from gnomon.core.jobs.job import Job, JobId, JobStatus, NewJob, Revision, shard_of
from gnomon.core.jobs.shown import ShownJob
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.values.limits import check_batch, check_limit
from gnomon.core.workflows.graph import check_acyclic
from gnomon.errors import (
    JobAlreadyExists,
    JobFired,
    JobNotFound,
    TenantNotFound,
    VersionConflict,
)
from gnomon.store.access.idempotency import first_answer
from gnomon.store.databases.database import (
    Database,
    ForeignKeyViolation,
    Row,
    Rows,
    Session,
    UniqueViolation,
    again_after_deadlock,
)
from gnomon.store.databases.rows import (
    INTEGER_MAX,
    LAST_ID,
    definition_columns,
    ids_text,
    job_of,
    names_text,
    revision_of,
    shown_job_of,
)
from gnomon.store.jobs.calendars import hold
from gnomon.store.jobs.links import link, lock
from gnomon.store.queue.gates import Gates, end_runs, watch
from gnomon.store.queue.lanes import Lanes, lane_of

JOB_BATCH_MAX = 1000
# What else belongs into the transaction, of a workflow. Returns the revision of the job that stands for it.
Also: TypeAlias = Callable[[Session], Awaitable[int]]


class _Key(TypedDict):
    job_id: JobId
    tenant_id: TenantId


class SqlJobs:
    def __init__(self, database: Database, lanes: Lanes, gates: Gates) -> None:
        self._database = database
        self._lanes = lanes
        self._gates = gates

    @again_after_deadlock
    async def create(
        self,
        jobs: Sequence[NewJob],
        *,
        now: datetime,
        idempotency: Idempotency | None = None,
        also: Also | None = None,
    ) -> Sequence[Job]:
        check_batch(len(jobs), field="jobs", size_max=JOB_BATCH_MAX)
        if not jobs:
            return []
        tenant_id = _one_tenant(jobs)
        try:
            await self._lanes.ensure({lane_of(tenant_id, job.definition) for job in jobs})
            async with self._database.transaction() as session:
                ids = [job.id for job in jobs]
                first = await first_answer(session, tenant_id, idempotency, ids, now=now)
                if first is None:
                    await lock(session, tenant_id, jobs)
                    await hold(session, tenant_id, [job.definition for job in jobs])
                    await self._insert(session, jobs, now=now)
                    if also is not None:
                        await also(session)
                    await self._check_dependencies(session, tenant_id, jobs)
                    await link(session, tenant_id, jobs)
                return await _get(session, tenant_id, ids if first is None else first)
        except ForeignKeyViolation:
            raise TenantNotFound(tenant_id) from None
        except UniqueViolation as violation:
            made = await _get(self._database, tenant_id, [job.id for job in jobs])
            if len(made) == len(jobs):
                return made  # The ids are the caller's own: this very call happened before.
            raise await self._name_clash(violation, tenant_id, jobs) from None

    @again_after_deadlock
    async def change(
        self,
        changes: Sequence[JobChange],
        *,
        now: datetime,
        idempotency: Idempotency | None = None,
        also: Also | None = None,
    ) -> Sequence[Job]:
        check_batch(len(changes), field="jobs", size_max=JOB_BATCH_MAX)
        if not changes:
            return []
        tenant_id = _one_tenant(changes)
        try:
            await self._lanes.ensure(
                {lane_of(tenant_id, change.definition) for change in changes if change.definition}
            )
            async with self._database.transaction() as session:
                ids = [change.job_id for change in changes]
                first = await first_answer(session, tenant_id, idempotency, ids, now=now)
                if first is None:
                    await lock(session, tenant_id, changes)
                    await hold(session, tenant_id, [one.definition for one in changes if one.definition])
                    # In the order of ids, so that two batches cannot wait for each other.
                    for change in sorted(changes, key=lambda change: change.job_id):
                        await self._change(session, change, now=now, also=also)
                    await self._check_dependencies(session, tenant_id, changes)
                    await link(session, tenant_id, changes)
                changed = await _get(session, tenant_id, ids if first is None else first)
            # There may be more slots than before, or none; fewer jobs to wait for, or none.
            await self._gates.admit_after(ids, now=now)
            return changed
        except ForeignKeyViolation:
            raise TenantNotFound(tenant_id) from None
        except UniqueViolation as violation:
            raise await self._name_clash(violation, tenant_id, changes) from None

    async def get(self, tenant_id: TenantId, job_id: JobId) -> Job:
        rows = await self._database.read("job_get", tenant_id=tenant_id, job_id=job_id)
        if not rows:
            raise JobNotFound(job_id)
        return job_of(rows[0])

    async def many(self, tenant_id: TenantId, job_ids: Collection[JobId]) -> Sequence[Job]:
        return [job_of(row) for row in await self._read("jobs_get", tenant_id, job_ids)]

    async def shown(self, tenant_id: TenantId, job_ids: Collection[JobId]) -> Sequence[ShownJob]:
        return [shown_job_of(row) for row in await self._read("jobs_shown", tenant_id, job_ids)]

    async def _read(self, statement: str, tenant_id: TenantId, ids: Collection[JobId]) -> Sequence[Row]:
        check_batch(len(ids), field="jobs", size_max=JOB_BATCH_MAX)
        return await self._database.read(statement, _wanted(dict.fromkeys(ids)), tenant_id=tenant_id)

    async def named(self, tenant_id: TenantId, name: str) -> Job:
        rows = await self._database.read("job_named", tenant_id=tenant_id, name=name)
        if not rows:
            raise JobNotFound(name)
        return job_of(rows[0])

    async def page(
        self, tenant_id: TenantId, wanted: JobFilter, *, limit: int, after: UUID | None = None
    ) -> Page[Job]:
        values = {"tenant_id": tenant_id, "after": after or LAST_ID, "limit": check_limit(limit) + 1}
        values |= asdict(wanted)
        if wanted.name_range is None or wanted.status is JobStatus.DELETED:
            rows = await self._database.read("jobs_page", **values)
        else:
            start, end = wanted.name_range
            values |= {"name_from": start, "name_until": end}
            del values["name"], values["name_prefix"]
            rows = await self._database.read("jobs_page_by_name", **values)
        jobs = tuple(job_of(row) for row in rows[:limit])
        return Page(jobs, jobs[-1].id if len(rows) > limit else None)

    async def revision(self, tenant_id: TenantId, job_id: JobId, number: int) -> Revision:
        if not 0 < number <= INTEGER_MAX:
            raise JobNotFound(f"{job_id} at revision {number}")
        rows = await self._database.read("job_revision", tenant_id=tenant_id, job_id=job_id, revision=number)
        if not rows:
            raise JobNotFound(f"{job_id} at revision {number}")
        return revision_of(rows[0])

    async def _insert(self, session: Session, jobs: Sequence[NewJob], *, now: datetime) -> None:
        rows = [self._row(job) for job in jobs]
        batch = Rows("new_job", tuple(rows[0]), [tuple(row.values()) for row in rows])
        await session.fetch("jobs_create", batch, now=now)

    def _row(self, job: NewJob) -> dict[str, object]:
        return {
            "id": job.id,
            "tenant_id": job.tenant_id,
            "name": job.name,
            "shard": shard_of(job.id),
            "next_run_time": job.next_run_time,
            "tags": names_text(job.tags),
            "dependencies": ids_text(job.dependencies),
            "slots": slots(job.definition),
            "watched": is_counted(job.definition),
        } | definition_columns(job.definition, self._lanes.known[lane_of(job.tenant_id, job.definition)])

    async def _change(self, session: Session, change: JobChange, *, now: datetime, also: Also | None) -> None:
        key: _Key = {"job_id": change.job_id, "tenant_id": change.tenant_id}
        found = await session.fetch("job_lock", **key)
        if not found:
            raise JobNotFound(change.job_id)
        [job] = found
        if job["status"] == JobStatus.DELETED and change.status is not JobStatus.DELETED:
            raise JobNotFound(change.job_id)
        if job["version"] != change.expected_version:
            raise VersionConflict(change.job_id, expected=change.expected_version, actual=job["version"])
        if job["next_run_time"] != change.expected_next_run_time:
            raise JobFired(change.job_id)
        revision, places, watched = job["revision"], job["slots"], job["watched"]
        if change.definition is not None:
            revision = revision + 1 if also is None else await also(session)
            places, watched = slots(change.definition), is_counted(change.definition)
            lane_id = self._lanes.known[lane_of(change.tenant_id, change.definition)]
            columns = definition_columns(change.definition, lane_id)
            await session.fetch("job_revision_add", revision=revision, now=now, **key, **columns)
        await session.fetch(
            "job_change",
            job_id=change.job_id,
            name=change.name,
            status=change.status,
            revision=revision,
            next_run_time=change.next_run_time,
            anchor=change.anchor,
            tags=names_text(change.tags),
            dependencies=ids_text(change.dependencies),
            slots=places,
            watched=watched,
            now=now,
        )
        await session.fetch("job_links_clear", job_id=change.job_id)
        if watched and not job["watched"]:
            await watch(session, change.job_id, awaited=False)
        if change.ends_executions:
            await end_runs(session, now=now, **key)

    async def _check_dependencies(
        self, session: Session, tenant_id: TenantId, jobs: Sequence[NewJob] | Sequence[JobChange]
    ) -> None:
        wanted = {dependency for job in jobs for dependency in job.dependencies}
        if not wanted:
            return
        known = {row["id"] for row in await session.fetch("jobs_get", _wanted(wanted), tenant_id=tenant_id)}
        for missing in sorted(wanted - known):
            raise JobNotFound(missing)
        edges: dict[UUID, list[UUID]] = {}
        for edge in await session.fetch("dependency_edges", tenant_id=tenant_id):
            edges.setdefault(edge["job_id"], []).append(edge["depends_on"])
        for job in jobs:
            edges[job.id if isinstance(job, NewJob) else job.job_id] = list(job.dependencies)
        check_acyclic(edges)

    async def _name_clash(
        self, violation: UniqueViolation, tenant_id: TenantId, jobs: Sequence[NewJob] | Sequence[JobChange]
    ) -> Exception:
        """Which of the names was taken: by a sibling of the same batch, or by a job that exists."""
        names: set[str] = set()
        for job in jobs:
            rows = await self._database.read("job_named", tenant_id=tenant_id, name=job.name)
            own_id = job.id if isinstance(job, NewJob) else job.job_id
            if job.name in names or (rows and rows[0]["id"] != own_id):
                return JobAlreadyExists(job.name)
            names.add(job.name)
        return violation


async def _get(session: Session, tenant_id: TenantId, ids: Sequence[UUID]) -> list[Job]:
    return [job_of(row) for row in await session.fetch("jobs_get", _wanted(ids), tenant_id=tenant_id)]


def _wanted(ids: Collection[UUID]) -> Rows:
    return Rows("wanted", ("id",), [(wanted,) for wanted in ids])


def _one_tenant(jobs: Sequence[NewJob] | Sequence[JobChange]) -> TenantId:
    [tenant_id] = {job.tenant_id for job in jobs}
    return tenant_id
