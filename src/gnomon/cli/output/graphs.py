"""A workflow as a picture: Mermaid or SVG, with the state of a run in colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from gnomon.cli.output.terminal import printable
from gnomon.core.workflows.graph import Graph, GraphLimits

# One colour a status: for terminals the word, for pictures the number.
COLOURS: Mapping[str, tuple[str, str]] = {
    "WAITING": ("bright_black", "#d0d0d0"),
    "RELEASED": ("cyan", "#8fd3e8"),
    "HELD": ("magenta", "#d9b3e6"),
    "HALTED": ("yellow", "#f5d76e"),
    "COMPLETED": ("green", "#9fd8a0"),
    "FAILED": ("red", "#f2a0a0"),
    "CANCELLED": ("yellow", "#e8d9a8"),
    "SKIPPED": ("bright_black", "#ececec"),
    "UPSTREAM_FAILED": ("red", "#f5cfcf"),
}
PLAIN = ("default", "#f4f4f4")
_WIDTH, _HEIGHT, _ACROSS, _DOWN = 160, 34, 190, 80
_NAME_LENGTH_MAX = 20
_LINE = 'fill="none" stroke="#888888" marker-end="url(#to)"'
_ARROWHEAD = (
    '<defs><marker id="to" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8"'
    ' orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#888888"/></marker></defs>'
)


def mermaid_of(graph: Graph, statuses: Mapping[str, str]) -> str:
    """By number: a name may hold what Mermaid reads as its own."""
    lines = ["flowchart LR"]
    lines += [f'    t{task}["{_quoted(name)}"]' for task, name in enumerate(graph.names)]
    lines += [
        f"    t{parent} --> t{task}" for task, parents in enumerate(graph.parents) for parent in parents
    ]
    for status in sorted(set(statuses.values())):
        of_it = [f"t{task}" for task, name in enumerate(graph.names) if statuses.get(name) == status]
        lines.append(f"    classDef {status} fill:{COLOURS.get(status, PLAIN)[1]}")
        lines.append(f"    class {','.join(of_it)} {status}")
    return "\n".join(lines) + "\n"


def svg_of(graph: Graph, statuses: Mapping[str, str]) -> str:
    levels = graph.levels()
    places = {task: (column, row) for column, level in enumerate(levels) for row, task in enumerate(level)}
    width, height = len(levels) * _ACROSS, max(map(len, levels)) * _DOWN
    box = f"0 0 {width} {height}"
    head = '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="13"'
    parts = [f'{head} viewBox="{box}">', _ARROWHEAD]
    for task, parents in enumerate(graph.parents):
        parts += [_arrow(places[parent], places[task]) for parent in parents]
    for task, name in enumerate(graph.names):
        parts.append(_box(places[task], name, statuses.get(name, "")))
    return "\n".join([*parts, "</svg>\n"])


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    """To the next column straight; further, between two rows of boxes, so that it runs behind none."""
    x1, y1 = start[0] * _ACROSS + 10 + _WIDTH, start[1] * _DOWN + 20 + _HEIGHT // 2
    x2, y2 = end[0] * _ACROSS + 10, end[1] * _DOWN + 20 + _HEIGHT // 2
    gap = _ACROSS - _WIDTH
    if end[0] - start[0] == 1:
        return f'<path d="{_curve(x1, y1, x2, y2)}" {_LINE}/>'
    between = y1 + _DOWN // 2 * (1 if end[1] >= start[1] else -1)
    there = _curve(x1, y1, x1 + gap, between)
    back = _curve(x2 - gap, between, x2, y2).replace("M", "L", 1)
    return f'<path d="{there} {back}" {_LINE}/>'


def _curve(x1: int, y1: int, x2: int, y2: int) -> str:
    half = (x2 - x1) // 2
    return f"M{x1} {y1} C{x1 + half} {y1} {x2 - half} {y2} {x2} {y2}"


def _box(place: tuple[int, int], name: str, status: str) -> str:
    x, y = place[0] * _ACROSS + 10, place[1] * _DOWN + 20
    whole = printable(name)
    shown = whole if len(whole) <= _NAME_LENGTH_MAX else f"{whole[: _NAME_LENGTH_MAX - 1]}…"
    colour, middle = COLOURS.get(status, PLAIN)[1], x + _WIDTH // 2
    parts = [
        f"<g><title>{escape(f'{whole} {status}'.rstrip())}</title>",
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="{colour}"',
        ' stroke="#555555"/>',
        f'<text x="{middle}" y="{y + (15 if status else 22)}" text-anchor="middle">{escape(shown)}</text>',
    ]
    if status:
        parts.append(
            f'<text x="{middle}" y="{y + 28}" text-anchor="middle" font-size="9">{escape(status)}</text>'
        )
    return "".join([*parts, "</g>"])


def graph_of(tasks: Sequence[Mapping[str, object]]) -> Graph:
    """From the tasks of a definition, as they are written."""
    named = []
    for task in tasks:
        waits_for = task.get("depends_on") or task.get("dependencies") or []
        assert isinstance(waits_for, list)
        named.append((str(task["name"]), [str(name) for name in waits_for]))
    # The server that keeps it has its own limits, and it is within them.
    return Graph.of(named, GraphLimits(len(named), sum(len(waits_for) for _, waits_for in named)))


def _quoted(name: str) -> str:
    return escape(printable(name))
