"""`gnomon job`: make jobs, change them, look at them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gnomon.cli.commands import job_forms as job_making
from gnomon.cli.commands.job_forms import Version
from gnomon.cli.commands.runs import wait_for
from gnomon.cli.files.job_options import At, Cron, Delay, Every, Priority, Timezone, duration, read_json
from gnomon.cli.output.reasons import show_reasons
from gnomon.cli.output.tables import Columns
from gnomon.cli.session.names import job_and_dag_names, name_filter
from gnomon.cli.session.session import Job, JobOrDag, Limit, Name, Session, Yes, confirm, with_session

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", help="Make jobs, change them, look at them."
)

JOBS: Columns = {
    "NAME": "name",
    "STATUS": "status",
    "STATE": "state",
    "KIND": "kind",
    "SCHEDULE": lambda job: when(job["schedule"]),
    "NEXT RUN": "next_run_time",
    "LAST RUN": "last_run_time",
    "ID": "job_id",
}
FIRES: Columns = {"TIME": "nominal_time", "LOCAL": "local_time", "NOTE": "note", "SKIPPED": "skip"}
OCCURRENCES: Columns = {
    "TIME": "nominal_time",
    "UNTIL": lambda one: one["nominal_until"] if one["count"] > 1 else None,
    "COUNT": "count",
    "OUTCOME": "outcome",
    "REASON": "reason",
    "RUN": "execution_id",
}

app.command()(job_making.create)
app.command()(job_making.update)


@app.command("list")
@with_session
def list_jobs(
    session: Session,
    status: Annotated[str | None, typer.Option(help="ACTIVE, PAUSED, ...; DELETED too, if asked.")] = None,
    name: Name = None,
    tag: Annotated[str | None, typer.Option(help="Only with this tag.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only of this kind.")] = None,
    of_type: Annotated[
        str | None, typer.Option("--type", help="cron, interval, once, delayed or manual.")
    ] = None,
    limit: Limit = None,
) -> None:
    """List the jobs, newest first.

    Examples:
    ```
    gnomon job list --status PAUSED
    gnomon job list --name 'night*'
    gnomon job list --tag nightly -o json | jq -r '.[].name'
    ```
    """
    status = status and status.upper()
    wanted = {"status": status, "tag": tag, "kind": kind, "type": of_type, **name_filter(name)}
    session.show_list("/v1/jobs", "jobs", JOBS, limit=limit, **wanted)


@app.command()
@with_session
def show(session: Session, job: Job) -> None:
    """Show a job, with what runs of it now and what ended last."""
    session.show(session.server.get(session.job_path(job)))


@app.command()
@with_session
def pause(session: Session, job: Job) -> None:
    """Pause a job: its due times are skipped from now on. What waits and runs goes on."""
    _act(session, job, "pause")


@app.command()
@with_session
def resume(session: Session, job: Job) -> None:
    """Resume a paused job: it fires again, from the next time on."""
    _act(session, job, "resume")


@app.command()
@with_session
def trigger(
    session: Session,
    job: Job,
    given: Annotated[
        str | None, typer.Option("--input", metavar="JSON|@FILE", help="What this run is given.")
    ] = None,
    priority: Priority = None,
    at: At = None,
    delay: Delay = None,
    unique_key: Annotated[
        str | None, typer.Option(help="No second run while one with this key lives.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Until it has ended; fail if it did.")] = False,
) -> None:
    """Run a job now, or at a given time, whatever its schedule says.

    Examples:
    ```
    gnomon job trigger report --input '{"day": "2026-03-01"}' --wait
    gnomon job trigger report --in 10m
    ```
    """
    wish: dict[str, Any] = {"priority": priority, "run_at": at, "unique_key": unique_key}
    wish["delay_seconds"] = None if delay is None else duration(delay, field="--in")
    wish = {name: value for name, value in wish.items() if value is not None}
    if given is not None:
        wish["input"] = read_json(given, field="--input")
    asked = session.server.send("POST", session.job_path(job, "trigger"), wish)
    if wait:
        wait_for(session, asked["execution_id"], timeout_seconds=None)
    else:
        session.show(asked)


@app.command()
@with_session
def cancel(session: Session, job: Job, yes: Yes = False) -> None:
    """Stop a job for good: what waits ends, what runs is asked to stop. Asks first."""
    path = session.job_path(job)
    confirm(f"Cancel the job {job} and all its runs?", yes=yes)
    _outcome(session, session.server.post(f"{path}/cancel"))


@app.command()
@with_session
def delete(session: Session, job: Job, yes: Yes = False, if_version: Version = None) -> None:
    """Delete a job: like cancel, and its name is free again. Its history stays for a while. Asks first."""
    path = session.job_path(job)
    confirm(f"Delete the job {job} and end all its runs?", yes=yes)
    _outcome(session, session.server.delete(path, version=if_version))


@app.command()
@with_session
def preview(
    session: Session,
    job: Annotated[
        str | None,
        typer.Argument(
            metavar="JOB", help="The name of a job or workflow, or its id.", autocompletion=job_and_dag_names
        ),
    ] = None,
    cron: Cron = None,
    timezone: Timezone = None,
    every: Every = None,
    limit: Limit = None,
) -> None:
    """Show the next times of a job, or of a schedule that no job has yet, with notes where the clock jumps.

    Examples:
    ```
    gnomon job preview report
    gnomon job preview --cron '30 2 * * *' --timezone Europe/Berlin --limit 20
    ```
    """
    limit = limit or 10
    if job is not None:
        fires = session.server.get(session.job_or_dag_path(job, "preview"), limit=limit)["fires"]
    else:
        seconds = None if every is None else duration(every, field="--every")
        form = {"cron": cron, "timezone": timezone, "interval_seconds": seconds, "limit": limit}
        said = {name: value for name, value in form.items() if value is not None}
        fires = session.server.post("/v1/schedules/preview", said)["fires"]
    session.show_many(fires, FIRES)


@app.command()
@with_session
def explain(session: Session, job: JobOrDag) -> None:
    """Explain why a job or workflow does not run now: every reason. None: one of its runs is next."""
    found = session.server.get(session.job_or_dag_path(job, "explain"))
    own = [(None, found["reasons"])] if found["reasons"] else []
    show_reasons(
        [*own, *((run["execution_id"], run["reasons"]) for run in found["executions"])], session.output
    )


@app.command()
@with_session
def history(session: Session, job: JobOrDag, limit: Limit = None) -> None:
    """List the times of a job or workflow that have come, newest first, and whether each fired or why not."""
    session.show_list(session.job_or_dag_path(job, "occurrences"), "occurrences", OCCURRENCES, limit=limit)


def when(schedule: dict[str, Any]) -> str:
    """A schedule in a few words."""
    match schedule:
        case {"type": "cron"}:
            return f"{schedule['cron']} {schedule['timezone']}"
        case {"type": "interval"}:
            return f"every {schedule['interval_seconds']} s"
        case {"type": "once" | "delayed", "run_at": at}:
            return f"once, {at}"
        case _:
            return str(schedule["type"])


def _act(session: Session, job: str, verb: str) -> None:
    _outcome(session, session.server.post(session.job_path(job, verb)))


def _outcome(session: Session, job: dict[str, Any]) -> None:
    session.show_many([job], JOBS)
