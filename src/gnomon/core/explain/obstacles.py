"""What can keep an execution or a job from running, by name; and a reason as it is told.

Each obstacle has a heading in docs/reference/reasons.md, which says what happens next and what helps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Obstacle(StrEnum):
    ENDED = "ended"
    FAILED = "failed"  # It ended without success, and why.
    TASK_FAILED = "task_failed"  # Of a run of a workflow: a task, or an item of a fan-out.
    RUNNING = "running"
    NOT_DUE = "not_due"
    RETRY_BACKOFF = "retry_backoff"  # Its last attempt failed, and its retry policy waits.
    SNOOZED = "snoozed"  # Its handler put it off.
    NO_FUNCTION = "no_function"  # Workers that fit turned it away: they lack the function that it names.
    WAITS_FOR_JOB = "waits_for_job"
    WAITS_FOR_SLOT = "waits_for_slot"
    TENANT_LIMIT = "tenant_limit"
    SUSPECT = "suspect"  # Its worker died: it waits for one that runs nothing else.
    WAITS_FOR_SWEEP = "waits_for_sweep"  # Its gate is open; who opens it comes by every two seconds.
    TASKS_UNDER_WAY = "tasks_under_way"  # It is a run of a workflow: others do its work.
    WAITS_FOR_APPROVAL = "waits_for_approval"
    WAITS_FOR_EVENT = "waits_for_event"
    HALTED = "halted"  # A task failed under PAUSE, and a person is asked what to do.
    STOPPING = "stopping"
    UNREADABLE = "unreadable"
    NO_WORKER = "no_worker"
    NO_FREE_SLOT = "no_free_slot"
    BEHIND_OTHERS = "behind_others"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    DELETED = "deleted"
    EXHAUSTED = "exhausted"
    MANUAL = "manual"
    CALENDAR = "calendar"  # Its calendar takes a time out.
    OVERDUE = "overdue"


@dataclass(frozen=True, slots=True)
class Reason:
    """For a machine, for a person, and with the numbers."""

    code: Obstacle
    message: str
    details: Mapping[str, object] = field(default_factory=dict)
