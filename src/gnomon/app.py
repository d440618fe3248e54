"""The composition root: the only place that picks concrete classes."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from gnomon.errors import InvalidInput, StoreRefused
from gnomon.store.claimer import RESCAN
from gnomon.store.files import claim_file
from gnomon.store.migrate import refusal
from gnomon.store.postgres import PostgresDatabase
from gnomon.store.sql_store import SqlStore
from gnomon.store.sqlite import MEMORY, SqliteDatabase

POSTGRES_SCHEMES = ("postgresql://", "postgres://")
SQLITE_SCHEME = "sqlite://"

AnyDatabase = PostgresDatabase | SqliteDatabase


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


async def _connect(url: str) -> AnyDatabase:
    if url.startswith(POSTGRES_SCHEMES):
        return await PostgresDatabase.open(url)
    path = url.removeprefix(SQLITE_SCHEME)
    if "://" in path:
        raise InvalidInput(
            "database", f"{path.partition('://')[0]!r} is not a known kind; use postgresql:// or sqlite://."
        )
    if path == MEMORY:
        return SqliteDatabase(MEMORY)
    if not path or path == "/":
        raise InvalidInput("database", "names no file. Example: sqlite:///var/lib/gnomon/gnomon.db")
    return SqliteDatabase(str(claim_file(Path(path))))
