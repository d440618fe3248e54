"""One connection to SQLite: how it is set up, begins, commits, and runs our statements."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import timedelta

from gnomon.errors import StoreRefused, StoreUnavailable
from gnomon.store.databases import statements
from gnomon.store.databases.database import Row, Rows
from gnomon.store.databases.sqlite_values import bound, packed, read

MEMORY = ":memory:"
BUSY_TIMEOUT = timedelta(seconds=10)
# 32 MB of log before it is folded into the file: hot pages change often, and are then written once.
LOG_PAGES_MAX = 8000
PRAGMAS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    f"PRAGMA wal_autocheckpoint = {LOG_PAGES_MAX}",
    "PRAGMA cache_size = -32000",
)


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
        self._may_fold = True
        self.rows = 0  # That were written until the last commit.
        self._filled: Rows | None = None  # The last batch, while its table is as it was then.

    def begin(self) -> None:
        """At once or not at all: the thread of a loop must not wait for a lock that a task of it holds."""
        self._wait_at_most(timedelta(0))
        self.raw.execute("BEGIN IMMEDIATE")

    def begin_patiently(self) -> None:
        self._wait_at_most(BUSY_TIMEOUT)
        self.raw.execute("BEGIN IMMEDIATE")

    def commit(self, *, may_fold: bool) -> None:
        """`may_fold`: then the log is folded into the file, if it is long enough."""
        if may_fold != self._may_fold:
            self.raw.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES_MAX if may_fold else 0}")
            self._may_fold = may_fold
        self.raw.execute("COMMIT")
        self.rows = self.raw.total_changes

    @property
    def uncommitted(self) -> int:
        """Rows that were written since the last commit, those of batches too."""
        return self.raw.total_changes - self.rows

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


def connected(path: str) -> Connection:
    try:
        return Connection(path)
    except sqlite3.OperationalError as error:
        raise StoreUnavailable(f"SQLite: {path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise StoreRefused(f"{path} is no SQLite database that can be used: {error}.") from error
