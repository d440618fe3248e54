"""What a user does with calendars: make them, change them, look at them, delete them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime

from gnomon.client.context import ClientContext
from gnomon.core.schedules.misfire import ClosedDays
from gnomon.core.schedules.occurrence import SkipReason
from gnomon.core.time import zones
from gnomon.core.time.calendars import Calendar, KeptCalendar, ListedCalendar
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT
from gnomon.errors import InvalidTimezone


class Calendars:
    def __init__(self, context: ClientContext) -> None:
        self._context = context
        self._calendars = context.store.calendars

    async def save(
        self,
        name: str,
        dates: Collection[date],
        *,
        version: int | None = None,
        idempotency: Idempotency | None = None,
    ) -> KeptCalendar:
        """Create or replace. It counts for every time that comes after the answer.

        Raises InvalidInput, CalendarNotFound, VersionConflict, IdempotencyConflict.
        """
        calendar = Calendar(self._context.tenant_id, name, frozenset(dates))
        now = self._context.clock.now()
        return await self._calendars.save(calendar, now=now, version=version, idempotency=idempotency)

    async def get(self, name: str) -> KeptCalendar:
        """Raises CalendarNotFound."""
        return await self._calendars.get(self._context.tenant_id, name)

    async def list(
        self, *, limit: int = PAGE_LIMIT_DEFAULT, after: str | None = None
    ) -> Sequence[ListedCalendar]:
        """By name."""
        return await self._calendars.list(self._context.tenant_id, limit=limit, after=after)

    async def delete(self, name: str, *, version: int | None = None) -> KeptCalendar:
        """What it was. Raises CalendarNotFound, VersionConflict, CalendarInUse."""
        return await self._calendars.delete(self._context.tenant_id, name, version=version)

    async def skip_of(
        self, name: str | None, at: datetime | None, *, timezone: str | None
    ) -> SkipReason | None:
        """Whether the calendar of a schedule takes a time out. `timezone` is that of its expression.

        None also if the zone is gone: then nothing of the schedule can be told.
        """
        if name is None or at is None:
            return None
        try:
            zone = zones.zone(timezone or "UTC")
        except InvalidTimezone:
            return None
        found = await self._context.store.schedules.calendars([(self._context.tenant_id, name)])
        dates = frozenset().union(*(calendar.dates for calendar in found))
        return SkipReason.CALENDAR if ClosedDays(dates, zone).excludes(at) else None
