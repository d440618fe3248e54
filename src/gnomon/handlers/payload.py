"""Reads payloads into types, and puts the input of an execution on top of the arguments of its job."""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

from gnomon.core.values.choices import allowed, beside, fields_at, one_of
from gnomon.core.values.document import JSON
from gnomon.errors import InvalidInput
from gnomon.handlers.base import JobFailed

_Payload = TypeVar("_Payload", bound=msgspec.Struct)

_PLACE = re.compile(r" - at `\$(?P<path>.*)`$")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_FIELD = re.compile(r"field `(?P<name>[^`]+)`")


def read(payload: JSON, into: type[_Payload]) -> _Payload:
    """Raises InvalidInput that names the field."""
    try:
        return msgspec.convert(payload, into)
    except msgspec.ValidationError as error:
        text = str(error)
        place = _PLACE.search(text)
        path, said = (place["path"] if place else ""), _PLACE.sub("", text)
        if unknown := _UNKNOWN.fullmatch(said):
            name = unknown["name"]
            reason = f"is not a field here.{beside(name, fields_at(into, path))}"
            raise InvalidInput(f"payload{path}.{name}", reason) from None
        words = one_of(allowed(into, path))
        named = _FIELD.search(said)
        field = f"payload{path}.{named['name']}" if named else f"payload{path}"
        raise InvalidInput(field, f"{said}{words}.") from None


def read_to_run(payload: JSON, into: type[_Payload]) -> _Payload:
    """The same when the job runs: what is wrong with it now is wrong for ever."""
    try:
        return read(payload, into)
    except InvalidInput as error:
        raise bad_payload(error) from error


def bad_payload(error: InvalidInput) -> JobFailed:
    return JobFailed(str(error), kind="bad_payload", permanent=True)


def merged(arguments: dict[str, JSON], given: JSON) -> dict[str, JSON]:
    """The arguments of the job with the input of the execution on top."""
    if given is None:
        return arguments
    if not isinstance(given, dict):
        raise JobFailed(
            f"The input of the execution must be an object, not {type(given).__name__}.",
            kind="bad_arguments",
            permanent=True,
        )
    return arguments | given
