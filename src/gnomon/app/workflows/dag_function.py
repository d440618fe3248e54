"""A function that describes a workflow: inside of it, calling a job makes a task instead of running it.

Its parameters are keys of the configuration, and their defaults the values. Inside, they are promises, too.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from gnomon.app.connection import AppConnection
from gnomon.app.workflows.promises import Promised, config_value, written
from gnomon.app.workflows.sketch import DRAWING, Sketch, TaskOptions, drawing
from gnomon.core.runs.run import Run
from gnomon.core.time.schedule import Manual, Schedule
from gnomon.core.time.schedule_document import to_document
from gnomon.core.values.document import JSON, Document
from gnomon.core.workflows.dag import DEFINITION_BYTES_MAX
from gnomon.core.workflows.document import read_dag
from gnomon.core.workflows.workflow import Plan
from gnomon.errors import InvalidInput

_Kind = inspect.Parameter


class DagConnector(Protocol):
    """What a workflow needs of its app."""

    async def connected(self) -> AppConnection: ...


class DagFunction:
    """What `@app.dag` makes of a function. `document` is the definition, as it could be sent over HTTP."""

    def __init__(
        self,
        app: DagConnector,
        function: Callable[..., object],
        name: str,
        schedule: Schedule,
        *,
        config: Mapping[str, JSON] | None = None,
        **more: JSON,
    ) -> None:
        """Calls the function, and checks what comes of it. Raises InvalidInput."""
        _check_plain(function)
        functools.update_wrapper(self, function)
        self.name = name
        self._app = app
        sketch = Sketch(_configuration(function, config or {}))
        self._needs = frozenset(inspect.signature(function).parameters) - sketch.config.keys()
        if self._needs and not isinstance(schedule.timing, Manual):
            raise InvalidInput(
                f"config.{min(self._needs)}", "nobody gives it to a run of a schedule; give it a default."
            )
        _draw(function, sketch)
        self.document: dict[str, Any] = {
            "name": name,
            "schedule": dict(to_document(schedule)),
            "tasks": list(sketch.tasks.values()),
            **({"config": sketch.config} if sketch.config else {}),
            **{key: value for key, value in more.items() if value is not None},
        }
        Document.of(self.document, field="dag", bytes_max=DEFINITION_BYTES_MAX)
        Plan.of(read_dag(self.document).workflow)

    def __repr__(self) -> str:
        return f"<dag {self.name}>"

    def __call__(self, **config: Any) -> Any:
        """In another function of `@app.dag`: a task that is a run of this one, with these keys."""
        return self.task()(**config)

    def task(
        self,
        *,
        name: str | None = None,
        after: Any = (),
        trigger_rule: str | None = None,
        when: Any = (),
    ) -> Callable[..., Any]:
        """The same with options: call what this returns with the keys."""
        options = TaskOptions(name=name, after=after, trigger_rule=trigger_rule, when=when)

        def call(**config: Any) -> Any:
            if DRAWING.get() is None:
                raise InvalidInput(self.name, "is a workflow; run it with `await ….trigger()`.")
            self._check_needs(config)
            return sub_dag(self.name, config, options)

        return call

    async def trigger(self, **config: JSON) -> Run:
        """Run it now, with these keys over its configuration. Raises InvalidInput for one that is missing."""
        self._check_needs(config)
        client = (await self._app.connected()).client
        dag = await client.dags.named(self.name)
        return await client.dags.trigger(dag.job.id, config=config or None)

    def _check_needs(self, config: Mapping[str, Any]) -> None:
        for key in sorted(self._needs - config.keys()):
            raise InvalidInput(f"config.{key}", f"is missing; the workflow {self.name!r} needs it.")


def sub_dag(dag: str, config: Mapping[str, Any], options: TaskOptions) -> Any:
    return drawing("sub_dag").add(dag, {"dag": dag, "config": dict(config)}, options)


def _check_plain(function: Callable[..., object]) -> None:
    """Refuse functions whose body would not run when they are called."""
    if inspect.iscoroutinefunction(function):
        raise InvalidInput("function", "is `async`; it describes the workflow and awaits nothing: use `def`.")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise InvalidInput("function", "has a `yield`; it describes the workflow: call jobs, without it.")


def _configuration(function: Callable[..., object], config: Mapping[str, JSON]) -> dict[str, JSON]:
    """What is said beside the function, and the defaults of its parameters."""
    found = dict(config)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (_Kind.POSITIONAL_OR_KEYWORD, _Kind.KEYWORD_ONLY):
            raise InvalidInput(
                "function",
                f"the parameter {name!r} is not one key of the configuration; give it a plain name.",
            )
        if parameter.default is _Kind.empty:
            continue
        if name in config:
            raise InvalidInput(f"config.{name}", "is the default of a parameter, too; say it once.")
        found[name] = written(parameter.default, _no_promise, field=f"config.{name}")
    return found


def _no_promise(promised: Promised) -> None:
    raise InvalidInput("config", f"{promised.text} is not known before a run.")


def _draw(function: Callable[..., object], sketch: Sketch) -> None:
    parameters = inspect.signature(function).parameters
    token = DRAWING.set(sketch)
    try:
        function(**{name: config_value(name, sketch) for name in parameters})
    finally:
        DRAWING.reset(token)
