"""Migrations: forward only, numbered alike in both dialects, each in a transaction of its own.

See docs/adr/0007-migrations.md for what an expand and a contract may do.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Protocol

from gnomon.errors import StoreRefused
from gnomon.store.databases.database import Row

HOW_TO_MIGRATE = "Run on it: gnomon db migrate"


class MigrationKind(StrEnum):
    EXPAND = "expand"  # Adds; the release before this one still works.
    CONTRACT = "contract"  # Removes what no supported release uses.


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    kind: MigrationKind
    text: str

    @property
    def checksum(self) -> str:
        return sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class AppliedMigration:
    """A migration as the database remembers it."""

    number: int
    name: str
    kind: MigrationKind
    checksum: str


class Migratable(Protocol):
    """What a database must offer to be migrated."""

    @property
    def dialect(self) -> str: ...

    async def applied_migrations(self) -> Sequence[AppliedMigration]:
        """In order; empty on a database that has never seen Gnomon."""

    async def apply_migration(self, migration: Migration, *, now: datetime) -> bool:
        """Run and record it in one transaction. False if another process was faster.

        Raises StoreRefused if it cannot be run on what is there. Then nothing of it was kept.
        """


@cache
def migrations(dialect: str) -> tuple[Migration, ...]:
    """All that this release knows, in order."""
    folder = files("gnomon.store") / "sql" / "migrations" / dialect
    entries = sorted(
        (entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda e: e.name
    )
    return tuple(_parse(entry.name, entry.read_text(encoding="utf-8")) for entry in entries)


def pending(dialect: str, applied: Sequence[AppliedMigration]) -> tuple[Migration, ...]:
    done = {migration.number for migration in applied}
    return tuple(migration for migration in migrations(dialect) if migration.number not in done)


def refusal(dialect: str, applied: Sequence[AppliedMigration]) -> str | None:
    """Why this release must not run on that schema, or None."""
    if not applied:
        return f"The database has no schema of Gnomon yet. {HOW_TO_MIGRATE}"
    reason = unfit(dialect, applied)
    if reason is None and pending(dialect, applied):
        have, need = applied[-1].number, migrations(dialect)[-1].number
        return f"The schema is too old: it is at {have}, this release needs {need}. {HOW_TO_MIGRATE}"
    return reason


def unfit(dialect: str, applied: Sequence[AppliedMigration]) -> str | None:
    """What migrating cannot mend, or None."""
    known = {migration.number: migration for migration in migrations(dialect)}
    return _too_new(known, applied) or _gap(known, applied) or _changed(known, applied)


def is_newer(dialect: str, applied: Sequence[AppliedMigration]) -> bool:
    """Whether a later release was here."""
    return bool(applied) and applied[-1].number > migrations(dialect)[-1].number


def _too_new(known: Mapping[int, Migration], applied: Sequence[AppliedMigration]) -> str | None:
    for one in applied:
        if one.number not in known and one.kind is MigrationKind.CONTRACT:
            return (
                f"The schema is too new: migration {one.number:04} ({one.name}) removed something that this "
                "release needs. Install a newer release of Gnomon."
            )
    return None


def _gap(known: Mapping[int, Migration], applied: Sequence[AppliedMigration]) -> str | None:
    """Migrations run in order, so one that is missing before another was run, too, or its row is lost."""
    done = {one.number for one in applied}
    for number, migration in known.items():
        if number not in done and number < max(done, default=0):
            return (
                f"schema_migrations has no row for migration {number:04} ({migration.name}), although "
                f"{max(done):04} was run. If its row was deleted, put it back: number {number}, name "
                f"'{migration.name}', kind '{migration.kind}', checksum '{migration.checksum}'. "
                "Otherwise restore a backup."
            )
    return None


def _changed(known: Mapping[int, Migration], applied: Sequence[AppliedMigration]) -> str | None:
    for one in applied:
        if one.number in known and known[one.number].checksum != one.checksum:
            return (
                f"Migration {one.number:04} ({one.name}) was applied with another text than ours. "
                "The database was made by a development version; start from a fresh one or restore a backup."
            )
    return None


async def migrate(database: Migratable, *, now: datetime) -> Sequence[Migration]:
    """Bring the schema up to this release. Returns what was run. Safe to run twice, or at once by many."""
    return [migration async for migration in migrating(database, now=now)]


async def migrating(database: Migratable, *, now: datetime) -> AsyncIterator[Migration]:
    """The same, each migration as soon as it is done."""
    applied = await database.applied_migrations()
    reason = unfit(database.dialect, applied)
    if reason is not None:
        raise StoreRefused(reason)
    for migration in pending(database.dialect, applied):
        if await database.apply_migration(migration, now=now):
            yield migration


def not_run(migration: Migration, error: Exception) -> StoreRefused:
    return StoreRefused(
        f"Migration {migration.number:04} ({migration.name}) cannot be run: {error}. Nothing of it was kept. "
        "Is the database another program's, or are rows of schema_migrations lost? Restore a backup, or "
        "choose a database of its own."
    )


def record_of(migration: Migration) -> dict[str, object]:
    return {
        "number": migration.number,
        "name": migration.name,
        "kind": migration.kind,
        "checksum": migration.checksum,
    }


def applied_of(row: Row) -> AppliedMigration:
    return AppliedMigration(row["number"], row["name"], MigrationKind(row["kind"]), row["checksum"])


def _parse(file_name: str, text: str) -> Migration:
    number, _, name = file_name.removesuffix(".sql").partition("_")
    kind = text.removeprefix("-- ").partition(":")[0]
    return Migration(int(number), name, MigrationKind(kind), text)
