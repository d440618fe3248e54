"""Pictures of workflows: arrows with heads that no box hides, and the status in words."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from gnomon.cli.output.graphs import graph_of, svg_of
from gnomon.cli.output.trees import tree_of
from gnomon.core.workflows.graph import TASKS_MAX

CHAIN: list[dict[str, object]] = [
    {"name": "a"},
    {"name": "b", "depends_on": ["a"]},
    {"name": "c", "depends_on": ["a", "b"]},
]
SVG = "{http://www.w3.org/2000/svg}"


def test_what_a_server_with_raised_limits_keeps_is_drawn() -> None:
    assert len(graph_of([{"name": str(n)} for n in range(TASKS_MAX + 1)]).names) == TASKS_MAX + 1


def test_an_arrow_over_two_columns_runs_behind_no_box() -> None:
    picture = ET.fromstring(svg_of(graph_of(CHAIN), {}))
    boxes = picture.findall(f".//{SVG}rect")
    paths = [one.get("d", "") for one in picture.findall(f"{SVG}path")]
    [long] = [path for path in paths if "L" in path]
    box = boxes[1]
    top, height = (int(box.get(name, "")) for name in ("y", "height"))
    [passes] = re.findall(r"L\d+ (\d+)", long)
    assert not top <= int(passes) <= top + height
    assert len(paths) == 3
    assert all(one.get("marker-end") == "url(#to)" for one in picture.findall(f"{SVG}path"))


def test_a_picture_says_the_status() -> None:
    drawn = svg_of(graph_of(CHAIN), {"a": "COMPLETED", "b": "FAILED"})
    picture = ET.fromstring(drawn)
    words = [one.text for one in picture.findall(f".//{SVG}text")]
    assert words == ["a", "COMPLETED", "b", "FAILED", "c"]


def test_a_tree_shows_every_edge_once_and_marks_fan_outs() -> None:
    tasks: list[dict[str, object]] = [
        {"name": "extract"},
        {"name": "clean", "depends_on": ["extract"]},
        {"name": "count", "depends_on": ["extract"]},
        {"name": "load", "depends_on": ["clean", "count"]},
    ]
    assert [line.plain for line in tree_of(graph_of(tasks), {"extract": "COMPLETED"}, {"clean"})] == [
        "extract  COMPLETED",
        "├─▶ clean ×N",
        "│   └─▶ load …",
        "└─▶ count",
        "    └─▶ load  (after clean, count)",
    ]


def test_a_chain_of_thousands_is_drawn() -> None:
    chain = [{"name": str(n), "depends_on": [str(n - 1)] if n else []} for n in range(5000)]
    assert len(list(tree_of(graph_of(chain), {}, ()))) == 5000


def test_below_the_last_level_that_is_indented_a_task_names_what_it_waits_for() -> None:
    chain = [
        {"name": name, "depends_on": before}
        for name, before in (("a", []), ("b", ["a"]), ("c", ["b"]), ("d", ["b"]))
    ]
    assert [line.plain for line in tree_of(graph_of(chain), {}, (), indent_max=1)] == [
        "a",
        "└─▶ b",
        "├─▶ c  (after b)",
        "└─▶ d  (after b)",
    ]
