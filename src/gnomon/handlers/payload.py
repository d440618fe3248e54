"""Reads payloads into types, and puts the input of an execution on top of the arguments of its job."""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

from gnomon.core.choices import allowed, one_of
from gnomon.core.document import JSON
from gnomon.errors import InvalidInput
from gnomon.handlers.base import JobFailed

_Payload = TypeVar("_Payload", bound=msgspec.Struct)

_PLACE = re.compile(r" - at `\$(?P<path>.*)`$")
_FIELD = re.compile(r"field `(?P<name>[^`]+)`")


def read(payload: JSON, into: type[_Payload]) -> _Payload:
    """Raises InvalidInput that names the field."""
    try:
        return msgspec.convert(payload, into)
    except msgspec.ValidationError as error:
        text = str(error)
        place = _PLACE.search(text)
        field = "payload" + (place["path"] if place else "")
        named = _FIELD.search(text)
        if named:
            field += f".{named['name']}"
        words = one_of(allowed(into, place["path"])) if place else ""
        raise InvalidInput(field, f"{_PLACE.sub('', text)}{words}.") from None


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
