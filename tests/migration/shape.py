"""What a schema is made of, as plain values that can be compared: of PostgreSQL and of SQLite."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import asyncpg

_PARTITION = re.compile(r"_\d{4}_\d{2}$|_default$")

_COLUMNS = """
SELECT relname AS relation, attname AS name, format_type(atttypid, atttypmod) AS type,
       attnotnull AS required, pg_get_expr(adbin, adrelid) AS preset
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v') AND attnum > 0 AND NOT attisdropped
ORDER BY attrelid, attnum
"""
_TEXTS = """
SELECT 'constraint ' || conrelid::regclass || ' ' || conname AS name, pg_get_constraintdef(oid) AS text
FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION ALL
SELECT 'index ' || indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION ALL
SELECT 'view ' || viewname, definition FROM pg_views WHERE schemaname = 'public'
UNION ALL
SELECT 'trigger ' || tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
UNION ALL
SELECT 'function ' || proname, pg_get_functiondef(oid)
FROM pg_proc WHERE pronamespace = 'public'::regnamespace
UNION ALL
SELECT 'table ' || relname, relkind::text || coalesce(pg_get_partkeydef(oid), '')
       || coalesce(pg_get_expr(relpartbound, oid), '') || coalesce(array_to_string(reloptions, ','), '')
FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
"""


@dataclass(frozen=True)
class Column:
    type: str
    required: bool
    preset: str | None


@dataclass(frozen=True)
class Shape:
    """Columns by relation and name; everything else as the database prints it, by kind and name."""

    columns: Mapping[tuple[str, str], Column]
    texts: Mapping[str, str]

    @property
    def tables(self) -> Mapping[str, Mapping[str, Column]]:
        """Tables without partitions and views, with their columns."""
        views = {name.removeprefix("view ") for name in self.texts if name.startswith("view ")}
        found: dict[str, dict[str, Column]] = {}
        for (relation, name), column in self.columns.items():
            if relation not in views and not _PARTITION.search(relation):
                found.setdefault(relation, {})[name] = column
        return found


async def postgres_shape(url: str) -> Shape:
    connection = await asyncpg.connect(url)
    try:
        columns = await connection.fetch(_COLUMNS)
        texts = await connection.fetch(_TEXTS)
    finally:
        await connection.close()
    return Shape(
        {
            (row["relation"], row["name"]): Column(row["type"], row["required"], row["preset"])
            for row in columns
        },
        {row["name"]: row["text"] for row in texts},
    )


def sqlite_shape(path: Path) -> Shape:
    with closing(sqlite3.connect(path)) as connection:
        things = connection.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name <> 'sqlite_sequence'"
        ).fetchall()
        columns = {
            (relation, name): Column(kept_as, bool(required) or bool(key), preset)
            for kind, relation, _, _ in things
            if kind in ("table", "view")
            for _, name, kept_as, required, preset, key in connection.execute(
                f"PRAGMA table_info({relation})"
            ).fetchall()
        }
    # An index that a constraint made has no text of its own; its table has it.
    texts = {f"{kind} {name}": " ".join((text or table).split()) for kind, name, table, text in things}
    return Shape(columns, texts)
