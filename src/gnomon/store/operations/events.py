"""The log of events: read in the order of commits, so that who reads on misses nothing."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice, repeat
from typing import NamedTuple
from uuid import UUID

import msgspec

from gnomon.core.access.tenants import TenantId
from gnomon.core.values.document import Document
from gnomon.core.values.events import Event, EventType
from gnomon.core.values.limits import check_limit
from gnomon.errors import EventsGone
from gnomon.store.databases.database import Database, Row, Rows
from gnomon.store.databases.rows import names_of

_as_json = msgspec.json.Encoder().encode
# A row may speak for ten thousand, so not many of them at a time.
ROWS_AT_ONCE = 8


class Position(NamedTuple):
    """Of one event: its transaction, its row, and its place in the batch that the row speaks for."""

    batch: int = 0
    row: int = 0
    place: int = 0


class Happened(NamedTuple):
    position: Position
    event: Event


class _Found(NamedTuple):
    position: Position
    row: Row
    subject: UUID
    nominal_time: datetime | None  # Of an occurrence.


class _Known(NamedTuple):
    """What is kept elsewhere about what was told. What retention took is missing."""

    jobs: Mapping[UUID, UUID]  # Of executions.
    keys: Mapping[UUID, Mapping[str, object]]
    occurrences: Mapping[tuple[UUID, datetime], Row]  # By job and nominal time.


class SqlEvents:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def follow(self, tenant_id: TenantId, *, now: datetime) -> None:
        """From now on what happens is written, for a day and more. To be said again by who stays."""
        await self._database.fetch("event_follow", tenant_id=tenant_id, now=now)

    async def end(self) -> Position:
        """Where somebody begins who wants to know what happens from now on."""
        [row] = await self._database.read("events_end")
        return Position(row["batch"], row["position"], 1 << 30 if row["position"] else 0)

    async def after(
        self,
        tenant_id: TenantId,
        position: Position,
        *,
        limit: int,
        types: Collection[EventType] | None = None,
    ) -> Sequence[Happened]:
        """Up to `limit` events after that one, in order. Empty: nothing yet."""
        rows = await self._database.read(
            "events_after",
            tenant_id=tenant_id,
            batch=position.batch,
            position=position.row,
            types=None if types is None else self._types(types),
            limit=ROWS_AT_ONCE,
        )
        found = list(islice(_after(rows, position), check_limit(limit)))
        known = _Known(await self._jobs(found), await self._keys(found), await self._occurrences(found))
        return [Happened(one.position, _event(one, tenant_id, known)) for one in found]

    async def check_kept(self, position: Position) -> None:
        """Raises EventsGone if the event is no longer there, and perhaps others after it."""
        [row] = await self._database.read("event_kept", batch=position.batch, position=position.row)
        if not row["known"]:
            raise EventsGone

    def _types(self, types: Collection[EventType]) -> object:
        names = sorted(types)
        return names if self._database.dead_rows_linger else json.dumps(names)

    async def _jobs(self, found: Sequence[_Found]) -> dict[UUID, UUID]:
        """The jobs of the executions that are spoken of."""
        rows = await self._about("execution.", found, "executions_jobs")
        return {row["id"]: row["job_id"] for row in rows}

    async def _keys(self, found: Sequence[_Found]) -> dict[UUID, dict[str, object]]:
        """What is told of the keys that are spoken of. What proves them is not read."""
        return {
            row["id"]: {
                "name": row["name"],
                "scopes": sorted(names_of(row["scopes"])),
                "created_through": row["created_through"],
            }
            for row in await self._about("key.", found, "keys_named")
        }

    async def _occurrences(self, found: Sequence[_Found]) -> dict[tuple[UUID, datetime], Row]:
        wanted = {(one.subject, one.nominal_time) for one in found if one.nominal_time is not None}
        if not wanted:
            return {}
        batch = Rows("wanted_occurrence", ("job_id", "nominal_time"), sorted(wanted))
        rows = await self._database.read("occurrences_of", batch)
        return {(row["job_id"], row["nominal_time"]): row for row in rows}

    async def _about(self, noun: str, found: Sequence[_Found], statement: str) -> Sequence[Row]:
        wanted = {one.subject for one in found if one.row["type"].startswith(noun)}
        if not wanted:
            return []
        return await self._database.read(statement, Rows("wanted", ("id",), [(one,) for one in wanted]))


def _after(rows: Sequence[Row], position: Position) -> Iterator[_Found]:
    """One by one, so that a row that speaks for thousands is not unfolded whole."""
    for row in rows:
        times = row["nominal_times"] or repeat(None)
        for place, (subject, nominal_time) in enumerate(zip(row["subjects"], times, strict=False), start=1):
            at = Position(row["batch"], row["position"], place)
            if at > position:
                yield _Found(at, row, subject, nominal_time)


def _event(one: _Found, tenant_id: TenantId, known: _Known) -> Event:
    kind = EventType(one.row["type"])
    at: datetime = one.row["happened_at"]
    data: dict[str, object]
    if kind.startswith("execution."):
        job_id = known.jobs.get(one.subject)
        data = {"execution_id": str(one.subject), "job_id": None if job_id is None else str(job_id)}
        place = f"executions/{one.subject}"
    elif kind.startswith("key."):
        data, place = {"key_id": str(one.subject), **known.keys.get(one.subject, {})}, f"keys/{one.subject}"
    else:
        data, place = {"job_id": str(one.subject)}, f"jobs/{one.subject}"
        if one.nominal_time is not None:
            data |= _occurrence(one.nominal_time, known.occurrences.get((one.subject, one.nominal_time)))
    document = Document(_as_json(data).decode())
    return Event(one.subject, f"/tenants/{tenant_id}", kind, at, place, document)


def _occurrence(nominal_time: datetime, row: Row | None) -> dict[str, object]:
    """What became of it, as the ledger says. None: the ledger no longer says."""
    if row is None:
        return {"nominal_time": nominal_time}
    return {
        "nominal_time": nominal_time,
        "nominal_until": row["nominal_until"],
        "count": row["count"],
        "reason": row["reason"],
        "execution_id": None if row["execution_id"] is None else str(row["execution_id"]),
    }
