"""Which words a form accepts in one of its places: what a caller who chose another one has to know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import inspect

_STEP = re.compile(r"[^.\[\]]+|\[[^\]]*\]")


def allowed(shape: Any, path: str) -> Sequence[str]:
    """The words at a path such as `condition[0].is`, as msgspec writes it. None: any value may be there."""
    found = [inspect.type_info(shape)]
    for step in _STEP.findall(path):
        found = [inner for one in found for kind in _members(one) for inner in _inside(kind, step)]
    kinds = [kind for one in found for kind in _members(one)]
    return [str(word.value) for kind in kinds if isinstance(kind, inspect.EnumType) for word in kind.cls]


def one_of(words: Sequence[str]) -> str:
    """What a sentence about a wrong value ends with."""
    return f"; one of {', '.join(words)}" if words else ""


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
