"""`gnomon dag graph`: a workflow drawn for a terminal, as a picture, or as data."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from gnomon.cli.commands.dag_runs import statuses_of
from gnomon.cli.commands.dag_words import Dag
from gnomon.cli.output.graphs import graph_of, mermaid_of, svg_of
from gnomon.cli.output.tables import Output
from gnomon.cli.output.terminal import say
from gnomon.cli.output.trees import print_tree
from gnomon.cli.session.names import dag_run_ids
from gnomon.cli.session.session import Session, path_of, with_session
from gnomon.core.workflows.graph import Graph
from gnomon.errors import InvalidInput


class Drawing(StrEnum):
    TEXT = "text"
    MERMAID = "mermaid"
    SVG = "svg"


@with_session
def graph(
    session: Session,
    dag: Dag,
    run: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Colour it as this run stands.", autocompletion=dag_run_ids),
    ] = None,
    drawing: Annotated[
        Drawing, typer.Option("--as", help="How to draw it.", case_sensitive=False)
    ] = Drawing.TEXT,
) -> None:
    """Draw a workflow: what waits for what, and with `--run`, as that run has it and how far it is.

    `×N` marks a task that runs once for each item of a list (a fan-out). A task that waits for several tasks
    stands below the last of them; `…` after its name marks the other places. With `-o json`, the tasks with
    their dependencies and the edges.

    Examples:
    ```
    gnomon dag graph etl
    gnomon dag graph etl --run 0198c5a2-... --as svg > etl.svg
    gnomon dag graph etl -o json | jq -r '.edges[] | join(" -> ")'
    ```
    """
    tasks, statuses = _looked_up(session, session.dag_id(dag), run)
    drawn = graph_of(tasks)
    fan_outs = {task["name"] for task in tasks if task.get("fan_out")}
    if session.output is not Output.TABLE:
        session.show(_as_data(drawn, statuses, fan_outs))
        return
    match drawing:
        case Drawing.TEXT:
            print_tree(drawn, statuses, fan_outs)
        case Drawing.MERMAID:
            say(mermaid_of(drawn, statuses), nl=False)
        case Drawing.SVG:
            say(svg_of(drawn, statuses), nl=False)


def _looked_up(session: Session, dag_id: str, run: str | None) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The tasks and their statuses: as a run has them, whatever became of the workflow since."""
    path = path_of("dags", dag_id)
    if run is None:
        return session.server.get(path)["definition"]["tasks"], {}
    found = session.server.get(path_of("dag-runs", run))
    if path_of("dags", found["dag_id"]) != path.lower():
        raise InvalidInput("--run", f"{run} is a run of another workflow, {found['dag_id']}.")
    path += f"/revisions/{found['revision']}"
    return session.server.get(path)["definition"]["tasks"], statuses_of(session, run)


def _as_data(drawn: Graph, statuses: dict[str, str], fan_outs: set[str]) -> dict[str, Any]:
    names = drawn.names
    tasks = [
        {
            "name": name,
            "depends_on": [names[parent] for parent in drawn.parents[task]],
            "fan_out": name in fan_outs,
            "status": statuses.get(name),
        }
        for task, name in enumerate(names)
    ]
    edges = [[names[parent], names[task]] for task in range(len(names)) for parent in drawn.parents[task]]
    return {"tasks": tasks, "edges": edges}
