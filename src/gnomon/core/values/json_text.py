"""JSON text read without loss: what Python would drop or round silently is refused, with its place.

A key that is there twice is a mistake, and which of the two counts is not ours to guess. A number that is not
whole is kept as a double; one that a double cannot hold would come back as another number.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from math import isfinite
from typing import Any

from gnomon.core.values.document import JSON, NESTING_MAX
from gnomon.errors import InvalidInput

# No document may be that deep. Parsers give up much later, and where depends on the version of Python.
PARSED_NESTING_MAX = 500
DIGITS_MAX = 300  # Of an integer: below the 1024 bits that a document holds.
_NUMBER_LENGTH_MAX = 1100  # The longest exact decimal form of a double has fewer characters.
_SHORT_LENGTH = 16  # With a point, 15 digits: a double holds any such number.
_SHOWN_MAX = 40
_TWICE = "is there twice in one object."


def parse_json(text: str, *, field: str) -> JSON:
    """`field` names the whole in errors; with "", places begin at the fields. Raises InvalidInput."""
    try:
        value = _parsed(text, field)
    except RecursionError:
        raise _too_deep(field) from None
    except json.JSONDecodeError as error:
        reason = f"is not JSON: {error.msg}, at character {error.pos}."
        raise InvalidInput(field or "body", reason) from None
    if is_too_deep(value, openings=text.count("[") + text.count("{")):
        raise _too_deep(field)
    return value


def is_too_deep(value: JSON, *, openings: int) -> bool:
    """Whether a value is nested deeper than a parser may go. `openings` are the brackets in its text."""
    if openings <= PARSED_NESTING_MAX:
        return False
    level: list[Any] = [[value]]
    for _ in range(PARSED_NESTING_MAX + 1):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return False
    return True


def _too_deep(field: str) -> InvalidInput:
    return InvalidInput(field or "body", f"nested deeper than {NESTING_MAX} levels.")


def _parsed(text: str, field: str) -> JSON:
    """Read twice if something is refused: the second time marks it, which tells its place."""
    try:
        value: JSON = _decode(text)
    except _Refused:
        place, refused = _first_refused(_decode_marking(text), field)
        raise InvalidInput(place, refused.reason) from None
    return value


def is_exact(digits: str, number: float) -> bool:
    """Whether a double stands for these digits.

    It does if they are its shortest form, its form of 17 digits, which many programs write, or its value.
    """
    if len(digits) > _NUMBER_LENGTH_MAX:
        return False
    if number == 0:
        return not digits.lower().partition("e")[0].strip("-0.")
    if len(digits) <= _SHORT_LENGTH and "e" not in digits.lower():
        return True
    said = Decimal(digits)
    return said in (Decimal(repr(number)), Decimal(f"{number:.17g}"), Decimal(number))


class _Refused(Exception):
    """What would be dropped, or come back as something else."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _first_refused(value: Any, field: str) -> tuple[str, _Refused]:
    todo: list[tuple[Any, str]] = [(value, field)]
    while todo:
        item, path = todo.pop()
        match item:
            case _Refused():
                return path or "body", item
            case dict():
                todo.extend((inner, f"{path}.{key}".lstrip(".")) for key, inner in reversed(item.items()))
            case list():
                todo.extend((inner, f"{path}[{n}]") for n, inner in reversed(list(enumerate(item))))
    raise AssertionError("something was refused and is not there")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Refused(_TWICE)
    return found


def _pairs_marking(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        found[key] = _Refused(_TWICE) if key in found else value
    return found


def _constant(word: str) -> Any:
    raise _Refused(f"{word} is not JSON.")


def _integer(digits: str) -> int:
    if digits == "-0":
        raise _Refused("-0 would come back as 0; send 0, or a string.")
    if len(digits) > DIGITS_MAX:
        raise _Refused(f"an integer of more than {DIGITS_MAX} digits; send it as a string.")
    return int(digits)


def _number(digits: str) -> float:
    number = float(digits)
    shown = digits if len(digits) <= _SHOWN_MAX else f"{digits[:_SHOWN_MAX]}…"
    if not isfinite(number):
        raise _Refused(f"{shown} is too large for a number; send it as a string.")
    if not is_exact(digits, number):
        raise _Refused(f"{shown} cannot be kept exactly: it would become {number!r}; send it as a string.")
    return number


def _marking(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """The same, with the refusal in the place of what it is about."""

    def marked(text: str) -> Any:
        try:
            return read(text)
        except _Refused as refused:
            return refused

    return marked


_decode = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_constant=_constant, parse_int=_integer, parse_float=_number
).decode
_decode_marking = json.JSONDecoder(
    object_pairs_hook=_pairs_marking,
    parse_constant=_marking(_constant),
    parse_int=_marking(_integer),
    parse_float=_marking(_number),
).decode
