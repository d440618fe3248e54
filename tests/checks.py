"""The CHECKs that PostgreSQL has in tests only, on the tables that are written most: those that SQLite has.

See docs/adr/0024-checks-in-tests.md.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import asyncpg

from gnomon.store.schema.migrations import migrations

HOT_TABLES = ("executions", "endings", "queue", "leases", "dag_runs", "task_instances")


async def add_checks(dsn: str) -> None:
    """To a migrated database."""
    connection = await asyncpg.connect(dsn)
    try:
        for table, checks in hot_checks().items():
            await connection.execute(f"ALTER TABLE {table} " + ", ".join(f"ADD {check}" for check in checks))
    finally:
        await connection.close()


def hot_checks() -> dict[str, list[str]]:
    """What each of these tables must satisfy, as SQLite says it: in words that PostgreSQL knows, too."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for migration in migrations("sqlite"):
            connection.executescript(migration.text)
        definitions = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    return {table: list(_checks(definitions[table])) for table in HOT_TABLES}


def _checks(definition: str) -> Iterator[str]:
    for rest in definition.split("CHECK (")[1:]:
        depth = 1
        for end, character in enumerate(rest):
            depth += (character == "(") - (character == ")")
            if depth == 0:
                yield f"CHECK ({rest[:end]})"
                break
