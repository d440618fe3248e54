"""Answers on stdout: a table for people, JSON or YAML for programs."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, assert_never

from gnomon.cli.output.terminal import json_text, printable, say, yaml_text

CELL_LENGTH_MAX = 60  # Where there is no terminal.
CELL_LENGTH_MIN = 12
GAP = "  "
ID_LENGTH, ID_DASHES = 36, 4
_TIME = re.compile(r"(?P<day>(?P<year>\d{4})-(?P<date>\d\d-\d\d))T(?P<minute>\d\d:\d\d)(?P<second>:\d\d)Z")
_FRACTION = re.compile(r"(?<=T\d\d:\d\d:\d\d)\.\d+(?=Z|[+-]\d\d:\d\d)")

Line = dict[int, int]  # The columns in it, by their place, and how wide each is.

# The title of a column, and the field it shows or how to find out.
Columns = Mapping[str, str | Callable[[Any], object]]


class Output(StrEnum):
    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


def show_many(rows: Sequence[Any], columns: Columns, output: Output) -> None:
    """Plain columns: ids are for copying, so nothing is wrapped. An empty table has its titles."""
    if output is not Output.TABLE:
        show_plain(rows, output)
        return
    cells = [list(columns), *([_cell(_of(row, what)) for what in columns.values()] for row in rows)]
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        if _row_width(_widths(cells)) > width:
            today = datetime.now(UTC)
            cells = [[_short_time(cell, today=f"{today:%Y-%m-%d}") for cell in row] for row in cells]
        layout = _layout(cells, width)
    else:
        layout = [{at: min(width, CELL_LENGTH_MAX) for at, width in enumerate(_widths(cells))}]
    for row in cells:
        for number, line in enumerate(layout):
            pieces = (f"{_cut(row[at], width):<{width}}" for at, width in line.items())
            say(f"{GAP if number else ''}{GAP.join(pieces)}".rstrip())


def _layout(cells: Sequence[Sequence[str]], width: int) -> list[Line]:
    """The lines of each row. What does not fit into one goes on below, between two columns.

    In each line, the longest columns give way until it fits: a row of two lines is not cut as if it had
    one. Ids are for copying and never cut.
    """
    widths = _widths(cells)
    least = [
        full if any(map(_is_id, column)) else min(full, CELL_LENGTH_MIN)
        for full, column in zip(widths, zip(*cells, strict=True), strict=True)
    ]
    lines: list[Line] = [{}]
    for at, full in enumerate(widths):
        if lines[-1] and _row_width([*(least[one] for one in lines[-1]), least[at]]) > _room(lines, width):
            lines.append({})
        lines[-1][at] = full
    for number, line in enumerate(lines, start=1):
        room = _room(lines[:number], width)
        while _row_width(line.values()) > room:
            may_shrink = [at for at in line if line[at] > least[at]]
            if not may_shrink:
                break
            line[max(may_shrink, key=lambda at: line[at])] -= 1
    return lines


def _room(lines: Sequence[Line], width: int) -> int:
    """What the last of these lines has: all but the first are indented."""
    return width if len(lines) == 1 else width - len(GAP)


def _row_width(widths: Collection[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _widths(cells: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*cells, strict=True)]


def _short_time(cell: str, *, today: str) -> str:
    """An instant in at most CELL_LENGTH_MIN characters, so that it is not cut. Other cells stay."""
    found = _TIME.fullmatch(cell)
    if found is None:
        return cell
    if found["day"] == today:
        return f"{found['minute']}{found['second']}Z"
    return f"{found['date']} {found['minute']}Z" if found["year"] == today[:4] else found["day"]


def _is_id(cell: str) -> bool:
    return len(cell) == ID_LENGTH and cell.count("-") == ID_DASHES


def _cut(cell: str, width: int) -> str:
    return cell if len(cell) <= width else cell[: width - 1] + "…"


def show_one(answer: Mapping[str, Any], output: Output) -> None:
    """All that is known, a line each; what is nested as JSON."""
    if output is not Output.TABLE:
        show_plain(answer, output)
        return
    width = max(len(name) for name in answer)
    for name, value in answer.items():
        first, *more = map(printable, text_of(value).split("\n"))
        say(f"{name:<{width}}  {first}".rstrip())
        for line in more:  # Below it, so that no text can pass for a field.
            say(f"{'':<{width}}  {line}".rstrip())


def show_plain(answer: object, output: Output) -> None:
    match output:
        case Output.JSON | Output.TABLE:
            say(json_text(answer))
        case Output.YAML:
            say(yaml_text(answer), nl=False)
        case _:
            assert_never(output)


def note(words: str) -> None:
    """For a person, beside the answer."""
    say(f"gnomon: {words}", err=True)


def _of(row: Any, what: str | Callable[[Any], object]) -> object:
    return row[what] if isinstance(what, str) else what(row)


def _cell(value: object) -> str:
    return printable(" ".join(text_of(value).split()))


def text_of(value: object) -> str:
    match value:
        case None:
            return "-"
        case True:
            return "yes"
        case False:
            return "no"
        case str():
            return _FRACTION.sub("", value)
        case list() if all(isinstance(word, str) for word in value):
            return ",".join(value) or "-"
        case dict() | list():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return str(value)
