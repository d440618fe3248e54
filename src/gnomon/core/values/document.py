"""JSON that is safe to keep: checked once, encoded once, read back when somebody looks."""

from __future__ import annotations

from collections.abc import Iterable
from math import copysign, isfinite
from typing import NamedTuple, TypeAlias

import msgspec

from gnomon.errors import InvalidInput, PayloadTooLarge

JSON: TypeAlias = "dict[str, JSON] | list[JSON] | str | int | float | bool | None"

DOCUMENT_BYTES_MAX = 256 * 1024
NESTING_MAX = 64
INTEGER_BITS_MAX = 1024  # Exact in both stores, and far from the limit where Python refuses to print.
NAME_LENGTH_MAX = 255

_INTEGER_PLAIN_MAX = 2**63

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class Document(NamedTuple):
    """A JSON value that every store can hold and give back unchanged."""

    text: str

    @classmethod
    def of(cls, value: object, *, field: str, bytes_max: int = DOCUMENT_BYTES_MAX) -> Document:
        """Check and encode `value`. Raises InvalidInput that names the place inside `field`."""
        check_json(value, field=field)
        encoded = _encode(value)
        if len(encoded) > bytes_max:
            raise PayloadTooLarge(field, size_bytes=len(encoded), size_bytes_max=bytes_max)
        return cls(encoded.decode())

    @property
    def value(self) -> JSON:
        decoded: JSON = _decode(self.text)
        return decoded

    def __eq__(self, other: object) -> bool:
        # Databases may reorder keys and spaces, so equal means equal values.
        return isinstance(other, Document) and (self.text == other.text or self.value == other.value)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        raise TypeError("A document is compared by its value and has no hash.")


def check_json(value: object, *, field: str) -> None:
    """Refuse what JSON or a database cannot hold. Iterative: depth is data, not stack."""
    if _is_plain(value):
        return
    todo: list[tuple[object, str, int]] = [(value, field, 0)]
    while todo:
        item, path, depth = todo.pop()
        if depth > NESTING_MAX:
            raise InvalidInput(path, f"nested deeper than {NESTING_MAX} levels.")
        if type(item) is dict:
            for key, inner in item.items():
                if type(key) is not str:
                    raise InvalidInput(path, f"key {key!r} is not a string.")
                check_text(key, field=path)
                todo.append((inner, f"{path}.{key}", depth + 1))
        elif type(item) is list:
            todo.extend((inner, f"{path}[{n}]", depth + 1) for n, inner in enumerate(item))
        else:
            _check_scalar(item, path)


def _is_plain(value: object) -> bool:
    """Whether it is surely fine: flat, and of what needs no closer look. Most of what is kept is so."""
    if type(value) is dict:
        for key in value:
            if type(key) is not str or not key.isascii() or "\0" in key:
                return False
        items: Iterable[object] = value.values()
    else:
        items = value if type(value) is list else (value,)
    for item in items:
        if type(item) is str:
            if not item.isascii() or "\0" in item:
                return False
        elif type(item) is int:
            if not -_INTEGER_PLAIN_MAX < item < _INTEGER_PLAIN_MAX:
                return False
        elif item is not None and item is not True and item is not False:
            return False
    return True


def _check_scalar(item: object, path: str) -> None:
    if item is None or item is True or item is False:
        return
    if type(item) is str:
        check_text(item, field=path)
    elif type(item) is int:
        if item.bit_length() > INTEGER_BITS_MAX:
            raise InvalidInput(path, f"an integer of more than {INTEGER_BITS_MAX} bits; send it as a string.")
    elif type(item) is float:
        if not isfinite(item):
            raise InvalidInput(path, f"{item} is not a JSON number.")
        if item == 0 and copysign(1, item) < 0:
            raise InvalidInput(path, "-0.0 would come back as 0; send 0, or a string.")
    else:
        raise InvalidInput(
            path, f"a {type(item).__name__} is not JSON; use dict, list, str, int, float, bool, None."
        )


def check_text(value: str, *, field: str) -> None:
    """Refuse strings that a database would refuse later, less kindly."""
    if "\0" in value:
        raise InvalidInput(field, "holds a NUL character, which no store can keep.")
    if value.isascii():
        return
    try:
        value.encode()
    except UnicodeEncodeError as error:
        bad = value[error.start]
        raise InvalidInput(field, f"holds the lone surrogate {bad!r}, which is not text.") from None


def keepable_text(value: str, *, length_max: int) -> str:
    """The text as a store can keep it: cut, and with a mark in place of what is not text."""
    cut = value if len(value) <= length_max else value[: length_max - 1] + "…"
    return cut.replace("\0", "\ufffd").encode(errors="replace").decode()


def check_name(value: object, *, field: str, length_max: int = NAME_LENGTH_MAX) -> None:
    """Names are text of a sane length that is not blank. What they say is the user's business."""
    if type(value) is not str:
        raise InvalidInput(field, f"must be a string, not {type(value).__name__}.")
    check_text(value, field=field)
    if not value.strip():
        raise InvalidInput(field, "must not be empty.")
    if len(value) > length_max:
        raise InvalidInput(field, f"{len(value)} characters; at most {length_max} are allowed.")
