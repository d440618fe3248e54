"""Reasons on a terminal: nothing is cut, and lines fit."""

from __future__ import annotations

import sys

import pytest

from gnomon.cli.output.reasons import show_reasons
from gnomon.cli.output.tables import Output

RUN = "0198c5a2-0000-7000-8000-000000000001"
LONG = {
    "code": "no_function",
    "message": "The function 'reports.daily' is not registered on ada.\nIt is offered again at "
    "2026-01-01T00:00:10Z, perhaps to bob. Start a worker that has it, or mend the name in the job.",
}


def test_without_a_terminal_a_reason_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_reasons([(None, [LONG]), (RUN, [])], Output.TABLE)

    assert capsys.readouterr().out.splitlines() == [
        "job",
        f"  no_function: {' '.join(LONG['message'].split())}",
        f"run {RUN}",
        "  No reason: a live worker gets it at its next claim.",
    ]


@pytest.mark.parametrize("width", [80, 120])
def test_on_a_terminal_all_of_it_is_there_on_lines_that_fit(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    show_reasons([(RUN, [LONG])], Output.TABLE)

    head, *lines = capsys.readouterr().out.splitlines()
    assert head == f"run {RUN}"
    assert max(map(len, lines)) <= width
    assert " ".join(map(str.strip, lines)) == f"no_function: {' '.join(LONG['message'].split())}"
