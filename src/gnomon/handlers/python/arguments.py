"""Turns JSON into the arguments of a function, by its annotations, and its result back into JSON."""

from __future__ import annotations

import inspect
import json
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from gnomon.core.values.document import JSON, Document, check_json
from gnomon.errors import InvalidInput
from gnomon.handlers.base import Context, JobFailed

_NAMED = re.compile(r"\$\.([^.\[`]+)|field `([^`]+)`")
_Kind = inspect.Parameter


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes, made once when it is registered."""

    whole: type[msgspec.Struct]  # Every argument that has no default is needed.
    decoder: msgspec.json.Decoder[msgspec.Struct]  # Into that.
    partial: type[msgspec.Struct]  # None is needed: the execution may bring it.
    names: tuple[str, ...]
    context_name: str | None
    takes_more: bool

    @property
    def takes_nothing(self) -> bool:
        return not self.names and not self.takes_more

    def arguments(self, values: Mapping[str, JSON]) -> dict[str, Any]:
        """What to call the function with. Raises a permanent JobFailed that names the argument."""
        try:
            return self._convert(values, self.whole)
        except msgspec.ValidationError as error:
            raise JobFailed(
                f"Argument {_named(error)}: {error}", kind="bad_arguments", permanent=True
            ) from None

    def arguments_of(self, given: Document) -> dict[str, Any] | None:
        """The same from JSON as it was kept, in one go. None if that does not work; `arguments` says why."""
        if self.takes_more:
            return None
        try:
            return self._found(self.decoder.decode(given.text))
        except msgspec.ValidationError:
            return None

    def check(self, values: Mapping[str, JSON], *, field: str) -> None:
        """Refuse arguments that no input can repair. A missing one may come with the execution."""
        self._check(values, self.partial, field)

    def check_whole(self, values: Mapping[str, JSON], *, field: str) -> None:
        """Refuse arguments that the function cannot be called with as they are."""
        self._check(values, self.whole, field)

    def _check(self, values: Mapping[str, JSON], into: type[msgspec.Struct], field: str) -> None:
        try:
            self._convert(values, into)
        except msgspec.ValidationError as error:
            raise InvalidInput(f"{field}.{_named(error)}", f"{error}.") from None

    def _convert(self, values: Mapping[str, JSON], into: type[msgspec.Struct]) -> dict[str, Any]:
        more = {}
        if self.takes_more:
            more = {name: value for name, value in values.items() if name not in self.names}
            values = {name: value for name, value in values.items() if name in self.names}
        return self._found(msgspec.convert(values, into)) | more

    def _found(self, decoded: msgspec.Struct) -> dict[str, Any]:
        return {name: value for name in self.names if (value := getattr(decoded, name)) is not msgspec.UNSET}


def signature_of(function: Callable[..., Any]) -> Signature:
    """Raises InvalidInput for a function that cannot be called with JSON."""
    fields: list[tuple[str, Any, bool]] = []
    context_name, takes_more = None, False
    hints = _hints(function)
    for name, parameter in inspect.signature(function).parameters.items():
        annotation = hints.get(name, Any)
        if parameter.kind is _Kind.POSITIONAL_ONLY:
            raise InvalidInput(
                "function", f"the parameter {name!r} is positional only; arguments have names."
            )
        if parameter.kind is _Kind.VAR_POSITIONAL:
            continue
        if parameter.kind is _Kind.VAR_KEYWORD:
            takes_more = True
        elif name == "context" or annotation is Context:
            context_name = name
        else:
            fields.append((name, annotation, parameter.default is _Kind.empty))
    whole = _struct(fields)
    return Signature(
        whole=whole,
        decoder=msgspec.json.Decoder(whole),
        partial=_struct([(name, annotation, False) for name, annotation, _ in fields]),
        names=tuple(name for name, _, _ in fields),
        context_name=context_name,
        takes_more=takes_more,
    )


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    plain = inspect.unwrap(function)
    while not hasattr(plain, "__annotations__"):  # A partial, or an object that can be called.
        plain = getattr(plain, "func", None) or type(plain).__call__
    try:
        return typing.get_type_hints(plain, include_extras=True)
    except NameError as error:
        raise InvalidInput(
            "function", f"an annotation cannot be read: {error}. Import what it names outside TYPE_CHECKING."
        ) from error


def _struct(fields: list[tuple[str, Any, bool]]) -> type[msgspec.Struct]:
    """UNSET marks what was not given: the function's own default then holds, whatever it is."""
    described = [
        (name, annotation) if needed else (name, annotation, msgspec.UNSET)
        for name, annotation, needed in fields
    ]
    try:
        made = msgspec.defstruct("Arguments", described, kw_only=True, forbid_unknown_fields=True)
        msgspec.json.Decoder(made)  # Looks at every type now, so that a bad one fails at registration.
    except TypeError as error:
        raise InvalidInput("function", f"an annotation is not for JSON: {error}.") from error
    return made


def _named(error: msgspec.ValidationError) -> str:
    found = _NAMED.search(str(error))
    return (found[1] or found[2]) if found else "?"


def as_json(result: object) -> JSON:
    """The result of a function as JSON. Raises a permanent JobFailed for what cannot be written down."""
    try:
        return _plain(result)
    except InvalidInput:
        pass  # Dates, dataclasses, tuples, …: not plain, but perhaps JSON all the same.
    try:
        return _plain(json.loads(json.dumps(msgspec.to_builtins(result, str_keys=True), allow_nan=False)))
    except (InvalidInput, TypeError, ValueError, RecursionError, OverflowError) as error:
        raise JobFailed(f"The result is not JSON: {error}", kind="bad_result", permanent=True) from error


def _plain(value: Any) -> JSON:
    check_json(value, field="result")
    plain: JSON = value
    return plain
