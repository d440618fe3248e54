"""A workflow as it is kept: a job with numbered revisions, the runs of it, and the tasks of a run.

A DAG is a job of the kind `gnomon.dag`: its schedule, its status and its version are those of the job. A run
is an execution of that job, and a task of a run is an execution too. So everything that fires, claims, runs,
retries, cancels and forgets is what it is for any other job.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.lifecycle import JobChange
from gnomon.core.jobs.job import DAG_KIND, Definition, Job, JobId, NewJob
from gnomon.core.time.schedule import Schedule
from gnomon.core.values.document import Document
from gnomon.core.values.ids import named_id
from gnomon.core.workflows.workflow import Plan

DEFINITION_BYTES_MAX = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Dag:
    job: Job
    revision: int  # As people count: 1, 2, 3. The job counts its tasks, too.


@dataclass(frozen=True, slots=True)
class DagRevision:
    dag_id: JobId
    tenant_id: TenantId
    number: int
    base: int  # The revision of the job that stands for the whole. Those of its tasks follow.
    tasks: int
    definition: Document
    created_at: datetime


@dataclass(frozen=True, slots=True)
class NewDag:
    job: NewJob
    definition: Document
    plan: Plan

    def __post_init__(self) -> None:
        assert self.job.definition.kind == DAG_KIND


@dataclass(frozen=True, slots=True)
class DagChange:
    """A new revision: `definition` and `plan` say what it is, `job` what becomes of the schedule."""

    job: JobChange
    definition: Document
    plan: Plan

    def __post_init__(self) -> None:
        assert self.job.definition is not None
        assert self.job.definition.kind == DAG_KIND


def dag_definition(schedule: Schedule) -> Definition:
    return Definition(DAG_KIND, schedule=schedule)


def task_revision(base: int, task: int) -> int:
    """Where the job keeps what a task does."""
    return base + 1 + task


def task_id(dag_id: JobId, name: str) -> UUID:
    """Of a task of a workflow, in all revisions: a task is known by its name."""
    return named_id(dag_id, name)


def is_dag(job: Job) -> bool:
    return job.definition.kind == DAG_KIND
