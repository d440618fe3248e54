"""JSON text read without loss: what Python would drop or round silently is refused, with its place.

A key that is there twice is a mistake, and which of the two counts is not ours to guess. A number that is not
whole is kept as a double; one that a double cannot hold would come back as another number.
"""

from __future__ import annotations

import json
from decimal import Decimal
from math import isfinite
from typing import Any

from gnomon.core.document import JSON, NESTING_MAX
from gnomon.errors import InvalidInput

DIGITS_MAX = 300  # Of an integer: below the 1024 bits that a document holds.
_NUMBER_LENGTH_MAX = 1100  # The longest exact decimal form of a double has fewer characters.
_SHORT_LENGTH = 16  # With a point, 15 digits: a double holds any such number.
_SHOWN_MAX = 40


def parse_json(text: str, *, field: str) -> JSON:
    """`field` names the whole in errors; with "", places begin at the fields. Raises InvalidInput."""
    try:
        value: JSON = _decode(text)
    except RecursionError:
        raise InvalidInput(field or "body", f"nested deeper than {NESTING_MAX} levels.") from None
    except json.JSONDecodeError as error:
        reason = f"is not JSON: {error.msg}, at character {error.pos}."
        raise InvalidInput(field or "body", reason) from None
    except _Lossy:
        place, lossy = _first_lossy(_decode_marking(text), field)
        raise InvalidInput(place, lossy.reason) from None
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


class _Lossy(Exception):
    """A number that would come back as another one."""

    def __init__(self, digits: str, number: float) -> None:
        shown = digits if len(digits) <= _SHOWN_MAX else f"{digits[:_SHOWN_MAX]}…"
        if isfinite(number):
            self.reason = f"{shown} cannot be kept exactly: it would become {number!r}; send it as a string."
        else:
            self.reason = f"{shown} is too large for a number; send it as a string."


def _first_lossy(value: Any, field: str) -> tuple[str, _Lossy]:
    todo: list[tuple[Any, str]] = [(value, field)]
    while todo:
        item, path = todo.pop()
        match item:
            case _Lossy():
                return path or "body", item
            case dict():
                todo.extend((inner, f"{path}.{key}".lstrip(".")) for key, inner in reversed(item.items()))
            case list():
                todo.extend((inner, f"{path}[{n}]") for n, inner in reversed(list(enumerate(item))))
    raise AssertionError("a number was refused and is not there")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise InvalidInput(key[:100], "is there twice in one object.")
            seen.add(key)
    return found


def _constant(word: str) -> Any:
    raise InvalidInput("body", f"{word} is not JSON.")


def _integer(digits: str) -> int:
    if digits == "-0":
        raise InvalidInput("body", "-0 would come back as 0; send 0, or a string.")
    if len(digits) > DIGITS_MAX:
        raise InvalidInput("body", f"an integer of more than {DIGITS_MAX} digits; send it as a string.")
    return int(digits)


def _number(digits: str) -> float:
    number = float(digits)
    if not isfinite(number) or not is_exact(digits, number):
        raise _Lossy(digits, number)
    return number


def _marked(digits: str) -> float | _Lossy:
    try:
        return _number(digits)
    except _Lossy as lossy:
        return lossy


_decode = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_constant=_constant, parse_int=_integer, parse_float=_number
).decode
_decode_marking = json.JSONDecoder(parse_int=lambda _: 0, parse_float=_marked).decode
