"""Jobs as a dictionary."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.lifecycle import JobChange
from gnomon.core.executions.records import JobFilter, Page
from gnomon.core.jobs.job import Job, JobId, JobStatus, NewJob, Revision
from gnomon.core.jobs.shown import ShownJob, shown_job
from gnomon.core.time.schedule_document import type_of
from gnomon.core.values.idempotency import Idempotency
from gnomon.errors import (
    IllegalTransition,
    InvalidDependency,
    JobAlreadyExists,
    JobFired,
    JobNotFound,
    VersionConflict,
)
from tests.contract.model import gates
from tests.contract.model.calendars import check_calendars
from tests.contract.model.state import State, page_of


@dataclass(frozen=True, slots=True)
class ModelJobs:
    state: State

    async def create(
        self, jobs: Sequence[NewJob], *, now: datetime, idempotency: Idempotency | None = None
    ) -> Sequence[Job]:
        tenant_id = jobs[0].tenant_id
        known = self.state.answered(tenant_id, idempotency)
        if known is not None:
            return self._as_they_are(cast("Sequence[JobId]", known))

        if all(new.id in self.state.jobs for new in jobs):
            return self._as_they_are([new.id for new in jobs])  # Ids are the caller's own: it asks again.
        check_calendars(self.state, tenant_id, [new.definition for new in jobs])
        after = dict(self.state.jobs)
        for new in jobs:
            _check_name_is_free(after, new.tenant_id, new.name, new.id)
            after[new.id] = _created(new, now)
        _check_dependencies(after, [new.id for new in jobs])
        self.state.jobs = after
        for new in jobs:
            self.state.revisions[new.id, 1] = Revision(new.tenant_id, new.id, 1, new.definition)
            self._await(new.dependencies)
        self.state.remember(tenant_id, idempotency, [new.id for new in jobs])
        return self._as_they_are([new.id for new in jobs])

    async def change(
        self, changes: Sequence[JobChange], *, now: datetime, idempotency: Idempotency | None = None
    ) -> Sequence[Job]:
        tenant_id = changes[0].tenant_id
        known = self.state.answered(tenant_id, idempotency)
        if known is not None:
            return self._as_they_are(cast("Sequence[JobId]", known))

        check_calendars(self.state, tenant_id, [one.definition for one in changes if one.definition])
        after = dict(self.state.jobs)
        for change in changes:
            after[change.job_id] = self._changed(after, change, now)
        _check_dependencies(after, [change.job_id for change in changes])
        self.state.jobs = after
        for change in changes:
            job = after[change.job_id]
            self.state.revisions[job.id, job.revision] = Revision(
                job.tenant_id, job.id, job.revision, job.definition
            )
            self._await(change.dependencies)
            gates.watch(self.state, [job.id])
            if change.ends_executions:
                for run in self.state.runs.values():
                    if run.job_id == job.id:
                        run.stop(now)
        self.state.remember(tenant_id, idempotency, [change.job_id for change in changes])
        changed = gates.with_dependents(self.state, [change.job_id for change in changes])
        gates.admit(self.state, changed, now)
        return self._as_they_are([change.job_id for change in changes])

    async def get(self, tenant_id: TenantId, job_id: JobId) -> Job:
        return found(self.state.jobs, tenant_id, job_id)

    async def many(self, tenant_id: TenantId, job_ids: Collection[JobId]) -> Sequence[Job]:
        known = (self.state.jobs.get(job_id) for job_id in dict.fromkeys(job_ids))
        return [job for job in known if job is not None and job.tenant_id == tenant_id]

    async def shown(self, tenant_id: TenantId, job_ids: Collection[JobId]) -> Sequence[ShownJob]:
        return [shown_job(job) for job in await self.many(tenant_id, job_ids)]

    async def named(self, tenant_id: TenantId, name: str) -> Job:
        for job in self.state.jobs.values():
            if job.tenant_id == tenant_id and job.name == name and job.status is not JobStatus.DELETED:
                return job
        raise JobNotFound(name)

    async def page(
        self, tenant_id: TenantId, wanted: JobFilter, *, limit: int, after: UUID | None = None
    ) -> Page[Job]:
        fitting = [
            job for job in self.state.jobs.values() if job.tenant_id == tenant_id and _fits(job, wanted)
        ]
        return page_of([(job.id, job) for job in fitting], limit=limit, after=after)

    async def revision(self, tenant_id: TenantId, job_id: JobId, number: int) -> Revision:
        found(self.state.jobs, tenant_id, job_id)
        if (job_id, number) not in self.state.revisions:
            raise JobNotFound(job_id)
        return self.state.revisions[job_id, number]

    def _await(self, job_ids: Collection[JobId]) -> None:
        self.state.awaited |= set(job_ids)
        gates.watch(self.state, job_ids)

    def _as_they_are(self, ids: Sequence[JobId]) -> Sequence[Job]:
        return [self.state.jobs[job_id] for job_id in ids]

    def _changed(self, jobs: dict[JobId, Job], change: JobChange, now: datetime) -> Job:
        job = found(jobs, change.tenant_id, change.job_id)
        if job.status is JobStatus.DELETED and change.status is not JobStatus.DELETED:
            raise JobNotFound(job.id)
        if job.version != change.expected_version:
            raise VersionConflict(job.id, expected=change.expected_version, actual=job.version)
        if job.next_run_time != change.expected_next_run_time:
            raise JobFired(job.id)
        if change.status is not JobStatus.DELETED:
            _check_name_is_free(jobs, change.tenant_id, change.name, job.id)
        return replace(
            job,
            name=change.name,
            status=change.status,
            version=job.version + 1,
            revision=job.revision + (change.definition is not None),
            definition=change.definition or job.definition,
            next_run_time=change.next_run_time,
            anchor=change.anchor,
            tags=change.tags,
            dependencies=change.dependencies,
            updated_at=now,
        )


def found(jobs: dict[JobId, Job], tenant_id: TenantId, job_id: JobId) -> Job:
    job = jobs.get(job_id)
    if job is None or job.tenant_id != tenant_id:
        raise JobNotFound(job_id)
    return job


def triggerable(jobs: dict[JobId, Job], tenant_id: TenantId, job_id: JobId) -> Job:
    job = found(jobs, tenant_id, job_id)
    if job.status is JobStatus.DELETED:
        raise JobNotFound(job_id)
    if job.status is JobStatus.CANCELLED:
        raise IllegalTransition("job", status=job.status, action="enqueue")
    return job


def _created(new: NewJob, now: datetime) -> Job:
    return Job(
        id=new.id,
        tenant_id=new.tenant_id,
        name=new.name,
        status=JobStatus.ACTIVE,
        version=1,
        revision=1,
        definition=new.definition,
        next_run_time=new.next_run_time,
        last_run_time=None,
        fires=0,
        anchor=None,
        tags=new.tags,
        dependencies=new.dependencies,
        created_at=now,
        updated_at=now,
    )


def _check_name_is_free(jobs: dict[JobId, Job], tenant_id: TenantId, name: str, job_id: JobId) -> None:
    for other in jobs.values():
        is_live_namesake = (
            other.tenant_id == tenant_id and other.name == name and other.status is not JobStatus.DELETED
        )
        if is_live_namesake and other.id != job_id:
            raise JobAlreadyExists(name)


def _check_dependencies(jobs: dict[JobId, Job], changed: Sequence[JobId]) -> None:
    for job_id in changed:
        for needed in jobs[job_id].dependencies:
            found(jobs, jobs[job_id].tenant_id, needed)
    for job_id in changed:
        if job_id in _reachable(jobs, job_id):
            raise InvalidDependency(f"job {job_id} would wait for itself.")


def _reachable(jobs: dict[JobId, Job], job_id: JobId) -> set[JobId]:
    """Every job that this one waits for, directly or not."""
    reached: set[JobId] = set()
    todo = list(jobs[job_id].dependencies)
    while todo:
        needed = todo.pop()
        if needed not in reached:
            reached.add(needed)
            todo.extend(jobs[needed].dependencies)
    return reached


def _fits(job: Job, wanted: JobFilter) -> bool:
    is_before = wanted.next_run_before is None or (
        job.next_run_time is not None and job.next_run_time < wanted.next_run_before
    )
    is_after = wanted.next_run_after is None or (
        job.next_run_time is not None and job.next_run_time > wanted.next_run_after
    )
    return (
        (job.status is not JobStatus.DELETED if wanted.status is None else job.status is wanted.status)
        and (wanted.kind is None or job.definition.kind == wanted.kind)
        and (wanted.tag is None or wanted.tag in job.tags)
        and (wanted.name is None or job.name == wanted.name)
        and (wanted.name_prefix is None or job.name.startswith(wanted.name_prefix))
        and (wanted.name_contains is None or wanted.name_contains in job.name)
        and (wanted.type is None or type_of(job.definition.schedule.timing) == wanted.type)
        and is_before
        and is_after
    )
