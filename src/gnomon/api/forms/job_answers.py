"""Jobs as callers get them: one flat object with the fields of both forms."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from gnomon.api.forms.retry_forms import retry_words
from gnomon.api.forms.schedule_forms import JOB_TYPES, shown
from gnomon.core.executions.execution import ExecutionStatus, RecentRun
from gnomon.core.explain.job_state import JobState, state_of
from gnomon.core.jobs.job import Job
from gnomon.core.jobs.shown import ShownJob, shown_job
from gnomon.core.schedules.occurrence import SkipReason
from gnomon.core.values.forms import Answer
from gnomon.core.values.instants import whole


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
    state: JobState
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
    next_run_skip: SkipReason | None  # Calendar: it takes `next_run_time` out.


class CancelledJob(JobAnswer):
    cancelled_at: datetime


class JobPage(Answer):
    jobs: list[JobAnswer]
    next_cursor: str | None


@lru_cache(maxsize=1000)
def _retry(document: str) -> msgspec.Raw:
    """Most jobs have one of a few policies."""
    return msgspec.Raw(msgspec.json.encode(retry_words(msgspec.json.decode(document))))


def job_fields(job: ShownJob, recent: Sequence[RecentRun], *, now: datetime) -> dict[str, Any]:
    """`recent`: its newest runs, newest first."""
    schedule, retry = job.schedule, _retry(job.retry.text)
    return {
        "job_id": str(job.id),
        "name": job.name,
        "status": job.status,
        "state": state_of(job.status, job.next_run_time, recent, now=now),
        "kind": job.kind,
        "job_type": JOB_TYPES[schedule["type"]],
        "cron_expression": schedule.get("cron"),
        "timezone": schedule.get("timezone"),
        "schedule": shown(schedule, job.next_run_time),
        "payload": msgspec.Raw(job.payload.text.encode()),
        "retry_config": retry,
        "retry_policy": retry,
        "timeout_seconds": None if job.timeout_seconds is None else whole(job.timeout_seconds),
        "priority": job.priority,
        "queue": job.queue,
        "capabilities": job.capabilities,
        "max_concurrent": job.max_concurrent,
        "delivery": job.delivery,
        "tags": job.tags,
        "dependencies": job.dependencies,
        "next_run_time": job.next_run_time,
        "last_run_time": job.last_run_time,
        "fires": job.fires,
        "version": job.version,
        "revision": job.revision,
        "tenant_id": str(job.tenant_id),
        "created_at": job.created_at,
        "updated_at": job.updated_at,
    }


def job_answer(job: Job, recent: Sequence[RecentRun], *, now: datetime) -> JobAnswer:
    return JobAnswer(**job_fields(shown_job(job), recent, now=now))


def job_details(
    job: ShownJob, recent: Sequence[RecentRun], skip: SkipReason | None, *, now: datetime
) -> dict[str, Any]:
    """The fields of JobDetails. Among `recent`, its newest executions, is what runs and what ended last.

    `skip` is what becomes of its next time, if it will not fire.
    """
    running = next((one for one in recent if one.status is ExecutionStatus.RUNNING), None)
    ended = next((one for one in recent if one.status and one.status.is_final), None)
    latest = running or (recent[0] if recent else None)
    fields = job_fields(job, recent, now=now)
    fields["current_run"] = running and CurrentRun(
        run_id=str(running.id),
        execution_id=str(running.id),
        started_at=running.started_at,
        worker_id=running.worker,
    )
    fields["last_run"] = ended and LastRun(
        run_id=str(ended.id),
        execution_id=str(ended.id),
        status=str(ended.status),
        completed_at=ended.finished_at,
    )
    fields["retry_count"] = 0 if latest is None else _retries(latest)
    fields["next_run_skip"] = skip
    return fields


def _retries(run: RecentRun) -> int:
    """Tries after the first one."""
    is_final = run.status is not None and run.status.is_final
    return max(run.attempts - is_final, 0)
