"""Whether jobs wait for each other in a circle."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import TypeVar

from gnomon.errors import InvalidDependency

Node = TypeVar("Node", bound=Hashable)

CYCLE_SHOWN_MAX = 10


def check_acyclic(dependencies: Mapping[Node, Collection[Node]]) -> None:
    """Raises InvalidDependency that names the circle."""
    cycle = find_cycle(dependencies)
    if cycle is None:
        return
    shown = [str(node) for node in cycle]
    if len(shown) > CYCLE_SHOWN_MAX:
        shown[CYCLE_SHOWN_MAX // 2 : -CYCLE_SHOWN_MAX // 2] = [f"({len(shown) - CYCLE_SHOWN_MAX} more)"]
    raise InvalidDependency(f"these wait for each other, so none could ever start: {' -> '.join(shown)}.")


def find_cycle(dependencies: Mapping[Node, Collection[Node]]) -> list[Node] | None:
    """A circle of nodes, the first one repeated at the end; None if there is none.

    `dependencies` says for each node which ones it waits for; a node that waits for none may be absent.
    Iterative: a chain of ten thousand jobs is data, not stack.
    """
    done: set[Node] = set()
    for start in dependencies:
        if start in done:
            continue
        path: dict[Node, Iterator[Node]] = {start: iter(dependencies[start])}
        while path:
            node = next(reversed(path))
            parent = next((parent for parent in path[node] if parent not in done), None)
            if parent is None:
                del path[node]
                done.add(node)
            elif parent in path:
                nodes = list(path)
                return [*nodes[nodes.index(parent) :], parent]
            else:
                path[parent] = iter(dependencies.get(parent, ()))
    return None
