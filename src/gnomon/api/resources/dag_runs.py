"""Runs of workflows over HTTP: look at, stop, repair, approve, and tell them of events."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from litestar import get, post
from litestar.params import FromPath, JSONBody

from gnomon.api.forms.execution_answers import Trouble, raw, trouble
from gnomon.api.forms.ids import run_id as read_run_id
from gnomon.api.forms.ids import task_name
from gnomon.api.forms.reading import Body
from gnomon.api.serving.call import Call
from gnomon.api.serving.policy import READS, WRITES
from gnomon.core.runs.run import Run
from gnomon.core.values.forms import Answer, Form


class RunAnswer(Answer):
    """A run. The numbers count its tasks. Those running have begun and not ended: a worker has them, or they
    wait for one. Those skipped did not run, because of a condition, a branch or a failure before them.

    `error` says why it could not begin or go on.
    """

    dag_run_id: str
    dag_id: str
    revision: int
    status: str
    trigger: str
    scheduled_time: datetime
    nominal_time: datetime | None
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    config: Any
    tasks: int
    tasks_left: int
    tasks_running: int
    tasks_completed: int
    tasks_failed: int
    tasks_cancelled: int
    tasks_skipped: int
    is_stopping: bool
    outer_run_id: str | None
    backfill_id: str | None
    error: Trouble | None
    tenant_id: str


class RunPage(Answer):
    runs: list[RunAnswer]
    next_cursor: str | None


class Again(Form):
    """Which tasks, with all that follows them. None: those that failed."""

    tasks: list[str] | None = None


class Note(Form):
    note: str = ""


class Result(Form):
    result: Any = None


class NewEvent(Form):
    name: str
    correlation: str = ""
    data: Any = None


class EventAnswer(Answer):
    """How many tasks waited for it."""

    taken_by: int


@get("/v1/dag-runs/{dag_run_id:str}", policy=READS)
async def get_dag_run(dag_run_id: FromPath[str], request: Call) -> RunAnswer:
    """One run, with the numbers of its tasks."""
    return run_answer(await request.verbs.runs.get(read_run_id(dag_run_id)))


@post("/v1/dag-runs/{dag_run_id:str}/cancel", policy=WRITES, status_code=200)
async def cancel_dag_run(dag_run_id: FromPath[str], request: Call) -> RunAnswer:
    """What waits ends, what runs is asked to stop. Safe to repeat."""
    return run_answer(await request.verbs.runs.cancel(read_run_id(dag_run_id)))


@post("/v1/dag-runs/{dag_run_id:str}/pause", policy=WRITES, status_code=200)
async def pause_dag_run(dag_run_id: FromPath[str], request: Call) -> RunAnswer:
    """Nothing new of it begins, nor of the runs inside of it. What runs goes on to its end."""
    return run_answer(await request.verbs.runs.pause(read_run_id(dag_run_id)))


@post("/v1/dag-runs/{dag_run_id:str}/resume", policy=WRITES, status_code=200)
async def resume_dag_run(dag_run_id: FromPath[str], request: Call) -> RunAnswer:
    """Go on. Not while a person is asked about a failed task: decide about that one."""
    return run_answer(await request.verbs.runs.resume(read_run_id(dag_run_id)))


@post("/v1/dag-runs/{dag_run_id:str}/rerun", policy=WRITES, status_code=200, dto=Body[Again], return_dto=None)
async def rerun_dag_run(
    dag_run_id: FromPath[str], request: Call, data: JSONBody[Again | None] = None
) -> RunAnswer:
    """The named tasks and all that follows them, anew; without names, all that failed."""
    names = (data.tasks if data is not None else None) or []
    return run_answer(await request.verbs.runs.rerun(read_run_id(dag_run_id), names))


@post("/v1/dag-runs/{dag_run_id:str}/tasks/{task:str}/retry", policy=WRITES, status_code=200)
async def retry_task(dag_run_id: FromPath[str], task: FromPath[str], request: Call) -> RunAnswer:
    """A failed task, and all that follows it, anew."""
    return run_answer(await request.verbs.runs.retry(read_run_id(dag_run_id), task_name(task)))


@post("/v1/dag-runs/{dag_run_id:str}/tasks/{task:str}/skip", policy=WRITES, status_code=200)
async def skip_task(dag_run_id: FromPath[str], task: FromPath[str], request: Call) -> RunAnswer:
    """Go on as if its branch had not been taken."""
    return run_answer(await request.verbs.runs.skip(read_run_id(dag_run_id), task_name(task)))


@post("/v1/dag-runs/{dag_run_id:str}/tasks/{task:str}/fail", policy=WRITES, status_code=200)
async def fail_task(dag_run_id: FromPath[str], task: FromPath[str], request: Call) -> RunAnswer:
    """A task that made the run pause has failed; the rest goes on without it."""
    return run_answer(await request.verbs.runs.fail(read_run_id(dag_run_id), task_name(task)))


@post(
    "/v1/dag-runs/{dag_run_id:str}/tasks/{task:str}/succeed",
    policy=WRITES,
    status_code=200,
    dto=Body[Result],
    return_dto=None,
)
async def succeed_task(
    dag_run_id: FromPath[str], task: FromPath[str], request: Call, data: JSONBody[Result | None] = None
) -> RunAnswer:
    """Go on as if a failed task had succeeded, with this result."""
    result = None if data is None else data.result
    return run_answer(await request.verbs.runs.succeed(read_run_id(dag_run_id), task_name(task), result))


@post(
    "/v1/dag-runs/{dag_run_id:str}/tasks/{task:str}/approve",
    policy=WRITES,
    status_code=200,
    dto=Body[Note],
    return_dto=None,
)
async def approve_task(
    dag_run_id: FromPath[str], task: FromPath[str], request: Call, data: JSONBody[Note | None] = None
) -> RunAnswer:
    """Let a task go on that waits for a person. The name of your key, the time and the note are kept."""
    return run_answer(
        await request.verbs.runs.approve(
            read_run_id(dag_run_id), task_name(task), by=request.caller.key.name, note=_note(data)
        )
    )


@post(
    "/v1/dag-runs/{dag_run_id:str}/tasks/{task:str}/reject",
    policy=WRITES,
    status_code=200,
    dto=Body[Note],
    return_dto=None,
)
async def reject_task(
    dag_run_id: FromPath[str], task: FromPath[str], request: Call, data: JSONBody[Note | None] = None
) -> RunAnswer:
    """Fail a task that waits for a person."""
    return run_answer(
        await request.verbs.runs.reject(
            read_run_id(dag_run_id), task_name(task), by=request.caller.key.name, note=_note(data)
        )
    )


@post("/v1/dag-events", policy=WRITES, status_code=200, dto=Body[NewEvent], return_dto=None)
async def send_event(data: JSONBody[NewEvent], request: Call) -> EventAnswer:
    """Tell the tasks that wait for an event of this name and correlation. Nobody waits: nothing happens."""
    taken = await request.verbs.runs.send(data.name, correlation=data.correlation, data=data.data)
    return EventAnswer(taken_by=taken)


def run_answer(run: Run) -> RunAnswer:
    state = run.state
    return RunAnswer(
        dag_run_id=str(run.id),
        dag_id=str(run.dag_id),
        revision=run.revision,
        status=run.status,
        trigger=run.trigger,
        scheduled_time=run.nominal_time or run.due,
        nominal_time=run.nominal_time,
        created_at=run.created_at,
        started_at=run.started_at,
        completed_at=run.finished_at,
        config=raw(state.config),
        tasks=run.tasks,
        tasks_left=state.left,
        tasks_running=state.live,
        tasks_completed=state.completed,
        tasks_failed=state.failed,
        tasks_cancelled=state.cancelled,
        tasks_skipped=run.skipped,
        is_stopping=state.ends_as is not None and not run.status.is_final,
        outer_run_id=None if run.outer is None else str(run.outer),
        backfill_id=None if run.backfill_id is None else str(run.backfill_id),
        error=trouble(run.failure),
        tenant_id=str(run.tenant_id),
    )


def _note(data: Note | None) -> str:
    return "" if data is None else data.note


ROUTES: list[Any] = [
    get_dag_run,
    cancel_dag_run,
    pause_dag_run,
    resume_dag_run,
    rerun_dag_run,
    retry_task,
    skip_task,
    fail_task,
    succeed_task,
    approve_task,
    reject_task,
    send_event,
]
