"""`gnomon dag-run`: look at runs of workflows, watch them, stop them, repair them, approve."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gnomon.cli.commands.dag_words import json_of
from gnomon.cli.output.exits import FAILED
from gnomon.cli.output.tables import Columns, Output, note
from gnomon.cli.output.task_table import show_tasks
from gnomon.cli.output.terminal import say
from gnomon.cli.output.watch import run_line, task_line, waits
from gnomon.cli.session.names import dag_run_ids
from gnomon.cli.session.session import Session, path_of, pause, with_session
from gnomon.core.runs.state import RunStatus, TaskStatus

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Look at runs of workflows, watch them, stop them, repair them, approve.",
)

LOOK_AGAIN_SECONDS = 0.5
FAILED_TOLD_MAX = 5
DAG_RUNS: Columns = {
    "RUN": "dag_run_id",
    "STATUS": "status",
    "DONE": "tasks_completed",
    "FAILED": "tasks_failed",
    "LEFT": "tasks_left",
    "FOR": "scheduled_time",
    "STARTED": "started_at",
    "ENDED": "completed_at",
}

Run = Annotated[
    str, typer.Argument(metavar="RUN", help="The id of a run of a workflow.", autocompletion=dag_run_ids)
]
Task = Annotated[str, typer.Argument(metavar="TASK", help="The name of a task.")]
Note = Annotated[str, typer.Option(help="Why; it is kept.")]


@app.command()
@with_session
def show(session: Session, run: Run) -> None:
    """Show a run of a workflow, its tasks and their items, with what they brought or why they failed."""
    found = session.server.get(path_of("dag-runs", run))
    tasks = _tasks(session, run)
    if session.output is not Output.TABLE:
        session.show({**found, "task_runs": tasks})
        return
    session.show(found)
    say()
    show_tasks(tasks)


@app.command()
@with_session
def watch(session: Session, run: Run) -> None:
    """Print a line for each task that moves on, until the run has ended. Exit code 0 if it completed, else 1.

    Where it waits for somebody, a line on stderr says for what, and names the commands.
    """
    seen: dict[str, str] = {}
    said: list[str] = []
    while True:
        # Before the tasks: none moves after the end.
        found = session.server.get(path_of("dag-runs", run))
        tasks = _tasks(session, run)
        for task in tasks:
            name, status = task["name"], task["status"]
            if seen.get(name) != status and status != TaskStatus.WAITING:
                say(task_line(task))
            seen[name] = status
        if RunStatus(found["status"]).is_final:
            break
        said = _note_waits(found, tasks, said)
        pause(LOOK_AGAIN_SECONDS)
    say(run_line(found))
    if found["status"] != RunStatus.COMPLETED:
        raise typer.Exit(FAILED)


@app.command()
@with_session
def cancel(session: Session, run: Run) -> None:
    """Cancel a run: what waits ends, what runs is asked to stop."""
    session.act("dag-runs", run, "cancel")


@app.command("pause")
@with_session
def pause_run(session: Session, run: Run) -> None:
    """Pause a run: no more tasks begin in it, nor in the runs inside of it. What runs goes on to its end."""
    session.act("dag-runs", run, "pause")


@app.command()
@with_session
def resume(session: Session, run: Run) -> None:
    """Resume a paused run. Refused while a failed task waits for a decision: retry, skip or fail that one."""
    session.act("dag-runs", run, "resume")


@app.command()
@with_session
def retry(session: Session, run: Run, task: Task) -> None:
    """Run a failed task again, and all tasks that follow it."""
    session.act("dag-runs", run, "tasks", task, "retry")


@app.command()
@with_session
def skip(session: Session, run: Run, task: Task) -> None:
    """Skip a task: the run goes on as if its branch had not been taken."""
    session.act("dag-runs", run, "tasks", task, "skip")


@app.command()
@with_session
def fail(session: Session, run: Run, task: Task) -> None:
    """Decide that a task that made the run pause has failed; the rest goes on without it."""
    session.act("dag-runs", run, "tasks", task, "fail")


@app.command()
@with_session
def succeed(
    session: Session,
    run: Run,
    task: Task,
    result: Annotated[str | None, typer.Option(metavar="JSON", help="What it would have brought.")] = None,
) -> None:
    """Decide that a failed task has succeeded, with this result; the run goes on.

    Examples:
    ```
    gnomon dag-run succeed 0198c5a2-... load --result '{"rows": 7}'
    ```
    """
    body = {} if result is None else {"result": json_of(result, option="--result")}
    session.act("dag-runs", run, "tasks", task, "succeed", body=body)


@app.command()
@with_session
def rerun(
    session: Session,
    run: Run,
    task: Annotated[
        list[str] | None, typer.Option("--task", metavar="TASK", help="And all that follows it.")
    ] = None,
) -> None:
    """Run all failed tasks again; or, with `--task`, that task and all tasks that follow it.

    Examples:
    ```
    gnomon dag-run rerun 0198c5a2-... --task load
    ```
    """
    body = {"tasks": task} if task else {}
    session.act("dag-runs", run, "rerun", body=body)


@app.command()
@with_session
def approve(
    session: Session,
    run: Run,
    task: Task,
    note: Note = "",
    reject: Annotated[bool, typer.Option("--reject", help="Fail the task instead.")] = False,
) -> None:
    """Let a task go on that waits for a person. Your key's name, the time and the note are kept.

    Examples:
    ```
    gnomon dag-run approve 0198c5a2-... release --note "looks good"
    ```
    """
    verb = "reject" if reject else "approve"
    session.act("dag-runs", run, "tasks", task, verb, body={"note": note})


def wait_for_run(session: Session, run: str) -> None:
    """Shows it when it has ended, and exits unless it completed.

    Says on stderr what it waits for, and which tasks failed.
    """
    said: list[str] = []
    with session.working(f"waiting for run {run}"):
        while not RunStatus((found := session.server.get(path_of("dag-runs", run)))["status"]).is_final:
            said = _note_waits(found, _tasks(session, run), said)
            pause(LOOK_AGAIN_SECONDS)
    session.show(found)
    if found["status"] != RunStatus.COMPLETED:
        failed = [task for task in _tasks(session, run) if task["status"] == TaskStatus.FAILED]
        for task in failed[:FAILED_TOLD_MAX]:
            note(task_line(task))
        note(f"all tasks: gnomon dag-run show {run}")
        raise typer.Exit(FAILED)


def _note_waits(run: dict[str, Any], tasks: list[dict[str, Any]], said: list[str]) -> list[str]:
    now = list(waits(run, tasks))
    for line in now:
        if line not in said:
            note(line)
    return now


def statuses_of(session: Session, run: str) -> dict[str, str]:
    return {task["name"]: task["status"] for task in _tasks(session, run)}


def _tasks(session: Session, run: str) -> list[dict[str, Any]]:
    return session.server.all_after(path_of("dag-runs", run, "tasks"), "tasks")
