"""Changing a job that schedulers may be firing at the same moment.

Read, decide, write; the write holds only if the job is still as it was read. Before a change that moves the
cursor, the due times behind it get their outcomes (core/schedules/rescheduling.py), so the ledger has no
holes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from typing import Protocol

from gnomon.client.context import ClientContext
from gnomon.core.executions.lifecycle import JobAction, JobChange, change_of
from gnomon.core.jobs.job import DAG_KIND, Definition, Job, JobId, JobStatus
from gnomon.core.schedules.rescheduling import ENDING, SETTLING, course_after, is_behind, settled, since
from gnomon.core.time.schedule import Manual, Overlap
from gnomon.core.values.idempotency import Idempotency
from gnomon.errors import Conflict, InvalidInput, JobFired, StoreUnavailable, VersionConflict
from gnomon.store.databases.hints import Topic

# A scheduler that fires at the same moment costs a try. So many in a row are no coincidence.
TRIES_MAX = 20
# Rounds of deciding about due times: the seconds of four months fit in.
ROUNDS_MAX = 2000


@dataclass(frozen=True, slots=True)
class JobWish:
    """What somebody wants of a job. None means: as it is."""

    action: JobAction
    name: str | None = None
    definition: Definition | None = None
    tags: frozenset[str] | None = None
    dependencies: frozenset[JobId] | None = None


class Keep(Protocol):
    async def __call__(self, change: JobChange, job: Job, *, now: datetime) -> Job: ...


class JobChanges:
    def __init__(self, context: ClientContext) -> None:
        self._context = context
        self._jobs = context.store.jobs
        self._schedules = context.store.schedules

    async def make(
        self,
        job_id: JobId,
        wish: JobWish,
        *,
        version: int | None = None,
        idempotency: Idempotency | None = None,
        keep: Keep | None = None,
    ) -> Job:
        """The job afterwards. A caller who named a version is told if it is not the current one.

        `keep` writes the change, where it is more than one of a job.
        """
        trouble: Conflict | None = None
        for _ in range(TRIES_MAX):
            # A replay may name a version that its first call has left behind: then the store knows better.
            job, now = await self._settle(job_id, wish.action, version if idempotency is None else None)
            if keep is None and wish.action is JobAction.UPDATE and job.definition.kind == DAG_KIND:
                raise InvalidInput("job_id", "is a workflow; change it as one, under /v1/dags.")
            change = wanted(job, wish, now=now)
            if version is None and idempotency is None and keep is None and _is_nothing(change, job):
                return job
            if version is not None:
                change = replace(change, expected_version=version)
            try:
                if keep is not None:
                    changed = await keep(change, job, now=now)
                else:
                    [changed] = await self._jobs.change([change], now=now, idempotency=idempotency)
            except JobFired as error:
                trouble = error  # A firing makes no version, so it is nobody's mistake.
            except VersionConflict as error:
                if version is not None:
                    raise
                trouble = error
            else:
                self._tell(changed)
                return changed
        assert trouble is not None
        raise trouble

    async def _settle(self, job_id: JobId, action: JobAction, version: int | None) -> tuple[Job, datetime]:
        """The job with no due time undecided as of the instant that is returned.

        Somebody else who is faster, or who changes the job meanwhile, is fine: look again.
        """
        for _ in range(ROUNDS_MAX):
            job = await self._jobs.get(self._context.tenant_id, job_id)
            now = since(job, now=self._context.clock.now())
            if version is not None and job.version != version:
                raise VersionConflict(job_id, expected=version, actual=job.version)
            if action not in SETTLING or not is_behind(job, now=now):
                return job, now
            firing = settled(
                job,
                action,
                now=now,
                live=await self._live(job),
                excluded_dates=await self._closed_days(job),
                new_id=partial(self._context.new_execution_id, now),
            )
            if await self._schedules.fire([firing], now=now) and action not in ENDING:
                self._context.announce_due((one.due for one in firing.occurrences), now=now)
        raise StoreUnavailable(
            f"Job {job_id} is far behind its schedule. What was decided is kept: ask again."
        )

    async def _live(self, job: Job) -> int:
        if job.definition.schedule.overlap is Overlap.ALLOW:
            return 0
        found = await self._schedules.live([job.id])
        live: int = found.get(job.id, 0)
        return live

    async def _closed_days(self, job: Job) -> frozenset[date]:
        name = job.definition.schedule.calendar
        if name is None:
            return frozenset()
        found = await self._schedules.calendars({(job.tenant_id, name)})
        return frozenset().union(*(calendar.dates for calendar in found))

    def _tell(self, job: Job) -> None:
        if job.status in (JobStatus.CANCELLED, JobStatus.DELETED):
            self._context.announce(Topic.CANCEL)
        elif job.next_run_time is not None:
            self._context.announce(Topic.SCHEDULE)


def wanted(job: Job, wish: JobWish, *, now: datetime) -> JobChange:
    """The change that a wish comes to. Raises IllegalTransition."""
    change = change_of(job, wish.action, next_run_time=job.next_run_time)
    if wish.action is not JobAction.UPDATE:
        return change
    name = job.name if wish.name is None else wish.name
    definition = wish.definition or job.definition
    course = course_after(job, definition.schedule, name=name, now=now)
    definition = replace(definition, schedule=course.schedule)
    is_over = course.next_run_time is None and not isinstance(course.schedule.timing, Manual)
    return replace(
        change,
        name=name,
        status=JobStatus.COMPLETED if is_over else change.status,
        next_run_time=course.next_run_time,
        tags=job.tags if wish.tags is None else wish.tags,
        dependencies=job.dependencies if wish.dependencies is None else wish.dependencies,
        anchor=course.anchor,
        definition=None if definition == job.definition else definition,
    )


def _is_nothing(change: JobChange, job: Job) -> bool:
    return change.definition is None and (
        change.name,
        change.status,
        change.next_run_time,
        change.tags,
        change.dependencies,
        change.anchor,
    ) == (job.name, job.status, job.next_run_time, job.tags, job.dependencies, job.anchor)
