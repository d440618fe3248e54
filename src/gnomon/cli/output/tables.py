"""Answers on stdout: a table for people, JSON or YAML for programs."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, assert_never

from gnomon.cli.output.terminal import json_text, printable, say, yaml_text

CELL_LENGTH_MAX = 60  # Where there is no terminal.
CELL_LENGTH_MIN = 12
ID_LENGTH, ID_DASHES = 36, 4
_TIME = re.compile(r"(?P<day>(?P<year>\d{4})-(?P<date>\d\d-\d\d))T(?P<minute>\d\d:\d\d)(?P<second>:\d\d)Z")
_FRACTION = re.compile(r"(?<=T\d\d:\d\d:\d\d)\.\d+(?=Z|[+-]\d\d:\d\d)")

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
    is_terminal = sys.stdout.isatty()
    if is_terminal and not _fits(cells):
        today = datetime.now(UTC)
        cells = [[_short_time(cell, today=f"{today:%Y-%m-%d}") for cell in row] for row in cells]
    widths = _fitted(cells, is_terminal=is_terminal)
    length_max = shutil.get_terminal_size().columns if is_terminal else None
    for row in cells:
        for text in _lines(row, widths, length_max):
            say(text)


def _fitted(cells: Sequence[Sequence[str]], *, is_terminal: bool) -> list[int]:
    """How wide each column is. On a terminal the longest ones give way; ids are for copying and do not."""
    columns = list(zip(*cells, strict=True))
    widths = _widths(cells)
    if not is_terminal:
        return [min(width, CELL_LENGTH_MAX) for width in widths]
    room = _room(columns=len(widths))
    may_shrink = [at for at, column in enumerate(columns) if not any(map(_is_id, column))]
    while sum(widths) > room and may_shrink:
        widest = max(may_shrink, key=lambda at: widths[at])
        if widths[widest] <= CELL_LENGTH_MIN:
            break
        widths[widest] -= 1
    return widths


def _fits(cells: Sequence[Sequence[str]]) -> bool:
    widths = _widths(cells)
    return sum(widths) <= _room(columns=len(widths))


def _widths(cells: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*cells, strict=True)]


def _room(*, columns: int) -> int:
    """For the cells of a row: what the terminal has without the gaps."""
    return shutil.get_terminal_size().columns - len("  ") * (columns - 1)


def _short_time(cell: str, *, today: str) -> str:
    """An instant in at most CELL_LENGTH_MIN characters, so that it is not cut. Other cells stay."""
    found = _TIME.fullmatch(cell)
    if found is None:
        return cell
    if found["day"] == today:
        return f"{found['minute']}{found['second']}Z"
    return f"{found['date']} {found['minute']}Z" if found["year"] == today[:4] else found["day"]


def _lines(row: Sequence[str], widths: Sequence[int], length_max: int | None) -> Iterator[str]:
    """A row. What does not fit into one line goes on below, cell by cell."""
    text = ""
    for cell, width in zip(row, widths, strict=True):
        piece = f"{_cut(cell, width):<{width}}"
        if text and length_max is not None and len(f"{text}  {piece}") > length_max:
            yield text.rstrip()
            text = ""
            piece = f"  {piece}"
        text = f"{text}  {piece}" if text else piece
    yield text.rstrip()


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
