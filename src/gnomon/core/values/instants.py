"""Instants and durations at the edge: checked once, kept in UTC, written as RFC 3339 and seconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from gnomon.errors import InvalidInput

MICROSECOND = timedelta(microseconds=1)
# Centuries away from both ends of datetime, so that adding a duration or an offset never overflows.
INSTANT_MIN = datetime(1970, 1, 1, tzinfo=UTC)
INSTANT_MAX = datetime(9000, 1, 1, tzinfo=UTC)

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def check_instant(value: object, *, field: str) -> datetime:
    """The same instant in UTC. Refuses a time without an offset: it could mean 38 different instants."""
    if not isinstance(value, datetime):
        raise InvalidInput(field, f"must be a datetime, not {type(value).__name__}.")
    if value.utcoffset() is None:
        raise InvalidInput(
            field, f"{value.isoformat()} has no UTC offset; write one, such as 'Z' or '+02:00'."
        )
    try:
        instant = value.astimezone(UTC)
    except OverflowError:
        instant = INSTANT_MAX
    if not INSTANT_MIN <= instant < INSTANT_MAX:
        raise InvalidInput(field, f"must lie in the years {INSTANT_MIN.year} to {INSTANT_MAX.year - 1}.")
    return instant


def check_duration(value: object, *, field: str, low: timedelta, high: timedelta) -> None:
    if not isinstance(value, timedelta):
        raise InvalidInput(field, f"must be a timedelta, not {type(value).__name__}.")
    if not low <= value <= high:
        raise InvalidInput(
            field, f"{seconds_of(value)} s is not between {seconds_of(low)} and {seconds_of(high)} seconds."
        )


def instant_text(instant: datetime) -> str:
    """RFC 3339 in UTC, always with microseconds, so that texts sort like the instants."""
    return instant.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_instant(text: object, *, field: str) -> datetime:
    """Read RFC 3339 with an offset. Leap seconds are refused: no clock of ours can show one."""
    if type(text) is not str or not _RFC3339.fullmatch(text):
        raise InvalidInput(
            field, f"{text!r} is not an RFC 3339 time with an offset, such as 2026-03-29T01:30:00Z."
        )
    try:
        if text[11:13] == "24":
            raise ValueError("hour must be in 0..23")  # Python 3.14 takes it for the next midnight.
        value = datetime.fromisoformat(text.upper())
    except ValueError as error:
        raise InvalidInput(field, f"{text!r} is not a time: {error}.") from None
    return check_instant(value, field=field)


def seconds_of(duration: timedelta) -> int | float:
    """Seconds as a JSON number: whole ones as an integer. Exact below 285 years."""
    whole, rest = divmod(duration, timedelta(seconds=1))
    return duration.total_seconds() if rest else whole


def whole(seconds: float) -> int | float:
    """The same number; a whole one as an integer."""
    return int(seconds) if seconds == int(seconds) else seconds


def parse_seconds(value: object, *, field: str) -> timedelta:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InvalidInput(field, f"must be a number of seconds, not {type(value).__name__}.")
    try:
        return timedelta(seconds=value)
    except (OverflowError, ValueError):  # Endless, not a number, or beyond what a duration can hold.
        raise InvalidInput(field, "is not a number of seconds that could ever pass.") from None
