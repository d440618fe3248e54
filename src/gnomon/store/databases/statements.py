"""SQL from files: sql/<dialect>/<room>/<name>.sql wins over sql/common/<room>/<name>.sql.

Named parameters only.

`:name` is a value. `:rows.column` is a column of a batch (see database.Rows): PostgreSQL gets it as an
array for `unnest`; SQLite finds the batch in a temporary table of the same name instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

_COMMENT = re.compile(r"--[^\n]*")
_PARAMETER = re.compile(r"(?<![:\w]):(\w+(?:\.\w+)?)")


@cache
def load(dialect: str) -> Mapping[str, str]:
    """Every statement of a dialect by name, comments stripped."""
    root = files("gnomon.store") / "sql"
    return _read(root / "common") | _read(root / dialect)


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


def _read(folder: Traversable) -> dict[str, str]:
    return {
        entry.name.removesuffix(".sql"): _COMMENT.sub("", entry.read_text(encoding="utf-8")).strip()
        for room in folder.iterdir()
        for entry in room.iterdir()
        if entry.name.endswith(".sql")
    }
