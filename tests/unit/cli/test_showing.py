"""Nothing that a name holds reaches the terminal as a command."""

from __future__ import annotations

import pytest

from gnomon.cli.exits import line
from gnomon.cli.graphs import graph_of, lines_of, mermaid_of, svg_of
from gnomon.cli.showing import Output, printable, show_many, show_one
from gnomon.errors import InvalidInput

NASTY = "\x1b]0;owned\x07\n\x9b31m\u202ered"


def test_control_characters_are_shown_as_escapes() -> None:
    assert printable(NASTY) == r"\x1b]0;owned\x07\n\x9b31m\u202ered"
    assert printable("plain, größer 日本") == "plain, größer 日本"


def test_no_table_and_no_picture_lets_them_through(capsys: pytest.CaptureFixture[str]) -> None:
    show_many([{"name": NASTY}], {"NAME": "name"}, Output.TABLE)
    show_one({"name": NASTY, "tags": [NASTY], "more": {"x": NASTY}}, Output.TABLE)
    graph = graph_of([{"name": NASTY}, {"name": "b", "depends_on": [NASTY]}])
    texts = [
        capsys.readouterr().out,
        *(one.plain for one in lines_of(graph, {})),
        mermaid_of(graph, {}),
        svg_of(graph, {}),
        line(InvalidInput("x", NASTY)),
    ]
    for text in texts:
        assert text.replace("\n", "").isprintable(), text
    assert len(lines_of(graph, {})) == 2
    assert not any("\n" in one.plain for one in lines_of(graph, {}))


def test_a_text_of_many_lines_cannot_pass_for_a_field(capsys: pytest.CaptureFixture[str]) -> None:
    show_one({"error": "boom\nstatus  COMPLETED", "status": "FAILED"}, Output.TABLE)
    assert capsys.readouterr().out.splitlines() == [
        "error   boom",
        "        status  COMPLETED",
        "status  FAILED",
    ]
