"""What the rest of Gnomon needs from durable jobs, schedules and calendars."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.lifecycle import JobChange
from gnomon.core.executions.records import (
    JobFilter,
    Page,
)
from gnomon.core.jobs.job import Job, JobId, NewJob, Revision
from gnomon.core.jobs.shown import ShownJob
from gnomon.core.schedules.occurrence import Firing, Occurrence
from gnomon.core.time.calendars import Calendar, KeptCalendar, ListedCalendar
from gnomon.core.values.idempotency import Idempotency
from gnomon.errors import InvalidInput


class Unreadable(NamedTuple):
    """A due job that this release cannot read: its time zone vanished from tzdata, or the like."""

    tenant_id: TenantId
    job_id: JobId
    name: str
    next_run_time: datetime
    reason: InvalidInput


class Due(NamedTuple):
    jobs: Sequence[Job]
    unreadable: Sequence[Unreadable]


class JobStore(Protocol):
    async def create(
        self, jobs: Sequence[NewJob], *, now: datetime, idempotency: Idempotency | None = None
    ) -> Sequence[Job]:
        """Create all or none. Raises JobAlreadyExists, JobNotFound (a dependency), InvalidDependency.

        With an idempotency key that was used for the same request, nothing is created and the jobs of the
        first call are returned as they are now; for another request, IdempotencyConflict is raised.
        """

    async def change(
        self, changes: Sequence[JobChange], *, now: datetime, idempotency: Idempotency | None = None
    ) -> Sequence[Job]:
        """Update, pause, resume, cancel, delete: all or none, each only at its expected version.

        A new definition makes a new revision. A change that ends executions (cancel, delete) ends the
        waiting ones in the same transaction and asks the running ones to stop.
        Raises JobNotFound, VersionConflict, JobAlreadyExists, InvalidDependency, IdempotencyConflict.
        """

    async def get(self, tenant_id: TenantId, job_id: JobId) -> Job:
        """Raises JobNotFound. A deleted job can still be read."""

    async def many(self, tenant_id: TenantId, job_ids: Collection[JobId]) -> Sequence[Job]:
        """Those of at most 1,000 jobs that exist, each once, in the order asked for; deleted ones too."""

    async def shown(self, tenant_id: TenantId, job_ids: Collection[JobId]) -> Sequence[ShownJob]:
        """The same, for those who only show them."""

    async def named(self, tenant_id: TenantId, name: str) -> Job:
        """The live job of that name. Raises JobNotFound."""

    async def page(
        self, tenant_id: TenantId, wanted: JobFilter, *, limit: int, after: UUID | None = None
    ) -> Page[Job]: ...

    async def revision(self, tenant_id: TenantId, job_id: JobId, number: int) -> Revision: ...


class ScheduleStore(Protocol):
    async def due(
        self,
        *,
        now: datetime,
        limit: int,
        shards: Collection[int] | None = None,
        passed_over: Collection[JobId] = (),
    ) -> Due:
        """Jobs with a fire time that has come, oldest first. A hint: `fire` decides who was first.

        An unreadable one counts towards the limit and stays due. Report it, and pass it over for a while.
        """

    async def next_due(
        self, *, shards: Collection[int] | None = None, passed_over: Collection[JobId] = ()
    ) -> datetime | None:
        """When the next fire time comes: how long a scheduler may sleep."""

    async def fire(self, firings: Sequence[Firing], *, now: datetime) -> Sequence[JobId]:
        """Write ledger rows, executions, queue rows and the next fire time of each job, whole or not at all.

        Returns the jobs whose firing took effect. The others were changed or fired by somebody else.
        What may pass its gate at once has done so; a firing that replaces has ended the runs before.
        """

    async def occurrences(
        self, tenant_id: TenantId, job_id: JobId, *, limit: int, before: datetime | None = None
    ) -> Sequence[Occurrence]:
        """The ledger, newest first, strictly before `before`."""

    async def live(self, job_ids: Collection[JobId]) -> Mapping[JobId, int]:
        """How many executions of each job have not ended, if it has an overlap policy: else nobody counts."""

    async def calendars(self, names: Collection[tuple[TenantId, str]]) -> Sequence[Calendar]:
        """The calendars of these names that exist."""


class CalendarStore(Protocol):
    async def save(
        self,
        calendar: Calendar,
        *,
        now: datetime,
        version: int | None = None,
        idempotency: Idempotency | None = None,
    ) -> KeptCalendar:
        """Create or replace. The same dates again make no new version.

        With a version, only what is there at that version is replaced. Raises CalendarNotFound,
        VersionConflict, IdempotencyConflict, TenantNotFound.
        """

    async def get(self, tenant_id: TenantId, name: str) -> KeptCalendar:
        """Raises CalendarNotFound."""

    async def list(
        self, tenant_id: TenantId, *, limit: int, after: str | None = None
    ) -> Sequence[ListedCalendar]:
        """By name."""

    async def delete(self, tenant_id: TenantId, name: str, *, version: int | None = None) -> KeptCalendar:
        """What it was. Raises CalendarNotFound, VersionConflict.

        Raises CalendarInUse while an active or paused job or workflow names it. A job that is made or changed
        at the same moment either keeps the calendar, or is refused with CalendarNotFound.
        """
