"""What waits for what: circles among jobs, and the graph of a workflow.

Nothing here is recursive: a chain of ten thousand is data, not stack.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gnomon.errors import InvalidDag, InvalidDependency

Node = TypeVar("Node", bound=Hashable)

CYCLE_SHOWN_MAX = 10
NAME_SHOWN_MAX = 80
TASKS_MAX = 20_000
EDGES_MAX = 100_000


def check_acyclic(dependencies: Mapping[Node, Collection[Node]]) -> None:
    """Raises InvalidDependency that names the circle."""
    cycle = find_cycle(dependencies)
    if cycle is not None:
        raise InvalidDependency(f"these wait for each other, so none could ever start: {_shown(cycle)}.")


def find_cycle(dependencies: Mapping[Node, Collection[Node]]) -> list[Node] | None:
    """A circle of nodes, the first one repeated at the end; None if there is none.

    `dependencies` says for each node which ones it waits for; a node that waits for none may be absent.
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


def _shown(cycle: Sequence[object]) -> str:
    shown = [
        name if len(name := str(node)) <= NAME_SHOWN_MAX else f"{name[:NAME_SHOWN_MAX]}…" for node in cycle
    ]
    if len(shown) > CYCLE_SHOWN_MAX:
        shown[CYCLE_SHOWN_MAX // 2 : -CYCLE_SHOWN_MAX // 2] = [f"({len(shown) - CYCLE_SHOWN_MAX} more)"]
    return " -> ".join(shown)


# Workflows -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GraphLimits:
    tasks_max: int = TASKS_MAX
    edges_max: int = EDGES_MAX

    def check(self, tasks: int, edges: int) -> None:
        """Raises InvalidDag."""
        if not tasks:
            raise InvalidDag("dag_empty", field="tasks", reason="is empty; a workflow has at least one task.")
        if tasks > self.tasks_max:
            raise InvalidDag(
                "dag_too_large", field="tasks", reason=f"{tasks} tasks; at most {self.tasks_max} are allowed."
            )
        if edges > self.edges_max:
            raise InvalidDag(
                "too_many_edges",
                field="tasks",
                reason=f"{edges} dependencies; at most {self.edges_max} are allowed.",
            )


@dataclass(frozen=True, slots=True)
class Graph:
    """The tasks of a workflow by their place in the definition, with the edges both ways. No circle."""

    places: Mapping[str, int]
    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]
    children: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, tasks: Sequence[tuple[str, Sequence[str]]], limits: GraphLimits | None = None) -> Graph:
        """From each task's name and the names that it depends on. Raises InvalidDag."""
        (limits or GraphLimits()).check(len(tasks), sum(len(depends_on) for _, depends_on in tasks))
        places = _places(tasks)
        parents = tuple(_parents(name, depends_on, places) for name, depends_on in tasks)
        children: list[list[int]] = [[] for _ in tasks]
        for task, waits_for in enumerate(parents):
            for parent in waits_for:
                children[parent].append(task)
        graph = cls(places, tuple(places), parents, tuple(tuple(after) for after in children))
        graph._check_acyclic()
        return graph

    @property
    def roots(self) -> list[int]:
        return [task for task, waits_for in enumerate(self.parents) if not waits_for]

    def levels(self) -> list[list[int]]:
        """Tasks that may run side by side, level by level. A task is one level below its lowest parent."""
        left = [len(waits_for) for waits_for in self.parents]
        level, levels = self.roots, []
        while level:
            levels.append(level)
            below = []
            for task in level:
                for child in self.children[task]:
                    left[child] -= 1
                    if not left[child]:
                        below.append(child)
            level = below
        return levels

    def downstream(self, tasks: Iterable[int]) -> set[int]:
        """All that comes after any of these, directly or not."""
        return _reached(tasks, self.children)

    def ahead(self, tasks: Collection[int], known: Collection[int], *, limit: int) -> frozenset[int]:
        """The nearest that come after these and are not known: as many as `limit`."""
        found, frontier = set[int](), deque(sorted(tasks))
        while frontier and len(found) < limit:
            for child in self.children[frontier.popleft()][: limit - len(found)]:
                if child not in tasks and child not in found and child not in known:
                    found.add(child)
                    frontier.append(child)
        return frozenset(found)

    def ancestors(self, task: int) -> set[int]:
        """All that a task waits for, directly or not."""
        return _reached([task], self.parents)

    def strangers(self, readers: Mapping[int, Collection[int]]) -> Iterator[tuple[int, int]]:
        """Pairs of a task and one that it reads from but does not wait for, directly or not.

        One pass over the edges with a bit for each task that somebody reads from afar: asking for the
        ancestors of each reader would cost tasks times edges.
        """
        afar = {reader: set(sources).difference(self.parents[reader]) for reader, sources in readers.items()}
        bit = {read: 1 << place for place, read in enumerate(sorted(set().union(*afar.values())))}
        seen = [0] * len(self.names)
        for level in self.levels() if bit else ():
            for task in level:
                for parent in self.parents[task]:
                    seen[task] |= seen[parent] | bit.get(parent, 0)
        for reader, sources in afar.items():
            yield from ((reader, read) for read in sources if not seen[reader] & bit[read])

    def _check_acyclic(self) -> None:
        cycle = find_cycle(dict(enumerate(self.parents)))
        if cycle is None:
            return
        names = [self.names[task] for task in cycle]
        raise InvalidDag(
            "dag_cycle",
            field=f"tasks.{names[0]}.depends_on",
            reason=f"these wait for each other, so none could ever start: {_shown(names)}.",
            task=names[0],
        )


def _places(tasks: Sequence[tuple[str, Sequence[str]]]) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, (name, _) in enumerate(tasks):
        if places.setdefault(name, place) != place:
            raise InvalidDag(
                "duplicate", field=f"tasks.{name}", reason="stands twice; names differ.", task=name
            )
    return places


def _parents(name: str, depends_on: Sequence[str], places: Mapping[str, int]) -> tuple[int, ...]:
    field, seen = f"tasks.{name}.depends_on", set()
    for parent in depends_on:
        if parent == name:
            raise InvalidDag("dag_self", field=field, reason="a task cannot wait for itself.", task=name)
        if parent not in places:
            raise InvalidDag("unknown_node", field=field, reason=f"there is no task {parent!r}.", task=name)
        if parent in seen:
            raise InvalidDag("duplicate", field=field, reason=f"names {parent!r} twice.", task=name)
        seen.add(parent)
    return tuple(places[parent] for parent in depends_on)


def _reached(start: Iterable[int], edges: Sequence[Sequence[int]]) -> set[int]:
    """What can be reached by at least one edge."""
    todo, reached = list(start), set[int]()
    while todo:
        for following in edges[todo.pop()]:
            if following not in reached:
                reached.add(following)
                todo.append(following)
    return reached
