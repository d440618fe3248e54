"""Workflows as callers get them: one flat object, and the tasks of the current revision."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from gnomon.api.forms.execution_answers import raw
from gnomon.core.executions.execution import RecentRun
from gnomon.core.explain.job_state import JobState, state_of
from gnomon.core.schedules.occurrence import SkipReason
from gnomon.core.time.schedule_document import to_document
from gnomon.core.values.document import Document
from gnomon.core.values.forms import Answer
from gnomon.core.workflows.dag import Dag, task_id

# Up to here, telling the tasks takes less than a few milliseconds of the loop.
DEFINITION_BYTES_AT_ONCE = 64 * 1024


class DagAnswer(Answer):
    dag_id: str
    name: str
    status: str
    state: JobState
    version: int
    revision: int
    cron_expression: str | None
    timezone: str | None
    schedule: dict[str, Any]
    next_run_time: datetime | None
    last_run_time: datetime | None
    tags: list[str]
    created_at: datetime
    updated_at: datetime
    tenant_id: str


class DagTask(Answer):
    """A task of the current revision. Its id stays the same for as long as its name does."""

    task_id: str
    name: str
    dependencies: list[str]


class DagDetails(DagAnswer):
    """With its configuration, its tasks, and the definition of its current revision, as it was written."""

    config: Any
    tasks: list[DagTask]
    definition: Any
    next_run_skip: SkipReason | None


class DagPage(Answer):
    dags: list[DagAnswer]
    next_cursor: str | None


class _Task(msgspec.Struct):
    name: str
    depends_on: list[str] | None = None
    dependencies: list[str] | None = None


class _Definition(msgspec.Struct):
    tasks: list[_Task]
    config: msgspec.Raw = msgspec.Raw(b"{}")


_read = msgspec.json.Decoder(_Definition).decode


def dag_answer(dag: Dag, recent: Sequence[RecentRun], *, now: datetime) -> DagAnswer:
    """`recent`: its newest runs, newest first."""
    return DagAnswer(**_fields(dag, recent, now=now))


async def dag_details(
    dag: Dag, definition: Document, recent: Sequence[RecentRun], skip: SkipReason | None, *, now: datetime
) -> DagDetails:
    """`skip` is what becomes of its next time, if it will not fire."""
    if len(definition.text) <= DEFINITION_BYTES_AT_ONCE:
        told = _told(dag, definition)
    else:
        told = await asyncio.to_thread(_told, dag, definition)
    return DagDetails(**_fields(dag, recent, now=now), next_run_skip=skip, **told)


def _told(dag: Dag, definition: Document) -> dict[str, Any]:
    read = _read(definition.text)
    tasks = [
        DagTask(
            task_id=str(task_id(dag.job.id, one.name)),
            name=one.name,
            dependencies=one.depends_on or one.dependencies or [],
        )
        for one in read.tasks
    ]
    return {"config": read.config, "tasks": tasks, "definition": raw(definition)}


def _fields(dag: Dag, recent: Sequence[RecentRun], *, now: datetime) -> dict[str, Any]:
    job, schedule = dag.job, dict(to_document(dag.job.definition.schedule))
    return {
        "dag_id": str(job.id),
        "name": job.name,
        "status": job.status,
        "state": state_of(job.status, job.next_run_time, recent, now=now),
        "version": job.version,
        "revision": dag.revision,
        "cron_expression": schedule.get("cron"),
        "timezone": schedule.get("timezone"),
        "schedule": schedule,
        "next_run_time": job.next_run_time,
        "last_run_time": job.last_run_time,
        "tags": sorted(job.tags),
        "created_at": job.created_at,
        "updated_at": job.updated_at,
        "tenant_id": str(job.tenant_id),
    }
