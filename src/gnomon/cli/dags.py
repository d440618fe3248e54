"""`gnomon dag`: check workflows, keep them, run them, draw them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from gnomon.app.connection import graph_limits
from gnomon.cli.dag_runs import DAG_RUNS, statuses_of
from gnomon.cli.dag_words import Dag, changes_of, dag_id_of, json_of
from gnomon.cli.graphs import graph_of, mermaid_of, print_lines, svg_of
from gnomon.cli.job_options import read_yaml
from gnomon.cli.options import chosen
from gnomon.cli.showing import Columns, Output
from gnomon.cli.talking import Limit, Talk, path_of, talks
from gnomon.core.workflow import Plan
from gnomon.core.workflow_document import read_dag

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Check workflows, keep them, run them, draw them.",
)

DAGS: Columns = {
    "NAME": "name",
    "STATUS": "status",
    "REVISION": "revision",
    "NEXT": "next_run_time",
    "ID": "dag_id",
}

File = Annotated[str, typer.Argument(metavar="FILE", help="YAML or JSON; - is stdin.")]


class Drawing(StrEnum):
    TEXT = "text"
    MERMAID = "mermaid"
    SVG = "svg"


@app.command()
def validate(file: File) -> None:
    """Check a definition, without a server. Says what is wrong, in which task, and why.

    The limits are those of the settings here, which need not be those of a server.

    Examples:
    ```
    gnomon dag validate etl.yaml
    ```
    """
    limits = graph_limits(chosen()[0].dag)
    written = read_dag(read_yaml(file, field="FILE"), limits)
    plan = Plan.of(written.workflow, limits)
    edges = sum(map(len, plan.graph.parents))
    levels = len(plan.graph.levels())
    tasks = len(plan.graph.names)
    typer.echo(f"{written.name}: {tasks} task(s), {edges} dependencies, {levels} level(s). Fine.")


@app.command()
@talks
def apply(talk: Talk, file: File) -> None:
    """Make the workflow of this name what the file says: new, a new revision, or as it is.

    Examples:
    ```
    gnomon dag apply etl.yaml
    ```
    """
    document = read_yaml(file, field="FILE")
    name = read_dag(document).name
    found = talk.server.get("/v1/dags", name=name)["dags"]
    if found:
        talk.show(talk.server.send("PUT", path_of("dags", found[0]["dag_id"]), document))
    else:
        talk.show(talk.server.post("/v1/dags", document))


@app.command("list")
@talks
def list_dags(
    talk: Talk,
    status: Annotated[str | None, typer.Option(help="ACTIVE, PAUSED, DELETED, ...")] = None,
    limit: Limit = None,
) -> None:
    """The workflows, newest first."""
    talk.show_list("/v1/dags", "dags", DAGS, limit=limit, status=status and status.upper())


@app.command()
@talks
def show(talk: Talk, dag: Dag) -> None:
    """Everything about one workflow, with its definition."""
    talk.show(talk.server.get(path_of("dags", dag_id_of(talk, dag))))


@app.command()
@talks
def diff(
    talk: Talk,
    dag: Dag,
    old: Annotated[int | None, typer.Option("--from", metavar="REVISION", help="The one before.")] = None,
    new: Annotated[int | None, typer.Option("--to", metavar="REVISION", help="The current one.")] = None,
) -> None:
    """What changed from one revision to another; by default, with the last change.

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
    typer.echo(f"revision {found['from_revision']} -> {found['to_revision']}")
    for line in changes_of(found):
        typer.echo(line)


@app.command()
@talks
def trigger(
    talk: Talk,
    dag: Dag,
    config: Annotated[
        str | None, typer.Option(metavar="JSON", help="Goes over the configuration, key by key.")
    ] = None,
) -> None:
    """Run it now, whatever its schedule says.

    Examples:
    ```
    gnomon dag trigger etl --config '{"day": "2026-01-01"}'
    ```
    """
    body = {} if config is None else {"config": json_of(config, option="--config")}
    talk.show(talk.server.post(path_of("dags", dag_id_of(talk, dag), "trigger"), body))


@app.command()
@talks
def send(
    talk: Talk,
    event: Annotated[str, typer.Argument(metavar="EVENT", help="The name of an event.")],
    correlation: Annotated[str, typer.Option(help="Which of those that wait for this name.")] = "",
    data: Annotated[str | None, typer.Option(metavar="JSON", help="The result of the tasks.")] = None,
) -> None:
    """Tell the tasks that wait for an event. Says how many there were.

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
def runs(talk: Talk, dag: Dag, limit: Limit = None) -> None:
    """Its runs, newest first."""
    talk.show_list(path_of("dags", dag_id_of(talk, dag), "runs"), "runs", DAG_RUNS, limit=limit)


@app.command()
@talks
def graph(
    talk: Talk,
    dag: Dag,
    run: Annotated[str | None, typer.Option(metavar="RUN", help="Colour it as this run stands.")] = None,
    drawing: Annotated[Drawing, typer.Option("--as", help="How to draw it.")] = Drawing.TEXT,
) -> None:
    """Draw it: what waits for what, and with `--run`, how far a run of it is.

    Examples:
    ```
    gnomon dag graph etl
    gnomon dag graph etl --run 0198c5a2-... --as svg > etl.svg
    ```
    """
    found = talk.server.get(path_of("dags", dag_id_of(talk, dag)))
    drawn = graph_of(found["definition"]["tasks"])
    statuses = {} if run is None else statuses_of(talk, run)
    match drawing:
        case Drawing.TEXT:
            print_lines(drawn, statuses)
        case Drawing.MERMAID:
            typer.echo(mermaid_of(drawn, statuses), nl=False)
        case Drawing.SVG:
            typer.echo(svg_of(drawn, statuses), nl=False)
