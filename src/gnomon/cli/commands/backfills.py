"""`gnomon backfill`: run the past of workflows, some at a time."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gnomon.cli.commands.dag_words import Dag, json_of
from gnomon.cli.output.tables import Columns, Output
from gnomon.cli.output.terminal import say
from gnomon.cli.session.session import Limit, Session, path_of, with_session
from gnomon.core.runs.backfills import Existing

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Run the past of workflows, some at a time.",
)

BACKFILLS: Columns = {
    "BACKFILL": "backfill_id",
    "STATUS": "status",
    "FROM": "start",
    "TO": "end",
    "TOTAL": "total",
    "WAITING": "waiting",
    "RUNNING": "running",
    "DONE": "completed",
    "FAILED": "failed",
}
TIMES: Columns = {"FOR": "nominal_time", "STATUS": "status", "RUN": "dag_run_id"}

Backfill = Annotated[str, typer.Argument(metavar="BACKFILL", help="The id of a backfill.")]


@app.command()
@with_session
def create(
    session: Session,
    dag: Dag,
    start: Annotated[str, typer.Option("--from", metavar="DAY", help="A day, or an instant with an offset.")],
    end: Annotated[str, typer.Option("--to", metavar="DAY", help="A day, or an instant. It is included.")],
    existing: Annotated[
        Existing, typer.Option(help="What to do about times that have a run.")
    ] = Existing.SKIP,
    concurrency: Annotated[int, typer.Option(help="How many of its runs may be under way at once.")] = 1,
    priority: Annotated[int | None, typer.Option(help="Of all tasks of its runs.")] = None,
    config: Annotated[
        str | None, typer.Option(metavar="JSON", help="Goes over the configuration, key by key.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
) -> None:
    """Run what a workflow would have run between two days, both included.

    Examples:
    ```
    gnomon backfill create etl --from 2026-01-01 --to 2026-01-31 --dry-run
    gnomon backfill create etl --from 2026-01-01 --to 2026-01-31 --concurrency 4 --priority 1
    gnomon backfill create etl --from 2026-01-01 --to 2026-01-31 --existing only_failed
    ```
    """
    body: dict[str, Any] = {"start": start, "end": end, "existing": existing}
    path = session.dag_path(dag, "backfills")
    if dry_run:
        session.show(session.server.post(f"{path}/preview", body))
        return
    body |= {"concurrency": concurrency, "priority": priority}
    if config is not None:
        body["config"] = json_of(config, option="--config")
    session.show(session.server.post(path, body))


@app.command("list")
@with_session
def list_backfills(session: Session, dag: Dag, limit: Limit = None) -> None:
    """List the backfills of a workflow, newest first."""
    path = session.dag_path(dag, "backfills")
    session.show_list(path, "backfills", BACKFILLS, limit=limit)


@app.command()
@with_session
def show(session: Session, backfill: Backfill) -> None:
    """Show a backfill and its runs, oldest first."""
    found = session.server.get(path_of("backfills", backfill))
    runs = session.server.all_after(path_of("backfills", backfill, "runs"), "runs")
    if session.output is not Output.TABLE:
        session.show({**found, "runs": runs})
        return
    session.show(found)
    say()
    session.show_many(runs, TIMES)


@app.command()
@with_session
def pause(session: Session, backfill: Backfill) -> None:
    """Pause a backfill: no more runs begin. Those under way go on."""
    session.act("backfills", backfill, "pause")


@app.command()
@with_session
def resume(session: Session, backfill: Backfill) -> None:
    """Resume a paused backfill: it goes on with the next times."""
    session.act("backfills", backfill, "resume")


@app.command()
@with_session
def cancel(session: Session, backfill: Backfill) -> None:
    """Cancel a backfill: what has not begun never will, and runs under way are cancelled."""
    session.act("backfills", backfill, "cancel")
