"""Arguments that a run of a schedule brings with it: the day or the time that it is for.

A run that the schedule fires has nobody to give it arguments. For a `date` or a `datetime` without a default
there is an obvious one: the nominal time, read in the zone of the schedule.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from datetime import date, datetime, tzinfo
from typing import Any

import msgspec

from gnomon.errors import InvalidInput
from gnomon.handlers.base import Context, JobFailed
from gnomon.handlers.python.arguments import Signature

CONTEXT = "context"


def nominal_arguments(signature: Signature) -> Mapping[str, type]:
    """Which arguments the nominal time fills in. Raises InvalidInput if a run of a schedule lacks others."""
    needed = [field for field in msgspec.structs.fields(signature.whole) if field.required]
    for field in needed:
        if field.type not in (date, datetime):
            raise InvalidInput(
                f"arguments.{field.name}", "nobody gives it to a run of a schedule; give it a default."
            )
    return {field.name: field.type for field in needed}


def filled_in(
    function: Callable[..., Any], names: Mapping[str, type], context_name: str | None, zone: tzinfo
) -> Callable[..., Any]:
    """The function, called with the nominal time for those of its arguments that are not given."""

    def fill(arguments: dict[str, Any]) -> dict[str, Any]:
        context: Context = arguments[CONTEXT if context_name is None else context_name]
        if context_name is None:
            del arguments[CONTEXT]
        for name, kind in names.items():
            if name not in arguments:
                arguments[name] = _nominal(context, name, kind, zone)
        return arguments

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def filled(**arguments: Any) -> Any:
            return await function(**fill(arguments))
    else:

        @functools.wraps(function)
        def filled(**arguments: Any) -> Any:
            return function(**fill(arguments))

    filled.__signature__ = _signature(function, names, context_name)  # type: ignore[attr-defined]
    return filled


def _nominal(context: Context, name: str, kind: type, zone: tzinfo) -> date:
    if context.nominal_time is None:
        raise JobFailed(f"Argument {name}: nobody gave it.", kind="bad_arguments", permanent=True)
    local = context.nominal_time.astimezone(zone)
    return local if kind is datetime else local.date()


def _signature(
    function: Callable[..., Any], names: Mapping[str, type], context_name: str | None
) -> inspect.Signature:
    kinds = inspect.Parameter
    named, more = [], []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is kinds.VAR_KEYWORD:
            more.append(parameter)
        elif parameter.kind is not kinds.VAR_POSITIONAL:
            default = None if parameter.name in names else parameter.default
            named.append(parameter.replace(kind=kinds.KEYWORD_ONLY, default=default))
    if context_name is None:
        named.append(kinds(CONTEXT, kinds.KEYWORD_ONLY))
    return inspect.Signature([*named, *more])
