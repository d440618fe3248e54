"""`gnomon dlq`: what ended for good without success; look at it, run it again, forget it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gnomon.cli.commands.runs import AtRevisionOption, task_of
from gnomon.cli.output.exits import FAILED
from gnomon.cli.output.tables import Columns, note
from gnomon.cli.session.names import dead_run_ids, job_and_dag_names
from gnomon.cli.session.session import Limit, Session, Yes, confirm, path_of, with_session
from gnomon.core.executions.records import AtRevision
from gnomon.errors import InvalidInput

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Dead letters: runs that ended for good without success. Look at them, run them again, forget them.",
)

BATCH = 1000  # What one call takes.
LETTERS: Columns = {
    "RUN": "execution_id",
    "JOB": "job_name",
    "TASK": task_of,
    "REASON": "reason",
    "ATTEMPTS": "attempts",
    "DIED": "died_at",
    "REDRIVEN AS": "redriven_as",
    "ERROR": lambda one: one["error"] and f"{one['error']['kind']}: {one['error']['message']}",
}

REDRIVEN: Columns = {
    "RUN": "execution_id",
    "REVISION": "revision",
    "NEW": "is_new",
    "GOES ON": lambda one: "workflow" if one["dag_run_id"] else "",
}

Run = Annotated[str, typer.Argument(metavar="RUN", help="The id of the run.", autocompletion=dead_run_ids)]
Runs = Annotated[
    list[str] | None,
    typer.Argument(metavar="RUN...", help="Ids of runs.", autocompletion=dead_run_ids),
]
OfJob = Annotated[
    str | None,
    typer.Option(
        "--job", metavar="JOB", help="Those of this job or workflow.", autocompletion=job_and_dag_names
    ),
]
All = Annotated[bool, typer.Option("--all", help="All of them.")]


@app.command("list")
@with_session
def list_letters(session: Session, job: OfJob = None, limit: Limit = None) -> None:
    """List the dead letters, newest first."""
    of_job = None if job is None else session.job_or_dag_id(job)
    session.show_list("/v1/dlq", "dead_letters", LETTERS, limit=limit, job_id=of_job)


@app.command()
@with_session
def show(session: Session, run: Run) -> None:
    """Show a dead letter."""
    session.show(session.server.get(path_of("dlq", run)))


@app.command()
@with_session
def redrive(
    session: Session,
    runs: Runs = None,
    job: OfJob = None,
    everything: All = False,
    revision: AtRevisionOption = AtRevision.NEWEST,
) -> None:
    """Run dead letters again, as new runs with the same input. Each is redriven at most once.

    Of a task of a workflow, the run goes on from it.

    Examples:
    ```
    gnomon dlq redrive 0198c5a2-...
    gnomon dlq redrive --job report
    gnomon dlq redrive --job report --revision original
    ```
    """
    which = _which(session, runs, job, everything) | {"revision": revision}
    made: list[Any] = []
    with session.working("running them again"):
        while True:
            done = session.server.post("/v1/dlq/redrive", which | {"limit": BATCH})
            made += done["executions"]
            if len(done["executions"]) < BATCH or "execution_ids" in which:
                break
    session.show_many(made, REDRIVEN)
    for one in done["refused"]:
        note(f"{one['execution_id']}: {one['message']}")
    if done["refused"]:
        raise typer.Exit(FAILED)


@app.command()
@with_session
def purge(
    session: Session, runs: Runs = None, job: OfJob = None, everything: All = False, yes: Yes = False
) -> None:
    """Forget dead letters. Their runs stay until retention. Asks first.

    Examples:
    ```
    gnomon dlq purge --job report --yes
    ```
    """
    which = _which(session, runs, job, everything)
    confirm("Forget these dead letters?", yes=yes)
    gone: list[str] = []
    with session.working("forgetting them"):
        while True:
            done = session.server.post("/v1/dlq/purge", which | {"limit": BATCH})["execution_ids"]
            gone += done
            if len(done) < BATCH or "execution_ids" in which:
                break
    session.show_many(gone, {"FORGOTTEN": str})


def _which(session: Session, runs: list[str] | None, job: str | None, everything: bool) -> dict[str, Any]:
    if bool(runs) + (job is not None) + everything != 1:
        raise InvalidInput("RUN", "say which: ids of runs, or --job, or --all; one of them.")
    if runs:
        return {"execution_ids": runs}
    return {"all": True} if job is None else {"job_id": session.job_or_dag_id(job)}
