"""Nothing that a name holds reaches the terminal as a command."""

from __future__ import annotations

import json
from io import StringIO
from typing import cast

import pytest
import yaml  # type: ignore[import-untyped]
from rich.text import Text

from gnomon.cli.commands.apply import _show, changes_between
from gnomon.cli.commands.runs import _tell
from gnomon.cli.files.steps import Action, PlanStep
from gnomon.cli.output.exits import line
from gnomon.cli.output.graphs import graph_of, mermaid_of, svg_of
from gnomon.cli.output.tables import CELL_LENGTH_MIN, Output, _layout, _short_time, show_many, show_one
from gnomon.cli.output.terminal import Screen, json_text, printable, visible, yaml_text
from gnomon.cli.output.trees import tree_of
from gnomon.cli.session.session import Session
from gnomon.client.remote.server import Server
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
        *(one.plain for one in tree_of(graph, {}, {NASTY})),
        mermaid_of(graph, {}),
        svg_of(graph, {}),
        line(InvalidInput("x", NASTY)),
    ]
    for text in texts:
        assert text.replace("\n", "").isprintable(), text
    assert len(list(tree_of(graph, {}, ()))) == 2
    assert not any("\n" in one.plain for one in tree_of(graph, {}, ()))


def test_a_text_of_many_lines_cannot_pass_for_a_field(capsys: pytest.CaptureFixture[str]) -> None:
    show_one({"error": "boom\nstatus  COMPLETED", "status": "FAILED"}, Output.TABLE)
    assert capsys.readouterr().out.splitlines() == [
        "error   boom",
        "        status  COMPLETED",
        "status  FAILED",
    ]


def test_programs_get_the_same_value_without_a_character_that_steers_a_terminal() -> None:
    value = {"name": NASTY, "tags": [NASTY, "größer 日本", "\U000e0001"]}
    for text, read in ((json_text(value), json.loads), (yaml_text(value), yaml.safe_load)):
        assert visible(text) == text
        assert read(text) == value
    assert "größer 日本" in json_text(value)


def test_a_log_line_and_a_plan_show_escapes_and_stay_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    _tell({"at": "2026-01-01T00:00:00Z", "level": "info", "message": f"{NASTY}\rx"}, Output.TABLE)
    _tell({"at": "2026-01-01T00:00:00Z", "level": "info", "message": NASTY}, Output.JSON)
    steps = [PlanStep(Action.CHANGE, NASTY, changes={"payload": (NASTY, {"x": NASTY})}, fires_added=[NASTY])]
    _show(Session(cast("Server", None), Output.TABLE), steps)
    shown = capsys.readouterr().out
    assert visible(shown) == shown
    assert r"\x1b]0;owned\x07" in shown
    assert "\r" not in shown


def test_what_rich_draws_shows_them_too() -> None:
    drawn = StringIO()
    screen = Screen(file=drawn, width=80, force_terminal=True, color_system=None)
    screen.print(Text(NASTY))
    assert drawn.getvalue().replace("\n", "").isprintable()
    assert r"\x1b]0;owned" in drawn.getvalue()


def test_a_plan_names_each_field_that_changes() -> None:
    before = {"url": "https://a", "headers": {"x": "1"}, "same": [1]}
    after = {"url": "https://b", "headers": {}, "same": [1]}
    assert list(changes_between(before, after, "payload")) == [
        'payload.headers.x: "1" → nothing',
        'payload.url: "https://a" → "https://b"',
    ]
    assert list(changes_between(None, 30, "timeout_seconds")) == ["timeout_seconds: nothing → 30"]


def test_a_table_uses_the_width_of_the_terminal_and_keeps_ids_whole() -> None:
    cells = [["ID", "ERROR"], ["0198c5a2-0000-7000-8000-000000000000", "x" * 200]]
    for columns in (80, 160, 400):
        assert _layout(cells, columns) == [{0: 36, 1: min(200, columns - 38)}]


def test_without_a_terminal_a_cell_has_sixty_characters(capsys: pytest.CaptureFixture[str]) -> None:
    show_many([{"error": "x" * 200, "more": "ab"}], {"ERROR": "error", "MORE": "more"}, Output.TABLE)
    assert capsys.readouterr().out.splitlines()[1] == f"{'x' * 59}…  ab"


def test_a_row_of_two_lines_is_not_cut_as_if_it_had_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    row = {"name": "hopeless-import", "id": "0198c5a2-0000-7000-8000-000000000000", "error": "x" * 99}
    show_many([row], {"NAME": "name", "ID": "id", "ERROR": "error"}, Output.TABLE)
    assert capsys.readouterr().out.splitlines()[2:] == [
        f"{row['name']}  {row['id']}",
        f"  {'x' * 57}…",
    ]


def test_where_there_is_little_room_a_time_becomes_shorter_and_is_not_cut() -> None:
    for time, short in {
        "2030-05-06T07:08:09Z": "07:08:09Z",
        "2030-05-07T07:08:09Z": "05-07 07:08Z",
        "2031-05-06T07:08:09Z": "2031-05-06",
        "2030-05-06T07:08:09+02:00": "2030-05-06T07:08:09+02:00",
        "once, 2030-05-06T07:08:09Z": "once, 2030-05-06T07:08:09Z",
    }.items():
        assert _short_time(time, today="2030-05-06") == short
        assert len(short) <= CELL_LENGTH_MIN or short == time


def test_a_table_that_does_not_fit_has_short_times(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    rows = [{"id": "0198c5a2-0000-7000-8000-000000000000", "at": "1999-05-06T07:08:09.123Z"}]
    for columns, time in ((58, "1999-05-06T07:08:09Z"), (57, "1999-05-06")):
        monkeypatch.setenv("COLUMNS", str(columns))
        show_many(rows, {"ID": "id", "AT": "at"}, Output.TABLE)
        assert capsys.readouterr().out.splitlines()[1] == f"{rows[0]['id']}  {time}"


def test_a_row_that_is_too_long_for_the_terminal_goes_on_below_between_two_cells(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "50")
    row = {"id": "0198c5a2-0000-7000-8000-000000000000", "status": "COMPLETED", "more": "ab"}
    show_many([row], {"ID": "id", "STATUS": "status", "MORE": "more"}, Output.TABLE)
    assert capsys.readouterr().out.splitlines() == [
        f"{'ID':<36}  STATUS",
        "  MORE",
        f"{row['id']}  COMPLETED",
        "  ab",
    ]
