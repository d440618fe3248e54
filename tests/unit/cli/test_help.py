"""The help of each command begins with what the command does, in a verb."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typer.testing import CliRunner

from gnomon.cli import COMMANDS, Commands, app

# Not `The`, `Its`, `What`, `Everything`: a reader of a list of commands has no object that these belong to.
VERBS = frozenset({
    "Approve", "Cancel", "Change", "Check", "Connect", "Decide", "Delete", "Drain", "Draw", "Explain",
    "Forget", "Judge", "Keep", "Let", "Limit", "List", "Look", "Make", "Pause", "Print", "Replace",
    "Resume", "Revoke", "Run", "Send", "Show", "Simulate", "Skip", "Stop", "Sync", "Wait",
})  # fmt: skip


def commands(command: Any, path: str) -> Iterator[tuple[str, str]]:
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from commands(inner, f"{path} {name}")
    else:
        yield path, command.help or ""


def test_the_help_of_each_command_begins_with_a_verb() -> None:
    known = Commands()
    told = [one for name in COMMANDS for one in commands(known[name], f"gnomon {name}")]
    assert len(told) > 60
    assert [
        (path, text.split("\n")[0]) for path, text in told if text.split(" ")[0].rstrip(",") not in VERBS
    ] == []


def test_the_help_shows_a_flag_without_a_value() -> None:
    for words in (["--help"], ["apply", "-h"], ["job", "create", "-h"], ["run", "-h"]):
        told = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
        assert told.exit_code == 0
        assert "<bool>" not in told.stdout, words
        assert "Show this message and exit." in told.stdout
