"""Migrations as a script for a person: what `migrate` would do, to be run by psql or sqlite3 instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from gnomon.store.databases import statements
from gnomon.store.databases.postgres import MIGRATION_LOCK_TIMEOUT
from gnomon.store.databases.sqlite_values import to_micros
from gnomon.store.schema.migrations import Migration, record_of
from gnomon.store.schema.partitions import partition_statements

# Without it both programs would go on after an error, and commit the half of a migration.
_STOP_AT_ERRORS = {"postgres": r"\set ON_ERROR_STOP on", "sqlite": ".bail on"}
_BEGIN = {"postgres": "BEGIN;", "sqlite": "BEGIN IMMEDIATE;"}


def migration_script(dialect: str, pending: Sequence[Migration], *, now: datetime) -> str:
    """Each migration with its bookkeeping, in a transaction of its own. It can be run once only."""
    parts = [_STOP_AT_ERRORS[dialect]]
    for migration in pending:
        parts += ["", f"-- Migration {migration.number:04} ({migration.name})", _BEGIN[dialect]]
        parts += _steps(dialect, migration, now=now)
        parts.append("COMMIT;")
    if dialect == "postgres" and pending:
        parts += ["", "-- Partitions of the months to come", *_partitions(now)]
    return "\n".join(parts) + "\n"


def _steps(dialect: str, migration: Migration, *, now: datetime) -> Iterator[str]:
    texts = statements.load(dialect)
    if dialect == "postgres":
        yield f"SET LOCAL lock_timeout = '{MIGRATION_LOCK_TIMEOUT.seconds}s';"
    if migration.number == 1:
        yield texts["migrations_table"] + ";"
    if dialect == "postgres":
        yield "LOCK TABLE schema_migrations IN EXCLUSIVE MODE;"
    yield migration.text.rstrip()
    values = record_of(migration) | {"now": now if dialect == "postgres" else to_micros(now)}
    yield _written_out(texts["migration_record"], values) + ";"


def _partitions(now: datetime) -> Iterator[str]:
    yield from (f"{statement.rstrip()};" for statement in partition_statements(now).values())


def _written_out(text: str, values: dict[str, object]) -> str:
    """A statement with its values in place of its parameters. For people; programs bind."""
    numbered, names = statements.numbered(text)
    # From the last: $1 is also how $10 begins.
    for place in range(len(names), 0, -1):
        numbered = numbered.replace(f"${place}", _literal(values[names[place - 1]]))
    return numbered


def _literal(value: object) -> str:
    match value:
        case int():
            return str(value)
        case datetime():
            return f"'{value.isoformat()}'"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case _:
            raise AssertionError(f"no literal for {value!r}")
