"""What transactions do to runs of workflows, noted by the database itself: temporary triggers, of one world.

No answer of a store tells which tasks an end has released. The notes are part of the transaction: what is
rolled back was never noted. A world without workflows has none of this.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from gnomon.store.databases.database import Row, Rows, Session
from gnomon.store.databases.one_thread import Here
from gnomon.store.databases.sqlite import SqliteDatabase
from gnomon.store.databases.sqlite_connection import MEMORY

_TRIGGERS = Path(__file__).with_name("notes.sql")


class Note(NamedTuple):
    """`run` is an execution, `dag` a run of a workflow. Of an end, `item` says that no attempt brought it."""

    tx: int
    what: str
    run: UUID | None
    dag: UUID | None
    task: int | None
    round: int | None
    item: int | None
    job: UUID | None
    rev: int | None
    word: str | None


class NotingDatabase(SqliteDatabase):
    def __init__(self) -> None:
        super().__init__(MEMORY, hands=Here)
        self._tx = 0
        self._has_noted = False

    def note(self) -> None:
        """From here on. The tables must be there."""
        raw = self.writer.raw
        raw.create_function("this_tx", 0, self._this_tx)
        raw.executescript(_TRIGGERS.read_text(encoding="utf-8"))

    def _this_tx(self) -> int:
        self._has_noted = True
        return self._tx

    def taken(self) -> list[Note]:
        """What was noted since the last time, in its order."""
        raw = self.writer.raw
        if not self._has_noted or raw.in_transaction:
            return []
        rows = raw.execute("SELECT * FROM noted ORDER BY number").fetchall()
        raw.execute("DELETE FROM noted")
        self._has_noted = False
        return [_note(row[1:]) for row in rows]

    async def fetch(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        self._tx += 1
        return await super().fetch(statement, *batches, **values)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Session]:
        async with super().transaction() as session:
            self._tx += 1
            yield session


def _note(row: Sequence[object]) -> Note:
    return Note(*(UUID(bytes=value) if isinstance(value, bytes) else value for value in row))  # type: ignore[arg-type]
