"""Jobs as callers get them: one flat object with the fields of both forms."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from gnomon.api.reading import Answer
from gnomon.api.retry_forms import shown_retry
from gnomon.api.schedule_forms import job_type, shown
from gnomon.core.execution import ExecutionStatus, RecentRun
from gnomon.core.instants import seconds_of
from gnomon.core.job import Job
from gnomon.core.schedule import CronTiming


class CurrentRun(Answer):
    run_id: str
    execution_id: str
    started_at: datetime | None
    worker_id: str | None


class LastRun(Answer):
    run_id: str
    execution_id: str
    status: str
    completed_at: datetime | None


class JobAnswer(Answer):
    job_id: str
    name: str
    status: str
    kind: str
    job_type: str
    cron_expression: str | None
    timezone: str | None
    schedule: dict[str, Any]
    payload: Any
    retry_config: dict[str, Any]
    retry_policy: dict[str, Any]
    timeout_seconds: int | float | None
    priority: int
    queue: str
    capabilities: list[str]
    max_concurrent: int | None
    delivery: str
    tags: list[str]
    dependencies: list[str]
    next_run_time: datetime | None
    last_run_time: datetime | None
    fires: int
    version: int
    revision: int
    tenant_id: str
    created_at: datetime
    updated_at: datetime


class JobDetails(JobAnswer):
    """One job, with what became of it lately."""

    current_run: CurrentRun | None
    last_run: LastRun | None
    retry_count: int


class CancelledJob(JobAnswer):
    cancelled_at: datetime


class JobPage(Answer):
    jobs: list[JobAnswer]
    next_cursor: str | None


def job_fields(job: Job) -> dict[str, Any]:
    definition, schedule = job.definition, job.definition.schedule
    cron = schedule.timing if isinstance(schedule.timing, CronTiming) else None
    retry = shown_retry(definition.retry)
    return {
        "job_id": str(job.id),
        "name": job.name,
        "status": job.status,
        "kind": definition.kind,
        "job_type": job_type(schedule),
        "cron_expression": cron.expression if cron else None,
        "timezone": cron.timezone if cron else None,
        "schedule": shown(schedule, job.next_run_time),
        "payload": msgspec.Raw(definition.payload.text.encode()),
        "retry_config": retry,
        "retry_policy": retry,
        "timeout_seconds": None if definition.timeout is None else seconds_of(definition.timeout),
        "priority": definition.priority,
        "queue": definition.queue,
        "capabilities": sorted(definition.capabilities),
        "max_concurrent": definition.max_concurrent,
        "delivery": definition.delivery,
        "tags": sorted(job.tags),
        "dependencies": sorted(map(str, job.dependencies)),
        "next_run_time": job.next_run_time,
        "last_run_time": job.last_run_time,
        "fires": job.fires,
        "version": job.version,
        "revision": job.revision,
        "tenant_id": str(job.tenant_id),
        "created_at": job.created_at,
        "updated_at": job.updated_at,
    }


def job_answer(job: Job) -> JobAnswer:
    return JobAnswer(**job_fields(job))


def job_details(job: Job, recent: Sequence[RecentRun]) -> JobDetails:
    """`recent` are its newest executions: what runs, and what ended last, is among them."""
    running = next((one for one in recent if one.status is ExecutionStatus.RUNNING), None)
    ended = next((one for one in recent if one.status and one.status.is_final), None)
    latest = running or (recent[0] if recent else None)
    return JobDetails(
        **job_fields(job),
        current_run=None
        if running is None
        else CurrentRun(
            run_id=str(running.id),
            execution_id=str(running.id),
            started_at=running.started_at,
            worker_id=running.worker,
        ),
        last_run=None
        if ended is None
        else LastRun(
            run_id=str(ended.id),
            execution_id=str(ended.id),
            status=str(ended.status),
            completed_at=ended.finished_at,
        ),
        retry_count=0 if latest is None else _retries(latest),
    )


def _retries(run: RecentRun) -> int:
    """Tries after the first one."""
    is_final = run.status is not None and run.status.is_final
    return max(run.attempts - is_final, 0)
