"""What the rows of a run say about why it does not go on."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Trigger
from gnomon.core.explain.obstacles import Obstacle
from gnomon.core.explain.runs import RunView, why_run_waits
from gnomon.core.jobs.job import JobId
from gnomon.core.runs.run import OpenTask, Run, RunId
from gnomon.core.runs.state import RunState, RunStatus, TaskStatus

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def run_with(state: RunState, *, tasks: int = 10) -> Run:
    return Run(
        id=RunId(uuid4()),
        tenant_id=DEFAULT_TENANT,
        dag_id=JobId(uuid4()),
        base=1,
        revision=3,
        tasks=tasks,
        trigger=Trigger.MANUAL,
        state=state,
        outer=None,
        nominal_time=None,
        due=NOW,
        created_at=NOW,
        started_at=NOW,
        finished_at=None,
    )


def test_of_many_tasks_under_way_the_first_are_named() -> None:
    state = RunState(RunStatus.RUNNING, left=8, live=7)
    open_tasks = [(f"t{place}", OpenTask(place, TaskStatus.RELEASED)) for place in range(7)]

    [reason] = why_run_waits(RunView(run_with(state), open_tasks))

    assert reason.message == "7 of its 10 tasks are under way: 't0', 't1', 't2', 't3', 't4' and 2 more."


def test_a_definition_that_cannot_be_read_is_a_reason() -> None:
    state = RunState(RunStatus.RUNNING, left=8, live=7)

    unreadable, under_way = why_run_waits(RunView(run_with(state), unreadable="tasks: is missing."))

    assert unreadable.code is Obstacle.UNREADABLE
    assert unreadable.message == (
        "Revision 3 of its workflow cannot be read by this release, so it does not go on: tasks: is missing."
    )
    assert under_way.message == "7 of its 10 tasks are under way."


@pytest.mark.parametrize("live", [1, 2])
def test_a_run_that_is_being_stopped_tells_nothing_else(live: int) -> None:
    state = RunState(RunStatus.RUNNING, left=live, live=live, ends_as=RunStatus.FAILED)

    [reason] = why_run_waits(RunView(run_with(state)))

    assert reason.code is Obstacle.STOPPING
    assert "will be FAILED" in reason.message
