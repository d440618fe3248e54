"""SQLite: one writer thread, some readers beside it, batches as temporary tables."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from itertools import cycle
from typing import TypeVar

from gnomon.errors import StoreRefused, StoreUnavailable
from gnomon.store.databases import statements
from gnomon.store.databases.database import ForeignKeyViolation, Row, Rows, Session, UniqueViolation
from gnomon.store.databases.one_thread import Hands, OneThread
from gnomon.store.databases.sqlite_values import bound, packed, read
from gnomon.store.schema.migrations import AppliedMigration, Migration, applied_of, not_run, record_of

MEMORY = ":memory:"
SQLITE_VERSION_MIN = (3, 37, 0)  # STRICT tables; RETURNING and UPDATE FROM are older.
READERS = 2
QUICK_ROWS_MAX = 500  # Some 5 ms. A larger batch is never quick.
# Reads by key, which take less time than the way to another thread and back.
BY_KEY = frozenset({
    "job_get", "jobs_get", "jobs_shown", "jobs_recent", "key_find", "executions_get", "worker_get",
    "leases_held", "dag_get", "revisions",
})  # fmt: skip
BY_KEY_ROWS_MAX = 100
BUSY_TIMEOUT = timedelta(seconds=10)
PRAGMAS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    # 32 MB of log before it is folded into the file: hot pages change often, and are then written once.
    "PRAGMA wal_autocheckpoint = 8000",
    "PRAGMA cache_size = -32000",
)

# The codes that speak of the disk or of other processes. Everything else is our own mistake.
_TROUBLE = frozenset({
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
})  # fmt: skip
_Answer = TypeVar("_Answer")


def sqlite_release() -> str:
    return f"SQLite {sqlite3.sqlite_version}"


class Busy(StoreUnavailable):
    """Another connection holds the write lock."""


class Connection:
    """One SQLite connection and the statements it runs. Used by one thread at a time."""

    def __init__(self, path: str) -> None:
        self._statements = {name: statements.script(text) for name, text in statements.load("sqlite").items()}
        self.raw = sqlite3.connect(
            path,
            isolation_level=None,
            check_same_thread=False,
            timeout=BUSY_TIMEOUT.total_seconds(),
            cached_statements=512,  # All that we have, so that none is parsed twice.
        )
        [[journal_mode]] = self.raw.execute("PRAGMA journal_mode=WAL")
        if path != MEMORY and journal_mode != "wal":
            raise StoreRefused(f"{path} cannot have a write-ahead log: its journal stays {journal_mode!r}.")
        self.raw.create_function("unhexed", 1, _unhexed, deterministic=True)
        for pragma in PRAGMAS:
            self.raw.execute(pragma)
        for statement in self._statements["temporary_tables"]:
            self.raw.execute(statement)
        self._patience = BUSY_TIMEOUT
        self._filled: Rows | None = None  # The last batch, while its table is as it was then.

    def begin(self) -> None:
        """At once or not at all: the thread of a loop must not wait for a lock that a task of it holds."""
        self._wait_at_most(timedelta(0))
        self.raw.execute("BEGIN IMMEDIATE")

    def begin_patiently(self) -> None:
        self._wait_at_most(BUSY_TIMEOUT)
        self.raw.execute("BEGIN IMMEDIATE")

    def _wait_at_most(self, patience: timedelta) -> None:
        if patience != self._patience:
            self.raw.execute(f"PRAGMA busy_timeout = {patience // timedelta(milliseconds=1)}")
            self._patience = patience

    def run(self, statement: str, batches: Sequence[Rows], values: dict[str, object]) -> list[Row]:
        parameters = dict(zip(values, bound(values.values()), strict=True))
        for batch in batches:
            self._fill(batch)
        rows: list[Row] = []
        for text in self._statements[statement]:
            cursor = self.raw.execute(text, parameters)
            if cursor.description:
                rows += read(cursor)
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
        if self._filled == batch:
            return
        self._filled = None
        self.raw.execute(f"DELETE FROM temp.{batch.name}")  # noqa: S608 - our own names, never a value.
        if batch.rows:
            columns, values, parameters = packed(batch)
            self.raw.execute(
                f"INSERT INTO temp.{batch.name} ({columns}) SELECT {values} FROM json_each(?)",  # noqa: S608
                parameters,
            )
        if not self.raw.in_transaction:  # What is rolled back takes this with it.
            self._filled = batch


def _unhexed(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def _connected(path: str) -> Connection:
    try:
        return Connection(path)
    except sqlite3.OperationalError as error:
        raise StoreUnavailable(f"SQLite: {path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise StoreRefused(f"{path} is no SQLite database that can be used: {error}.") from error


class SqliteSession:
    """Statements of an open transaction, each a hop to the writer thread."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def fetch(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        writer = self._database.writer
        return await self._database.write(lambda: writer.run(statement, batches, values), batches)


