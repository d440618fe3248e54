"""Where executions wait for a slot of their job or for other jobs, and who lets them in.

Whoever counts holds the lock of the gate, and counts in a statement that is younger than the lock: so no two
count the same slot as free. Everybody may call `admit` at any time; to call it once too often costs a look.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.records import Page
from gnomon.core.jobs.job import JobId
from gnomon.core.values.limits import check_limit
from gnomon.errors import StoreUnavailable
from gnomon.store.databases.database import Database, Row, Rows, Session, rounds
from gnomon.store.databases.rows import FIRST_ID, LAST_ID

ADMIT_LIMIT_MAX = 10_000
GATED_LIMIT_MAX = 10_000
GATES_MAX = 10_000  # Of those who depend on what has ended. A sweep finds the others.
GATES_PER_TRANSACTION = 100
HISTORY_MAX = 1000


class Gates:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def admit(self, job_ids: Collection[JobId], *, now: datetime, limit: int) -> int:
        check_limit(limit, limit_max=ADMIT_LIMIT_MAX)
        if not job_ids:
            return 0
        rows = await self._database.read("gates_of", wanted(job_ids), limit=GATES_MAX)
        gates = [row["job_id"] for row in rows]
        count = 0
        for start in range(0, len(gates), GATES_PER_TRANSACTION):
            async with self._database.transaction() as session:
                count += await admit(
                    session, gates[start : start + GATES_PER_TRANSACTION], now=now, limit=limit
                )
        return count

    async def admit_after(self, job_ids: Collection[JobId], *, now: datetime) -> None:
        """After something has ended and is written down. If it fails, the next sweep does it."""
        with suppress(StoreUnavailable):
            await self.admit(job_ids, now=now, limit=ADMIT_LIMIT_MAX)

    async def gated(self, *, now: datetime, limit: int, after: UUID | None = None) -> Page[JobId]:
        check_limit(limit, limit_max=GATED_LIMIT_MAX)
        rows = await self._database.read("gated", now=now, limit=limit, after=after or FIRST_ID)
        may_open = tuple(JobId(row["job_id"]) for row in rows if row["may_open"])
        return Page(may_open, rows[-1]["job_id"] if len(rows) == limit else None)


async def admit(
    session: Session, job_ids: Iterable[UUID], *, now: datetime, limit: int = ADMIT_LIMIT_MAX
) -> int:
    """Let in what may enter, of jobs that have a gate. Returns how many no gate holds any more."""
    count = 0
    for gate in await session.fetch("gates_lock", wanted(job_ids)):
        job_id = gate["job_id"]
        if gate["has_dependencies"]:
            rows = await session.fetch("admit_fulfilled", job_id=job_id, limit=limit)
            count += sum(row["waits_for"] is None for row in rows)
        rows = await session.fetch("admit_to_slots", job_id=job_id, now=now, limit=limit)
        count += sum(row["waits_for"] is None for row in rows)
    return count


async def lock(session: Session, job_ids: Iterable[UUID]) -> None:
    """Before a row of their queue is touched: who lets in holds the gate and may wait for that row."""
    await session.fetch("gates_lock", wanted(job_ids))


async def replace_runs(session: Session, job_id: JobId, *, by: Collection[UUID], now: datetime) -> None:
    """End what waits of a job and ask what runs to stop, but for the new ones. Its gate is locked."""
    for _ in rounds(f"Executions of job {job_id}"):
        await session.fetch("replaced_stop", job_id=job_id)
        ended = await session.fetch("replaced_end", wanted(by), job_id=job_id, now=now)
        await note_unbegun(session, ended, now=now)
        if not await session.fetch("replaced_remain", wanted(by), job_id=job_id):
            break


async def end_runs(session: Session, *, job_id: JobId, tenant_id: TenantId, now: datetime) -> None:
    """End what waits of a job and ask what runs to stop."""
    for _ in rounds(f"Executions of job {job_id}"):
        await session.fetch("job_running_stop", job_id=job_id, tenant_id=tenant_id)
        ended = await session.fetch("job_waiting_end", job_id=job_id, tenant_id=tenant_id, now=now)
        await note_unbegun(session, ended, now=now)
        if not await session.fetch("job_still_runs", job_id=job_id, tenant_id=tenant_id):
            break


async def note_unbegun(session: Session, ended: Sequence[Row], *, now: datetime) -> None:
    """Executions of workflows that ended while they waited: the runs among them stay in the history."""
    if ended:
        ids = [row["execution_id"] for row in ended]
        await session.fetch("runs_unbegun_add", wanted(ids), now=now)


async def watch(session: Session, job_id: UUID, *, awaited: bool) -> None:
    """Mark what is live of a job that is now watched. Its row is locked, so nothing new comes in unmarked."""
    for _ in rounds(f"Executions of job {job_id}"):
        await session.fetch("watch_running", job_id=job_id, awaited=awaited)
        await session.fetch("watch_waiting", job_id=job_id, awaited=awaited)
        if not await session.fetch("unwatched", job_id=job_id, awaited=awaited):
            break


async def await_jobs(session: Session, tenant_id: TenantId, job_ids: Collection[JobId]) -> None:
    """Others depend on these jobs from now on: note their successes, beginning with those that were."""
    newly = await session.fetch("jobs_await", wanted(job_ids), tenant_id=tenant_id)
    for job_id in sorted(row["id"] for row in newly):
        await watch(session, job_id, awaited=True)
        # After the marks: what ended before it got one is in the history by now.
        await session.fetch("completion_from_history", job_id=job_id, before=LAST_ID, limit=HISTORY_MAX)


def wanted(ids: Iterable[UUID]) -> Rows:
    """In the order of ids, so that two batches cannot wait for each other."""
    return Rows("wanted", ("id",), [(one,) for one in sorted(ids)])
