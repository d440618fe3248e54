"""A schedule as one flat JSON object, and back without loss.

The names are those of the API. Times are RFC 3339 in UTC, durations are seconds, unset fields are absent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypeAlias

from gnomon.core.time.dst import Fold, Gap
from gnomon.core.time.schedule import (
    CronTiming,
    Delayed,
    Interval,
    LostCron,
    Manual,
    Misfire,
    Once,
    Overlap,
    Schedule,
    Timing,
)
from gnomon.core.values.choices import Choice, beside, choice
from gnomon.core.values.document import JSON
from gnomon.core.values.instants import instant_text, parse_instant, parse_seconds, seconds_of
from gnomon.errors import InvalidCron, InvalidInput, InvalidTimezone

_Fields: TypeAlias = "dict[str, str]"  # From the name in the document to the name in Python.

_TIMINGS: dict[str, type[Timing]] = {
    "cron": CronTiming,
    "interval": Interval,
    "once": Once,
    "delayed": Delayed,
    "manual": Manual,
}
# Every word for a type that the ecosystem has, and ours. Read in any case.
TYPES = {
    "cron": "cron",
    "interval": "interval",
    "recurring": "interval",
    "once": "once",
    "one_time": "once",
    "one-time": "once",
    "delayed": "delayed",
    "manual": "manual",
}
_TYPES = {timing: name for name, timing in _TIMINGS.items()} | {LostCron: "cron"}
_TIMING_FIELDS: dict[str, _Fields] = {
    "cron": {"cron": "expression", "timezone": "timezone", "gap": "gap", "fold": "fold"},
    "interval": {"interval_seconds": "every", "anchor": "anchor"},
    "once": {"run_at": "at"},
    "delayed": {"delay_seconds": "delay", "run_at": "at"},
    "manual": {},
}
# Other words for some fields, and the type that follows from a field where none is named.
OTHER_WORDS = {"expression": "cron", "every_seconds": "interval_seconds", "at": "run_at"}
_TYPE_OF = {"cron": "cron", "interval_seconds": "interval", "delay_seconds": "delayed", "run_at": "once"}
_REQUIRED = {"cron": "cron", "interval": "interval_seconds", "once": "run_at", "delayed": "delay_seconds"}
_FIELDS: _Fields = {
    "start_at": "start_at",
    "end_at": "end_at",
    "max_runs": "max_runs",
    "jitter_seconds": "jitter",
    "calendar": "calendar",
    "misfire_policy": "misfire",
    "misfire_grace_seconds": "misfire_grace",
    "catchup_limit": "catchup_limit",
    "catchup_window_seconds": "catchup_window",
    "overlap_policy": "overlap",
}
_CHOICES: dict[str, type[Choice]] = {
    "gap": Gap,
    "fold": Fold,
    "misfire_policy": Misfire,
    "overlap_policy": Overlap,
}


def to_document(schedule: Schedule) -> dict[str, JSON]:
    """A JSON object from which `from_document` makes an equal schedule."""
    type_name = type_of(schedule.timing)
    document: dict[str, JSON] = {"type": type_name}
    for owner, fields in ((schedule.timing, _TIMING_FIELDS[type_name]), (schedule, _FIELDS)):
        for name, attribute in fields.items():
            value = getattr(owner, attribute)
            if value is not None:
                document[name] = _json(value)
    return document


def from_document(document: object) -> Schedule:
    """Read a schedule. Raises InvalidInput that names the field, also for a field that does not exist."""
    return _read(document, _TIMINGS)


def from_words(said: Mapping[str, object]) -> Schedule:
    """Like `from_document`, of what a person wrote: reads other words, too, and a type that goes unsaid."""
    words = {OTHER_WORDS.get(word, word): word for word in said}
    twice = [word for word in said if word not in words.values()]
    if twice:
        raise InvalidInput(twice[0], "is said twice, in different words.")
    document = {ours: said[word] for ours, word in words.items()}
    try:
        return from_document({"type": type_that_follows(document) or "manual"} | document)
    except InvalidInput as error:
        raise error.at(words.get(error.field, error.field)) from None


def type_that_follows(said: Mapping[str, object]) -> str | None:
    """From the fields that only one type has."""
    return next((type_name for name, type_name in _TYPE_OF.items() if said.get(name) is not None), None)


def from_kept(document: object) -> Schedule:
    """Read a schedule that a store has kept. A zone that has vanished since is no reason to fail."""
    try:
        return _read(document, _TIMINGS)
    except (InvalidCron, InvalidTimezone):
        return _read(document, _TIMINGS | {"cron": LostCron})


def _read(document: object, timings: Mapping[str, type[Timing]]) -> Schedule:
    if not isinstance(document, Mapping):
        raise InvalidInput("schedule", f"must be an object, not {type(document).__name__}.")
    word = document.get("type", "manual")
    if not isinstance(word, str) or word.lower() not in TYPES:
        raise InvalidInput("type", f"{word!r} is not one of {', '.join(sorted(TYPES))}.")
    type_name = TYPES[word.lower()]
    timing_fields = _TIMING_FIELDS[type_name]
    for name in document:
        if name != "type" and name not in timing_fields and name not in _FIELDS:
            known = {"type", *timing_fields, *_FIELDS}
            advice = beside(str(name), known)
            raise InvalidInput(str(name), f"is not a field of a schedule of type {type_name}.{advice}")
    required = _REQUIRED.get(type_name)
    if required is not None and document.get(required) is None:
        raise InvalidInput(required, f"is missing; a schedule of type {type_name} needs it.")
    timing = timings[type_name](**_arguments(document, timing_fields))
    return Schedule(timing=timing, **_arguments(document, _FIELDS))


def type_of(timing: Timing) -> str:
    """The word for a kind of timing: what the API calls the type of a schedule."""
    return _TYPES[type(timing)]


def _json(value: object) -> JSON:
    match value:
        case datetime():
            return instant_text(value)
        case timedelta():
            return seconds_of(value)
        case StrEnum():
            return value.value
        case str() | int():
            return value
        case _:
            raise AssertionError(f"a schedule holds no {type(value).__name__}")


def _arguments(document: Mapping[str, object], fields: _Fields) -> dict[str, Any]:
    """What the document says about some fields; null counts as not said."""
    return {
        attribute: _reader(name)(document[name], field=name)
        for name, attribute in fields.items()
        if document.get(name) is not None
    }


def _reader(name: str) -> Callable[..., object]:
    if name.endswith("_at") or name == "anchor":
        return parse_instant
    if name.endswith("_seconds"):
        return parse_seconds
    return _read_choice if name in _CHOICES else _as_it_is


def _read_choice(value: object, *, field: str) -> Choice:
    return choice(_CHOICES[field], value, field=field)


def _as_it_is(value: object, *, field: str) -> object:
    return value  # The schedule's own checks name the field.
