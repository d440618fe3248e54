"""The part of a plan that is about workflows: their definitions, as they are written, field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gnomon.cli.files.fires import ClosedDates, come_and_go, fires_of, next_fires
from gnomon.cli.files.steps import Action, Noun, PlanStep
from gnomon.cli.session.session import path_of
from gnomon.client.context import accept
from gnomon.client.remote.server import Server
from gnomon.client.workflows.dags import checked
from gnomon.core.time.schedule_document import to_document
from gnomon.core.workflows.diff import diff
from gnomon.core.workflows.document import WrittenDag, read_dag
from gnomon.core.workflows.graph import GraphLimits
from gnomon.errors import InvalidInput


def workflow_step(
    server: Server, form: Mapping[str, Any], dag: Mapping[str, Any] | None, closed: ClosedDates
) -> PlanStep:
    """What becomes of a workflow of the file; `dag` is the one of its name that the server has."""
    schedule = dict(to_document(_read(form).schedule))
    if dag is None:
        fires = fires_of(server, form["name"], schedule, closed)
        return PlanStep(Action.CREATE, form["name"], dict(form), fires_added=fires.first, noun=Noun.WORKFLOW)
    before = definition_of(server, dag)
    changes = _changes(before, dict(form))
    if not changes:
        return PlanStep(Action.KEEP, form["name"], kept=dag, noun=Noun.WORKFLOW)
    added, removed = list[str](), list[str]()
    if dict(to_document(read_dag(before).schedule)) != schedule:
        fires = fires_of(server, form["name"], schedule, closed)
        added, removed = come_and_go(next_fires(server, dag, dag["dag_id"]), fires)
    return PlanStep(Action.CHANGE, form["name"], dict(form), dag, changes, added, removed, noun=Noun.WORKFLOW)


def workflow_pruning(server: Server, dag: Mapping[str, Any]) -> PlanStep:
    fires = next_fires(server, dag, dag["dag_id"])
    return PlanStep(Action.PRUNE, dag["name"], kept=dag, fires_removed=fires.first, noun=Noun.WORKFLOW)


def definition_of(server: Server, dag: Mapping[str, Any]) -> dict[str, Any]:
    """As it was written."""
    definition: dict[str, Any] = server.get(path_of("dags", dag["dag_id"]))["definition"]
    return definition


def runs_in(form: Mapping[str, Any]) -> Sequence[str]:
    """The workflows that its tasks run."""
    tasks = form.get("tasks")
    return [
        task["dag"] for task in tasks or () if isinstance(task, dict) and isinstance(task.get("dag"), str)
    ]


def _read(form: Mapping[str, Any]) -> WrittenDag:
    """Also whether it could run at all, but for the payloads, which the server knows."""
    try:
        return checked(dict(form), GraphLimits(), accept)[0]
    except InvalidInput as error:
        error.add_note(f"(in the workflow {form['name']!r})")
        raise


def _changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Of fields, and of tasks by their names."""
    found = diff(before, after)
    tasks = {side: {task["name"]: task for task in one["tasks"]} for side, one in enumerate((before, after))}
    changes: dict[str, tuple[Any, Any]] = {
        name: (one.before, one.after) for name, one in found.fields.items()
    }
    changes |= {f"tasks.{name}": (None, tasks[1][name]) for name in found.added}
    changes |= {f"tasks.{name}": (tasks[0][name], None) for name in found.removed}
    for name, fields in found.changed.items():
        changes |= {f"tasks.{name}.{field}": (one.before, one.after) for field, one in fields.items()}
    return changes
