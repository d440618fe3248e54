"""The tasks of a run over HTTP: how far they are, why they failed, what they wait for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from litestar import get
from litestar.params import FromPath, FromQuery

from gnomon.api.forms.execution_answers import Trouble, raw, trouble
from gnomon.api.forms.ids import run_id as read_run_id
from gnomon.api.serving.call import Call
from gnomon.api.serving.policy import READS
from gnomon.client.workflows.runs import NamedTask
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.runs.run import Brought, Hold, Run, TaskItem
from gnomon.core.runs.state import TaskStatus
from gnomon.core.values.forms import Answer
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT
from gnomon.core.workflows.dag import task_id
from gnomon.errors import InvalidInput


class HoldAnswer(Answer):
    """An event of this name and correlation; without a name, a person. After `until` it is too late."""

    event: str | None
    correlation: str | None
    until: datetime | None


class ItemAnswer(Answer):
    """An item of a fan-out. `PENDING`: it has not begun."""

    item: int
    execution_id: str
    status: str
    attempt_number: int
    result: Any
    result_is_left_out: bool
    error: Trouble | None


class TaskAnswer(Answer):
    """A task of a run, in its current round.

    `result` is what its execution brought, or what a person, an event or a branch gave it. One that is longer
    than 4 KiB is left out: the execution has it. Of a fan-out: the first start, the last end, the most
    attempts, what the first item that failed says, and up to a hundred items, those that failed first of all.
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
    result_is_left_out: bool
    error: Trouble | None
    error_message: str | None
    failed_execution_id: str | None
    items: list[ItemAnswer]


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
    brought = await request.verbs.runs.brought(found)
    return TaskPage(tasks=[_task(run, one, brought) for one in found], next_after=following)


def _task(of: Run, one: NamedTask, brought: Mapping[ExecutionId, Brought]) -> TaskAnswer:
    run = one.run
    has_own = run.state.status is TaskStatus.COMPLETED and run.result is None and not run.items
    own = brought.get(run.executions[0]) if has_own and run.executions else None
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
        result=raw(run.result if own is None else own.result),
        result_is_left_out=own is not None and own.is_left_out,
        error=trouble(one.failure),
        error_message=None if one.failure is None else one.failure.message,
        failed_execution_id=None if run.failed_execution is None else str(run.failed_execution),
        items=[_item(item, brought.get(item.execution)) for item in run.items],
    )


def _item(one: TaskItem, ended: Brought | None) -> ItemAnswer:
    return ItemAnswer(
        item=one.item,
        execution_id=str(one.execution),
        status=one.status,
        attempt_number=one.attempt,
        result=None if ended is None else raw(ended.result),
        result_is_left_out=one.status.is_final if ended is None else ended.is_left_out,
        error=None if ended is None else trouble(ended.failure),
    )


def _hold(hold: Hold) -> HoldAnswer:
    return HoldAnswer(event=hold.event, correlation=hold.correlation, until=hold.until)


ROUTES: list[Any] = [list_run_tasks]
