"""A schema in words: which type a value has, and which values it takes."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from gnomon.api.described.field import BYTES_MAX

_PATTERN_SHOWN_MAX = 60
_FORMATS = {"uuid": "UUID", "date-time": "RFC 3339 time"}


def marked(text: str) -> str:
    """Text in which `words` are code, as HTML."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))


def kind_of(schema: dict[str, Any]) -> str:
    """The type, as HTML, with a link to what has a name."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f"<a href='#schema-{name}'>{name}</a>"
    if "anyOf" in schema:
        return " or ".join(kind_of(one) for one in schema["anyOf"])
    kind = schema.get("type")
    if kind == "array":
        return f"list of {kind_of(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {kind_of(schema['additionalProperties'])}"
    if kind == "null" or kind is None:
        return "null" if kind else "any JSON"
    return escape(_FORMATS.get(schema.get("format", ""), "text" if kind == "string" else str(kind)))


def range_of(schema: dict[str, Any]) -> str:
    """Which values there may be, as HTML. Empty if the type says it all."""
    if "anyOf" in schema:
        return "; ".join(filter(None, map(range_of, schema["anyOf"])))
    return "; ".join(_ranges(schema))


def _ranges(schema: dict[str, Any]) -> Iterator[str]:
    if "enum" in schema:
        yield ", ".join(f"<code>{escape(str(one))}</code>" for one in schema["enum"])
    yield from _between(schema, "minimum", "maximum", "")
    yield from _between(schema, "minLength", "maxLength", " characters")
    yield from _between(schema, "minItems", "maxItems", " entries")
    if BYTES_MAX in schema:
        yield f"at most {schema[BYTES_MAX]:,} bytes as JSON"
    pattern = schema.get("pattern", "")
    if pattern and len(pattern) <= _PATTERN_SHOWN_MAX:
        yield f"<code>{escape(pattern)}</code>"
    if schema.get("type") == "array":
        each = range_of(schema.get("items", {}))
        if each:
            yield f"each {each}"


def _between(schema: dict[str, Any], low: str, high: str, unit: str) -> Iterator[str]:
    least, most = schema.get(low), schema.get(high)
    if least is not None and most is not None:
        yield f"{_number(least)} to {_number(most)}{unit}"
    elif most is not None:
        yield f"at most {_number(most)}{unit}"
    elif least:
        yield f"at least {_number(least)}{unit}"
    elif least is not None and not unit:
        yield "not negative"


def _number(value: float) -> str:
    return f"{value:,}" if value == int(value) else f"{value:,.6f}".rstrip("0")
