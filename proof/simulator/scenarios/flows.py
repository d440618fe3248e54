"""Workflows of a scenario, and how somebody would write them down."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from gnomon.core.values.document import JSON
from proof.simulator.scenarios.behaviour import KIND, Behaviour

# What an approval, or a person who mends, says in place of a result.
BY_A_PERSON: JSON = {"proof": "a person", "items": ["a person"], "coin": True}
EVENT = "signal"


class Does(StrEnum):
    RUN = "run"
    FAN_OUT = "fan_out"
    DAG = "dag"
    APPROVAL = "approval"
    EVENT = "event"


class TaskSpec(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task. `reads`: parents whose results it is given; `over`: the one whose list it fans out over."""

    name: str
    does: Does = Does.RUN
    after: tuple[str, ...] = ()
    rule: str = "all_success"
    reads: tuple[str, ...] = ()
    over: str | None = None
    only_if: str | None = None  # The parent that tosses a coin for it.
    inner: str | None = None
    waits: float | None = None  # Seconds that it is held for at most.
    max_attempts: int = 3
    backoff_base: float = 1.0
    timeout: float | None = None
    priority: int = 5
    queue: str = "default"
    behaviour: Behaviour = Behaviour()


class FlowSpec(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    tasks: tuple[TaskSpec, ...]
    strategy: str = "FAIL_DOWNSTREAM"
    partial: bool = False
    every: float | None = None
    overlap: str = "allow"


def document_of(spec: FlowSpec) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": spec.name,
        "failure_strategy": spec.strategy,
        "allow_partial_completion": spec.partial,
        "tasks": [_task(task) for task in spec.tasks],
    }
    if spec.every is not None:
        schedule = {"type": "interval", "interval_seconds": spec.every, "overlap_policy": spec.overlap}
        document["schedule"] = schedule
    return document


def _task(task: TaskSpec) -> dict[str, Any]:
    document: dict[str, Any] = {"name": task.name, "depends_on": list(task.after), "trigger_rule": task.rule}
    if task.only_if is not None:
        reference = f"${{tasks.{task.only_if}.result.coin}}"
        document["condition"] = {"value_of": reference, "is": "==", "value": True}
    match task.does:
        case Does.DAG:
            document["dag"] = task.inner
        case Does.APPROVAL:
            document["approval"] = {"timeout_seconds": task.waits}
        case Does.EVENT:
            document["event"] = {"name": EVENT, "timeout_seconds": task.waits}
        case Does.RUN | Does.FAN_OUT:
            document |= _work(task)
    return document


def _work(task: TaskSpec) -> dict[str, Any]:
    inputs = {parent: f"${{tasks.{parent}.result}}" for parent in task.reads}
    document: dict[str, Any] = {
        "kind": KIND,
        "payload": msgspec.to_builtins(task.behaviour) | {"inputs": inputs},
        "timeout_seconds": task.timeout,
        "retry_policy": {"max_attempts": task.max_attempts, "backoff_seconds": task.backoff_base},
        "queue": task.queue,
        "priority": task.priority,
    }
    if task.does is Does.FAN_OUT:
        document["fan_out"] = {"over": f"${{tasks.{task.over}.result.items}}"}
        document["payload"]["inputs"] = {task.over: "${item}"}
    return document


def marks_of(inputs: Mapping[str, Any]) -> dict[str, tuple[str, ...]] | None:
    """Whose results a handler was given, in the words of a history."""
    if not inputs:
        return None
    return {
        name: tuple(map(_mark, value if isinstance(value, list) else [value]))
        for name, value in inputs.items()
    }


def _mark(result: Any) -> str:
    if isinstance(result, dict):
        return str(result.get("proof") or result.get("dag_run_id"))
    return str(result)
