"""A workflow as lines of a terminal: each task below one that it waits for, with lines for the edges."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from rich.text import Text

from gnomon.cli.output.graphs import COLOURS, PLAIN
from gnomon.cli.output.terminal import Screen, printable
from gnomon.core.workflows.graph import Graph

INDENT_MAX = 30  # Levels. Deeper ones stand in one column and name what they wait for.
INDENT_LENGTH = 4
NAME_LENGTH = 32  # What a line of the deepest level has room for, on a terminal that is narrow.


def print_tree(graph: Graph, statuses: Mapping[str, str], fan_outs: Collection[str]) -> None:
    screen = Screen(highlight=False, soft_wrap=True)
    indent_max = INDENT_MAX
    if screen.is_terminal:
        indent_max = min(INDENT_MAX, max(1, (screen.width - NAME_LENGTH) // INDENT_LENGTH))
    for line in tree_of(graph, statuses, fan_outs, indent_max=indent_max):
        screen.print(line)


def tree_of(
    graph: Graph, statuses: Mapping[str, str], fan_outs: Collection[str], *, indent_max: int = INDENT_MAX
) -> Iterator[Text]:
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
        is_deep = levels[task] > indent_max
        yield line.append(_told(graph, task, statuses, fan_outs, names_parents=is_deep))
        inner = lead + {"": "", "├─▶ ": "│   ", "└─▶ ": "    "}[branch]
        if levels[task] >= indent_max:
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


def _told(
    graph: Graph,
    task: int,
    statuses: Mapping[str, str],
    fan_outs: Collection[str],
    *,
    names_parents: bool,
) -> Text:
    """`names_parents`: also if there is only one, since it is not drawn above."""
    name = graph.names[task]
    status = statuses.get(name, "")
    text = Text(printable(name), style=COLOURS.get(status, PLAIN)[0])
    if name in fan_outs:
        text.append(" ×N", "bold")
    if status:
        text.append(f"  {status}")
    if names_parents or len(graph.parents[task]) > 1:
        waits_for = ", ".join(printable(graph.names[parent]) for parent in graph.parents[task])
        text.append(f"  (after {waits_for})", "dim")
    return text
