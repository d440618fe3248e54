"""What transactions do to runs of workflows, noted by the database itself: temporary triggers, of one world.

No answer of a store tells which tasks an end has released. The notes are part of the transaction: what is
rolled back was never noted. A world without workflows has none of this.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple
from uuid import UUID

from gnomon.store.database import Row, Rows, Session
from gnomon.store.one_thread import Here
from gnomon.store.sqlite import MEMORY, SqliteDatabase

_TABLE = """
CREATE TEMP TABLE noted (
    number INTEGER PRIMARY KEY, tx INTEGER, what TEXT, run BLOB, dag BLOB, task INTEGER, round INTEGER,
    item INTEGER, job BLOB, rev INTEGER, word TEXT
)
"""
_NOTE = "INSERT INTO noted (tx, what, run, dag, task, round, item, job, rev, word)"
_TRIGGERS = {
    "release": (
        "INSERT ON main.executions WHEN NEW.dag_run_id IS NOT NULL",
        "NEW.id, NEW.dag_run_id, NEW.task, NEW.round, NEW.item, NEW.job_id, NEW.revision, NULL",
    ),
    "start": (
        "INSERT ON main.dag_runs",
        "NEW.id, NEW.id, NULL, NULL, NULL, NEW.dag_id, NEW.base, NEW.ends_as",
    ),
    "stopped": (
        "UPDATE OF ends_as ON main.dag_runs WHEN NEW.ends_as IS NOT NULL AND OLD.ends_as IS NULL",
        "NEW.id, NEW.id, NULL, NULL, NULL, NULL, NULL, NEW.ends_as",
    ),
    "born": (
        "INSERT ON main.task_instances WHEN NEW.status <> 'WAITING'",
        "NULL, NEW.dag_run_id, NEW.task, NEW.round, NULL, NULL, NULL, NEW.status",
    ),
    "node": (
        "UPDATE ON main.task_instances WHEN NEW.status <> OLD.status OR NEW.round <> OLD.round",
        "NULL, NEW.dag_run_id, NEW.task, NEW.round, NULL, NULL, NULL, NEW.status",
    ),
    "ending": (
        "INSERT ON main.endings",
        "NEW.execution_id, NULL, NULL, NULL, NEW.last_attempt IS NULL, NULL, NULL, NEW.outcome",
    ),
    "again": (
        "DELETE ON main.endings",
        "OLD.execution_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL",
    ),
    "stop": (
        "UPDATE OF cancel_requested ON main.leases WHEN NEW.cancel_requested AND NOT OLD.cancel_requested",
        "NEW.execution_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL",
    ),
}


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

    def note(self) -> None:
        """From here on. The tables must be there."""
        raw = self.writer.raw
        raw.create_function("this_tx", 0, lambda: self._tx)
        raw.execute(_TABLE)
        for what, (when, values) in _TRIGGERS.items():
            name = "node" if what == "born" else what
            raw.execute(
                f"CREATE TEMP TRIGGER noted_{what} AFTER {when} BEGIN {_NOTE}"
                f" VALUES (this_tx(), '{name}', {values}); END"
            )

    def taken(self) -> list[Note]:
        """What was noted since the last time, in its order."""
        raw = self.writer.raw
        if raw.in_transaction:
            return []
        rows = raw.execute("SELECT * FROM noted ORDER BY number").fetchall()
        if rows:
            raw.execute("DELETE FROM noted")
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
