"""An event as a line for a person."""

from __future__ import annotations

from datetime import datetime

from msgspec import structs

from proof.checker.history.events import Event, name_of

_UNSAID = frozenset({"src", "n", "wall", "mono", "db", "tenant"})


def trace_line(event: Event, start: datetime) -> str:
    """When it happened, in seconds from the beginning; who says so; what; and all that is not as usual."""
    seconds = (event.when - start).total_seconds() if event.when else 0.0
    fields = [
        f"{field.name}={_short(value)}"
        for field in structs.fields(event)
        if field.name not in _UNSAID and (value := getattr(event, field.name)) != field.default
    ]
    return f"{seconds:12.6f} {event.src:<8} {name_of(event):<14} {' '.join(fields)}"


def _short(value: object) -> str:
    """Ids by their ends: their beginnings are the same."""
    if isinstance(value, datetime):
        return f"{value:%H:%M:%S.%f}"
    text = str(value)
    return text[-12:] if len(text) == 36 and text.count("-") == 4 else text
