"""YAML as people write it, read strictly: what would be lost or never end is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import yaml  # type: ignore[import-untyped]

from gnomon.core.values.json_text import is_exact
from gnomon.errors import InvalidInput

_MERGE = "tag:yaml.org,2002:merge"
_FLOAT = "tag:yaml.org,2002:float"
_NUMBER = re.compile(r"-?[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def decode(text: str, *, field: str, path: str) -> Any:
    """A time that YAML knows becomes text again. Raises InvalidInput."""
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _check(node, field=field, path=path)
        return msgspec.to_builtins(loader.construct_document(node))
    except (yaml.YAMLError, ValueError) as error:
        raise InvalidInput(field, f"{path} is not YAML: {error}.") from None
    except RecursionError:
        raise InvalidInput(field, f"{path} is nested too deeply.") from None
    finally:
        loader.dispose()


def _check(root: yaml.Node, *, field: str, path: str) -> None:
    """No key twice in one object, and nothing that holds itself."""
    done: set[int] = set()
    way: dict[int, Iterator[yaml.Node]] = {id(root): _inside(root, field=field, path=path)}
    while way:
        node = next(reversed(way))
        inner = next(way[node], None)
        if inner is None:
            del way[node]
            done.add(node)
        elif id(inner) in way:
            raise InvalidInput(field, f"{path}:{_line(inner)}: the anchor here holds an alias of itself.")
        elif id(inner) not in done:
            way[id(inner)] = _inside(inner, field=field, path=path)


def _inside(node: yaml.Node, *, field: str, path: str) -> Iterator[yaml.Node]:
    match node:
        case yaml.ScalarNode() if node.tag == _FLOAT and _NUMBER.fullmatch(node.value):
            if not is_exact(node.value, float(node.value)):
                reason = f"{node.value[:40]} cannot be kept exactly; write it as a string, in quotes."
                raise InvalidInput(field, f"{path}:{_line(node)}: {reason}")
        case yaml.SequenceNode():
            yield from node.value
        case yaml.MappingNode():
            known: set[tuple[str, str]] = set()
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
                    if (key.tag, key.value) in known:
                        raise InvalidInput(
                            field, f"{path}:{_line(key)}: the key {key.value!r} is there twice."
                        )
                    known.add((key.tag, key.value))
                yield key
                yield value


def _line(node: yaml.Node) -> int:
    line: int = node.start_mark.line
    return line + 1
