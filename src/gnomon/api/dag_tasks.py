"""The tasks of a run over HTTP: how far they are, why they failed, what they wait for."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from litestar import get
from litestar.params import FromPath, FromQuery

from gnomon.api.call import Call
from gnomon.api.execution_answers import Trouble, raw, trouble
from gnomon.api.ids import run_id as read_run_id
from gnomon.api.policy import READS
from gnomon.api.reading import Answer
from gnomon.client.runs import NamedTask
from gnomon.core.dag import Hold, Run, task_id
from gnomon.core.limits import PAGE_LIMIT_DEFAULT
from gnomon.errors import InvalidInput


class HoldAnswer(Answer):
    """An event of this name and correlation; without a name, a person. After `until` it is too late."""

    event: str | None
    correlation: str | None
    until: datetime | None


class TaskAnswer(Answer):
    """A task of a run, in its current round. `result` is one that no execution brought.

    Of a fan-out: the first start, the last end, the most attempts, and what the first item that failed says.
    """

    task_id: str
    name: str
    status: str
    dependencies: list[str]
    round: int
    execution_ids: list[str]
    items_left: int
    attempt_number: int
    started_at: datetime | None
    completed_at: datetime | None
    waits_for: HoldAnswer | None
    result: Any
    error: Trouble | None
    error_message: str | None


class TaskPage(Answer):
    tasks: list[TaskAnswer]
    next_after: int | None


@get("/v1/dag-runs/{dag_run_id:str}/tasks", policy=READS)
async def list_run_tasks(
    dag_run_id: FromPath[str],
    request: Call,
    limit: FromQuery[int] = PAGE_LIMIT_DEFAULT,
    after: FromQuery[int] = -1,
) -> TaskPage:
    """In the order of the definition. Empty if the run has not begun, or never did."""
    if not -1 <= after < 1 << 31:
        raise InvalidInput("after", "is not the place of a task.")
    run = await request.verbs.runs.get(read_run_id(dag_run_id))
    found = await request.verbs.runs.tasks(run, limit=limit, after=after)
    following = found[-1].run.task if len(found) == limit and found[-1].run.task + 1 < run.tasks else None
    return TaskPage(tasks=[_task(run, one) for one in found], next_after=following)


def _task(of: Run, one: NamedTask) -> TaskAnswer:
    run = one.run
    return TaskAnswer(
        task_id=str(task_id(of.dag_id, one.name)),
        name=one.name,
        status=run.state.status,
        dependencies=list(one.depends_on),
        round=run.state.round,
        execution_ids=[str(execution_id) for execution_id in run.executions],
        items_left=run.state.items_left,
        attempt_number=run.attempt,
        started_at=run.started_at,
        completed_at=run.finished_at,
        waits_for=None if run.hold is None else _hold(run.hold),
        result=raw(run.result),
        error=trouble(one.failure),
        error_message=None if one.failure is None else one.failure.message,
    )


def _hold(hold: Hold) -> HoldAnswer:
    return HoldAnswer(event=hold.event, correlation=hold.correlation, until=hold.until)


ROUTES: list[Any] = [list_run_tasks]
