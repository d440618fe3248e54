"""A function that describes a workflow: inside of it, calling a job makes a task instead of running it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from gnomon.app.connection import Connection
from gnomon.core.dag import Run
from gnomon.core.document import JSON
from gnomon.core.job import Definition
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_document import to_document
from gnomon.errors import InvalidInput


class Connector(Protocol):
    """What a workflow needs of its app."""

    async def connected(self) -> Connection: ...


class Job(Protocol):
    """What is called inside of the function: what `@app.job` made."""

    name: str
    definition: Definition

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class Promised:
    """What a task will bring. Hand it to another job, and that one runs after it."""

    task: str

    def after(self, *others: Promised) -> Promised:
        """Run it after these, too, whose results it does not need."""
        sketch = DRAWING.get()
        if sketch is None:
            raise InvalidInput("after", "belongs into the function that describes the workflow.")
        sketch.wait(self.task, [other.task for other in others])
        return self


@dataclass(slots=True)
class Sketch:
    """The tasks of a workflow while they are being written down."""

    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, job: Job, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Promised:
        given = inspect.signature(job).bind_partial(*args, **kwargs).arguments
        waits_for: list[str] = []
        arguments = {name: _written(value, waits_for) for name, value in given.items()}
        name = self._name(job.name)
        payload = {"function": job.name, "arguments": arguments}
        self.tasks[name] = {
            "name": name,
            "kind": job.definition.kind,
            "payload": payload,
            "depends_on": list(dict.fromkeys(waits_for)),
            **_options(job.definition),
        }
        return Promised(name)

    def wait(self, task: str, others: list[str]) -> None:
        waits_for = self.tasks[task]["depends_on"]
        waits_for += [other for other in others if other not in waits_for]

    def _name(self, name: str) -> str:
        number = 2
        found = name
        while found in self.tasks:
            found = f"{name}_{number}"
            number += 1
        return found


DRAWING: ContextVar[Sketch | None] = ContextVar("DRAWING", default=None)


class DagFunction:
    """What `@app.dag` makes of a function. `document` is the definition, as it could be sent over HTTP."""

    def __init__(
        self, app: Connector, function: Callable[[], object], name: str, schedule: Schedule, **more: JSON
    ) -> None:
        self.name = name
        self._app = app
        self.document: dict[str, Any] = {
            "name": name,
            "schedule": dict(to_document(schedule)),
            "tasks": _drawn(function),
            **{key: value for key, value in more.items() if value is not None},
        }

    def __repr__(self) -> str:
        return f"<dag {self.name}>"

    async def trigger(self, **config: JSON) -> Run:
        """Run it now, with these keys over its configuration."""
        client = (await self._app.connected()).client
        dag = await client.dags.named(self.name)
        return await client.dags.trigger(dag.job.id, config=config or None)


def _drawn(function: Callable[[], object]) -> list[dict[str, Any]]:
    sketch = Sketch()
    token = DRAWING.set(sketch)
    try:
        function()
    finally:
        DRAWING.reset(token)
    return list(sketch.tasks.values())


def _written(value: object, waits_for: list[str]) -> JSON:
    """An argument as it is kept: what is promised is a reference to what it will be."""
    match value:
        case Promised(task):
            waits_for.append(task)
            return f"${{tasks.{task}.result}}"
        case list() | tuple():
            return [_written(one, waits_for) for one in value]
        case dict():
            return {str(key): _written(one, waits_for) for key, one in value.items()}
        case _:
            written: JSON = msgspec.to_builtins(value)
            return written


def _options(definition: Definition) -> dict[str, Any]:
    retry, timeout = definition.retry, definition.timeout
    return {
        "queue": definition.queue,
        "priority": definition.priority,
        "capabilities": sorted(definition.capabilities),
        "timeout_seconds": None if timeout is None else timeout.total_seconds(),
        "retry_policy": {
            "max_attempts": retry.max_attempts,
            "backoff": retry.backoff.value,
            "backoff_seconds": retry.backoff_base.total_seconds(),
            "backoff_multiplier": retry.multiplier,
            "max_backoff_seconds": retry.backoff_max.total_seconds(),
            "jitter": retry.jitter,
            "retry_on": None if retry.retry_on is None else sorted(retry.retry_on),
        },
    }
