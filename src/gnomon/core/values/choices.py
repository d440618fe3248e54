"""Which words a form accepts in one of its places: what the caller needs to know after another word."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Self, TypeVar

from msgspec import inspect

from gnomon.errors import InvalidInput

E = TypeVar("E", bound="Choice")

_COMPARED_MAX = 64
_SHOWN_MAX = 100
_STEP = re.compile(r"[^.\[\]]+|\[[^\]]*\]")


class Choice(StrEnum):
    """Words of a request, read in any case: `FIXED` is `fixed`."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        return next((one for one in cls if one.value.lower() == value.lower()), None)


def choice(choices: type[E], value: object, *, field: str) -> E:
    """Raises InvalidInput that says which words there are."""
    try:
        return choices(value)  # type: ignore[arg-type]
    except ValueError:
        shown = value[:_SHOWN_MAX] if isinstance(value, str) else value
        raise InvalidInput(field, f"{shown!r} is not one of {', '.join(choices)}.") from None


def allowed(shape: Any, path: str) -> Sequence[str]:
    """The words at a path such as `condition[0].is`, as msgspec writes it. None: any value may be there."""
    words: list[object] = []
    for kind in _kinds_at(shape, path):
        if isinstance(kind, inspect.EnumType):
            words += [word.value for word in kind.cls]
        elif isinstance(kind, inspect.LiteralType):
            words += kind.values
    return [str(word) for word in words]


def fields_at(shape: Any, path: str) -> Sequence[str]:
    """The names of the fields that an object at that path may have."""
    kinds = _kinds_at(shape, path)
    return [
        field.encode_name for kind in kinds if isinstance(kind, inspect.StructType) for field in kind.fields
    ]


def beside(name: str, known: Collection[str]) -> str:
    """What a sentence about an unknown name ends with: the nearest one, and all that there are."""
    near = get_close_matches(name[:_COMPARED_MAX].lower(), known, n=1)
    advice = f" Did you mean `{near[0]}`?" if near else ""
    return f"{advice} Known: {', '.join(sorted(known))}." if known else advice


def one_of(words: Sequence[str]) -> str:
    """What a sentence about a wrong value ends with."""
    return f"; one of {', '.join(words)}" if words else ""


def _kinds_at(shape: Any, path: str) -> list[inspect.Type]:
    found = [inspect.type_info(shape)]
    for step in _STEP.findall(path):
        found = [inner for one in found for kind in _members(one) for inner in _inside(kind, step)]
    return [kind for one in found for kind in _members(one)]


def _members(kind: inspect.Type) -> Sequence[inspect.Type]:
    return kind.types if isinstance(kind, inspect.UnionType) else [kind]


def _inside(kind: inspect.Type, step: str) -> Iterator[inspect.Type]:
    match kind:
        case inspect.StructType(fields=fields):
            yield from (field.type for field in fields if field.encode_name == step)
        case inspect.CollectionType(item_type=item):
            yield item
        case inspect.DictType(value_type=value):
            yield value
