"""Calendars as a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from gnomon.core.access.tenants import TenantId
from gnomon.core.jobs.job import Definition, JobStatus
from gnomon.core.time.calendars import USERS_SHOWN_MAX, Calendar, KeptCalendar, ListedCalendar
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.values.limits import check_limit
from gnomon.errors import CalendarInUse, CalendarNotFound, TenantNotFound, VersionConflict
from tests.contract.model.state import State


@dataclass(frozen=True, slots=True)
class ModelCalendars:
    state: State

    async def save(
        self,
        calendar: Calendar,
        *,
        now: datetime,
        version: int | None = None,
        idempotency: Idempotency | None = None,
    ) -> KeptCalendar:
        tenant_id, name = calendar.tenant_id, calendar.name
        if tenant_id not in self.state.tenants:
            raise TenantNotFound(tenant_id)
        if self.state.answered(tenant_id, idempotency) is not None:
            return await self.get(tenant_id, name)
        kept = self.state.calendars.get((tenant_id, name))
        if version is not None:
            self._check(tenant_id, name, version)
        if kept is None or kept.calendar.dates != calendar.dates:
            kept = KeptCalendar(calendar, 1 if kept is None else kept.version + 1, now)
            self.state.calendars[tenant_id, name] = kept
        self.state.remember(tenant_id, idempotency, [])
        return kept

    async def get(self, tenant_id: TenantId, name: str) -> KeptCalendar:
        if (tenant_id, name) not in self.state.calendars:
            raise CalendarNotFound(name)
        return self.state.calendars[tenant_id, name]

    async def list(
        self, tenant_id: TenantId, *, limit: int, after: str | None = None
    ) -> Sequence[ListedCalendar]:
        own = sorted(name for owner, name in self.state.calendars if owner == tenant_id)
        kept = [self.state.calendars[tenant_id, name] for name in own if after is None or name > after]
        return [
            ListedCalendar(one.calendar.name, len(one.calendar.dates), one.version, one.updated_at)
            for one in kept[: check_limit(limit)]
        ]

    async def delete(self, tenant_id: TenantId, name: str, *, version: int | None = None) -> KeptCalendar:
        kept = await self.get(tenant_id, name)
        if version is not None:
            self._check(tenant_id, name, version)
        users = sorted(
            job.name
            for job in self.state.jobs.values()
            if job.tenant_id == tenant_id
            and job.status in (JobStatus.ACTIVE, JobStatus.PAUSED)
            and job.definition.schedule.calendar == name
        )
        if users:
            raise CalendarInUse(name, users=users[:USERS_SHOWN_MAX])
        del self.state.calendars[tenant_id, name]
        return kept

    def _check(self, tenant_id: TenantId, name: str, version: int) -> None:
        if (tenant_id, name) not in self.state.calendars:
            raise CalendarNotFound(name)
        actual = self.state.calendars[tenant_id, name].version
        if actual != version:
            raise VersionConflict(name, expected=version, actual=actual, noun="calendar")


def check_calendars(state: State, tenant_id: TenantId, definitions: Iterable[Definition]) -> None:
    """Raises CalendarNotFound."""
    names = {one.schedule.calendar for one in definitions} - {None}
    for name in sorted(cast("set[str]", names)):
        if (tenant_id, name) not in state.calendars:
            raise CalendarNotFound(name)
