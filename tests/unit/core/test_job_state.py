"""What a job does now, in one word."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, RecentRun, WorkerId
from gnomon.core.explain.job_state import OF_RUNS, JobState, state_of
from gnomon.core.jobs.job import JobStatus
from gnomon.core.runs.state import RunStatus

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)


def run(status: ExecutionStatus | None, due: datetime | None = None) -> RecentRun:
    return RecentRun(ExecutionId(uuid4()), status, WorkerId("ada"), 1, None, None, due)


RUNNING, DONE = run(ExecutionStatus.RUNNING), run(ExecutionStatus.COMPLETED)
WAITS, WILL_BE_DUE = run(None, NOW), run(None, LATER)


@pytest.mark.parametrize(
    ("status", "next_run_time", "recent", "state"),
    [
        (JobStatus.ACTIVE, LATER, [], JobState.SCHEDULED),
        (JobStatus.ACTIVE, None, [], JobState.SCHEDULED),
        (JobStatus.ACTIVE, LATER, [run(ExecutionStatus.FAILED)], JobState.SCHEDULED),
        (JobStatus.ACTIVE, None, [WILL_BE_DUE, DONE], JobState.SCHEDULED),
        (JobStatus.ACTIVE, LATER, [WAITS, DONE], JobState.QUEUED),
        (JobStatus.ACTIVE, LATER, [WAITS, RUNNING], JobState.RUNNING),
        (JobStatus.ACTIVE, None, [DONE, RUNNING], JobState.RUNNING),
        (JobStatus.ACTIVE, None, [DONE, run(ExecutionStatus.FAILED)], JobState.COMPLETED),
        (JobStatus.ACTIVE, None, [run(ExecutionStatus.FAILED), DONE], JobState.FAILED),
        (JobStatus.ACTIVE, None, [run(ExecutionStatus.TIMEOUT)], JobState.FAILED),
        (JobStatus.ACTIVE, None, [run(ExecutionStatus.CANCELLED)], JobState.CANCELLED),
        (JobStatus.PAUSED, LATER, [DONE], JobState.PAUSED),
        (JobStatus.PAUSED, LATER, [WILL_BE_DUE], JobState.PAUSED),
        (JobStatus.PAUSED, LATER, [WAITS], JobState.QUEUED),
        (JobStatus.PAUSED, LATER, [RUNNING], JobState.RUNNING),
        (JobStatus.COMPLETED, None, [DONE], JobState.COMPLETED),
        (JobStatus.COMPLETED, None, [run(ExecutionStatus.FAILED)], JobState.FAILED),
        (JobStatus.COMPLETED, None, [], JobState.COMPLETED),
        (JobStatus.CANCELLED, None, [RUNNING], JobState.CANCELLED),
        (JobStatus.DELETED, None, [DONE], JobState.CANCELLED),
    ],
)
def test_what_runs_or_is_due_comes_before_what_will_be(
    status: JobStatus, next_run_time: datetime | None, recent: list[RecentRun], state: JobState
) -> None:
    assert state_of(status, next_run_time, recent, now=NOW) is state


def test_every_run_of_a_workflow_is_one_of_those_runs() -> None:
    assert OF_RUNS.keys() == set(RunStatus)


@pytest.mark.parametrize("status", ExecutionStatus)
def test_every_last_run_of_a_job_has_a_state(status: ExecutionStatus) -> None:
    if status.is_final:
        assert state_of(JobStatus.ACTIVE, None, [run(status)], now=NOW) in JobState
