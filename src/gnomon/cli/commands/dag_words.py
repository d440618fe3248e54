"""How workflows are named at a terminal, and how changes of them are told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from gnomon.cli.commands.apply import changes_between
from gnomon.cli.output.tables import Output
from gnomon.cli.session.names import dag_names
from gnomon.cli.session.session import Session
from gnomon.core.values.document import Document
from gnomon.errors import InvalidInput

Dag = Annotated[
    str, typer.Argument(metavar="DAG", help="The name of a workflow, or its id.", autocompletion=dag_names)
]


def show_dag(session: Session, dag: Mapping[str, Any], **more: str) -> None:
    """Without its definition, which may be long: `dag show` has it. People get the number of its tasks."""
    shown = more | {name: value for name, value in dag.items() if name != "definition"}
    if session.output is Output.TABLE:
        shown["tasks"] = len(dag["tasks"])
    session.show(shown)


def with_unknown_kinds_allowed(document: Any, allow_unknown_kind: bool) -> Any:
    """The definition, and what the option says."""
    if not allow_unknown_kind or not isinstance(document, dict):
        return document
    return {**document, "allow_unknown_kind": True}


def json_of(text: str, *, option: str) -> Any:
    try:
        return Document(text).value
    except ValueError as error:
        raise InvalidInput(option, f"is not JSON: {error}.") from None


def changes_of(diff: Mapping[str, Any]) -> Iterator[str]:
    """A line for each: `+` came, `-` went, `~` differs."""
    yield from _fields("", diff["fields"])
    yield from (f"- task {name}" for name in diff["tasks_removed"])
    yield from (f"+ task {name}" for name in diff["tasks_added"])
    for task in diff["tasks_changed"]:
        yield from _fields(f"task {task['name']}: ", task["fields"])


def _fields(whose: str, fields: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for name, change in fields.items():
        yield from (f"~ {whose}{one}" for one in changes_between(change["before"], change["after"], name))
