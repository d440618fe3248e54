"""What is said of a field, a parameter or a header: what it means, which values it takes, and an example."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import UNSET

from gnomon.core.values.document import DOCUMENT_BYTES_MAX, NAME_LENGTH_MAX
from gnomon.core.values.instants import seconds_of

# Nothing but the size of a body, or what was stored before, bounds the value.
UNBOUNDED = {"x-gnomon-unbounded": True}
BYTES_MAX = "x-gnomon-bytes-max"
NUMBER_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Field:
    """`limits` are keywords of JSON Schema. Without an example, one is made of what is inside."""

    type: str | None
    text: str
    example: Any = UNSET
    limits: Mapping[str, Any] = field(default_factory=dict)
    is_nullable: bool = False
    is_optional: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """As a schema of its own, for what no struct declares."""
        kind = {} if self.type is None else {"type": self.type}
        plain = {**kind, **self.limits}
        return self.told({"anyOf": [plain, {"type": "null"}]} if self.is_nullable else plain)

    def told(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The schema with the words and the example."""
        shown = {} if self.example is UNSET else {"examples": [self.example]}
        return {**schema, "description": self.text, **shown}

    def with_example(self, example: Any) -> Field:
        return replace(self, example=example)

    def but(self, text: str) -> Field:
        """The same values, which mean something else here."""
        return replace(self, text=text)

    def or_null(self) -> Field:
        return replace(self, is_nullable=True)

    def if_any(self) -> Field:
        """Not always there."""
        return replace(self, is_optional=True)


Rows = Mapping[str, Field]
Fields = Mapping[type[msgspec.Struct], Rows]


def text(said: str, example: str, *, up_to: int | None = None, low: int = 0, pattern: str = "") -> Field:
    """`up_to` so many characters; None: as many as a body holds, or as were written."""
    length = ({"minLength": low} if low else {}) | (
        dict(UNBOUNDED) if up_to is None else {"maxLength": up_to}
    )
    return Field(
        "string",
        said,
        example,
        ({"pattern": pattern} | ({} if up_to is None else length)) if pattern else length,
    )


def name(said: str, example: str) -> Field:
    return text(said, example, up_to=NAME_LENGTH_MAX, low=1)


def uuid(said: str, example: str) -> Field:
    return Field("string", said, example, {"format": "uuid"})


def instant(said: str, example: str) -> Field:
    return Field("string", said, example, {"format": "date-time"})


def word(said: str, example: str, words: Iterable[str]) -> Field:
    return Field("string", said, str(example), {"enum": [str(one) for one in words]})


def flag(said: str, example: bool) -> Field:
    return Field("boolean", said, example)


def whole(said: str, example: int, low: int, high: int) -> Field:
    return Field("integer", said, example, {"minimum": low, "maximum": high})


def count(said: str, example: int) -> Field:
    """What is counted and not limited."""
    return Field("integer", said, example, {"minimum": 0, **UNBOUNDED})


def number(said: str, example: float, low: float, high: float) -> Field:
    return Field("number", said, example, {"minimum": low, "maximum": high})


def seconds(said: str, example: float, low: timedelta, high: timedelta) -> Field:
    return number(said, example, seconds_of(low), seconds_of(high))


def many(said: str, each: Field, *, up_to: int | None, low: int = 0, example: Any = UNSET) -> Field:
    """`each` says which values the list holds. Lists of structs take `part()`."""
    inside = {} if each.type is None else {"items": {"type": each.type, **each.limits}}
    limits = ({"minItems": low} if low else {}) | (dict(UNBOUNDED) if up_to is None else {"maxItems": up_to})
    if example is UNSET and each.example is not UNSET:
        example = [each.example]
    return Field("array", said, example, {**inside, **limits})


def parts(said: str, *, up_to: int | None, low: int = 0) -> Field:
    """A list of objects that have a schema of their own."""
    return many(said, part(""), up_to=up_to, low=low)


def json(said: str, example: Any, *, bytes_max: int = DOCUMENT_BYTES_MAX) -> Field:
    """Any JSON, or an object whose keys are the caller's."""
    return Field(None, said, example, {BYTES_MAX: bytes_max})


def part(said: str) -> Field:
    """An object that has a schema of its own, in whose rows the examples are."""
    return Field(None, said)


def shape(said: str, ref: str) -> Field:
    """An object that Python keeps as a dictionary, with the fields of a shape of our tables."""
    return Field("object", said, UNSET, {"$ref": f"#/components/schemas/{ref}"})


def plain(value: Any) -> Any:
    """An example as JSON has it."""
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value
