"""SQLite: one writer thread, some readers beside it, batches as temporary tables.

All conversion between Python and SQLite happens here: times are integer microseconds, ids are blobs.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from itertools import cycle
from types import NoneType
from typing import Any, TypeVar
from uuid import UUID

from asyncpg.pgproto.pgproto import UUID as FastUUID  # A UUID like any other, made in C. # noqa: N811

from gnomon.errors import StoreRefused, StoreUnavailable
from gnomon.store import statements
from gnomon.store.database import ForeignKeyViolation, Row, Rows, Session, UniqueViolation
from gnomon.store.migrate import AppliedMigration, Migration, applied_of, record_of

MEMORY = ":memory:"
SQLITE_VERSION_MIN = (3, 37, 0)  # STRICT tables; RETURNING and UPDATE FROM are older.
READERS = 2
BUSY_TIMEOUT = timedelta(seconds=10)

IDS = frozenset({
    "id", "tenant_id", "job_id", "execution_id", "depends_on", "boot", "request_id", "redriven_as", "new_id",
    "dag_id", "dag_run_id",
})  # fmt: skip
TIMES = frozenset({
    "created_at", "updated_at", "next_run_time", "last_run_time", "anchor", "nominal_time", "nominal_until",
    "due", "recorded_at", "started_at", "finished_at", "lease_until", "saved_at", "at", "died_at",
    "redriven_at", "registered_at", "last_seen_at", "applied_at", "disabled_at", "expires_at", "revoked_at",
    "last_used_at", "sent_at",
})  # fmt: skip
FLAGS = frozenset({"cancel_requested", "allow_partial_completion"})

# The codes that speak of the disk or of other processes. Everything else is our own mistake.
_TROUBLE = frozenset({
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
})  # fmt: skip
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_Answer = TypeVar("_Answer")


def to_micros(instant: datetime) -> int:
    assert instant.tzinfo is not None, "naive datetimes never reach a store"
    return (instant - _EPOCH) // _MICROSECOND


# A batch shares its times, its tenants and its jobs: most conversions have been made before.
@lru_cache(maxsize=1024)
def from_micros(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


_READ: dict[str, Callable[[Any], object]] = (
    dict.fromkeys(IDS, FastUUID) | dict.fromkeys(TIMES, from_micros) | dict.fromkeys(FLAGS, bool)
)


class _Binders(dict[type, Callable[[Any], object] | None]):
    """How a value of a type is bound; None: as it is. Learns a type when it first sees it."""

    def __missing__(self, kind: type) -> Callable[[Any], object] | None:
        binder: Callable[[Any], object] | None = None
        if issubclass(kind, UUID):
            binder = UUID.bytes.fget  # type: ignore[attr-defined]
        elif issubclass(kind, datetime):
            binder = to_micros
        elif issubclass(kind, StrEnum):
            binder = str.__str__
        elif issubclass(kind, list):
            binder = json.dumps
        self[kind] = binder
        return binder


_BINDERS = _Binders()


def _bound(values: Iterable[object]) -> list[object]:
    binders = _BINDERS
    return [value if (bind := binders[type(value)]) is None else bind(value) for value in values]


def _bound_column(column: tuple[object, ...]) -> Iterable[object] | None:
    """A column mostly holds one type, and often one that needs nothing. None: it holds only NULL."""
    kinds = set(map(type, column))
    if kinds == {NoneType}:
        return None
    if all(_BINDERS[kind] is None for kind in kinds):
        return column
    return _bound(column)


def sqlite_release() -> str:
    return f"SQLite {sqlite3.sqlite_version}"


class Connection:
    """One SQLite connection and the statements it runs. Used by one thread at a time."""

    def __init__(self, path: str) -> None:
        self._statements = {name: statements.script(text) for name, text in statements.load("sqlite").items()}
        self.raw = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, timeout=BUSY_TIMEOUT.total_seconds()
        )
        [[journal_mode]] = self.raw.execute("PRAGMA journal_mode=WAL")
        if path != MEMORY and journal_mode != "wal":
            raise StoreRefused(f"{path} cannot have a write-ahead log: its journal stays {journal_mode!r}.")
        for pragma in ("synchronous=FULL", "foreign_keys=ON", "temp_store=MEMORY"):
            self.raw.execute(f"PRAGMA {pragma}")
        for statement in self._statements["temporary_tables"]:
            self.raw.execute(statement)

    def run(self, statement: str, batches: Sequence[Rows], values: dict[str, object]) -> list[Row]:
        bound = dict(zip(values, _bound(values.values()), strict=True))
        for batch in batches:
            self._fill(batch)
        rows: list[Row] = []
        for text in self._statements[statement]:
            cursor = self.raw.execute(text, bound)
            if cursor.description:
                rows = _read(cursor)
        return rows

    def run_text(self, text: str) -> None:
        """Statements that are not ours to name. Not `executescript`: it would commit what is open."""
        statement = ""
        for line in text.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                self.raw.execute(statement)
                statement = ""

    def _fill(self, batch: Rows) -> None:
        self.raw.execute(f"DELETE FROM temp.{batch.name}")  # noqa: S608 - our own names, never a value.
        if not batch.rows:
            return
        columns = map(_bound_column, zip(*batch.rows, strict=True))
        # Binding a value costs more than storing it, so columns that hold only NULL are left out.
        given = {
            name: column for name, column in zip(batch.columns, columns, strict=True) if column is not None
        }
        places = ",".join("?" * len(given))
        self.raw.executemany(
            f"INSERT INTO temp.{batch.name} ({','.join(given)}) VALUES ({places})",  # noqa: S608
            zip(*given.values(), strict=True),
        )


def _connected(path: str) -> Connection:
    try:
        return Connection(path)
    except sqlite3.OperationalError as error:
        raise StoreUnavailable(f"SQLite: {path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise StoreRefused(f"{path} is no SQLite database that can be used: {error}.") from error


def _read(cursor: sqlite3.Cursor) -> list[Row]:
    names = [column[0] for column in cursor.description]
    columns = zip(*cursor.fetchall(), strict=True)
    read = [_read_column(name, column) for name, column in zip(names, columns, strict=False)]
    return [dict(zip(names, row, strict=True)) for row in zip(*read, strict=True)]


def _read_column(name: str, column: tuple[Any, ...]) -> Iterable[object]:
    reader = _READ.get(name)
    if reader is None:
        return column
    if None in column:
        return [None if value is None else reader(value) for value in column]
    return map(reader, column)


class SqliteSession:
    """Statements of an open transaction, each a hop to the writer thread."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def fetch(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        writer = self._database.writer
        return await self._database.on_writer(lambda: writer.run(statement, batches, values))


