"""Runs of workflows with their tasks, and backfills."""

from __future__ import annotations

from gnomon.api.described.call import CallDescription, Calls
from gnomon.api.described.field import (
    BYTES_MAX,
    NUMBER_MAX,
    Field,
    Fields,
    count,
    flag,
    instant,
    json,
    many,
    name,
    part,
    parts,
    text,
    uuid,
    whole,
    word,
)
from gnomon.api.described.resources import recurring as often
from gnomon.api.resources.backfills import (
    SHOWN_MAX,
    BackfillAnswer,
    BackfillPage,
    NewBackfill,
    PlanAnswer,
    TimeAnswer,
    TimePage,
    Wanted,
)
from gnomon.api.resources.dag_runs import Again, EventAnswer, NewEvent, Note, Result, RunAnswer, RunPage
from gnomon.api.resources.dag_tasks import HoldAnswer, ItemAnswer, TaskAnswer, TaskPage
from gnomon.client.workflows.runs import RESULT_SHOWN_BYTES_MAX
from gnomon.core.executions.execution import ExecutionStatus, Trigger
from gnomon.core.runs.backfills import BACKFILL_RUNS_MAX, CONCURRENCY_MAX, BackfillStatus, Existing, TimeState
from gnomon.core.runs.state import RunStatus, TaskStatus
from gnomon.core.values.limits import NOTE_BYTES_MAX, PAGE_LIMIT_MAX, RESULT_BYTES_MAX
from gnomon.core.workflows.graph import TASKS_MAX
from gnomon.core.workflows.workflow import ITEMS_MAX
from gnomon.errors import BackfillOverlaps, IllegalTransition
from gnomon.store.runs.rows import ITEMS_SHOWN_MAX

_LEFT_OUT = flag(
    f"The result has more than {RESULT_SHOWN_BYTES_MAX} bytes, or the page is full: see the execution.",
    False,
)
_TASK = name("The name of a task.", "load")
_CONFIG = json("Goes over the configuration of the workflow, key by key.", {"day": "tuesday"})
_DAY = "A day such as `2025-03-01`, of the zone of the schedule, or an instant with an offset."
_NOTE = Field("string", "Why; it is kept with the decision.", "seen and agreed", {BYTES_MAX: NOTE_BYTES_MAX})
_EXISTING = word("What to do about times that have a run already.", "skip_existing", Existing)
_START = text(f"The first time. {_DAY}", "2025-03-01", up_to=32, low=10)
_TASKS = many("The names of tasks. Null: those that failed.", _TASK, up_to=TASKS_MAX)


def _tasks(said: str, example: int = 0) -> Field:
    return whole(said, example, 0, TASKS_MAX)


def _times(said: str, example: int = 0) -> Field:
    return whole(said, example, 0, BACKFILL_RUNS_MAX)


