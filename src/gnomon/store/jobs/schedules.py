"""Due times, the ledger and calendars over any SQL database."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import WaitsFor
from gnomon.core.jobs.job import Job, JobId
from gnomon.core.schedules.occurrence import Firing, Occurrence, SkipReason
from gnomon.core.time.calendars import Calendar
from gnomon.core.time.schedule import LostCron
from gnomon.core.values.limits import check_limit
from gnomon.store.databases.database import Database, Row, Rows, Session, again_after_deadlock
from gnomon.store.databases.rows import job_of
from gnomon.store.jobs.calendars import calendar_of, wanted_calendars
from gnomon.store.protocols.jobs import Due, Unreadable
from gnomon.store.queue.gates import admit, lock, replace_runs, wanted

LAST_INSTANT = datetime(9999, 12, 31, tzinfo=UTC)
DUE_LIMIT_MAX = 10_000

_FIRING = (
    "job_id", "expected_version", "expected_next_run_time", "status", "next_run_time", "last_run_time",
    "fires", "anchor", "first_place", "last_place",
)  # fmt: skip
_OCCURRENCE = (
    "job_id", "nominal_time", "nominal_until", "count", "reason", "execution_id", "due", "waits_for",
    "newer_than",
)  # fmt: skip


class SqlSchedules:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def due(
        self,
        *,
        now: datetime,
        limit: int,
        shards: Collection[int] | None = None,
        passed_over: Collection[JobId] = (),
    ) -> Due:
        check_limit(limit, limit_max=DUE_LIMIT_MAX)
        rows = await self._database.read(
            "jobs_due", _passed_over(passed_over), now=now, limit=limit, shards=_list(shards)
        )
        jobs: list[Job] = []
        unreadable: list[Unreadable] = []
        for row in rows:
            job = job_of(row)
            if isinstance(lost := job.definition.schedule.timing, LostCron):
                unreadable.append(
                    Unreadable(job.tenant_id, job.id, job.name, row["next_run_time"], lost.reason)
                )
            else:
                jobs.append(job)
        return Due(jobs, unreadable)

    async def next_due(
        self, *, shards: Collection[int] | None = None, passed_over: Collection[JobId] = ()
    ) -> datetime | None:
        rows = await self._database.read("next_due", _passed_over(passed_over), shards=_list(shards))
        return rows[0]["next_run_time"] if rows else None

    @again_after_deadlock
    async def fire(self, firings: Sequence[Firing], *, now: datetime) -> Sequence[JobId]:
        if not firings:
            return []
        # Sorted, so that two schedulers cannot wait for each other.
        first = {firing.job_id: firing for firing in reversed(firings)}
        ordered = sorted(first.values(), key=lambda firing: firing.job_id)
        if any(firing.waits_for or firing.replaces for firing in ordered):
            async with self._database.transaction() as session:
                fired = await _fire(session, ordered, now=now)
                await _after_firing(session, [one for one in ordered if one.job_id in fired], now=now)
        else:
            fired = await _fire(self._database, ordered, now=now)
        return [job_id for job_id in dict.fromkeys(firing.job_id for firing in firings) if job_id in fired]

    async def live(self, job_ids: Collection[JobId]) -> Mapping[JobId, int]:
        rows = await self._database.read("jobs_live", wanted(set(job_ids)))
        return {JobId(row["job_id"]): row["live"] for row in rows}

    async def occurrences(
        self, tenant_id: TenantId, job_id: JobId, *, limit: int, before: datetime | None = None
    ) -> Sequence[Occurrence]:
        rows = await self._database.read(
            "occurrences_page",
            tenant_id=tenant_id,
            job_id=job_id,
            before=before or LAST_INSTANT,
            limit=check_limit(limit),
        )
        return [
            Occurrence(
                nominal_time=row["nominal_time"],
                nominal_until=row["nominal_until"],
                count=row["count"],
                reason=SkipReason(row["reason"]) if row["reason"] else None,
                execution_id=row["execution_id"],
                due=row["due"],
            )
            for row in rows
        ]

    async def calendars(self, names: Collection[tuple[TenantId, str]]) -> Sequence[Calendar]:
        return [
            calendar_of(row) for row in await self._database.read("calendars_get", wanted_calendars(names))
        ]


async def _fire(session: Session, firings: Sequence[Firing], *, now: datetime) -> set[JobId]:
    rows: list[tuple[object, ...]] = []
    occurrences: list[tuple[object, ...]] = []
    for firing in firings:
        first_place = len(occurrences) + 1
        occurrences += _occurrence_rows(firing)
        rows.append((*_firing_row(firing), first_place, len(occurrences)))
    taken: Sequence[Row] = await session.fetch(
        "fire", Rows("firing", _FIRING, rows), Rows("occurrence", _OCCURRENCE, occurrences), now=now
    )
    return {row["job_id"] for row in taken}


async def _after_firing(session: Session, firings: Sequence[Firing], *, now: datetime) -> None:
    """What is new is not yet to be seen by others: to end the runs before it now is to end them first."""
    await lock(session, [firing.job_id for firing in firings])
    for firing in firings:
        if firing.replaces:
            new = [one.execution_id for one in firing.occurrences if one.execution_id]
            await replace_runs(session, firing.job_id, by=new, now=now)
    await admit(session, [firing.job_id for firing in firings if firing.waits_for], now=now)


def _firing_row(firing: Firing) -> tuple[object, ...]:
    return (
        firing.job_id,
        firing.expected_version,
        firing.expected_next_run_time,
        firing.status,
        firing.next_run_time,
        firing.last_run_time,
        firing.fires,
        firing.anchor,
    )


def _occurrence_rows(firing: Firing) -> Iterator[tuple[object, ...]]:
    previous = firing.previous_run_time
    for one in firing.occurrences:
        yield (
            firing.job_id,
            one.nominal_time,
            one.nominal_until,
            one.count,
            one.reason,
            one.execution_id,
            one.due,
            firing.waits_for,
            previous if firing.waits_for is WaitsFor.JOBS else None,
        )
        previous = one.nominal_time if one.execution_id else previous


def _passed_over(job_ids: Collection[JobId]) -> Rows:
    return Rows("passed_over", ("id",), [(job_id,) for job_id in job_ids])


def _list(shards: Collection[int] | None) -> list[int] | None:
    return None if shards is None else sorted(shards)
