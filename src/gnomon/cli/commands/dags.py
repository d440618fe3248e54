"""`gnomon dag`: check workflows, keep them, run them, draw them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gnomon.app.connection import graph_limits
from gnomon.app.processes.process import installed_handlers
from gnomon.cli.commands import dag_graph as dag_drawing
from gnomon.cli.commands.dag_runs import DAG_RUNS, wait_for_run
from gnomon.cli.commands.dag_words import (
    Dag,
    changes_of,
    json_of,
    show_dag,
    with_unknown_kinds_allowed,
)
from gnomon.cli.files.job_options import AllowUnknownKind, read_yaml
from gnomon.cli.output.tables import Columns, Output, note
from gnomon.cli.output.terminal import printable, say
from gnomon.cli.session.names import name_filter
from gnomon.cli.session.options import chosen
from gnomon.cli.session.session import Limit, Name, Session, Yes, confirm, path_of, with_session
from gnomon.client.access.admission import Admission, kinds_in
from gnomon.client.workflows.dags import checked
from gnomon.core.workflows.document import read_dag
from gnomon.handlers.discovery import installed_kinds

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Check workflows, keep them, run them, draw them.",
)

DAGS: Columns = {
    "NAME": "name",
    "STATUS": "status",
    "STATE": "state",
    "REVISION": "revision",
    "NEXT": "next_run_time",
    "ID": "dag_id",
}

REVISIONS: Columns = {"REVISION": "revision", "TASKS": "tasks", "CREATED": "created_at"}

File = Annotated[str, typer.Argument(metavar="FILE", help="YAML or JSON; - is stdin.")]


app.command()(dag_drawing.graph)


@app.command()
def validate(file: File, allow_unknown_kind: AllowUnknownKind = False) -> None:
    """Check a definition, without a server. Says what is wrong, in which task, and why.

    The limits and the kinds are those here, which need not be those of a server. Not checked are payloads of
    kinds that are unknown here, payloads with references, and whether other workflows and calendars exist.

    Examples:
    ```
    gnomon dag validate etl.yaml
    ```
    """
    settings, _ = chosen()
    handlers, kinds = installed_handlers(settings), installed_kinds(settings.handlers)
    document = with_unknown_kinds_allowed(read_yaml(file, field="FILE"), allow_unknown_kind)
    written, plan = checked(document, graph_limits(settings.dag), handlers.check)
    Admission(kinds).check_dag(written)
    edges = sum(map(len, plan.graph.parents))
    levels = len(plan.graph.levels())
    tasks = len(plan.graph.names)
    name = printable(written.name)
    say(f"{name}: {tasks} task(s), {edges} dependencies, {levels} level(s). Fine.")
    unknown = sorted(kinds_in(written) - handlers.kinds)
    if unknown:
        note(f"not checked, since nothing here knows the kind: payloads of {printable(', '.join(unknown))}.")


@app.command()
@with_session
def apply(session: Session, file: File, allow_unknown_kind: AllowUnknownKind = False) -> None:
    """Make the workflow of this name what the file says. Says whether it was created, changed or unchanged.

    Examples:
    ```
    gnomon dag apply etl.yaml
    ```
    """
    document = with_unknown_kinds_allowed(read_yaml(file, field="FILE"), allow_unknown_kind)
    name = read_dag(document).name
    found = session.server.get("/v1/dags", name=name)["dags"]
    if not found:
        show_dag(session, session.server.post("/v1/dags", document), outcome="created")
        return
    [before] = found
    after = session.server.send("PUT", path_of("dags", before["dag_id"]), document)
    show_dag(session, after, outcome="unchanged" if after["version"] == before["version"] else "changed")


@app.command("list")
@with_session
def list_dags(
    session: Session,
    status: Annotated[str | None, typer.Option(help="ACTIVE, PAUSED, DELETED, ...")] = None,
    name: Name = None,
    tag: Annotated[str | None, typer.Option(help="Only with this tag.")] = None,
    limit: Limit = None,
) -> None:
    """List the workflows, newest first."""
    wanted = {"status": status and status.upper(), "tag": tag, **name_filter(name)}
    session.show_list("/v1/dags", "dags", DAGS, limit=limit, **wanted)


@app.command()
@with_session
def show(session: Session, dag: Dag) -> None:
    """Show a workflow, with its definition."""
    session.show(session.server.get(session.dag_path(dag)))


@app.command("pause")
@with_session
def pause_dag(session: Session, dag: Dag) -> None:
    """Pause a workflow: its due times are skipped from now on. Its runs go on."""
    show_dag(session, session.server.post(session.dag_path(dag, "pause")))


@app.command()
@with_session
def resume(session: Session, dag: Dag) -> None:
    """Resume a paused workflow: it fires again, from the next time on."""
    show_dag(session, session.server.post(session.dag_path(dag, "resume")))


@app.command()
@with_session
def delete(session: Session, dag: Dag, yes: Yes = False) -> None:
    """Delete a workflow: its runs are stopped, its name is free again, its history stays. Asks first."""
    path = session.dag_path(dag)
    confirm(f"Delete the workflow {printable(dag)} and stop all its runs?", yes=yes)
    show_dag(session, session.server.delete(path))


@app.command()
@with_session
def revisions(session: Session, dag: Dag, limit: Limit = None) -> None:
    """List the revisions of a workflow, newest first; with `-o json` or `-o yaml`, with definitions."""
    path = session.dag_path(dag, "revisions")
    session.show_list(path, "revisions", REVISIONS, limit=limit)


@app.command()
@with_session
def diff(
    session: Session,
    dag: Dag,
    old: Annotated[int | None, typer.Option("--from", metavar="REVISION", help="The one before.")] = None,
    new: Annotated[int | None, typer.Option("--to", metavar="REVISION", help="The current one.")] = None,
) -> None:
    """Show what changed from one revision of a workflow to another; by default, with the last change.

    Examples:
    ```
    gnomon dag diff etl
    gnomon dag diff etl --from 3 --to 7
    ```
    """
    asked = {name: number for name, number in (("from", old), ("to", new)) if number is not None}
    found = session.server.get(session.dag_path(dag, "diff"), **asked)
    if session.output is not Output.TABLE:
        session.show(found)
        return
    say(f"revision {found['from_revision']} -> {found['to_revision']}")
    for line in changes_of(found):
        say(printable(line))


@app.command()
@with_session
def trigger(
    session: Session,
    dag: Dag,
    config: Annotated[
        str | None, typer.Option(metavar="JSON", help="Goes over the configuration, key by key.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until the run has ended.")] = False,
) -> None:
    """Run a workflow now, whatever its schedule says. With `--wait`, exit code 0 if it completed, else 1.

    Examples:
    ```
    gnomon dag trigger etl --config '{"day": "2026-01-01"}'
    gnomon dag trigger etl --wait && gnomon job trigger report
    ```
    """
    body = {} if config is None else {"config": json_of(config, option="--config")}
    asked = session.server.post(session.dag_path(dag, "trigger"), body)
    if wait:
        wait_for_run(session, asked["dag_run_id"])
    else:
        session.show(asked)


@app.command()
@with_session
def send(
    session: Session,
    event: Annotated[str, typer.Argument(metavar="EVENT", help="The name of an event.")],
    correlation: Annotated[str, typer.Option(help="Which of those that wait for this name.")] = "",
    data: Annotated[str | None, typer.Option(metavar="JSON", help="The result of the tasks.")] = None,
) -> None:
    """Send an event to the tasks that wait for it. Says how many there were.

    Examples:
    ```
    gnomon dag send payment --correlation order-7 --data '{"euro": 5}'
    ```
    """
    body: dict[str, Any] = {"name": event, "correlation": correlation}
    if data is not None:
        body["data"] = json_of(data, option="--data")
    session.show(session.server.post("/v1/dag-events", body))


@app.command()
@with_session
def runs(
    session: Session,
    dag: Dag,
    status: Annotated[str | None, typer.Option(help="PENDING, RUNNING, PAUSED, FAILED, ...")] = None,
    limit: Limit = None,
) -> None:
    """List the runs of a workflow, newest first."""
    path = session.dag_path(dag, "runs")
    session.show_list(path, "runs", DAG_RUNS, limit=limit, status=status and status.upper())
