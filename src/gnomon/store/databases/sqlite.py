"""SQLite: one writer thread, some readers beside it, batches as temporary tables."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from itertools import cycle
from typing import TypeVar

from gnomon.errors import StoreRefused, StoreUnavailable
from gnomon.store.databases.database import ForeignKeyViolation, Row, Rows, Session, UniqueViolation
from gnomon.store.databases.one_thread import Hands, OneThread
from gnomon.store.databases.sqlite_connection import MEMORY, connected
from gnomon.store.schema.migrations import AppliedMigration, Migration, applied_of, not_run, record_of

SQLITE_VERSION_MIN = (3, 37, 0)  # STRICT tables; RETURNING and UPDATE FROM are older.
READERS = 2
QUICK_ROWS_MAX = 500  # Some 5 ms. A larger batch is never quick.
# Reads by key, which take less time than the way to another thread and back.
BY_KEY = frozenset({
    "job_get", "jobs_get", "jobs_shown", "jobs_recent", "key_find", "executions_get", "worker_get",
    "leases_held", "dag_get", "revisions",
})  # fmt: skip
BY_KEY_ROWS_MAX = 100
# To fold it takes a tenth of a second and more. So commits on the loop never do that. At most this often, and
# after as many rows, one is left to the thread, which does it if there is enough to fold.
FOLD_SECONDS = 0.25
FOLD_ROWS = 64
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


class SqliteSession:
    """Statements of an open transaction, each a hop to the writer thread."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def fetch(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        writer = self._database.writer
        return await self._database.write(lambda: writer.run(statement, batches, values), _count(batches))


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
        self.writer = connected(path)
        self._writer_thread = hands("gnomon-sqlite-writer")
        # A database in memory belongs to its one connection, so its readers are its writer.
        readers = [] if path == MEMORY else [connected(path) for _ in range(1 + READERS)]
        self._readers = [(reader, hands("gnomon-sqlite-reader")) for reader in readers]
        # The first is for what is quick: it never stands behind a page, and its next read is often for the
        # same rows.
        self._next_reader = cycle(self._readers[1:])
        self._turn = asyncio.Lock()
        # When a commit was last left to the thread, by the time of the loop, and the rows until then.
        self._left_at, self._left_rows = 0.0, 0

    async def fetch(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        def in_transaction(begin: Callable[[], None], may_fold: bool) -> list[Row]:
            begin()
            try:
                rows = self.writer.run(statement, batches, values)
                self.writer.commit(may_fold=may_fold)
            except BaseException:
                self._roll_back()
                raise
            return rows

        async with self._turn:
            try:
                return await self._commit(partial(in_transaction, self.writer.begin), _count(batches))
            except Busy:
                return await self.on_writer(partial(in_transaction, self.writer.begin_patiently, True))

    async def read(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        if not self._readers:
            # Nobody else has this database, so what is read needs no transaction to be of one moment.
            async with self._turn:
                return await self.write(lambda: self.writer.run(statement, batches, values), _count(batches))
        is_quick = statement in BY_KEY and _count(batches) <= BY_KEY_ROWS_MAX
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
                # Pages of a large transaction may go to the disk only now.
                await self._commit(
                    lambda may_fold: self.writer.commit(may_fold=may_fold), self.writer.uncommitted
                )
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

    async def write(self, work: Callable[[], _Answer], rows: int = 0) -> _Answer:
        """Where it is quicker: here, or on the writer thread."""
        if rows > QUICK_ROWS_MAX:
            return await self.on_writer(work)
        return await _answer_of(self._writer_thread.run_here_if_quick(work, rows))

    async def _commit(self, work: Callable[[bool], _Answer], rows: int) -> _Answer:
        """`work` ends with a commit. It is told whether that may fold the log."""
        now, written = asyncio.get_running_loop().time(), self.writer.rows
        if now - self._left_at < FOLD_SECONDS or written - self._left_rows < FOLD_ROWS:
            return await self.write(partial(work, False), rows)
        self._left_at, self._left_rows = now, written
        return await self.on_writer(partial(work, True))

    async def on_writer(self, work: Callable[[], _Answer]) -> _Answer:
        return await _answer_of(self._writer_thread.run(work))

    def _roll_back(self) -> None:
        if self.writer.raw.in_transaction:
            self.writer.raw.execute("ROLLBACK")


def _count(batches: Sequence[Rows]) -> int:
    return sum(len(batch.rows) for batch in batches)


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
