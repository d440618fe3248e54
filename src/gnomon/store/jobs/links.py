"""What jobs are tied to: their tags, and the jobs that they depend on."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.gates import slots
from gnomon.core.executions.lifecycle import JobChange
from gnomon.core.jobs.job import NewJob
from gnomon.store.databases.database import Rows, Session
from gnomon.store.queue.gates import await_jobs
from gnomon.store.queue.gates import wanted as in_order


async def lock(session: Session, tenant_id: TenantId, jobs: Sequence[NewJob] | Sequence[JobChange]) -> None:
    """Before any job is locked: two that hold a job each would wait for each other here.

    The jobs that they depend on are locked with them, in one order: their runs are about to be watched.
    """
    needed = {dependency for job in jobs for dependency in job.dependencies}
    if needed:
        await session.fetch("tenant_lock", tenant_id=tenant_id)
        own = {job.job_id for job in jobs if isinstance(job, JobChange)}
        await session.fetch("jobs_lock", in_order(needed | own), tenant_id=tenant_id)


async def link(session: Session, tenant_id: TenantId, jobs: Sequence[NewJob] | Sequence[JobChange]) -> None:
    tags, dependencies, gated = [], [], []
    for job in jobs:
        job_id = job.id if isinstance(job, NewJob) else job.job_id
        if job.dependencies or (job.definition and slots(job.definition) is not None):
            gated.append(job_id)
        tags += [(job.tenant_id, job_id, tag) for tag in sorted(job.tags)]
        dependencies += [(job.tenant_id, job_id, depends_on) for depends_on in sorted(job.dependencies)]
    if tags or dependencies:
        await session.fetch(
            "job_links_add",
            Rows("job_tag", ("tenant_id", "job_id", "tag"), tags),
            Rows("job_dependency", ("tenant_id", "job_id", "depends_on"), dependencies),
        )
    if gated:
        await session.fetch("gates_ensure", in_order(gated), tenant_id=tenant_id)
    if dependencies:
        await await_jobs(session, tenant_id, {depends_on for _, _, depends_on in dependencies})