class SqliteDatabase:
    """One file, one process. `:memory:` is the same store without the file."""

    dialect = "sqlite"
    dead_rows_linger = False

    def __init__(self, path: str) -> None:
        if sqlite3.sqlite_version_info < SQLITE_VERSION_MIN:
            raise StoreRefused(
                f"SQLite {sqlite3.sqlite_version} is too old; Gnomon needs "
                f"{'.'.join(map(str, SQLITE_VERSION_MIN))} or newer."
            )
        self.writer = _connected(path)
        self._writer_thread = ThreadPoolExecutor(1, "gnomon-sqlite-writer")
        # A database in memory belongs to its one connection, so its readers are its writer.
        readers = [] if path == MEMORY else [_connected(path) for _ in range(READERS)]
        self._readers = [(reader, ThreadPoolExecutor(1, "gnomon-sqlite-reader")) for reader in readers]
        self._next_reader = cycle(self._readers)
        self._turn = asyncio.Lock()

    async def fetch(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        def in_transaction() -> list[Row]:
            self.writer.raw.execute("BEGIN IMMEDIATE")
            try:
                rows = self.writer.run(statement, batches, values)
                self.writer.raw.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise
            return rows

        async with self._turn:
            return await self.on_writer(in_transaction)

    async def read(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        if not self._readers:
            return await self.fetch(statement, *batches, **values)
        reader, thread = next(self._next_reader)
        return await _hop(thread, lambda: reader.run(statement, batches, values))

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Session]:
        async with self._turn:
            await self.on_writer(lambda: self.writer.raw.execute("BEGIN IMMEDIATE"))
            try:
                yield SqliteSession(self)
                await self.on_writer(lambda: self.writer.raw.execute("COMMIT"))
            except BaseException:
                # The thread works in order, so this comes after whatever a cancelled caller left running.
                await asyncio.shield(self.on_writer(self._roll_back))
                raise

    async def close(self) -> None:
        for connection, thread in [*self._readers, (self.writer, self._writer_thread)]:
            await _hop(thread, connection.raw.close)
            thread.shutdown()

    async def release(self) -> str:
        """What serves us, in words."""
        return sqlite_release()

    async def refusals(self) -> Sequence[str]:
        return []  # What would have to be refused was refused when the file was opened.

    async def applied_migrations(self) -> Sequence[AppliedMigration]:
        [known] = await self.read("schema_known")
        if not known["known"]:
            return []
        return [applied_of(row) for row in await self.read("migrations_applied")]

    async def apply_migration(self, migration: Migration, *, now: datetime) -> bool:
        async with self.transaction() as session:
            await session.fetch("migrations_table")
            if migration.number in {row["number"] for row in await session.fetch("migrations_applied")}:
                return False
            await self.on_writer(lambda: self.writer.run_text(migration.text))
            await session.fetch("migration_record", now=now, **record_of(migration))
        return True

    async def on_writer(self, work: Callable[[], _Answer]) -> _Answer:
        return await _hop(self._writer_thread, work)

    def _roll_back(self) -> None:
        if self.writer.raw.in_transaction:
            self.writer.raw.execute("ROLLBACK")


async def _hop(thread: ThreadPoolExecutor, work: Callable[[], _Answer]) -> _Answer:
    try:
        return await asyncio.get_running_loop().run_in_executor(thread, work)
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorcode in (sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY):
            raise UniqueViolation(str(error)) from error
        if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
            raise ForeignKeyViolation(str(error)) from error
        raise
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in _TROUBLE:
            raise StoreUnavailable(f"SQLite: {error}") from error
        raise
