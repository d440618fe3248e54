"""`gnomon dag`: check workflows, keep them, run them, draw them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gnomon.app.connection import graph_limits
from gnomon.app.processes.process import installed_handlers
from gnomon.cli.commands import dag_graph as dag_drawing
from gnomon.cli.commands.dag_runs import DAG_RUNS, wait_for_run
from gnomon.cli.commands.dag_words import Dag, allowing, changes_of, dag_id_of, json_of, show_dag
from gnomon.cli.files.job_options import AllowUnknownKind, read_yaml
from gnomon.cli.output.tables import Columns, Output, note
from gnomon.cli.output.terminal import printable, say
from gnomon.cli.session.names import name_filter
from gnomon.cli.session.options import chosen
from gnomon.cli.session.session import Limit, Name, Talk, Yes, confirm, path_of, talks
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
    document = allowing(read_yaml(file, field="FILE"), allow_unknown_kind)
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
@talks
def apply(talk: Talk, file: File, allow_unknown_kind: AllowUnknownKind = False) -> None:
    """Make the workflow of this name what the file says. Says whether it was created, changed or unchanged.

    Examples:
    ```
    gnomon dag apply etl.yaml
    ```
    """
    document = allowing(read_yaml(file, field="FILE"), allow_unknown_kind)
    name = read_dag(document).name
    found = talk.server.get("/v1/dags", name=name)["dags"]
    if not found:
        show_dag(talk, talk.server.post("/v1/dags", document), outcome="created")
        return
    [before] = found
    after = talk.server.send("PUT", path_of("dags", before["dag_id"]), document)
    show_dag(talk, after, outcome="unchanged" if after["version"] == before["version"] else "changed")


@app.command("list")
@talks
def list_dags(
    talk: Talk,
    status: Annotated[str | None, typer.Option(help="ACTIVE, PAUSED, DELETED, ...")] = None,
    name: Name = None,
    tag: Annotated[str | None, typer.Option(help="Only with this tag.")] = None,
    limit: Limit = None,
) -> None:
    """List the workflows, newest first."""
    wanted = {"status": status and status.upper(), "tag": tag, **name_filter(name)}
    talk.show_list("/v1/dags", "dags", DAGS, limit=limit, **wanted)


@app.command()
@talks
def show(talk: Talk, dag: Dag) -> None:
    """Show a workflow, with its definition."""
    talk.show(talk.server.get(path_of("dags", dag_id_of(talk, dag))))


@app.command("pause")
@talks
def pause_dag(talk: Talk, dag: Dag) -> None:
    """Pause a workflow: its due times are skipped from now on. Its runs go on."""
    show_dag(talk, talk.server.post(path_of("dags", dag_id_of(talk, dag), "pause")))


@app.command()
@talks
def resume(talk: Talk, dag: Dag) -> None:
    """Resume a paused workflow: it fires again, from the next time on."""
    show_dag(talk, talk.server.post(path_of("dags", dag_id_of(talk, dag), "resume")))


@app.command()
@talks
def delete(talk: Talk, dag: Dag, yes: Yes = False) -> None:
    """Delete a workflow: its runs are stopped, its name is free again, its history stays. Asks first."""
    path = path_of("dags", dag_id_of(talk, dag))
    confirm(f"Delete the workflow {printable(dag)} and stop all its runs?", yes=yes)
    show_dag(talk, talk.server.delete(path))


@app.command()
@talks
def revisions(talk: Talk, dag: Dag, limit: Limit = None) -> None:
    """List the revisions of a workflow, newest first; with `-o json` or `-o yaml`, with definitions."""
    path = path_of("dags", dag_id_of(talk, dag), "revisions")
    talk.show_list(path, "revisions", REVISIONS, limit=limit)


@app.command()
@talks
def diff(
    talk: Talk,
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
    found = talk.server.get(path_of("dags", dag_id_of(talk, dag), "diff"), **asked)
    if talk.output is not Output.TABLE:
        talk.show(found)
        return
    say(f"revision {found['from_revision']} -> {found['to_revision']}")
    for line in changes_of(found):
        say(printable(line))


@app.command()
@talks
def trigger(
    talk: Talk,
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
    asked = talk.server.post(path_of("dags", dag_id_of(talk, dag), "trigger"), body)
    if wait:
        wait_for_run(talk, asked["dag_run_id"])
    else:
        talk.show(asked)


@app.command()
@talks
def send(
    talk: Talk,
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
    talk.show(talk.server.post("/v1/dag-events", body))


@app.command()
@talks
def runs(
    talk: Talk,
    dag: Dag,
    status: Annotated[str | None, typer.Option(help="PENDING, RUNNING, PAUSED, FAILED, ...")] = None,
    limit: Limit = None,
) -> None:
    """List the runs of a workflow, newest first."""
    path = path_of("dags", dag_id_of(talk, dag), "runs")
    talk.show_list(path, "runs", DAG_RUNS, limit=limit, status=status and status.upper())
