"""Asking for runs, in whatever transaction is open: one of ours, or one of a user."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import Enqueued, ExecutionId, NewExecution
from gnomon.core.executions.gates import gate
from gnomon.core.jobs.job import JobStatus
from gnomon.core.values.idempotency import Idempotency
from gnomon.errors import IllegalTransition, JobNotFound
from gnomon.store.access.idempotency import first_answer, settle_answer
from gnomon.store.databases.database import Row, Rows, Session, rounds
from gnomon.store.databases.rows import document_text
from gnomon.store.queue.gates import admit, wanted

_ASKED = (
    "execution_id", "job_id", "revision", "lane_id", "trigger", "priority", "due", "unique_key", "input",
    "waits_for", "watched", "awaited",
)  # fmt: skip
_UNIFORM_ASKED = frozenset({"job_id", "revision", "lane_id", "trigger", "priority", "due"})
_PLAIN = ("execution_id", "trigger", "priority", "due", "input")
_UNIFORM_PLAIN = frozenset({"trigger", "due"})


def are_plain(asked: Sequence[NewExecution]) -> bool:
    """All for one job, and nobody asks who else holds a key."""
    return len({one.job_id for one in asked}) == 1 and all(one.unique_key is None for one in asked)


async def enqueue_plain(
    session: Session, tenant_id: TenantId, asked: Sequence[NewExecution], *, now: datetime
) -> Sequence[Enqueued]:
    """In one statement. Empty if it takes more than that, or must be refused; then nothing has happened."""
    rows = [(one.id, one.trigger, one.priority, one.due or now, document_text(one.input)) for one in asked]
    found = await session.fetch(
        "enqueue_plain",
        Rows("asked", _PLAIN, rows, _UNIFORM_PLAIN),
        job_id=asked[0].job_id,
        tenant_id=tenant_id,
        now=now,
    )
    return [Enqueued(one.id, is_new=True) for one in asked] if found else []


async def enqueue_within(
    session: Session, tenant_id: TenantId, asked: Sequence[NewExecution], *, now: datetime
) -> Sequence[Enqueued]:
    """In the transaction of a user, which may stay open for long.

    So the gates are left alone, for which workers would wait that let others in: a sweep lets these in.
    """
    enqueued, _ = await _keep(session, tenant_id, asked, now=now)
    return enqueued


async def enqueue_and_admit(
    session: Session,
    tenant_id: TenantId,
    asked: Sequence[NewExecution],
    *,
    now: datetime,
    idempotency: Idempotency | None = None,
    made: Collection[UUID] = frozenset(),
) -> Sequence[Enqueued]:
    """In a transaction of ours. `made` are those that an earlier call has made."""
    first = await first_answer(session, tenant_id, idempotency, [one.id for one in asked], now=now)
    if first is not None:
        return [Enqueued(ExecutionId(one), is_new=False) for one in first]
    enqueued, gated = await _keep(session, tenant_id, asked, now=now, made=made)
    await settle_answer(session, tenant_id, idempotency, [one.id for one in enqueued])
    if gated:
        await admit(session, gated, now=now)
    return enqueued


async def _keep(
    session: Session,
    tenant_id: TenantId,
    asked: Sequence[NewExecution],
    *,
    now: datetime,
    made: Collection[UUID] = frozenset(),
) -> tuple[Sequence[Enqueued], Collection[UUID]]:
    """Where each ask ended up, and the jobs at whose gates some of them wait now."""
    jobs = await jobs_for(session, tenant_id, {one.job_id for one in asked})
    holders = await _take_keys(session, tenant_id, [one for one in asked if one.id not in made])
    # An ask that is repeated, whose run has ended, finds its key with a later one.
    made = {*made, *await _made(session, tenant_id, [own for own, by in holders.items() if own != by])}
    kept = [one.id if one.id in made else holders.get(one.id, one.id) for one in asked]
    rows = [
        _asked_row(one, jobs[one.job_id], now=now)
        for one, holder in zip(asked, kept, strict=True)
        if holder == one.id and one.id not in made
    ]
    if rows:
        await session.fetch(
            "enqueue", Rows("asked", _ASKED, rows, _UNIFORM_ASKED), tenant_id=tenant_id, now=now
        )
    enqueued = [
        Enqueued(holder, holder == one.id and one.id not in made)
        for one, holder in zip(asked, kept, strict=True)
    ]
    gated = {job_id for job_id, job in jobs.items() if job["slots"] is not None} if rows else ()
    return enqueued, gated


async def jobs_for(session: Session, tenant_id: TenantId, job_ids: Collection[UUID]) -> Mapping[UUID, Row]:
    """The jobs that something is about to be enqueued for, held so that none of them ends meanwhile."""
    rows = await session.fetch("jobs_for_enqueue", wanted(job_ids), tenant_id=tenant_id)
    if len(rows) < len(job_ids):
        # A job that got a new revision while we waited for its lock is missing, since our statement is
        # too old to see that revision. Now that we hold the lock, it is found.
        rows = await session.fetch("jobs_for_enqueue", wanted(job_ids), tenant_id=tenant_id)
    jobs = {row["id"]: row for row in rows if row["status"] != JobStatus.DELETED}
    for job_id in job_ids:
        if job_id not in jobs:
            raise JobNotFound(job_id)
        if jobs[job_id]["status"] == JobStatus.CANCELLED:
            raise IllegalTransition("job", status=JobStatus.CANCELLED, action="enqueue")
    return jobs


async def _take_keys(
    session: Session, tenant_id: TenantId, asked: Sequence[NewExecution]
) -> Mapping[ExecutionId, ExecutionId]:
    """Who holds the unique key of each ask that has one: itself, or a live execution that was there first."""
    keyed = {one.id: (one.job_id, one.unique_key) for one in asked if one.unique_key is not None}
    if not keyed:
        return {}
    batch = Rows(
        "wanted_key", ("job_id", "unique_key", "execution_id"), [(*key, own) for own, key in keyed.items()]
    )
    for _ in rounds("enqueue: the holders of unique keys"):
        await session.fetch("unique_keys_take", batch, tenant_id=tenant_id)
        rows = await session.fetch("unique_keys_find", batch, tenant_id=tenant_id)
        holders = {(row["job_id"], row["unique_key"]): row["execution_id"] for row in rows}
        # A holder that ended between the two statements took its key with it: take again.
        if holders.keys() >= set(keyed.values()):
            break
    return {own: holders[key] for own, key in keyed.items()}


async def _made(session: Session, tenant_id: TenantId, ids: Collection[UUID]) -> Collection[UUID]:
    if not ids:
        return ()
    return [row["id"] for row in await session.fetch("executions_get", wanted(ids), tenant_id=tenant_id)]


def _asked_row(one: NewExecution, job: Row, *, now: datetime) -> tuple[object, ...]:
    return (
        one.id,
        one.job_id,
        job["revision"],
        job["lane_id"],
        one.trigger,
        job["priority"] if one.priority is None else one.priority,
        one.due or now,
        one.unique_key,
        document_text(one.input),
        gate(job["slots"]),
        job["watched"] or None,  # NULL reads as false, and a column of NULLs is not sent.
        job["awaited"] or None,
    )
