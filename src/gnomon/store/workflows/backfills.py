"""Backfills over any SQL database. The row of a backfill is the lock of all that happens to it."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.records import Page
from gnomon.core.jobs.job import JobId
from gnomon.core.runs.backfills import (
    Backfill,
    BackfillAction,
    BackfillId,
    BackfillStatus,
    BackfillTerms,
    BackfillTime,
    Existing,
    NewBackfill,
    TimeState,
    after_action,
    room,
)
from gnomon.core.runs.run import RunId
from gnomon.core.runs.state import RunStatus
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.values.ids import EPOCH, derived_id
from gnomon.core.values.instants import INSTANT_MIN, MICROSECOND
from gnomon.core.values.limits import check_limit
from gnomon.errors import (
    BackfillNotFound,
    BackfillOverlaps,
    DagNotFound,
    IllegalTransition,
    JobNotFound,
    StoreUnavailable,
)
from gnomon.store.access.idempotency import first_answer
from gnomon.store.databases.database import Database, Row, Rows, Session
from gnomon.store.databases.rows import LAST_ID, document_of, document_text
from gnomon.store.queue.enqueue import jobs_for
from gnomon.store.queue.gates import wanted

logger = logging.getLogger(__name__)

ADVANCE_LIMIT_MAX = 1000
PAST_LIMIT_MAX = 10_000
_TIME = ("nominal_time", "execution_id")


class SqlBackfills:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self, new: NewBackfill, *, now: datetime, idempotency: Idempotency | None = None
    ) -> Backfill:
        """Raises DagNotFound, BackfillOverlaps, IdempotencyConflict."""
        async with self._database.transaction() as session:
            first = await first_answer(session, new.tenant_id, idempotency, [new.id], now=now)
            if first is None:
                await _add(session, new, now=now)
        return await self.get(new.tenant_id, BackfillId(new.id if first is None else first[0]))

    async def get(self, tenant_id: TenantId, backfill_id: BackfillId) -> Backfill:
        """Raises BackfillNotFound."""
        rows = await self._database.read("backfill_get", tenant_id=tenant_id, backfill_id=backfill_id)
        if not rows:
            raise BackfillNotFound(backfill_id)
        return _backfill_of(rows[0])

    async def page(
        self, tenant_id: TenantId, dag_id: JobId, *, limit: int, after: UUID | None = None
    ) -> Page[Backfill]:
        """Those of a workflow, newest first."""
        rows = await self._database.read(
            "backfills_page",
            tenant_id=tenant_id,
            dag_id=dag_id,
            after=after or LAST_ID,
            limit=check_limit(limit) + 1,
        )
        found = [await self.get(tenant_id, row["id"]) for row in rows[:limit]]
        return Page(tuple(found), found[-1].id if len(rows) > limit else None)

    async def times(
        self, tenant_id: TenantId, backfill_id: BackfillId, *, limit: int, after: datetime | None = None
    ) -> Sequence[BackfillTime]:
        """Oldest first, after that time."""
        rows = await self._database.read(
            "backfill_runs",
            tenant_id=tenant_id,
            backfill_id=backfill_id,
            after=after or INSTANT_MIN - MICROSECOND,
            limit=check_limit(limit),
        )
        return [
            BackfillTime(row["nominal_time"], TimeState(row["state"]), row["execution_id"]) for row in rows
        ]

    async def past(
        self, tenant_id: TenantId, dag_id: JobId, *, first: datetime, last: datetime, limit: int
    ) -> Mapping[datetime, RunStatus]:
        """How the latest run of each nominal time stands, oldest first; as many rows as `limit`."""
        rows = await self._database.read(
            "backfill_past",
            tenant_id=tenant_id,
            dag_id=dag_id,
            first_time=first,
            last_time=last,
            limit=check_limit(limit, limit_max=PAST_LIMIT_MAX),
        )
        return {row["nominal_time"]: _status_of(row) for row in rows}

    async def act(
        self, tenant_id: TenantId, backfill_id: BackfillId, action: BackfillAction, *, now: datetime
    ) -> Backfill:
        """Raises BackfillNotFound, IllegalTransition."""
        async with self._database.transaction() as session:
            locked = await session.fetch("backfill_lock", backfill_id=backfill_id)
            if locked and locked[0]["tenant_id"] == tenant_id:
                status = after_action(BackfillStatus(locked[0]["status"]), action)
                await _move(session, backfill_id, status, now=now)
        found = await self.get(tenant_id, backfill_id)
        if not locked:
            after_action(found.status, action)
        return found

    # Going on ----------------------------------------------------------------------------------------

    async def advance(
        self, *, now: datetime, limit: int, dag_ids: Collection[UUID] | None = None
    ) -> Sequence[RunId]:
        """Ask for the next runs of those that have room, and end those that are done. Returns the runs."""
        check_limit(limit, limit_max=ADVANCE_LIMIT_MAX)
        if dag_ids is None:
            rows = await self._database.read("backfills_running", limit=limit)
        else:
            rows = await self._database.read("backfills_of", wanted(dag_ids))
        asked: list[RunId] = []
        for row in rows:
            try:
                async with self._database.transaction() as session:
                    asked += await self._advance(session, row["id"], now=now)
            except StoreUnavailable:
                raise
            except Exception:  # Whatever it is about this one, the others must not wait for it.
                logger.exception("backfill %s cannot go on", row["id"])
        return asked

    async def _advance(self, session: Session, backfill_id: UUID, *, now: datetime) -> list[RunId]:
        locked = await session.fetch("backfill_lock", backfill_id=backfill_id)
        if not locked:
            return []
        [row] = locked
        running = len(await session.fetch("backfill_running", backfill_id=backfill_id))
        free = room(BackfillStatus(row["status"]), concurrency=row["concurrency"], running=running)
        if not free:
            return []
        times = await session.fetch("backfill_next", backfill_id=backfill_id, limit=free)
        if times:
            return await _begin(session, row, [one["nominal_time"] for one in times], now=now)
        if not running:
            await _move(session, backfill_id, BackfillStatus.COMPLETED, now=now)
        return []


async def _add(session: Session, new: NewBackfill, *, now: datetime) -> None:
    # Who else makes one for this workflow waits until ours can be seen.
    if not await session.fetch("dag_lock", dag_id=new.dag_id, tenant_id=new.tenant_id):
        raise DagNotFound(new.dag_id)
    span = {"first_time": new.plan.first, "last_time": new.plan.last}
    rivals = await session.fetch("backfill_rivals", dag_id=new.dag_id, **span)
    if rivals:
        raise BackfillOverlaps(rivals[0]["id"])
    status = BackfillStatus.RUNNING if new.plan.times else BackfillStatus.COMPLETED
    await session.fetch(
        "backfill_add",
        id=new.id,
        tenant_id=new.tenant_id,
        dag_id=new.dag_id,
        status=status,
        **span,
        existing=new.terms.existing,
        concurrency=new.terms.concurrency,
        priority=new.terms.priority,
        config=document_text(new.terms.config),
        now=now,
        finished_at=now if status.is_final else None,
    )
    await session.fetch(
        "backfill_times_add",
        Rows("backfill_time", _TIME[:1], [(at,) for at in new.plan.times]),
        backfill_id=new.id,
        tenant_id=new.tenant_id,
        dag_id=new.dag_id,
    )


async def _begin(session: Session, row: Row, times: Sequence[datetime], *, now: datetime) -> list[RunId]:
    backfill_id, tenant_id, dag_id = row["id"], row["tenant_id"], row["dag_id"]
    try:
        dag = (await jobs_for(session, tenant_id, [dag_id]))[dag_id]
    except (JobNotFound, IllegalTransition):
        # The workflow is gone, and nothing of it runs any more.
        await _move(session, backfill_id, BackfillStatus.CANCELLED, now=now)
        return []
    runs = [RunId(_id(backfill_id, at, place, now=now)) for place, at in enumerate(times)]
    await session.fetch(
        "backfill_begin",
        Rows("backfill_time", _TIME, list(zip(times, runs, strict=True))),
        backfill_id=backfill_id,
        tenant_id=tenant_id,
        dag_id=dag_id,
        revision=dag["revision"],
        lane_id=dag["lane_id"],
        priority=dag["priority"] if row["priority"] is None else row["priority"],
        input=row["config"],
        now=now,
    )
    return runs


def _id(backfill_id: UUID, at: datetime, place: int, *, now: datetime) -> UUID:
    return derived_id(now, backfill_id, (at - EPOCH) // MICROSECOND, place=place)


async def _move(session: Session, backfill_id: UUID, status: BackfillStatus, *, now: datetime) -> None:
    if status is BackfillStatus.CANCELLED:
        await session.fetch("backfill_give_up", backfill_id=backfill_id)
    await session.fetch(
        "backfill_move",
        backfill_id=backfill_id,
        status=status,
        finished_at=now if status.is_final else None,
    )


def _status_of(row: Row) -> RunStatus:
    """Of a run that retention has dropped, the backfill that began it knows how it ended."""
    if row["status"] is not None:
        return RunStatus(row["status"])
    if row["is_waiting"]:
        return RunStatus.PENDING
    ended = row["outcome"] or row["state"]
    return RunStatus(ended) if ended in (RunStatus.FAILED, RunStatus.CANCELLED) else RunStatus.COMPLETED


def _backfill_of(row: Row) -> Backfill:
    return Backfill(
        id=BackfillId(row["id"]),
        tenant_id=TenantId(row["tenant_id"]),
        dag_id=JobId(row["dag_id"]),
        status=BackfillStatus(row["status"]),
        first=row["first_time"],
        last=row["last_time"],
        terms=BackfillTerms(
            Existing(row["existing"]), row["concurrency"], row["priority"], document_of(row["config"])
        ),
        waiting=row["waiting"],
        running=row["running"],
        completed=row["completed"],
        failed=row["failed"],
        cancelled=row["cancelled"],
        created_at=row["created_at"],
        finished_at=row["finished_at"],
    )
