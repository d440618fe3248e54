"""Between Python and SQLite: times are integer microseconds, ids are blobs. The only place that knows.

Batches are converted by column: a column mostly holds one type, and often one value.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any
from uuid import UUID

import msgspec
from asyncpg.pgproto.pgproto import UUID as FastUUID  # A UUID like any other, made in C. # noqa: N811

from gnomon.store.databases.database import Row, Rows

IDS = frozenset({
    "id", "tenant_id", "job_id", "execution_id", "depends_on", "boot", "key_id", "request_id",
    "redriven_as", "new_id", "dag_id", "dag_run_id", "outer_run_id", "backfill_id",
})  # fmt: skip
TIMES = frozenset({
    "created_at", "updated_at", "next_run_time", "last_run_time", "anchor", "nominal_time", "nominal_until",
    "due", "recorded_at", "started_at", "finished_at", "lease_until", "saved_at", "at", "died_at",
    "redriven_at", "registered_at", "last_seen_at", "applied_at", "disabled_at", "expires_at", "revoked_at",
    "last_used_at", "sent_at", "happened_at", "seen_at", "claimed_at", "completed_at", "newer_than", "until",
    "first_time", "last_time", "reserved_until", "give_up_at", "rest_until", "moved_at",
})  # fmt: skip
FLAGS = frozenset(
    {"cancel_requested", "watched", "awaited", "in_run", "is_task", "is_paused", "is_waiting", "has_tasks"}
)

ID_BYTES = 16
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_as_json = msgspec.json.Encoder().encode


def to_micros(instant: datetime) -> int:
    assert instant.tzinfo is not None, "naive datetimes never reach a store"
    return (instant - _EPOCH) // _MICROSECOND


# A batch shares its times, its tenants and its jobs: most conversions have been made before.
@lru_cache(maxsize=1024)
def from_micros(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def _ids_of(text: str) -> list[UUID]:
    return [FastUUID(one) for one in json.loads(text)]


def _times_of(text: str) -> list[datetime]:
    return list(map(from_micros, json.loads(text)))


_READ: dict[str, Callable[[Any], object]] = (
    dict.fromkeys(IDS, FastUUID)
    | dict.fromkeys(TIMES, from_micros)
    | dict.fromkeys(FLAGS, bool)
    | {"subjects": _ids_of, "nominal_times": _times_of}
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


def packed(batch: Rows) -> tuple[str, str, list[object]]:
    """A batch as one statement with few parameters, since binding a value costs more than storing it.

    Of each column that is not all NULL: its name, where its value comes from, and what to bind. A value that
    all rows share is bound once. Ids lie side by side in one blob. The rest are the rows of a JSON list.
    """
    values: dict[str, str] = {}
    parameters: list[object] = []
    listed: list[Sequence[object]] = []
    for name, column in zip(batch.columns, zip(*batch.rows, strict=True), strict=True):
        if _is_uniform(column):
            if column[0] is not None:
                values[name] = "?"
                parameters += bound(column[:1])
            continue
        kinds = set(map(type, column))
        assert bytes not in kinds, "JSON has no bytes"
        are_ids = {issubclass(kind, UUID) for kind in kinds}
        if are_ids == {True}:
            values[name] = f"substr(?, {ID_BYTES} * key + 1, {ID_BYTES})"
            parameters.append(b"".join([value.bytes for value in column]))
        elif True in are_ids:
            values[name] = f"unhexed(json_extract(value, '$[{len(listed)}]'))"
            listed.append([None if value is None else value.hex for value in column])
        else:
            values[name] = f"json_extract(value, '$[{len(listed)}]')"
            listed.append(column if all(map(_is_json, kinds)) else bound(column))
    rows = list(zip(*listed, strict=True)) if listed else [0] * len(batch.rows)
    return ",".join(values), ",".join(values.values()), [*parameters, _as_json(rows).decode()]


def _is_json(kind: type) -> bool:
    """Whether a value of this kind is written as it is bound."""
    return _BINDERS[kind] is None or issubclass(kind, StrEnum)


def read(cursor: sqlite3.Cursor) -> list[Row]:
    found = cursor.fetchall()
    if not found:
        return []
    names = [column[0] for column in cursor.description]
    if len(found) == 1:  # Of one row, there is nothing to gain by column.
        converted = [
            value if value is None or (reader := _READ.get(name)) is None else reader(value)
            for name, value in zip(names, found[0], strict=True)
        ]
        return [sqlite3.Row(cursor, tuple(converted))]
    by_column = [
        _read_column(name, column) for name, column in zip(names, zip(*found, strict=True), strict=True)
    ]
    return list(map(partial(sqlite3.Row, cursor), zip(*by_column, strict=True)))


def _read_column(name: str, column: tuple[Any, ...]) -> Iterable[object]:
    reader = _READ.get(name)
    if reader is None:
        return column
    if _is_uniform(column):
        return [None if column[0] is None else reader(column[0])] * len(column)
    if None in column:
        return [None if value is None else reader(value) for value in column]
    return map(reader, column)


def _is_uniform(column: tuple[Any, ...]) -> bool:
    return column.count(column[0]) == len(column)
