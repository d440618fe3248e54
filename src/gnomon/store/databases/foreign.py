"""Our statements on a connection that belongs to a user, in the transaction that the user has open.

Nothing is begun, committed or rolled back here. What the driver raises is the user's to see: it is their
connection, and their transaction that it may have spoiled.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from enum import StrEnum
from functools import cache
from typing import Any
from uuid import UUID

from gnomon.errors import InvalidInput
from gnomon.store.databases import statements
from gnomon.store.databases.database import Row, Rows, Session
from gnomon.store.databases.postgres import PostgresSession, Texts, arrays
from gnomon.store.databases.sqlite_values import bound, packed, read

FIELD = "connection"
_OPEN = "has no transaction open, so there is nothing to commit it with. Begin one."


@asynccontextmanager
async def session_on(connection: Any) -> AsyncIterator[Session]:
    """Raises InvalidInput for a connection of an unknown kind, or without a transaction."""
    library = type(connection).__module__.partition(".")[0]
    if isinstance(connection, sqlite3.Connection):
        session = SqliteForeignSession(connection)
        try:
            yield session
        finally:
            session.close()
    elif library == "asyncpg" and hasattr(connection, "is_in_transaction"):
        if not connection.is_in_transaction():
            raise InvalidInput(FIELD, _OPEN)
        yield PostgresSession(connection, _numbered())
    elif library == "psycopg" and hasattr(connection, "cursor"):
        yield _on_psycopg(connection)
    else:
        raise InvalidInput(
            FIELD, f"a {type(connection).__qualname__} is neither of asyncpg, psycopg 3 nor sqlite3."
        )


@cache
def _numbered() -> Texts:
    return {name: statements.numbered(text) for name, text in statements.load("postgres").items()}


# psycopg ----------------------------------------------------------------------------------------------


def _on_psycopg(connection: Any) -> Session:
    import psycopg  # Whoever has such a connection has it installed.

    if connection.autocommit and connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
        raise InvalidInput(FIELD, _OPEN)
    is_async = isinstance(connection, psycopg.AsyncConnection)
    return AsyncPsycopgSession(connection) if is_async else SyncPsycopgSession(connection)


class AsyncPsycopgSession:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def fetch(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        import psycopg
        from psycopg.rows import dict_row

        # Not connection.cursor(): the user may have chosen a kind that writes parameters in another way.
        async with psycopg.AsyncCursor(self._connection, row_factory=dict_row) as cursor:
            await cursor.execute(_pyformat(statement), _parameters(batches, values))
            rows: Sequence[Any] = await cursor.fetchall() if cursor.description else []
            return rows


class SyncPsycopgSession:
    """Each statement in a thread, so that the loop need not stand still. The connection is safe for that."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def fetch(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        return await asyncio.to_thread(self._fetch, _pyformat(statement), _parameters(batches, values))

    def _fetch(self, text: Any, parameters: dict[str, object]) -> Sequence[Row]:
        import psycopg
        from psycopg.rows import dict_row

        with psycopg.Cursor(self._connection, row_factory=dict_row) as cursor:
            cursor.execute(text, parameters)
            rows: Sequence[Any] = cursor.fetchall() if cursor.description else []
            return rows


@cache
def _pyformat(statement: str) -> Any:
    return statements.pyformat(statements.load("postgres")[statement])


def _parameters(batches: Sequence[Rows], values: dict[str, object]) -> dict[str, object]:
    columns = {name: [_plain(value) for value in column] for name, column in arrays(batches).items()}
    return {name: _plain(value) for name, value in values.items()} | columns


def _plain(value: object) -> object:
    """psycopg goes by the exact type: an enum would be sent as one, and a UUID of asyncpg not at all."""
    match value:
        case StrEnum():
            return value.value
        case UUID():
            return UUID(int=value.int)
        case _:
            return value


# sqlite3 ----------------------------------------------------------------------------------------------


class SqliteForeignSession:
    """Runs in the caller's thread, as such a connection demands. Batches are tables, gone afterwards."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        if connection.isolation_level is None and not connection.in_transaction:
            raise InvalidInput(FIELD, _OPEN)
        self._cursor = connection.cursor()
        self._cursor.row_factory = None  # The user's own choice is for the user's own rows.
        self._made: list[str] = []

    async def fetch(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        parameters = dict(zip(values, bound(values.values()), strict=True))
        for batch in batches:
            self._fill(batch)
        rows: list[Row] = []
        for text in _script(statement):
            self._cursor.execute(text, parameters)
            if self._cursor.description:
                rows = read(self._cursor)
        return rows

    def close(self) -> None:
        for name in self._made:
            self._cursor.execute(f"DROP TABLE IF EXISTS temp.{name}")
        self._cursor.close()

    def _fill(self, batch: Rows) -> None:
        if batch.name not in self._made:
            self._cursor.execute(f"CREATE TEMP TABLE {batch.name} ({', '.join(batch.columns)})")
            self._made.append(batch.name)
        self._cursor.execute(f"DELETE FROM temp.{batch.name}")  # noqa: S608 - our own names, never a value.
        if batch.rows:
            columns, values, parameters = packed(batch)
            self._cursor.execute(
                f"INSERT INTO temp.{batch.name} ({columns}) SELECT {values} FROM json_each(?)",  # noqa: S608
                parameters,
            )


@cache
def _script(statement: str) -> tuple[str, ...]:
    return statements.script(statements.load("sqlite")[statement])
