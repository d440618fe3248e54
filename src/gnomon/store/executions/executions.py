"""Executions over any SQL database: ask, claim, hold on, cancel, read. Their ends are in `ends.py`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import (
    Attempt,
    Enqueued,
    Execution,
    ExecutionId,
    ExecutionStatus,
    NewExecution,
)
from gnomon.core.executions.lease import Claim, ClaimRequest, Leased, Renewed
from gnomon.core.executions.records import ExecutionFilter, Page
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.values.limits import check_batch, check_limit
from gnomon.errors import ExecutionNotFound, InvalidInput
from gnomon.store.databases.database import Database, Rows, UniqueViolation, again_after_deadlock, rounds
from gnomon.store.databases.rows import FIRST_ID, attempt_of, bounds, execution_of
from gnomon.store.executions.ends import ExecutionEnds, held_rows
from gnomon.store.jobs.revisions import Revisions
from gnomon.store.queue.claimed import Hold
from gnomon.store.queue.claimer import AskedBefore, Claimer
from gnomon.store.queue.enqueue import are_plain, enqueue_and_admit, enqueue_plain
from gnomon.store.queue.gates import Gates, note_unbegun
from gnomon.store.queue.lanes import Lanes
from gnomon.store.queue.waiting import Prospects
from gnomon.store.runs.runs import SqlRuns
from gnomon.store.writes.writer import Writer

EXPIRED_LIMIT_MAX = 10_000

_PAGES = {
    ExecutionStatus.PENDING: "executions_page_pending",
    ExecutionStatus.QUEUED: "executions_page_queued",
    ExecutionStatus.RUNNING: "executions_page_running",
    ExecutionStatus.FAILED: "executions_page_unlucky",
    ExecutionStatus.TIMEOUT: "executions_page_unlucky",
    ExecutionStatus.CANCELLED: "executions_page_unlucky",
    ExecutionStatus.SKIPPED: "executions_page_unlucky",
}


class SqlExecutions:
    def __init__(
        self,
        database: Database,
        claimer: Claimer,
        revisions: Revisions,
        gates: Gates,
        lanes: Lanes,
        runs: SqlRuns,
        writer: Writer,
    ) -> None:
        self._database = database
        self._gates = gates
        self._runs = runs
        self.admit, self.gated = gates.admit, gates.gated
        prospects = Prospects(database, lanes)
        self.place, self.ahead, self.recent = prospects.place, prospects.ahead, prospects.recent
        self.next_due, self.next_gated = prospects.next_due, prospects.next_gated
        self.progress, self.latest_attempts = prospects.progress, prospects.latest_attempts
        self.repeat = runs.redriving.repeat
        self._claimer, self.hold_back = claimer, claimer.hold_back
        self._revisions = revisions
        ends = ExecutionEnds(database, writer, runs.apply, gates, revisions)
        self.apply, self.apply_and_claim, self.settled = ends.apply, ends.apply_and_claim, ends.settled

    async def enqueue(
        self,
        tenant_id: TenantId,
        asked: Sequence[NewExecution],
        *,
        now: datetime,
        idempotency: Idempotency | None = None,
    ) -> Sequence[Enqueued]:
        check_batch(len(asked), field="executions")
        if not asked:
            return []
        if len({one.id for one in asked}) < len(asked):
            raise InvalidInput("executions", "the same id is asked for twice.")
        try:
            return await self._enqueue(tenant_id, asked, now=now, idempotency=idempotency)
        except UniqueViolation:
            wanted = _wanted(one.id for one in asked)
            made = {
                row["id"] for row in await self._database.read("executions_get", wanted, tenant_id=tenant_id)
            }
            if not made:
                raise
            # The ids are the caller's own: these were asked for before.
            return await self._enqueue(tenant_id, asked, now=now, idempotency=idempotency, made=made)

    async def _enqueue(
        self,
        tenant_id: TenantId,
        asked: Sequence[NewExecution],
        *,
        now: datetime,
        idempotency: Idempotency | None,
        made: Collection[UUID] = frozenset(),
    ) -> Sequence[Enqueued]:
        if idempotency is None and not made and are_plain(asked):
            plain = await enqueue_plain(self._database, tenant_id, asked, now=now)
            if plain:
                return plain
        async with self._database.transaction() as session:
            return await enqueue_and_admit(
                session, tenant_id, asked, now=now, idempotency=idempotency, made=made
            )

    async def claim(self, request: ClaimRequest, *, now: datetime, lease_until: datetime) -> Sequence[Leased]:
        try:
            rows = await self._claimer.claim(request, now=now, lease_until=lease_until)
            if not rows:
                return []
            return await self._revisions.claimed(rows, Hold(request.worker, now, lease_until))
        except AskedBefore:
            rows = await self._database.read("claimed", request_id=request.id, worker=request.worker)
            return await self._revisions.leased(rows)

    async def renew(self, claims: Sequence[Claim], *, lease_until: datetime) -> Sequence[Renewed]:
        if not claims:
            return []
        rows = await self._database.fetch("renew", held_rows(claims), lease_until=lease_until)
        held = {Claim(row["execution_id"], row["claim"]): row["cancel_requested"] for row in rows}
        return [Renewed(claim, held[claim]) for claim in claims if claim in held]

    async def held(self, claims: Sequence[Claim]) -> Sequence[Leased]:
        if not claims:
            return []
        return await self._revisions.leased(await self._database.read("leases_held", held_rows(claims)))

    async def expired(self, *, now: datetime, limit: int) -> Sequence[Leased]:
        check_limit(limit, limit_max=EXPIRED_LIMIT_MAX)
        return await self._revisions.leased(await self._database.read("expired", now=now, limit=limit))

    @again_after_deadlock
    async def cancel(
        self, tenant_id: TenantId, execution_ids: Sequence[ExecutionId], *, now: datetime
    ) -> Mapping[ExecutionId, ExecutionStatus]:
        check_batch(len(execution_ids), field="executions")
        in_runs = await self._runs.cancel(tenant_id, set(execution_ids), now=now)
        plain = set(execution_ids).difference(in_runs)
        ended = await self._cancel(tenant_id, plain, now=now) if plain or not in_runs else {}
        if in_runs:
            rows = await self._database.read("executions_get", _wanted(in_runs), tenant_id=tenant_id)
            found = [execution_of(row, now=now) for row in rows]
            return {**ended, **{one.id: one.status for one in found}}
        return ended

    async def _cancel(
        self, tenant_id: TenantId, execution_ids: Collection[ExecutionId], *, now: datetime
    ) -> Mapping[ExecutionId, ExecutionStatus]:
        wanted = _wanted(execution_ids)
        async with self._database.transaction() as session:
            for _ in rounds("cancel: executions"):
                await session.fetch("executions_stop", wanted, tenant_id=tenant_id)
                ended = await session.fetch("executions_end_waiting", wanted, tenant_id=tenant_id, now=now)
                await note_unbegun(session, ended, now=now)
                rows = await session.fetch("executions_get", wanted, tenant_id=tenant_id)
                found = [execution_of(row, now=now) for row in rows]
                if all(one.status.is_final or one.cancel_requested for one in found):
                    break
        await self._gates.admit_after({one.job_id for one in found}, now=now)
        return {one.id: one.status for one in found}

    async def get(self, tenant_id: TenantId, execution_id: ExecutionId, *, now: datetime) -> Execution:
        rows = await self._database.read("executions_get", _wanted([execution_id]), tenant_id=tenant_id)
        if not rows:
            raise ExecutionNotFound(execution_id)
        return execution_of(rows[0], now=now)

    async def page(
        self,
        tenant_id: TenantId,
        wanted: ExecutionFilter,
        *,
        now: datetime,
        limit: int,
        after: UUID | None = None,
    ) -> Page[Execution]:
        check_limit(limit)
        by_job = "executions_page_of_job" if wanted.job_id else "executions_page"
        rows = await self._database.read(
            _PAGES.get(wanted.status, by_job) if wanted.status else by_job,
            tenant_id=tenant_id,
            job_id=wanted.job_id or FIRST_ID,
            any_job=wanted.job_id is None,
            outcome=wanted.status,
            **bounds(wanted, after),
            now=now,
            limit=limit + 1,
        )
        found = tuple(execution_of(row, now=now) for row in rows[:limit])
        return Page(found, found[-1].id if len(rows) > limit else None)

    async def attempts(self, tenant_id: TenantId, execution_id: ExecutionId) -> Sequence[Attempt]:
        rows = await self._database.read("attempts_of", tenant_id=tenant_id, execution_id=execution_id)
        return [attempt_of(row) for row in rows]


def _wanted(wanted: Iterable[UUID]) -> Rows:
    """In the order of ids, so that two batches cannot wait for each other."""
    return Rows("wanted", ("id",), [(one,) for one in sorted(wanted)])
