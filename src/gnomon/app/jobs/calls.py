"""From the keywords of a call to arguments of a function, checked and encoded, and options of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any

import msgspec

from gnomon.client import Ask
from gnomon.core.jobs.job import JobId
from gnomon.core.values.document import JSON, Document
from gnomon.core.values.instants import parse_seconds
from gnomon.errors import InvalidInput
from gnomon.handlers.python.arguments import Signature

FIELD = "arguments"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How one run differs from what its job says."""

    priority: int | None = None
    delay: timedelta | float | None = None
    at: datetime | None = None
    unique_key: str | None = None

    def ask(self, job_id: JobId, given: Document | None) -> Ask:
        return Ask(
            job_id,
            given,
            priority=self.priority,
            at=self.at,
            delay=duration(self.delay, field="delay"),
            unique_key=self.unique_key,
        )


RUN_OPTIONS = frozenset(field.name for field in fields(RunOptions))


def split(
    given: Mapping[str, Any], signature: Signature, options: Collection[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of the function, and options. What the function itself knows by a name is an argument."""
    own = set(given) if signature.takes_more else set(signature.names)
    chosen = {name: value for name, value in given.items() if name in options and name not in own}
    return {name: value for name, value in given.items() if name not in chosen}, chosen


def encoded(arguments: Mapping[str, Any], signature: Signature) -> dict[str, JSON]:
    """The arguments as JSON that the function can be called with. Raises InvalidInput that names one."""
    values = plain(arguments)
    if signature.context_name in values:
        raise InvalidInput(f"{FIELD}.{signature.context_name}", "is given by the worker, not by the caller.")
    signature.check_whole(values, field=FIELD)
    return values


def plain(arguments: Mapping[str, Any]) -> dict[str, JSON]:
    """The arguments as JSON. Raises InvalidInput that names the one that cannot be written so."""
    return {name: as_plain(value, field=f"{FIELD}.{name}") for name, value in arguments.items()}


def as_plain(value: Any, *, field: str) -> JSON:
    try:
        written: JSON = msgspec.to_builtins(value, str_keys=True)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise InvalidInput(field, f"cannot be written as JSON: {error}.") from None
    return written


def as_input(values: dict[str, JSON]) -> Document | None:
    return Document.of(values, field=FIELD) if values else None


def duration(value: timedelta | float | None, *, field: str) -> timedelta | None:
    """Numbers are seconds."""
    if value is None or isinstance(value, timedelta):
        return value
    return parse_seconds(value, field=field)
