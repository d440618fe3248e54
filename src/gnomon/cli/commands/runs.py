"""`gnomon run`: look at executions, read what they wrote, stop them, try them again, wait for them."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from gnomon.cli.files.job_options import duration, moment
from gnomon.cli.output.exits import FAILED, UNKNOWN
from gnomon.cli.output.reasons import show_reasons
from gnomon.cli.output.tables import Columns, Output, note
from gnomon.cli.output.terminal import json_text, printable, say
from gnomon.cli.session.names import job_and_dag_names, run_ids
from gnomon.cli.session.session import Limit, Session, path_of, pause, with_session
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.executions.records import AtRevision

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Look at runs, read what they wrote, stop them, try them again, wait for them.",
)

LOOK_AGAIN_SECONDS = 0.5


def task_of(one: dict[str, Any]) -> str | None:
    """The task of a workflow that it is for, and which item of a fan-out."""
    return one["task"] if one["item"] is None else f"{one['task']}[{one['item']}]"


RUNS: Columns = {
    "RUN": "execution_id",
    "JOB": "job_name",
    "TASK": task_of,
    "STATUS": "status",
    "ATTEMPT": "attempt_number",
    "DUE": "due",
    "STARTED": "started_at",
    "MS": "duration_ms",
    "ERROR": "error_message",
}
ATTEMPTS: Columns = {
    "ATTEMPT": "attempt_number",
    "WORKER": "worker_id",
    "OUTCOME": "outcome",
    "STARTED": "started_at",
    "MS": "duration_ms",
    "ERROR": lambda one: one["error"] and one["error"]["message"],
}

AtRevisionOption = Annotated[
    AtRevision, typer.Option("--revision", help="The newest revision of the job, or the one that it had.")
]
Run = Annotated[str, typer.Argument(metavar="RUN", help="The id of a run.", autocompletion=run_ids)]


@app.command("list")
@with_session
def list_runs(
    session: Session,
    job: Annotated[
        str | None,
        typer.Option(
            metavar="JOB", help="Only those of this job or workflow.", autocompletion=job_and_dag_names
        ),
    ] = None,
    status: Annotated[str | None, typer.Option(help="QUEUED, RUNNING, FAILED, ...")] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Made then or later: 2h ago as `2h`, or RFC 3339.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Made before then: as --since.")] = None,
    limit: Limit = None,
) -> None:
    """List the runs, newest first.

    Examples:
    ```
    gnomon run list --job report --status FAILED --since 2h
    gnomon run list --since 2030-01-01T00:00:00Z --until 2030-01-02T00:00:00Z
    ```
    """
    now = datetime.now(UTC)
    made = {
        word: None if text is None else moment(text, now=now, field=f"--{word}")
        for word, text in (("since", since), ("until", until))
    }
    of_job = None if job is None else session.job_or_dag_id(job)
    status = status and status.upper()
    session.show_list("/v1/executions", "executions", RUNS, limit=limit, job_id=of_job, status=status, **made)


@app.command()
@with_session
def show(session: Session, run: Run) -> None:
    """Show a run and its attempts."""
    found = session.server.get(path_of("executions", run))
    attempts = session.server.get(path_of("executions", run, "attempts"))["attempts"]
    if session.output is not Output.TABLE:
        session.show({**found, "finished_attempts": attempts})
        return
    session.show(found)
    if attempts:
        say()
        session.show_many(attempts, ATTEMPTS)


@app.command()
@with_session
def logs(
    session: Session,
    run: Run,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run has ended.")] = False,
) -> None:
    """Print what a run wrote, all attempts in order. With `-o json`, an object a line.

    Examples:
    ```
    gnomon run logs 0198c5a2-... -f
    ```
    """
    position = "0.0"
    while True:
        # Before the lines: none comes after the end.
        is_over = not follow or _is_over(session.server.get(path_of("executions", run)))
        while lines := (page := session.server.get(path_of("executions", run, "logs"), after=position))[
            "lines"
        ]:
            for line in lines:
                _tell(line, session.output)
            position = page["next_after"]
        if is_over:
            return
        pause(LOOK_AGAIN_SECONDS)


@app.command()
@with_session
def cancel(session: Session, run: Run) -> None:
    """Cancel a run: it ends if it waits, and is asked to stop if it runs. What has ended stays as it is."""
    session.act("executions", run, "cancel")


@app.command()
@with_session
def retry(session: Session, run: Run, revision: AtRevisionOption = AtRevision.NEWEST) -> None:
    """Run an ended run again, as a new run with the same input.

    Of a task of a workflow, the run goes on from it.
    """
    session.act("executions", run, "retry", body={"revision": revision})


@app.command()
@with_session
def explain(session: Session, run: Run) -> None:
    """Explain why a run does not run now: every reason. None: a live worker gets it at its next claim."""
    found = session.server.get(path_of("executions", run, "explain"))
    tasks = [(task["execution_id"], task["reasons"]) for task in found["executions"]]
    show_reasons([(run, found["reasons"]), *tasks], session.output)


@app.command()
@with_session
def wait(
    session: Session,
    run: Run,
    timeout: Annotated[str | None, typer.Option(metavar="DURATION", help="How long at most.")] = None,
) -> None:
    """Wait until a run has ended, and show it. Exit code 0 if it completed, 1 if not, 3 if the time is over.

    Examples:
    ```
    gnomon run wait 0198c5a2-... --timeout 5m
    ```
    """
    seconds = None if timeout is None else duration(timeout, field="--timeout")
    wait_for(session, run, timeout_seconds=seconds)


def wait_for(session: Session, run: str, *, timeout_seconds: float | None) -> None:
    """Exits unless it completes in time."""
    until = None if timeout_seconds is None else time.monotonic() + timeout_seconds
    with session.working(f"waiting for run {run}"):
        while not _is_over(found := session.server.get(path_of("executions", run))):
            if until is not None and time.monotonic() >= until:
                note(f"run {run} has not ended yet; it is {found['status']}.")
                raise typer.Exit(UNKNOWN)
            pause(LOOK_AGAIN_SECONDS)
    session.show(found)
    if found["status"] != ExecutionStatus.COMPLETED:
        raise typer.Exit(FAILED)


def _is_over(run: dict[str, Any]) -> bool:
    return ExecutionStatus(run["status"]).is_final


def _tell(line: dict[str, Any], output: Output) -> None:
    if output is Output.TABLE:
        head = printable(f"{line['at']} {line['level']:<7} ")
        first, *more = line["message"].split("\n")
        say(head + printable(first))
        for text in more:  # Below it, so that no text can pass for a line of its own.
            say(" " * len(head) + printable(text))
    else:
        say(json_text(line, indent=None))
