"""A run of a workflow in lines: what its tasks did, and what it waits for, with the verbs that help."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gnomon.cli.output.tables import text_of
from gnomon.cli.output.terminal import printable
from gnomon.core.runs.state import RunStatus, TaskStatus

TIME_LENGTH = len("2026-01-01T00:00:00Z")

Fields = Mapping[str, Any]


def task_line(task: Fields) -> str:
    at = text_of(task["completed_at"] or task["started_at"] or "")
    line = f"{at:<{TIME_LENGTH}}  {printable(task['name'])}: {task['status']}"
    return line + _reason(task)


def run_line(run: Fields) -> str:
    return f"run {run['dag_run_id']}: {run['status']}{_reason(run)}"


def waits(run: Fields, tasks: Sequence[Fields]) -> Iterator[str]:
    """What keeps it from going on, that somebody could do something about."""
    run_id, status = run["dag_run_id"], run["status"]
    halted = [task for task in tasks if task["status"] == TaskStatus.HALTED]
    for task in halted:
        word = _word(task["name"])
        yield (
            f"{printable(task['name'])} failed, and the run waits for your decision: "
            f"gnomon dag-run retry|skip|succeed|fail {run_id} {word}"
        )
    if status == RunStatus.PENDING:
        yield f"the run has not begun; gnomon run explain {run_id} says why."
    elif status == RunStatus.PAUSED and not halted:
        yield f"the run is paused, and nothing new of it begins: gnomon dag-run resume {run_id}"
    for task in tasks:
        if task["status"] == TaskStatus.HELD and task["waits_for"] is not None:
            yield f"{printable(task['name'])} waits {_for(task, run_id)}"


def _for(task: Fields, run_id: str) -> str:
    hold = task["waits_for"]
    until = f" until {text_of(hold['until'])}" if hold["until"] else ""
    if hold["event"] is None:
        return f"for an approval{until}: gnomon dag-run approve {run_id} {_word(task['name'])}"
    correlation = f" --correlation {_word(hold['correlation'])}" if hold["correlation"] else ""
    return f"for an event{until}: gnomon dag send {_word(hold['event'])}{correlation}"


def _word(text: str) -> str:
    return printable(shlex.quote(text))


def _reason(one: Fields) -> str:
    """On one line, whatever a handler wrote."""
    return "" if one["error"] is None else f": {printable(' '.join(one['error']['message'].split()))}"
