"""SQL from files: sql/<dialect>/<room>/<name>.sql wins over sql/common/<room>/<name>.sql.

Named parameters only. `:name` is a value. `:rows.column` is a column of a batch (see database.Rows):
PostgreSQL gets it as an array for `unnest`; SQLite finds the batch in a temporary table of the same name.

`@name(expression AS column, ...)` is a fragment, from sql/fragments: what more than one statement does,
written once. `{column}` in it becomes the expression that the statement gives, else the column of that name;
`{column = default}` becomes the default where the statement says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

_COMMENT = re.compile(r"--[^\n]*")
_FRAGMENT = re.compile(r"@(\w+)")
_HOLE = re.compile(r"\{(\w+)(?: = ([^{}]+))?\}")
_PARAMETER = re.compile(r"(?<![:\w]):(\w+(?:\.\w+)?)")


@cache
def load(dialect: str) -> Mapping[str, str]:
    """Every statement of a dialect by name, comments stripped."""
    root = files("gnomon.store") / "sql"
    parts = fragments(dialect)
    texts = _read_rooms(root / "common") | _read_rooms(root / dialect)
    return {name: assembled(text, parts) for name, text in texts.items()}


@cache
def fragments(dialect: str) -> Mapping[str, str]:
    root = files("gnomon.store") / "sql" / "fragments"
    return _read(root / "common") | _read(root / dialect)


def assembled(text: str, parts: Mapping[str, str]) -> str:
    """The text with each fragment in place. Fragments may be given to fragments, and made of others."""
    while found := _FRAGMENT.search(text):
        given, end = _given(text, found.end())
        text = text[: found.start()] + _filled(parts[found[1]], given, name=found[1]) + text[end:]
    return text


def numbered(text: str) -> tuple[str, tuple[str, ...]]:
    """`:name` becomes `$n`, as PostgreSQL wants it. Returns the text and the names in order."""
    names: list[str] = []

    def place(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    return _PARAMETER.sub(place, text), tuple(names)


def pyformat(text: str) -> str:
    """`:name` becomes `%(name)s`, as psycopg wants it."""
    return _PARAMETER.sub(r"%(\1)s", text.replace("%", "%%"))


def script(text: str) -> tuple[str, ...]:
    """The single statements of a file that holds several."""
    return tuple(part.strip() for part in text.split(";") if part.strip())


def _given(text: str, start: int) -> tuple[dict[str, str], int]:
    """What the parentheses behind a fragment say, by column, and where they end. There need not be any."""
    if text[start : start + 1] != "(":
        return {}, start
    given, depth, begin = {}, 0, start + 1
    for place in range(start, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0 or (depth == 1 and text[place] == ","):
            expression, _, column = text[begin:place].strip().rpartition(" AS ")
            given[column] = expression or column
            begin = place + 1
        if depth == 0:
            return given, place + 1
    raise AssertionError(f"a parenthesis is never closed: {text[start:]}")


def _filled(part: str, given: Mapping[str, str], *, name: str) -> str:
    unknown = given.keys() - {hole[1] for hole in _HOLE.finditer(part)}
    assert not unknown, f"the fragment {name} has no {', '.join(unknown)}"
    return _HOLE.sub(lambda hole: given.get(hole[1], hole[2] or hole[1]), part)


def _read_rooms(folder: Traversable) -> dict[str, str]:
    return {name: text for room in folder.iterdir() for name, text in _read(room).items()}


def _read(folder: Traversable) -> dict[str, str]:
    return {
        entry.name.removesuffix(".sql"): _COMMENT.sub("", entry.read_text(encoding="utf-8")).strip()
        for entry in folder.iterdir()
        if entry.name.endswith(".sql")
    }
