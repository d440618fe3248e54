"""A job as it is shown: its facts and its documents as they are kept.

Who acts on a job needs a schedule that can fire, and pays for reading it. Who only shows the job does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from gnomon.core.access.tenants import TenantId
from gnomon.core.jobs import retry
from gnomon.core.jobs.job import Job, JobId
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.time import schedule_document
from gnomon.core.time.schedule import Schedule
from gnomon.core.values.document import Document

REMEMBERED = 4096  # Many jobs say the same about times.


class ShownJob(NamedTuple):
    """Its lists are sorted. `retry` and `schedule` are what the `to_document` of each says."""

    id: JobId
    tenant_id: TenantId
    name: str
    status: str
    version: int
    revision: int
    kind: str
    queue: str
    priority: int
    timeout_seconds: float | None
    max_concurrent: int | None
    delivery: str
    next_run_time: datetime | None
    last_run_time: datetime | None
    fires: int
    created_at: datetime
    updated_at: datetime
    payload: Document
    capabilities: Sequence[str]
    tags: Sequence[str]
    dependencies: Sequence[str]
    retry: Document
    schedule: Mapping[str, Any]


def shown_job(job: Job) -> ShownJob:
    definition = job.definition
    return ShownJob(
        id=job.id,
        tenant_id=job.tenant_id,
        name=job.name,
        status=job.status,
        version=job.version,
        revision=job.revision,
        kind=definition.kind,
        queue=definition.queue,
        priority=definition.priority,
        timeout_seconds=None if definition.timeout is None else definition.timeout.total_seconds(),
        max_concurrent=definition.max_concurrent,
        delivery=definition.delivery,
        next_run_time=job.next_run_time,
        last_run_time=job.last_run_time,
        fires=job.fires,
        created_at=job.created_at,
        updated_at=job.updated_at,
        payload=definition.payload,
        capabilities=sorted(definition.capabilities),
        tags=sorted(job.tags),
        dependencies=sorted(map(str, job.dependencies)),
        retry=_retry_document(definition.retry),
        schedule=_schedule_document(definition.schedule),
    )


@lru_cache(REMEMBERED)
def _retry_document(policy: RetryPolicy) -> Document:
    return Document.of(retry.to_document(policy), field="retry")


@lru_cache(REMEMBERED)
def _schedule_document(schedule: Schedule) -> Mapping[str, Any]:
    return schedule_document.to_document(schedule)
