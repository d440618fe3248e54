"""From an address to a database or a store that is ready to work."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from gnomon.errors import InvalidInput, StoreRefused
from gnomon.settings import without_password
from gnomon.store.databases.file_lock import Holder, held
from gnomon.store.databases.files import claim_file, is_new_file, warn_if_readable
from gnomon.store.databases.hints import Hints, LocalHints
from gnomon.store.databases.postgres import PostgresDatabase
from gnomon.store.databases.postgres_connect import split_pooler
from gnomon.store.databases.postgres_hints import PostgresHints
from gnomon.store.databases.sqlite import SqliteDatabase, sqlite_release
from gnomon.store.databases.sqlite_connection import MEMORY
from gnomon.store.queue.claimer import RESCAN
from gnomon.store.schema.migrations import AppliedMigration, Migration, refusal
from gnomon.store.sql_store import SqlStore

logger = logging.getLogger(__name__)

POSTGRES_SCHEMES = ("postgresql://", "postgres://")
SQLITE_SCHEME = "sqlite://"

AnyDatabase = PostgresDatabase | SqliteDatabase


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a database is, how far its schema is, and why Gnomon must not run on it, if so."""

    server: str
    applied: Sequence[AppliedMigration]
    refusals: Sequence[str]


async def open_database(url: str) -> AnyDatabase:
    """A PostgreSQL URL, `sqlite:///path`, `sqlite://:memory:` or the path of a file.

    Raises StoreRefused for a server or a file on which an acknowledged job could be lost.
    """
    database = await _connect(url)
    try:
        reasons = await database.refusals()
    except BaseException:
        await database.close()
        raise
    if reasons:
        await database.close()
        raise StoreRefused(" ".join(reasons))
    return database


async def open_store(url: str, *, rescan: timedelta = RESCAN) -> SqlStore:
    """A store that is ready to work. Raises StoreRefused on a schema that is too old or too new."""
    if dialect_of(url) == SqliteDatabase.dialect and (path := _path(url)) != MEMORY:
        warn_if_readable(claim_file(Path(path)))
    database = await open_database(url)
    try:
        reason = refusal(database.dialect, await database.applied_migrations())
    except BaseException:
        await database.close()
        raise
    if reason is not None:
        await database.close()
        raise StoreRefused(reason)
    return SqlStore(database, rescan=rescan)


async def misfit(store: SqlStore) -> str | None:
    """Why this release must not run on the schema of a store as it is now, or None."""
    database = store.database
    assert isinstance(database, AnyDatabase)
    return refusal(database.dialect, await database.applied_migrations())


def open_hints(url: str) -> Hints:
    """One for the whole process. Connects when first used, and not at all behind a transaction pooler."""
    if dialect_of(url) == PostgresDatabase.dialect:
        dsn, is_pooled = split_pooler(url)
        # LISTEN belongs to a session, and a pooler gives us none. Polling carries between processes.
        return LocalHints() if is_pooled else PostgresHints(dsn)
    return LocalHints()


def alone_on(url: str, holder: Holder) -> AbstractContextManager[None]:
    """Holds an SQLite file for one process, until the end of the block. A server is made to be shared.

    Raises StoreTaken if another process holds it.
    """
    if dialect_of(url) == PostgresDatabase.dialect or (path := _path(url)) == MEMORY:
        return nullcontext()
    return held(claim_file(Path(path)), holder)


async def inspect(url: str) -> Inspection:
    """Look, and change nothing: a file that is not there yet is not made."""
    if dialect_of(url) == SqliteDatabase.dialect and (path := _path(url)) != MEMORY and is_new_file(path):
        return _inspection(SqliteDatabase.dialect, sqlite_release(), [], refusals=[])
    database = await _connect(url)
    try:
        return _inspection(
            database.dialect,
            await database.release(),
            await database.applied_migrations(),
            refusals=await database.refusals(),
        )
    finally:
        await database.close()


def tell_migrated(url: str, done: Sequence[Migration], *, was_new: bool) -> None:
    """Nobody asked for these: a file is migrated by the process that opens it."""
    where = without_password(url)
    if was_new:
        logger.info("made the database %s", where)
    elif done:
        names = ", ".join(f"{one.number:04} ({one.name})" for one in done)
        logger.warning("migrated the database %s to this release: %s", where, names)


def dialect_of(url: str) -> str:
    return PostgresDatabase.dialect if url.startswith(POSTGRES_SCHEMES) else SqliteDatabase.dialect


def is_in_memory(url: str) -> bool:
    return dialect_of(url) == SqliteDatabase.dialect and _path(url) == MEMORY


def _inspection(
    dialect: str, server: str, applied: Sequence[AppliedMigration], *, refusals: Sequence[str]
) -> Inspection:
    reason = refusal(dialect, applied)
    return Inspection(server, applied, [*refusals, *([reason] if reason else [])])


async def _connect(url: str) -> AnyDatabase:
    if dialect_of(url) == PostgresDatabase.dialect:
        return await PostgresDatabase.open(url)
    path = _path(url)
    return SqliteDatabase(MEMORY if path == MEMORY else str(claim_file(Path(path))))


def _path(url: str) -> str:
    path = url.removeprefix(SQLITE_SCHEME)
    if "://" in path:
        raise InvalidInput(
            "database", f"{path.partition('://')[0]!r} is not a known kind; use postgresql:// or sqlite://."
        )
    if not path or path == "/":
        raise InvalidInput("database", "names no file. Example: sqlite:///var/lib/gnomon/gnomon.db")
    return path
