"""The part of an app that declares workflows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from typing import Any, overload

from gnomon.app.connection import AppConnection
from gnomon.app.jobs.calls import duration
from gnomon.app.jobs.declaration import Seconds, When, choice
from gnomon.app.workflows.dag_function import DagFunction, sub_dag
from gnomon.app.workflows.sketch import TaskOptions, drawing
from gnomon.core.time.schedule import Schedule
from gnomon.core.values.document import JSON
from gnomon.core.workflows.workflow import FailureStrategy
from gnomon.errors import GnomonError, InvalidInput

DagDecorator = Callable[[Callable[..., object]], DagFunction]


class DeclaresDags:
    """`dags` are those that were declared, by their names."""

    def __init__(self) -> None:
        self.dags: dict[str, DagFunction] = {}

    @abstractmethod
    async def connected(self) -> AppConnection: ...

    @abstractmethod
    def has_job(self, name: str) -> bool: ...

    @overload
    def dag(self, function: Callable[..., object], /) -> DagFunction: ...

    @overload
    def dag(
        self,
        /,
        *,
        name: str | None = None,
        cron: str | None = None,
        every: Seconds | None = None,
        timezone: str | None = None,
        schedule: Schedule | None = None,
        misfire: str | None = None,
        overlap: str | None = None,
        failure_strategy: str | None = None,
        allow_partial_completion: bool | None = None,
        config: Mapping[str, JSON] | None = None,
        tags: Collection[str] = (),
    ) -> DagDecorator: ...

    def dag(
        self,
        function: Callable[..., object] | None = None,
        /,
        *,
        name: str | None = None,
        cron: str | None = None,
        every: Seconds | None = None,
        timezone: str | None = None,
        schedule: Schedule | None = None,
        misfire: str | None = None,
        overlap: str | None = None,
        failure_strategy: str | None = None,
        allow_partial_completion: bool | None = None,
        config: Mapping[str, JSON] | None = None,
        tags: Collection[str] = (),
    ) -> DagFunction | DagDecorator:
        """Declare a workflow. The function below is called once, and each job that it calls is a task.

        What a job returns there is a promise; a job that is given it runs after it, with the result. The
        parameters of the function are keys of the configuration. Raises InvalidInput for what cannot be.
        """
        options = {key: value for key, value in locals().items() if key not in ("self", "function", "name")}

        def declared(function: Callable[..., object]) -> DagFunction:
            return self._declared_dag(function, name or function.__name__, options)

        return declared if function is None else declared(function)

    def approval(
        self,
        name: str,
        *,
        timeout: Seconds | None = None,
        after: Any = (),
        trigger_rule: str | None = None,
        when: Any = (),
    ) -> Any:
        """In a function of `@app.dag`: a task that waits for a person."""
        options = TaskOptions(name=name, after=after, trigger_rule=trigger_rule, when=when)
        return drawing("approval").add(name, {"approval": _timeout(timeout)}, options)

    def event(
        self,
        event: str,
        *,
        correlation: object = "",
        timeout: Seconds | None = None,
        name: str | None = None,
        after: Any = (),
        trigger_rule: str | None = None,
        when: Any = (),
    ) -> Any:
        """In a function of `@app.dag`: a task that waits for an event. It promises what the event brings."""
        options = TaskOptions(name=name, after=after, trigger_rule=trigger_rule, when=when)
        awaited = {"name": event, "correlation": correlation, **_timeout(timeout)}
        return drawing("event").add(event, {"event": awaited}, options)

    def sub_dag(
        self,
        dag: str,
        *,
        config: Mapping[str, Any] | None = None,
        name: str | None = None,
        after: Any = (),
        trigger_rule: str | None = None,
        when: Any = (),
    ) -> Any:
        """In a function of `@app.dag`: a run of another workflow. One of this app can be called instead."""
        options = TaskOptions(name=name, after=after, trigger_rule=trigger_rule, when=when)
        return sub_dag(dag, config or {}, options)

    def _declared_dag(
        self, function: Callable[..., object], name: str, options: Mapping[str, Any]
    ) -> DagFunction:
        try:
            self.dags[name] = self._new_dag(function, name, **options)
        except GnomonError as error:
            error.add_note(f"That is about the workflow {name!r} in {function.__module__!r}.")
            raise
        return self.dags[name]

    def _new_dag(
        self,
        function: Callable[..., object],
        name: str,
        *,
        failure_strategy: str | None = None,
        allow_partial_completion: bool | None = None,
        config: Mapping[str, JSON] | None = None,
        tags: Collection[str] = (),
        **when: Any,
    ) -> DagFunction:
        if name in self.dags:
            raise InvalidInput("name", f"a workflow named {name!r} is declared already.")
        if self.has_job(name):
            raise InvalidInput("name", f"a job is named {name!r}; a workflow needs a name of its own.")
        if failure_strategy is not None:
            choice(FailureStrategy, failure_strategy, field="failure_strategy")
        return DagFunction(
            self,
            function,
            name,
            When(**when).as_schedule(),
            config=config,
            failure_strategy=failure_strategy,
            allow_partial_completion=allow_partial_completion,
            tags=[*sorted(tags)] or None,
        )


def _timeout(timeout: Seconds | None) -> dict[str, float]:
    given = duration(timeout, field="timeout")
    return {} if given is None else {"timeout_seconds": given.total_seconds()}
