"""Calendars over any SQL database: kept with a version, and held by those who name them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime

from gnomon.core.access.tenants import TenantId
from gnomon.core.jobs.job import Definition
from gnomon.core.time.calendars import USERS_SHOWN_MAX, Calendar, KeptCalendar, ListedCalendar
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.values.limits import check_limit
from gnomon.errors import CalendarInUse, CalendarNotFound, TenantNotFound, VersionConflict
from gnomon.store.access.idempotency import first_answer
from gnomon.store.databases.database import (
    Database,
    ForeignKeyViolation,
    Row,
    Rows,
    Session,
    again_after_deadlock,
)


class SqlCalendars:
    def __init__(self, database: Database) -> None:
        self._database = database

    @again_after_deadlock
    async def save(
        self,
        calendar: Calendar,
        *,
        now: datetime,
        version: int | None = None,
        idempotency: Idempotency | None = None,
    ) -> KeptCalendar:
        tenant_id, name = calendar.tenant_id, calendar.name
        try:
            async with self._database.transaction() as session:
                first = await first_answer(session, tenant_id, idempotency, [], now=now)
                if first is not None:
                    return await _locked(session, tenant_id, name)
                rows = await session.fetch("calendar_lock", tenant_id=tenant_id, name=name)
                kept = _kept_of(rows[0]) if rows else None
                _check(kept, name, version)
                if kept is not None and kept.calendar.dates == calendar.dates:
                    return kept
                dates = json.dumps(sorted(day.isoformat() for day in calendar.dates))
                [row] = await session.fetch(
                    "calendar_save", tenant_id=tenant_id, name=name, dates=dates, now=now
                )
                return KeptCalendar(calendar, row["version"], row["updated_at"])
        except ForeignKeyViolation:
            raise TenantNotFound(tenant_id) from None

    async def get(self, tenant_id: TenantId, name: str) -> KeptCalendar:
        rows = await self._database.read("calendar_get", tenant_id=tenant_id, name=name)
        if not rows:
            raise CalendarNotFound(name)
        return _kept_of(rows[0])

    async def list(
        self, tenant_id: TenantId, *, limit: int, after: str | None = None
    ) -> Sequence[ListedCalendar]:
        rows = await self._database.read(
            "calendars_page", tenant_id=tenant_id, after=after or "", limit=check_limit(limit)
        )
        return [
            ListedCalendar(row["name"], row["date_count"], row["version"], row["updated_at"]) for row in rows
        ]

    @again_after_deadlock
    async def delete(self, tenant_id: TenantId, name: str, *, version: int | None = None) -> KeptCalendar:
        async with self._database.transaction() as session:
            # From here on, nobody begins to name it: see `hold`.
            kept = await _locked(session, tenant_id, name)
            _check(kept, name, version)
            users = await session.fetch(
                "calendar_users", tenant_id=tenant_id, name=name, limit=USERS_SHOWN_MAX
            )
            if users:
                raise CalendarInUse(name, users=[row["name"] for row in users])
            await session.fetch("calendar_delete", tenant_id=tenant_id, name=name)
            return kept


async def hold(session: Session, tenant_id: TenantId, definitions: Iterable[Definition]) -> None:
    """In the transaction that makes or changes jobs: what calendars they name stays. Mostly none.

    Raises CalendarNotFound.
    """
    names = {name for one in definitions if (name := one.schedule.calendar) is not None}
    if not names:
        return
    wanted = wanted_calendars((tenant_id, name) for name in names)
    held = {row["name"] for row in await session.fetch("calendars_hold", wanted)}
    for missing in sorted(names - held):
        raise CalendarNotFound(missing)


def wanted_calendars(names: Iterable[tuple[TenantId, str]]) -> Rows:
    return Rows("wanted_calendar", ("tenant_id", "name"), sorted(set(names)))


def calendar_of(row: Row) -> Calendar:
    return Calendar(row["tenant_id"], row["name"], _dates_of(json.loads(row["dates"])))


def _dates_of(words: Collection[str]) -> frozenset[date]:
    return frozenset(map(date.fromisoformat, words))


def _kept_of(row: Row) -> KeptCalendar:
    return KeptCalendar(calendar_of(row), row["version"], row["updated_at"])


async def _locked(session: Session, tenant_id: TenantId, name: str) -> KeptCalendar:
    rows = await session.fetch("calendar_lock", tenant_id=tenant_id, name=name)
    if not rows:
        raise CalendarNotFound(name)
    return _kept_of(rows[0])


def _check(kept: KeptCalendar | None, name: str, version: int | None) -> None:
    if version is None:
        return
    if kept is None:
        raise CalendarNotFound(name)
    if kept.version != version:
        raise VersionConflict(name, expected=version, actual=kept.version, noun="calendar")
