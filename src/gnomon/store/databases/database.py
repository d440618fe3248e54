"""What the nouns need from a database: named statements, batches, transactions."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

from gnomon.core.executions.retention import Month
from gnomon.errors import StoreUnavailable

DEADLOCK_TRIES = 3
ROUNDS_MAX = 100

P = ParamSpec("P")
T = TypeVar("T")


class Row(Protocol):
    """Columns by name; on hot paths also by place, and in order."""

    def __getitem__(self, name: str | int | slice) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...


@dataclass(frozen=True, slots=True)
class Rows:
    """A batch that a statement reads like a table: rows of equal shape under a name.

    `uniform` names columns that are never NULL and mostly hold one value. If one does, it may arrive as that
    value in the first row and NULL in the others, and the statement says `coalesce(column, its first)`.
    """

    name: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    uniform: frozenset[str] = frozenset()


class Session(Protocol):
    """Where statements run. Inside `Database.transaction()` they share one transaction."""

    async def fetch(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        """Run one named statement (on SQLite: one file of them) and return its rows."""


class Partitions(Protocol):
    """Months that can be made and dropped whole. Raises StoreUnavailable if others are in the way."""

    async def make(self, *, now: datetime) -> Sequence[str]: ...

    async def months(self) -> Sequence[Month]: ...

    async def drop(self, month: Month) -> bool: ...


class Database(Session, Protocol):
    """Outside a transaction, each `fetch` is atomic and durable by itself."""

    @property
    def dead_rows_linger(self) -> bool:
        """Whether deleted rows stay in indexes for a while, so that a claim must remember where it was."""

    @property
    def partitions(self) -> Partitions | None:
        """None where a table is one piece."""

    def transaction(self) -> AbstractAsyncContextManager[Session]: ...

    async def read(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        """Run a statement that changes nothing, beside the writers."""

    async def close(self) -> None: ...


class UniqueViolation(Exception):
    """A unique key refused a row. `constraint` names the key as far as the database tells."""

    def __init__(self, constraint: str) -> None:
        super().__init__(constraint)
        self.constraint = constraint


class ForeignKeyViolation(Exception):
    """A row names a parent that does not exist."""


class Deadlock(StoreUnavailable):
    """The database broke a circle of those who wait, at our cost: nothing of our transaction happened."""


def again_after_deadlock(verb: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """For a statement, and for a verb that follows runs from place to place, which no order of locks can."""

    @wraps(verb)
    async def tried(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(DEADLOCK_TRIES - 1):
            try:
                return await verb(*args, **kwargs)
            except Deadlock:
                continue
        return await verb(*args, **kwargs)

    return tried


def rounds(what: str) -> Iterator[int]:
    """Again and again, for statements between which other transactions move rows; leave when none is left.

    Claims and retries move executions between two statements of ours. What we have changed is locked by us
    and stays; for the rest, look again. Raises StoreUnavailable if there is no end to it.
    """
    yield from range(ROUNDS_MAX)
    raise StoreUnavailable(f"{what} moved away {ROUNDS_MAX} times in a row. Ask again.")
