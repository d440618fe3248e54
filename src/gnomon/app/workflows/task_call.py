"""A job or a workflow that is called inside of a function with `@app.dag`: that makes a task."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from gnomon.app.workflows.promises import Promised, is_known, written
from gnomon.app.workflows.sketch import TaskOptions, drawing
from gnomon.core.jobs.job import Definition
from gnomon.errors import InvalidInput
from gnomon.handlers.python.arguments import Signature

_ITEM = "${item}"
_OF_ITEM = re.compile(r"(?<!\$)\$\{(item|index)\b")
_Kind = inspect.Parameter


class CalledJob(Protocol):
    """A job that can be a task."""

    name: str
    definition: Definition

    def task_payload(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The payload of a task that is called like this. What is promised is in it as it is."""


class FunctionJob(Protocol):
    """What `@app.job` made."""

    name: str
    signature: Signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    def needs(self) -> frozenset[str]: ...


class JobTask:
    """A job and what is said of the task that it becomes when this is called."""

    def __init__(self, job: CalledJob, options: TaskOptions) -> None:
        self._job = job
        self._options = options

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A promise of what the job returns."""
        job = self._job
        sketch = drawing(job.name)
        payload = job.task_payload(args, kwargs)
        if self._options.over is not None and not _has_item(payload):
            raise InvalidInput("over", 'no argument is the item; write job.map(items), or "${item.key}".')
        work = {"kind": job.definition.kind, "payload": payload, **_options(job.definition)}
        return sketch.add(job.name, work, self._options)

    def map(self, items: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A run of the job for each item, which is its first argument. A promise of the list of results."""
        return JobTask(self._job, replace(self._options, over=items))(_ITEM, *args, **kwargs)


def function_arguments(job: FunctionJob, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """By name. Raises InvalidInput for those that the job cannot be called with, as far as they are known."""
    signature = inspect.signature(job)
    try:
        bound = signature.bind_partial(*args, **kwargs).arguments
    except TypeError as error:
        raise InvalidInput("arguments", f"{job.name!r} {error}.") from None
    given: dict[str, Any] = {}
    for name, value in bound.items():
        match signature.parameters[name].kind:
            case _Kind.VAR_KEYWORD:
                given |= value
            case _Kind.VAR_POSITIONAL:
                raise InvalidInput(
                    "arguments", f"{job.name!r} gets more than has names; arguments have names."
                )
            case _:
                given[name] = value
    if job.signature.context_name in given:
        raise InvalidInput(
            f"arguments.{job.signature.context_name}", "is given by the worker, not by the workflow."
        )
    for name in sorted(job.needs() - given.keys()):
        raise InvalidInput(f"arguments.{name}", f"is missing; {job.name!r} needs it.")
    plain = {name: written(value, _ignore, field=f"arguments.{name}") for name, value in given.items()}
    known = {name: value for name, value in plain.items() if is_known(value)}
    job.signature.check(known, field="arguments")
    return given


def _has_item(value: object) -> bool:
    return bool(_OF_ITEM.search(json.dumps(written(value, _ignore, field="arguments"))))


def _ignore(_: Promised) -> None:
    pass


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
            "crash_limit": retry.crash_limit,
        },
    }
