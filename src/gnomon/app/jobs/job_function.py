"""A function that is a job, too: call it as before, or enqueue it."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Collection, Mapping
from typing import Any, Generic, ParamSpec, TypeVar

import msgspec

from gnomon.app.jobs.calls import encoded, split
from gnomon.app.jobs.declaration import Declaration, payload_of
from gnomon.app.jobs.declared_job import DeclaredJob
from gnomon.app.jobs.job_call import JobConnector
from gnomon.app.jobs.nominal_arguments import filled_in, nominal_arguments
from gnomon.app.workflows.sketch import DRAWING
from gnomon.app.workflows.task_call import function_arguments
from gnomon.core.time.nominal import zone_of
from gnomon.core.time.schedule import Manual
from gnomon.core.values.document import JSON, Document
from gnomon.core.workflows.references import escaped
from gnomon.errors import InvalidInput
from gnomon.handlers.python.arguments import Signature, signature_of
from gnomon.handlers.python.handler import FunctionHandler

P = ParamSpec("P")
Returned = TypeVar("Returned")
Result = TypeVar("Result")


class JobFunction(DeclaredJob[Result], Generic[P, Returned, Result]):
    """What `@app.job` makes of a function."""

    def __init__(
        self, app: JobConnector, function: Callable[P, Returned], name: str, declaration: Declaration
    ) -> None:
        functools.update_wrapper(self, function)
        definition = declaration.definition(FunctionHandler.kind, payload_of(name, {}))
        super().__init__(app, name, definition, declaration.tags, _returns_of(function))
        self.signature: Signature = signature_of(function)
        self._function = function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Returned:
        """The function itself, here and now, without a store. In a function of `@app.dag`: a task."""
        if DRAWING.get() is not None:
            return self.task()(*args, **kwargs)  # type: ignore[no-any-return]
        return self._function(*args, **kwargs)

    def body(self) -> Callable[..., Any]:
        """What a worker calls: the function, with the nominal time for what a schedule cannot give it."""
        schedule = self.definition.schedule
        if isinstance(schedule.timing, Manual):
            return self._function
        names = nominal_arguments(self.signature)
        if not names:
            return self._function
        return filled_in(self._function, names, self.signature.context_name, zone_of(schedule))

    def needs(self) -> frozenset[str]:
        """The arguments that nobody gives if the caller does not."""
        needed = {field.name for field in msgspec.structs.fields(self.signature.whole) if field.required}
        is_manual = isinstance(self.definition.schedule.timing, Manual)
        return frozenset(needed if is_manual else needed - nominal_arguments(self.signature).keys())

    def split(
        self, given: Mapping[str, Any], options: Collection[str]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        return split(given, self.signature, options)

    def encoded(self, arguments: Mapping[str, Any]) -> dict[str, JSON]:
        return encoded(arguments, self.signature)

    def payload(self, values: dict[str, JSON]) -> Document:
        return payload_of(self.name, values)

    def task_payload(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return {"function": escaped(self.name), "arguments": function_arguments(self, args, kwargs)}


def _returns_of(function: Callable[..., Any]) -> Any:
    """The type of the result, to decode it by. Raises InvalidInput for one that JSON cannot bring back."""
    plain = inspect.unwrap(function)
    hints = typing.get_type_hints(plain, include_extras=True) if hasattr(plain, "__annotations__") else {}
    returns = hints.get("return", Any)
    try:
        msgspec.json.Decoder(returns)
    except TypeError as error:
        raise InvalidInput("function", f"what it returns is not for JSON: {error}.") from error
    return returns
