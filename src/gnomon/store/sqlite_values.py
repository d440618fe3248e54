"""Between Python and SQLite: times are integer microseconds, ids are blobs. The only place that knows.

Batches are converted by column: a column mostly holds one type, and often one value.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from operator import attrgetter
from typing import Any
from uuid import UUID

from asyncpg.pgproto.pgproto import UUID as FastUUID  # A UUID like any other, made in C. # noqa: N811

from gnomon.store.database import Row

IDS = frozenset({
    "id", "tenant_id", "job_id", "execution_id", "depends_on", "boot", "request_id", "redriven_as", "new_id",
    "dag_id", "dag_run_id",
})  # fmt: skip
TIMES = frozenset({
    "created_at", "updated_at", "next_run_time", "last_run_time", "anchor", "nominal_time", "nominal_until",
    "due", "recorded_at", "started_at", "finished_at", "lease_until", "saved_at", "at", "died_at",
    "redriven_at", "registered_at", "last_seen_at", "applied_at", "disabled_at", "expires_at", "revoked_at",
    "last_used_at", "sent_at", "claimed_at",
})  # fmt: skip
FLAGS = frozenset({"cancel_requested", "allow_partial_completion"})

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


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
            binder = attrgetter("bytes")
        elif issubclass(kind, datetime):
            binder = to_micros
        elif issubclass(kind, StrEnum):
            binder = str.__str__
        elif issubclass(kind, list):
            binder = json.dumps
        self[kind] = binder
        return binder


_BINDERS = _Binders()


def bound(values: Iterable[object]) -> list[object]:
    binders = _BINDERS
    return [value if (bind := binders[type(value)]) is None else bind(value) for value in values]


def read(cursor: sqlite3.Cursor) -> list[Row]:
    names = [column[0] for column in cursor.description]
    columns = zip(*cursor.fetchall(), strict=True)
    converted = [_read_column(name, column) for name, column in zip(names, columns, strict=False)]
    return [sqlite3.Row(cursor, row) for row in zip(*converted, strict=True)]


def _read_column(name: str, column: tuple[Any, ...]) -> Iterable[object]:
    reader = _READ.get(name)
    if reader is None:
        return column
    if None in column:
        return [None if value is None else reader(value) for value in column]
    return map(reader, column)
