"""A run of a workflow and its tasks, as readers see them. Deciding needs less: see core/runs/state.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, NewType
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, Failure, Trigger
from gnomon.core.jobs.job import JobId
from gnomon.core.runs.state import RunState, RunStatus, TaskState, TaskStatus
from gnomon.core.values.document import Document

RunId = NewType("RunId", UUID)


@dataclass(frozen=True, slots=True)
class Run:
    """A run as a reader sees it. One that has not begun is PENDING, and all its tasks are left."""

    id: RunId
    tenant_id: TenantId
    dag_id: JobId
    base: int
    revision: int
    tasks: int
    trigger: Trigger
    state: RunState
    outer: RunId | None
    nominal_time: datetime | None
    due: datetime
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    failure: Failure | None = None  # Of the run itself: why it could not begin or go on.
    backfill_id: UUID | None = None

    @property
    def status(self) -> RunStatus:
        return self.state.status

    @property
    def skipped(self) -> int:
        """Tasks that have ended without having begun: SKIPPED or UPSTREAM_FAILED."""
        state = self.state
        return self.tasks - state.left - state.completed - state.failed - state.cancelled


@dataclass(frozen=True, slots=True)
class Hold:
    """What a task waits for: an event of this name and correlation, or, without a name, a person."""

    event: str | None = None
    correlation: str | None = None
    until: datetime | None = None


class TaskItem(NamedTuple):
    """An item of a fan-out. PENDING: it has not begun."""

    item: int
    execution: ExecutionId
    status: ExecutionStatus
    attempt: int


@dataclass(frozen=True, slots=True)
class TaskRun:
    """A task of a run. What it began in its current round: nothing, an execution, or one for each item.

    Of a fan-out: the first start, the last end, the most attempts, and the failure of the first that failed.
    `failed_execution` is that one. `items` are the first items, and first of all those that failed.
    """

    task: int
    state: TaskState
    executions: tuple[ExecutionId, ...] = ()
    result: Document | None = None  # If no execution brought it.
    failure: Failure | None = None
    attempt: int = 0
    started_at: datetime | None = None
    finished_at: datetime | None = None
    hold: Hold | None = None
    failed_execution: ExecutionId | None = None
    items: Sequence[TaskItem] = ()


class Brought(NamedTuple):
    """What an execution ended with. The result is left out if it is long, and the failure may be cut."""

    result: Document | None
    is_left_out: bool
    failure: Failure | None


@dataclass(frozen=True, slots=True)
class TaskPlace:
    """Which task of which run an execution is for. `revision` is that of the workflow of the run."""

    run_id: RunId
    dag_id: JobId
    revision: int
    task: int
    round: int
    item: int | None


@dataclass(frozen=True, slots=True)
class OpenTask:
    """A task that has begun and not ended: what it waits for, if for a person or an event, and until when.

    `failure` is that of a task that is halted; `waiting` one of its executions that no worker has yet.
    """

    task: int
    status: TaskStatus
    event: str | None = None
    correlation: str | None = None
    until: datetime | None = None
    failure: Failure | None = None
    waiting: ExecutionId | None = None


@dataclass(frozen=True, slots=True)
class FailedTask:
    """A task of which something failed: of a fan-out, the first item that did, while others may still run.

    `execution` is what failed: an execution, or a run inside of it; None if nothing was begun.
    """

    task: int
    status: TaskStatus
    failure: Failure | None
    execution: ExecutionId | None = None
    item: int | None = None
    attempts: int = 0
    items_left: int = 0
    items_failed: int = 0