class SqliteDatabase:
    """One file, one process. `:memory:` is the same store without the file.

    `hands` makes what a connection works with: a thread, which is left out while the disk is quick.
    """

    dialect = "sqlite"
    dead_rows_linger = False
    partitions = None

    def __init__(self, path: str, *, hands: Callable[[str], Hands] = OneThread) -> None:
        if sqlite3.sqlite_version_info < SQLITE_VERSION_MIN:
            raise StoreRefused(
                f"SQLite {sqlite3.sqlite_version} is too old; Gnomon needs "
                f"{'.'.join(map(str, SQLITE_VERSION_MIN))} or newer."
            )
        self.writer = _connected(path)
        self._writer_thread = hands("gnomon-sqlite-writer")
        # A database in memory belongs to its one connection, so its readers are its writer.
        readers = [] if path == MEMORY else [_connected(path) for _ in range(1 + READERS)]
        self._readers = [(reader, hands("gnomon-sqlite-reader")) for reader in readers]
        # The first is for what is quick: it never stands behind a page, and its next read is often for the
        # same rows.
        self._next_reader = cycle(self._readers[1:])
        self._turn = asyncio.Lock()

    async def fetch(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        def in_transaction(begin: Callable[[], None]) -> list[Row]:
            begin()
            try:
                rows = self.writer.run(statement, batches, values)
                self.writer.raw.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise
            return rows

        async with self._turn:
            try:
                return await self.write(partial(in_transaction, self.writer.begin), batches)
            except Busy:
                return await self.on_writer(partial(in_transaction, self.writer.begin_patiently))

    async def read(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        if not self._readers:
            # Nobody else has this database, so what is read needs no transaction to be of one moment.
            async with self._turn:
                return await self.write(lambda: self.writer.run(statement, batches, values), batches)
        rows = sum(len(batch.rows) for batch in batches)
        is_quick = statement in BY_KEY and rows <= BY_KEY_ROWS_MAX
        reader, thread = self._readers[0] if is_quick else next(self._next_reader)
        run = thread.run_here_if_quick if is_quick else thread.run
        return await _answer_of(run(lambda: reader.run(statement, batches, values)))

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Session]:
        async with self._turn:
            try:
                # In here too: who is cancelled while the thread begins leaves a transaction that nobody ends.
                await self._begin()
                yield SqliteSession(self)
                await self.write(lambda: self.writer.raw.execute("COMMIT"))
            except BaseException:
                # The thread works in order, so this comes after whatever a cancelled caller left running.
                await asyncio.shield(self.on_writer(self._roll_back))
                raise

    async def _begin(self) -> None:
        try:
            await self.write(self.writer.begin)
        except Busy:
            await self.on_writer(self.writer.begin_patiently)

    async def close(self) -> None:
        for connection, thread in [*self._readers, (self.writer, self._writer_thread)]:
            await _answer_of(thread.run(connection.raw.close))
            thread.stop()

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
            try:
                await self.on_writer(lambda: self.writer.run_text(migration.text))
            except sqlite3.Error as error:
                raise not_run(migration, error) from error
            await session.fetch("migration_record", now=now, **record_of(migration))
        return True

    async def write(self, work: Callable[[], _Answer], batches: Sequence[Rows] = ()) -> _Answer:
        """Where it is quicker: here, or on the writer thread."""
        rows = sum(len(batch.rows) for batch in batches)
        if rows > QUICK_ROWS_MAX:
            return await self.on_writer(work)
        return await _answer_of(self._writer_thread.run_here_if_quick(work, rows))

    async def on_writer(self, work: Callable[[], _Answer]) -> _Answer:
        return await _answer_of(self._writer_thread.run(work))

    def _roll_back(self) -> None:
        if self.writer.raw.in_transaction:
            self.writer.raw.execute("ROLLBACK")


async def _answer_of(work: Awaitable[_Answer]) -> _Answer:
    """What SQLite raises, in the words of a store."""
    try:
        return await work
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorcode in (sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY):
            raise UniqueViolation(str(error)) from error
        if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
            raise ForeignKeyViolation(str(error)) from error
        raise
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
            raise Busy(f"SQLite: {error}") from error
        if error.sqlite_errorcode & 0xFF in _TROUBLE:
            raise StoreUnavailable(f"SQLite: {error}") from error
        raise
