"""What a user does with jobs: make them, change them, look at them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import date, datetime
from uuid import UUID

from gnomon.client.access.admission import Admission, admission
from gnomon.client.context import ClientContext
from gnomon.client.jobs.batched_reads import JobReader, Look
from gnomon.client.jobs.changes import JobChanges, JobWish
from gnomon.core.executions.execution import RecentRun
from gnomon.core.executions.lifecycle import JobAction
from gnomon.core.executions.records import JobFilter, Page
from gnomon.core.jobs.job import DAG_KIND, Definition, Job, JobId, NewJob, Revision, check_job
from gnomon.core.schedules.occurrence import Occurrence
from gnomon.core.schedules.preview import Preview, preview
from gnomon.core.schedules.rescheduling import course_of_new
from gnomon.core.time.nominal import is_exhausted, seed_of
from gnomon.core.time.schedule import Interval, Schedule
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT
from gnomon.errors import CalendarNotFound, InvalidInput
from gnomon.store.databases.hints import Topic

PREVIEW_LIMIT_DEFAULT = 10

At = AbstractContextManager[None]


def _here(_: int) -> At:
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Draft:
    """A job as somebody wants it to be made."""

    name: str
    definition: Definition
    tags: frozenset[str] = frozenset()
    dependencies: frozenset[JobId] = frozenset()
    allow_unknown_kind: bool = False  # A worker that does not run now may have it.

    def __post_init__(self) -> None:
        check_job(self.name, self.tags, self.dependencies)


class Jobs:
    def __init__(self, context: ClientContext) -> None:
        self._context = context
        self._jobs = context.store.jobs
        self._changes = JobChanges(context)
        self._reader = JobReader(context.store, context.tenant_id)

    # Making --------------------------------------------------------------------------------------------

    async def create(self, draft: Draft, *, idempotency: Idempotency | None = None) -> Job:
        """Raises InvalidInput, JobAlreadyExists, JobNotFound (a dependency), InvalidDependency,
        CalendarNotFound, IdempotencyConflict."""
        [job] = await self.create_many([draft], idempotency=idempotency)
        return job

    async def create_many(
        self,
        drafts: Sequence[Draft],
        *,
        idempotency: Idempotency | None = None,
        at: Callable[[int], At] = _here,
    ) -> Sequence[Job]:
        """Create all or none. A draft is looked at inside of `at` with its number."""
        await self.check(drafts, at)
        await self._check_calendars({draft.definition.schedule.calendar for draft in drafts})
        now = self._context.clock.now()
        new = []
        for number, draft in enumerate(drafts):
            with at(number):
                new.append(self._new(draft, now=now))
        jobs = await self._jobs.create(new, now=now, idempotency=idempotency)
        if any(job.next_run_time is not None for job in jobs):
            self._context.announce(Topic.SCHEDULE)
        return jobs

    async def check(self, drafts: Sequence[Draft], at: Callable[[int], At] = _here) -> None:
        """What `create` checks before it writes. A draft is looked at inside of `at` with its number.

        Raises InvalidInput, UnknownKind, KindDisabled.
        """
        admitted = await admission(
            self._context, {one.definition.kind for one in drafts if not one.allow_unknown_kind}
        )
        for number, draft in enumerate(drafts):
            with at(number):
                self._check(draft.definition, admitted, allows_unknown=draft.allow_unknown_kind)

    def _check(self, definition: Definition, admitted: Admission, *, allows_unknown: bool) -> None:
        if definition.kind == DAG_KIND:
            raise InvalidInput("kind", f"{DAG_KIND!r} is for workflows; make one under /v1/dags.")
        admitted.check(definition.kind, allows_unknown=allows_unknown)
        self._context.check(definition)

    async def _check_change(self, job_id: JobId, definition: Definition, *, allows_unknown: bool) -> None:
        """A kind that nothing here knows may stay, but not come."""
        if not allows_unknown and not self._context.kinds.is_known(definition.kind):
            allows_unknown = (await self.get(job_id)).definition.kind == definition.kind
        admitted = await admission(self._context, () if allows_unknown else {definition.kind})
        self._check(definition, admitted, allows_unknown=allows_unknown)

    def _new(self, draft: Draft, *, now: datetime) -> NewJob:
        tenant_id = self._context.tenant_id
        course = course_of_new(draft.definition.schedule, now=now, seed=seed_of(tenant_id, draft.name))
        return NewJob(
            JobId(self._context.ids.next(now)),
            tenant_id,
            draft.name,
            replace(draft.definition, schedule=course.schedule),
            course.next_run_time,
            draft.tags,
            draft.dependencies,
        )

    # Changing ------------------------------------------------------------------------------------------

    async def update(
        self,
        job_id: JobId,
        *,
        version: int | None = None,
        name: str | None = None,
        definition: Definition | None = None,
        tags: Collection[str] | None = None,
        dependencies: Collection[JobId] | None = None,
        allow_unknown_kind: bool = False,
        idempotency: Idempotency | None = None,
    ) -> Job:
        """Change what is given. What is the same already makes no new revision, and no write.

        Raises JobNotFound, VersionConflict if `version` is not the current one, JobAlreadyExists,
        IllegalTransition, and what `create` raises. Due times that nobody has come to yet belong to the old
        revision: they are decided first.
        """
        if definition is not None:
            await self._check_change(job_id, definition, allows_unknown=allow_unknown_kind)
            await self._check_calendars({definition.schedule.calendar})
        wish = JobWish(
            JobAction.UPDATE,
            name=name,
            definition=definition,
            tags=None if tags is None else frozenset(tags),
            dependencies=None if dependencies is None else frozenset(dependencies),
        )
        return await self._changes.make(job_id, wish, version=version, idempotency=idempotency)

    async def pause(self, job_id: JobId, *, version: int | None = None) -> Job:
        """Skip its due times from now on. What waits and runs goes on."""
        return await self._changes.make(job_id, JobWish(JobAction.PAUSE), version=version)

    async def resume(self, job_id: JobId, *, version: int | None = None) -> Job:
        """Fire again, from the next time on. Those that passed meanwhile are in the ledger as skipped."""
        return await self._changes.make(job_id, JobWish(JobAction.RESUME), version=version)

    async def cancel(self, job_id: JobId, *, version: int | None = None) -> Job:
        """Stop for good: what waits ends, what runs is asked to stop."""
        return await self._changes.make(job_id, JobWish(JobAction.CANCEL), version=version)

    async def delete(self, job_id: JobId, *, version: int | None = None) -> Job:
        """Like cancel, and its name is free again. Its history stays until retention."""
        return await self._changes.make(job_id, JobWish(JobAction.DELETE), version=version)

    # Looking -------------------------------------------------------------------------------------------

    async def get(self, job_id: JobId) -> Job:
        """Raises JobNotFound. A deleted job can still be read."""
        return await self._jobs.get(self._context.tenant_id, job_id)

    async def look(self, job_id: JobId) -> Look:
        """A job and its newest executions, newest first. Raises JobNotFound."""
        return await self._reader.at(job_id)

    async def recent(self, jobs: Collection[Job]) -> Mapping[JobId, Sequence[RecentRun]]:
        """The newest runs of each, newest first: what the state of a job is told from."""
        return await self._reader.recent(jobs)

    async def many(self, job_ids: Collection[JobId]) -> Mapping[JobId, Job]:
        """Those of these jobs that exist."""
        found = await self._jobs.many(self._context.tenant_id, job_ids)
        return {job.id: job for job in found}

    async def named(self, name: str) -> Job:
        """The live job of that name. Raises JobNotFound."""
        return await self._jobs.named(self._context.tenant_id, name)

    async def list(
        self,
        wanted: JobFilter = JobFilter(),  # noqa: B008 - frozen.
        *,
        limit: int = PAGE_LIMIT_DEFAULT,
        after: UUID | None = None,
    ) -> Page[Job]:
        """Newest first."""
        return await self._jobs.page(self._context.tenant_id, wanted, limit=limit, after=after)

    async def revision(self, job_id: JobId, number: int) -> Revision:
        """What the job said at that revision. Raises JobNotFound."""
        return await self._jobs.revision(self._context.tenant_id, job_id, number)

    async def occurrences(
        self, job_id: JobId, *, limit: int = PAGE_LIMIT_DEFAULT, before: datetime | None = None
    ) -> Sequence[Occurrence]:
        """What became of its nominal times, newest first, strictly before `before`. Raises JobNotFound."""
        found = await self._context.store.schedules.occurrences(
            self._context.tenant_id, job_id, limit=limit, before=before
        )
        if not found:
            await self.get(job_id)
        return found

    async def preview(self, job_id: JobId, *, limit: int = PREVIEW_LIMIT_DEFAULT) -> Sequence[Preview]:
        """The next nominal times of a job, if it stays active. Raises JobNotFound."""
        job = await self.get(job_id)
        schedule = job.definition.schedule
        if is_exhausted(schedule, job.fires):
            return ()
        if isinstance(schedule.timing, Interval) and job.anchor is not None:
            schedule = replace(schedule, timing=replace(schedule.timing, anchor=job.anchor))
        if schedule.max_runs is not None:
            schedule = replace(schedule, max_runs=schedule.max_runs - job.fires)
        return await self.preview_of(schedule, name=job.name, limit=limit)

    async def preview_of(
        self, schedule: Schedule, *, name: str = "", limit: int = PREVIEW_LIMIT_DEFAULT
    ) -> Sequence[Preview]:
        """What a schedule would do from now on. `name` matters to an expression with `H`."""
        return preview(
            schedule,
            after=self._context.clock.now(),
            limit=limit,
            seed=seed_of(self._context.tenant_id, name),
            excluded_dates=await self._check_calendars({schedule.calendar}),
        )

    async def _check_calendars(self, names: Collection[str | None]) -> frozenset[date]:
        """The dates that these exclude. Raises CalendarNotFound."""
        wanted = {name for name in names if name is not None}
        if not wanted:
            return frozenset()
        found = await self._context.store.schedules.calendars(
            {(self._context.tenant_id, name) for name in wanted}
        )
        for missing in sorted(wanted - {calendar.name for calendar in found}):
            raise CalendarNotFound(missing)
        return frozenset().union(*(calendar.dates for calendar in found))
