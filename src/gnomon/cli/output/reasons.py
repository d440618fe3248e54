"""Reasons at a terminal: all of each text, on lines that fit, below the run that it is about."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from gnomon.cli.output.tables import Output, show_plain
from gnomon.cli.output.terminal import printable, say

_INDENT = "  "
WIDTH_MIN = 40


def show_reasons(parts: Sequence[tuple[str | None, Sequence[Mapping[str, Any]]]], output: Output) -> None:
    """`parts` are reasons with the id of the run that they are about; None: the job itself."""
    if output is not Output.TABLE:
        show_plain([{"run": run, **reason} for run, reasons in parts for reason in reasons], output)
        return
    for run, reasons in parts:
        say("job" if run is None else f"run {run}")
        if not reasons:
            say(f"{_INDENT}No reason: a live worker gets it at its next claim.")
        for reason in reasons:
            for line in _lines(reason):
                say(line)


def _lines(reason: Mapping[str, Any]) -> list[str]:
    told = f"{reason['code']}: {printable(' '.join(reason['message'].split()))}"
    if not sys.stdout.isatty():  # A program finds all of it on one line.
        return [_INDENT + told]
    width = max(WIDTH_MIN, shutil.get_terminal_size().columns)
    return textwrap.wrap(
        told,
        width,
        initial_indent=_INDENT,
        subsequent_indent=2 * _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
