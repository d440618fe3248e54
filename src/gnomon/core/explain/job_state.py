"""What a job does now, in one word: derived from its status, its next due time and its newest runs.

Its `status` says what a person decided about its schedule; its state says what comes of that.
Nothing is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from gnomon.core.executions.execution import ExecutionStatus, RecentRun
from gnomon.core.jobs.job import JobStatus
from gnomon.core.runs.state import RunStatus
from gnomon.core.values.choices import Choice

# Among so many of its newest runs is looked for one that runs or waits.
RECENT_MAX = 10

# A run of a workflow as one among the newest runs of a job. None: it waits.
OF_RUNS: Mapping[RunStatus, ExecutionStatus | None] = MappingProxyType(
    {
        RunStatus.PENDING: None,
        RunStatus.RUNNING: ExecutionStatus.RUNNING,
        RunStatus.PAUSED: ExecutionStatus.RUNNING,
        RunStatus.COMPLETED: ExecutionStatus.COMPLETED,
        RunStatus.FAILED: ExecutionStatus.FAILED,
        RunStatus.CANCELLED: ExecutionStatus.CANCELLED,
    }
)


class JobState(Choice):
    SCHEDULED = "scheduled"  # Waits for its time, or for a trigger if it never ran.
    QUEUED = "queued"  # A run of it is due, and waits for a worker, a slot or another job.
    RUNNING = "running"
    COMPLETED = "completed"  # No time comes any more, and so its last run ended.
    FAILED = "failed"
    CANCELLED = "cancelled"
    PAUSED = "paused"


_ENDED = {
    ExecutionStatus.COMPLETED: JobState.COMPLETED,
    ExecutionStatus.FAILED: JobState.FAILED,
    ExecutionStatus.TIMEOUT: JobState.FAILED,
    ExecutionStatus.CANCELLED: JobState.CANCELLED,
    ExecutionStatus.SKIPPED: JobState.CANCELLED,
}
_OVER = frozenset({JobStatus.CANCELLED, JobStatus.DELETED})


def state_of(
    status: str, next_run_time: datetime | None, recent: Sequence[RecentRun], *, now: datetime
) -> JobState:
    """`recent`: its newest runs, newest first. What runs or is due comes before what will be."""
    if status in _OVER:
        return JobState.CANCELLED
    waiting = []
    if recent:  # Most of many jobs in a list have no runs yet.
        if any(run.status is ExecutionStatus.RUNNING for run in recent):
            return JobState.RUNNING
        waiting = [run for run in recent if run.status is None]
        if any(run.due is None or run.due <= now for run in waiting):
            return JobState.QUEUED
    if status == JobStatus.PAUSED:
        return JobState.PAUSED
    if waiting or next_run_time is not None:
        return JobState.SCHEDULED
    last = next((run.status for run in recent if run.status is not None), None)
    if last is not None:
        return _ENDED[last]
    return JobState.COMPLETED if status == JobStatus.COMPLETED else JobState.SCHEDULED