FIELDS: Fields = {
    RunAnswer: {
        "dag_run_id": often.DAG_RUN_ID,
        "dag_id": often.DAG_ID,
        "revision": often.REVISION.but("The revision of the workflow that it runs, from beginning to end."),
        "status": word("Where the run is.", "RUNNING", RunStatus),
        "trigger": word("Why it exists.", "schedule", Trigger),
        "scheduled_time": instant(
            "The time that it is for: the nominal one, else when it was due.", often.NOMINAL
        ),
        "nominal_time": instant("The time that the schedule named. Null: it was asked for.", often.NOMINAL),
        "created_at": often.CREATED_AT.with_example(often.NOMINAL),
        "started_at": instant("When it began. Null: it has not.", often.STARTED),
        "completed_at": often.COMPLETED_AT,
        "config": json("The configuration of this run.", {"day": "monday"}),
        "tasks": _tasks("How many tasks it has.", 2),
        "tasks_left": _tasks("Tasks that have not ended.", 1),
        "tasks_running": _tasks(
            "Tasks that have begun and not ended: a worker has them, or they wait for one.", 1
        ),
        "tasks_completed": _tasks("Tasks that completed.", 1),
        "tasks_failed": _tasks("Tasks that failed."),
        "tasks_cancelled": _tasks("Tasks that were cancelled."),
        "tasks_skipped": _tasks(
            "Tasks that did not run, because of a condition, a branch or a failure before them."
        ),
        "is_stopping": flag("It was asked to stop, and tasks of it still run.", False),
        "outer_run_id": uuid("The run that it is a task of. Null: none.", often.DAG_RUN),
        "backfill_id": uuid("The backfill that made it. Null: none.", often.BACKFILL),
        "error": part("Why it could not begin or go on. Null: it could."),
        "tenant_id": often.TENANT_ID,
    },
    RunPage: {"runs": parts("A page of runs.", up_to=PAGE_LIMIT_MAX), "next_cursor": often.NEXT_CURSOR},
    Again: {"tasks": _TASKS.but("Which tasks, with all that follows them. Null or none: those that failed.")},
    Note: {"note": _NOTE},
    Result: {
        "result": json("What the task shall have returned.", {"rows": 1204}, bytes_max=RESULT_BYTES_MAX)
    },
    NewEvent: {
        "name": name("The name of the event.", "file.arrived"),
        "correlation": text("Only tasks that wait with the same text take it.", "2026-03-28", up_to=None),
        "data": json(
            "The result of the tasks that take it.", {"path": "/in/rows.csv"}, bytes_max=RESULT_BYTES_MAX
        ),
    },
    EventAnswer: {"taken_by": count("How many tasks waited for it.", 1)},
    HoldAnswer: {
        "event": name(
            "The name of the event that it waits for. Null: it waits for a person.", "file.arrived"
        ),
        "correlation": text("The correlation of that event.", "2026-03-28", up_to=None),
        "until": instant("When it is too late. Null: never.", often.NEXT),
    },
    TaskAnswer: {
        "task_id": often.TASK_ID,
        "name": _TASK,
        "status": word("Where the task is.", "COMPLETED", TaskStatus),
        "dependencies": many(
            "The names of the tasks that it waits for.", _TASK, up_to=TASKS_MAX, example=["extract"]
        ),
        "round": whole("How often it was begun anew, from 0.", 0, 0, NUMBER_MAX),
        "execution_ids": many(
            "Its executions in this round: one, or of a fan-out one an item.",
            often.EXECUTION_ID,
            up_to=ITEMS_MAX,
        ),
        "items_left": whole("Of a fan-out: items that have not ended.", 0, 0, ITEMS_MAX),
        "attempt_number": often.ATTEMPT_NUMBER.but(
            "The current or last attempt; of a fan-out the most. 0: none yet."
        ),
        "started_at": instant(
            "When it started; of a fan-out the first item. Null: it has not.", often.STARTED
        ),
        "completed_at": instant("When it ended; of a fan-out the last item. Null: it has not.", often.ENDED),
        "waits_for": part("What a `HELD` task waits for. Null: nothing."),
        "result": json("What its execution brought; or an approval, an event, a person.", {"rows": 7}),
        "result_is_left_out": _LEFT_OUT,
        "error": part("What went wrong. Null: nothing."),
        "error_message": often.FAILURE_MESSAGE.but("The message of `error`."),
        "failed_execution_id": often.EXECUTION_ID.but("The execution that failed first. Null: none."),
        "items": parts(
            "Of a fan-out: its items, those that failed first of all. Else empty.", up_to=ITEMS_SHOWN_MAX
        ),
    },
    ItemAnswer: {
        "item": whole("The place in the list of items, from 0.", 0, 0, ITEMS_MAX),
        "execution_id": often.EXECUTION_ID,
        "status": word("Where the item is. `PENDING`: it has not begun.", "COMPLETED", ExecutionStatus),
        "attempt_number": often.ATTEMPT_NUMBER.but("The current or last attempt."),
        "result": json("What its execution brought.", {"rows": 7}),
        "result_is_left_out": _LEFT_OUT,
        "error": part("What went wrong. Null: nothing."),
    },
    TaskPage: {
        "tasks": parts("A page of tasks.", up_to=PAGE_LIMIT_MAX),
        "next_after": whole(
            "Send it as `after` to get the next page. Null on the last page.", 49, 0, TASKS_MAX - 1
        ),
    },
    Wanted: {
        "start": _START,
        "end": _START.but(f"The last time, included. {_DAY}").with_example("2025-03-07"),
        "existing": _EXISTING,
    },
    NewBackfill: {
        "concurrency": whole("How many of its runs are under way at once.", 1, 1, CONCURRENCY_MAX),
        "priority": often.PRIORITY.but("The priority of all tasks of its runs. Null: as each task says."),
        "config": _CONFIG,
    },
    PlanAnswer: {
        "start": instant("The first instant of the range.", "2025-03-01T00:00:00Z"),
        "end": instant("The last instant of the range.", "2025-03-07T23:59:59.999999Z"),
        "count": _times("How many runs there would be.", 6),
        "left_out": part("How many times would not run, by reason.").with_example({"skip_existing": 1}),
        "first_times": many(
            "Some of the times that would run.", instant("A time.", "2025-03-01T02:00:00Z"), up_to=SHOWN_MAX
        ),
    },
    BackfillAnswer: {
        "backfill_id": uuid("The id of the backfill.", often.BACKFILL),
        "dag_id": often.DAG_ID,
        "status": word("Where the backfill is.", "RUNNING", BackfillStatus),
        "start": instant("The first instant of the range.", "2025-03-01T00:00:00Z"),
        "end": instant("The last instant of the range.", "2025-03-07T23:59:59.999999Z"),
        "existing": _EXISTING.but("What it does about times that had a run."),
        "concurrency": whole("How many of its runs are under way at once.", 1, 1, CONCURRENCY_MAX),
        "priority": often.PRIORITY.but("The priority of all tasks of its runs. Null: as each task says."),
        "config": _CONFIG,
        "total": _times("How many times it runs.", 6),
        "waiting": _times("Times whose run has not begun.", 4),
        "running": _times("Times whose run is under way.", 1),
        "completed": _times("Times whose run completed.", 1),
        "failed": _times("Times whose run failed."),
        "cancelled": _times("Times whose run was cancelled."),
        "created_at": often.CREATED_AT.with_example(often.NOMINAL),
        "completed_at": instant("When its last run had ended. Null: not yet.", often.ENDED),
        "tenant_id": often.TENANT_ID,
    },
    BackfillPage: {
        "backfills": parts("A page of backfills.", up_to=PAGE_LIMIT_MAX),
        "next_cursor": often.NEXT_CURSOR,
    },
    TimeAnswer: {
        "nominal_time": instant("The time.", "2025-03-01T02:00:00Z"),
        "status": word("How far it is.", "COMPLETED", TimeState),
        "dag_run_id": often.DAG_RUN_ID.but("Its run. Null: it has not begun."),
    },
    TimePage: {
        "runs": parts("A page of times, oldest first.", up_to=PAGE_LIMIT_MAX),
        "next_after": instant(
            "Send it as `after` to get the next page. Null on the last page.", "2025-03-01T02:00:00Z"
        ),
    },
}
_ACTS = (IllegalTransition,)
_DECISION = {"Without a word": {}, "With a note": {"note": "seen and agreed"}}
_RANGE = {"start": "2025-03-01", "end": "2025-03-07"}
CALLS: Calls = {
    "get_dag_run": CallDescription("Get a run"),
    "cancel_dag_run": CallDescription("Cancel a run", refusals=_ACTS),
    "pause_dag_run": CallDescription("Pause a run", refusals=_ACTS),
    "resume_dag_run": CallDescription("Resume a run", refusals=_ACTS),
    "rerun_dag_run": CallDescription(
        "Rerun tasks of a run", bodies={"What failed": {}, "One task": {"tasks": ["load"]}}, refusals=_ACTS
    ),
    "retry_task": CallDescription("Retry a task", refusals=_ACTS),
    "skip_task": CallDescription("Skip a task", refusals=_ACTS),
    "fail_task": CallDescription("Let a task fail", refusals=_ACTS),
    "succeed_task": CallDescription(
        "Let a task succeed", bodies={"With a result": {"result": {"rows": 1204}}}, refusals=_ACTS
    ),
    "approve_task": CallDescription("Approve a task", bodies=_DECISION, refusals=_ACTS),
    "reject_task": CallDescription("Reject a task", bodies=_DECISION, refusals=_ACTS),
    "send_event": CallDescription(
        "Send an event to waiting tasks",
        bodies={
            "A file has arrived": {"name": "file.arrived", "correlation": "2026-03-28", "data": {"rows": 12}}
        },
    ),
    "list_run_tasks": CallDescription(
        "List the tasks of a run",
        parameters={"after": whole("`next_after` of the page before.", 49, -1, NUMBER_MAX)},
    ),
    "preview_backfill": CallDescription("Preview a backfill", bodies={"A week": _RANGE}),
    "create_backfill": CallDescription(
        "Make a backfill",
        bodies={"A week, two days at once": {**_RANGE, "concurrency": 2}},
        refusals=(IllegalTransition, BackfillOverlaps),
        takes_key=True,
        locates=True,
    ),
    "list_backfills": CallDescription("List the backfills of a workflow"),
    "get_backfill": CallDescription("Get a backfill"),
    "list_backfill_runs": CallDescription(
        "List the times of a backfill, with their runs",
        parameters={"after": instant("`next_after` of the page before.", "2025-03-01T02:00:00Z")},
    ),
    "pause_backfill": CallDescription("Pause a backfill", refusals=_ACTS),
    "resume_backfill": CallDescription("Resume a backfill", refusals=_ACTS),
    "cancel_backfill": CallDescription("Cancel a backfill", refusals=_ACTS),
}
