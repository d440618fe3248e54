"""PostgreSQL through asyncpg: a pool, prepared statements, batches as arrays."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import asyncpg

from gnomon.errors import InvalidInput, StoreRefused, StoreUnavailable
from gnomon.store.databases import statements
from gnomon.store.databases.connections import Connections
from gnomon.store.databases.database import (
    Deadlock,
    ForeignKeyViolation,
    Row,
    Rows,
    UniqueViolation,
    again_after_deadlock,
)
from gnomon.store.databases.postgres_connect import connect_for_statements, split_pooler
from gnomon.store.databases.postgres_partitions import PostgresPartitions
from gnomon.store.schema.migrations import AppliedMigration, Migration, applied_of, not_run, record_of
from gnomon.store.schema.partitions import partition_statements

VERSION_MIN = 15
CONNECTIONS_MAX = 10
MIGRATION_LOCK_TIMEOUT = timedelta(seconds=5)

# What asyncpg raises when there is nobody to talk to: at connect, in the middle, or afterwards.
_UNREACHABLE: Final = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    # What becomes of a statement in asyncpg when its connection is cut between two messages.
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.exceptions.CannotConnectNowError,
    asyncpg.exceptions.AdminShutdownError,
    asyncpg.exceptions.CrashShutdownError,
    asyncpg.exceptions.TooManyConnectionsError,
    asyncpg.exceptions.IdleInTransactionSessionTimeoutError,
    asyncpg.exceptions.ReadOnlySQLTransactionError,
    asyncpg.exceptions.DiskFullError,
    asyncpg.exceptions.QueryCanceledError,
)
# The server answers, and says no: to the name, the password, the database, or the role.
_NOT_LET_IN: Final = (
    asyncpg.exceptions.InvalidAuthorizationSpecificationError,
    asyncpg.exceptions.InvalidCatalogNameError,
    asyncpg.exceptions.InsufficientPrivilegeError,
)
_TRY_AGAIN: Final = (asyncpg.exceptions.DeadlockDetectedError, asyncpg.exceptions.SerializationError)
# IF NOT EXISTS does not help two that look at the same moment: the later one fails when the earlier one has
# committed, and finds the table it wanted. Which error it gets depends on how far both were: a key of the
# catalogue, the table, or the type that goes with the table.
_MADE_BY_ANOTHER: Final = (
    UniqueViolation,
    asyncpg.exceptions.DuplicateTableError,
    asyncpg.exceptions.DuplicateObjectError,
)
# What a migration meets that is not made for the schema it is run on.
_NOT_RUNNABLE: Final = (
    asyncpg.exceptions.DuplicateTableError,
    asyncpg.exceptions.DuplicateObjectError,
    asyncpg.exceptions.DuplicateColumnError,
    asyncpg.exceptions.UndefinedTableError,
    asyncpg.exceptions.UndefinedObjectError,
    asyncpg.exceptions.UndefinedColumnError,
    asyncpg.exceptions.WrongObjectTypeError,
)
_POOLED: Final = (
    asyncpg.exceptions.InvalidSQLStatementNameError,
    asyncpg.exceptions.DuplicatePreparedStatementError,
    asyncpg.exceptions.ProtocolViolationError,  # What PgBouncer answers to settings it does not know.
)


Texts = dict[str, tuple[str, tuple[str, ...]]]
"""Statements by name: the text with its numbered parameters, and their names."""


class PostgresSession:
    def __init__(self, connection: Any, texts: Texts) -> None:
        self._connection = connection
        self._texts = texts

    async def fetch(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        text, names = self._texts[statement]
        values |= arrays(batches)
        rows: Sequence[Row] = await self._connection.fetch(text, *[values[name] for name in names])
        return rows

    async def run_text(self, text: str) -> None:
        """Statements that are not ours to name: migrations and their like."""
        await self._connection.execute(text)


class PostgresDatabase:
    """Reconnects by itself: a connection that broke is replaced at the next call."""

    dialect = "postgres"
    dead_rows_linger = True

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._texts = {name: statements.numbered(text) for name, text in statements.load("postgres").items()}

    @classmethod
    async def open(cls, url: str, *, connections_max: int = CONNECTIONS_MAX) -> PostgresDatabase:
        dsn, is_pooled = split_pooler(url)
        connect = partial(connect_for_statements, dsn, is_pooled=is_pooled)
        database = cls(Connections(connect, limit=connections_max))
        try:
            async with database._session():
                return database  # The first connection is where a bad address shows.
        except ValueError as error:
            raise InvalidInput("database", f"is no address that can be read: {error}.") from error

    @again_after_deadlock
    async def fetch(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        async with self._session() as session:
            return await session.fetch(statement, *batches, **values)

    read = fetch

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[PostgresSession]:
        # The body is the caller's: after a deadlock, only the caller can run it again.
        async with self._session() as session, session._connection.transaction():
            yield session

    @property
    def partitions(self) -> PostgresPartitions:
        return PostgresPartitions(self)

    async def close(self) -> None:
        await self._connections.close()

    async def release(self) -> str:
        """What serves us, in words."""
        [facts] = await self.read("server_facts")
        return f"PostgreSQL {facts['release']}"

    async def refusals(self) -> Sequence[str]:
        [facts] = await self.read("server_facts")
        return refusals(facts)

    async def applied_migrations(self) -> Sequence[AppliedMigration]:
        [known] = await self.read("schema_known")
        if not known["known"]:
            return []
        return [applied_of(row) for row in await self.read("migrations_applied")]

    async def apply_migration(self, migration: Migration, *, now: datetime) -> bool:
        await self._make_bookkeeping()
        async with self.transaction() as session:
            # Fail rather than stop the queue behind a lock that somebody holds.
            await session.run_text(f"SET LOCAL lock_timeout = '{MIGRATION_LOCK_TIMEOUT.seconds}s'")
            await session.run_text("LOCK TABLE schema_migrations IN EXCLUSIVE MODE")
            if migration.number in {row["number"] for row in await session.fetch("migrations_applied")}:
                return False
            try:
                await session.run_text(migration.text)
            except _NOT_RUNNABLE as error:
                raise not_run(migration, error) from error
            await session.fetch("migration_record", now=now, **record_of(migration))
        await self._make_partitions(now)
        return True

    async def _make_partitions(self, now: datetime) -> None:
        for statement in partition_statements(now).values():
            # A month whose rows are in the default partition already stays there: late is not lost.
            with suppress(asyncpg.exceptions.CheckViolationError, *_MADE_BY_ANOTHER):
                async with self._session() as session:
                    await session.run_text(statement)

    async def _make_bookkeeping(self) -> None:
        with suppress(*_MADE_BY_ANOTHER):
            await self.fetch("migrations_table")

    def _session(self) -> _Use:
        return _Use(self._connections, self._texts)


class _Use:
    """A connection for a while, and what goes wrong on it in the words of a store.

    A class and not a generator: it is in the way of every statement.
    """

    def __init__(self, connections: Connections, texts: Texts) -> None:
        self._connections = connections
        self._texts = texts

    async def __aenter__(self) -> PostgresSession:
        try:
            self._connection = await self._connections.take()
        except Exception as error:
            self._tell(error)
            raise
        return PostgresSession(self._connection, self._texts)

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._connections.give_back(self._connection, after=error, breaks=_UNREACHABLE)
        if error is not None:
            self._tell(error)

    def _tell(self, error: BaseException) -> None:
        told = _told(error)
        if told is not None:
            raise told from error
        if isinstance(error, _UNREACHABLE):
            self._connections.drop_idle()
            said = str(error) or "it says nothing"  # A time that is over has no text.
            raise StoreUnavailable(f"PostgreSQL does not answer: {said}") from error


def _told(error: BaseException) -> Exception | None:
    match error:
        case asyncpg.UniqueViolationError():
            return UniqueViolation(error.constraint_name or "")
        case asyncpg.ForeignKeyViolationError():
            return ForeignKeyViolation(error.constraint_name or "")
        case asyncpg.exceptions.TargetServerAttributeNotMatched():
            return StoreRefused("This PostgreSQL server is a read-only standby. Point Gnomon at the primary.")
        case asyncpg.exceptions.ClientConfigurationError():
            return InvalidInput("database", f"{error}.")
        case asyncpg.exceptions.LockNotAvailableError():
            return StoreUnavailable(f"Somebody holds a lock that we need: {error}. Try again.")
    if isinstance(error, _TRY_AGAIN):
        return Deadlock(f"PostgreSQL broke a deadlock at our cost: {error}")
    if isinstance(error, _NOT_LET_IN):
        return StoreRefused(f"PostgreSQL does not let us in: {error}.")
    if isinstance(error, _POOLED):
        return StoreUnavailable(
            f"There seems to be a connection pooler in between ({error.args[0]}). "
            "Add pooler=transaction to the query part of the database URL."
        )
    return None


def arrays(batches: Sequence[Rows]) -> dict[str, tuple[object, ...]]:
    """The columns of some batches as parameters of a statement."""
    found = {}
    for batch in batches:
        # An empty batch still needs its columns: empty arrays.
        columns = zip(*batch.rows, strict=True) if batch.rows else ((),) * len(batch.columns)
        for name, column in zip(batch.columns, columns, strict=True):
            found[f"{batch.name}.{name}"] = _array(column, is_uniform=name in batch.uniform)
    return found


def _array(column: tuple[object, ...], *, is_uniform: bool) -> tuple[object, ...]:
    """What of a column must be sent: unnest fills up shorter arrays with NULL, and every value costs."""
    first = column[0] if column else None
    if (first is None or is_uniform) and column.count(first) == len(column):
        return () if first is None else column[:1]
    return column


def refusals(facts: Row) -> Sequence[str]:
    """Why Gnomon must not run on this server: settings under which an acknowledged job could be lost."""
    found = []
    if facts["version"] < VERSION_MIN:
        found.append(f"PostgreSQL {facts['version']} is too old; Gnomon needs {VERSION_MIN} or newer.")
    if facts["in_recovery"]:
        found.append("This PostgreSQL server is a read-only standby. Point Gnomon at the primary.")
    found += [
        f"{setting} is off: a crash would lose acknowledged work. Turn it on."
        for setting in ("fsync", "full_page_writes", "synchronous_commit")
        if facts[setting] == "off"
    ]
    if facts["encoding"] != "UTF8":
        found.append(f"The database's encoding is {facts['encoding']}. Create it with ENCODING 'UTF8'.")
    return found
