"""A workflow as lines of a terminal: each task below one that it waits for, with lines for the edges."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from rich.text import Text

from gnomon.cli.graphs import COLOURS, PLAIN
from gnomon.cli.terminal import Screen, printable
from gnomon.core.graph import Graph

INDENT_MAX = 30  # Levels. Deeper ones stand in one column, with their number.


def print_tree(graph: Graph, statuses: Mapping[str, str], fan_outs: Collection[str]) -> None:
    screen = Screen(highlight=False, soft_wrap=True)
    for line in tree_of(graph, statuses, fan_outs):
        screen.print(line)


def tree_of(graph: Graph, statuses: Mapping[str, str], fan_outs: Collection[str]) -> Iterator[Text]:
    """A task that waits for several stands below the last of them; below the others an arrow names it."""
    levels = {task: number for number, level in enumerate(graph.levels()) for task in level}
    # By a stack, not by calls: a chain may be as long as a workflow may be.
    to_draw = [(root, "", "", True) for root in reversed(graph.roots)]
    while to_draw:
        task, lead, branch, is_whole = to_draw.pop()
        line = Text(lead + branch)
        if not is_whole:
            yield line.append(f"{printable(graph.names[task])} …", "dim")
            continue
        yield line.append(_told(graph, task, statuses, fan_outs))
        inner = lead + {"": "", "├─▶ ": "│   ", "└─▶ ": "    "}[branch]
        if levels[task] >= INDENT_MAX:
            inner = lead
        children = graph.children[task]
        below = [
            (child, inner, "└─▶ " if child == children[-1] else "├─▶ ", _home(graph, levels, child) == task)
            for child in children
        ]
        to_draw += reversed(below)


def _home(graph: Graph, levels: Mapping[int, int], task: int) -> int:
    """The parent that it is drawn below: the last to come."""
    return max(graph.parents[task], key=lambda parent: (levels[parent], parent))


def _told(graph: Graph, task: int, statuses: Mapping[str, str], fan_outs: Collection[str]) -> Text:
    name = graph.names[task]
    status = statuses.get(name, "")
    text = Text(printable(name), style=COLOURS.get(status, PLAIN)[0])
    if name in fan_outs:
        text.append(" ×N", "bold")
    if status:
        text.append(f"  {status}")
    if len(graph.parents[task]) > 1:
        waits_for = ", ".join(printable(graph.names[parent]) for parent in graph.parents[task])
        text.append(f"  (after {waits_for})", "dim")
    return text
