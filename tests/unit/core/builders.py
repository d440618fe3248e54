"""Jobs, leases and ids for the stories in this folder. Everything has a value; a story names what matters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import count
from uuid import UUID

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, WorkerId
from gnomon.core.executions.lease import Claim, Leased
from gnomon.core.jobs.job import Definition, Delivery, Job, JobId, JobStatus, Revision
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.schedules.firing import plan
from gnomon.core.schedules.occurrence import Firing, Occurrence, SkipReason
from gnomon.core.time.schedule import Schedule
from gnomon.core.values.document import Document

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
JOB_ID = JobId(UUID("01890000-0000-7000-8000-000000000001"))
SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def at(text: str) -> datetime:
    """An instant of 2026 from month, day and time in UTC: `at("03-29 01:30")`."""
    return datetime.fromisoformat(f"2026-{text}").replace(tzinfo=UTC)


def job_with(schedule: Schedule, *, due: datetime | None, fires: int = 0, paused: bool = False) -> Job:
    return Job(
        id=JOB_ID,
        tenant_id=DEFAULT_TENANT,
        name="nightly",
        status=JobStatus.PAUSED if paused else JobStatus.ACTIVE,
        version=3,
        revision=1,
        definition=Definition("report", schedule=schedule),
        next_run_time=due,
        last_run_time=None,
        fires=fires,
        anchor=None,
        tags=frozenset(),
        dependencies=frozenset(),
        created_at=NOON,
        updated_at=NOON,
    )


def counted_ids() -> Callable[[], ExecutionId]:
    numbers = count(1)
    return lambda: ExecutionId(UUID(int=next(numbers)))


def step(
    job: Job, *, now: datetime, live: int = 0, excluded: frozenset[date] = frozenset(), limit: int = 1000
) -> Firing:
    return plan(job, now=now, live=live, excluded_dates=excluded, new_id=counted_ids(), limit=limit)


def after_firing(job: Job, firing: Firing) -> Job:
    """The job as a store leaves it once the firing took effect."""
    return replace(
        job,
        status=firing.status,
        next_run_time=firing.next_run_time,
        last_run_time=firing.last_run_time,
        fires=firing.fires,
        anchor=firing.anchor,
    )


def fired(occurrences: tuple[Occurrence, ...]) -> list[datetime]:
    return [row.nominal_time for row in occurrences if row.reason is None]


def skipped(occurrences: tuple[Occurrence, ...]) -> list[tuple[datetime, int, SkipReason]]:
    return [(row.nominal_time, row.count, row.reason) for row in occurrences if row.reason is not None]


def leased(
    *,
    retry: RetryPolicy | None = None,
    delivery: Delivery = Delivery.AT_LEAST_ONCE,
    timeout: timedelta | None = None,
    attempts: int = 0,
    crashes: int = 0,
    cancel_requested: bool = False,
) -> Leased:
    definition = Definition("report", retry=retry or RetryPolicy(), delivery=delivery, timeout=timeout)
    return Leased(
        claim=Claim(ExecutionId(UUID(int=7)), 1),
        tenant_id=DEFAULT_TENANT,
        job_id=JOB_ID,
        revision=Revision(DEFAULT_TENANT, JOB_ID, 1, definition),
        worker=WorkerId("ada"),
        priority=5,
        nominal_time=None,
        due=NOON,
        input=Document("{}"),
        attempts=attempts,
        crashes=crashes,
        started_at=NOON,
        lease_until=NOON + 20 * SECOND,
        cancel_requested=cancel_requested,
    )
