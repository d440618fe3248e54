"""Executions over any SQL database: ask, claim, hold on, apply, cancel, read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from gnomon.core.execution import (
    Attempt,
    AttemptOutcome,
    Enqueued,
    Execution,
    ExecutionId,
    ExecutionStatus,
    NewExecution,
)
from gnomon.core.idempotency import Idempotency
from gnomon.core.job import TenantId
from gnomon.core.lease import Claim, ClaimRequest, Leased, Renewed
from gnomon.core.limits import check_batch, check_limit
from gnomon.core.records import ExecutionFilter, Page
from gnomon.errors import ExecutionNotFound, InvalidInput, StoreUnavailable
from gnomon.store.base import Applied, Decision
from gnomon.store.changes import are_plain_endings, change_rows, ending_rows, first_decisions
from gnomon.store.claimer import AskedBefore, Claimer
from gnomon.store.database import Database, Row, Rows, UniqueViolation, again_after_deadlock
from gnomon.store.enqueuing import are_plain, enqueue_and_admit, enqueue_plain
from gnomon.store.gates import Gates
from gnomon.store.lanes import Lanes
from gnomon.store.prospects import Prospects
from gnomon.store.revisions import Revisions
from gnomon.store.rows import FIRST_ID, LAST_ID, Hold, attempt_of, execution_of, is_possible

EXPIRED_LIMIT_MAX = 10_000
ROUNDS_MAX = 100

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
        self, database: Database, claimer: Claimer, revisions: Revisions, gates: Gates, lanes: Lanes
    ) -> None:
        self._database = database
        self._gates = gates
        self.admit = gates.admit
        self.gated = gates.gated
        prospects = Prospects(database, lanes)
        self.place = prospects.place
        self.ahead = prospects.ahead
        self.recent = prospects.recent
        self._claimer = claimer
        self._revisions = revisions

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
            rows = await self._database.read("claimed", request_id=request.id)
            return await self._revisions.leased(rows)

    async def renew(self, claims: Sequence[Claim], *, lease_until: datetime) -> Sequence[Renewed]:
        if not claims:
            return []
        rows = await self._database.fetch("renew", _held(claims), lease_until=lease_until)
        held = {Claim(row["execution_id"], row["claim"]): row["cancel_requested"] for row in rows}
        return [Renewed(claim, held[claim]) for claim in claims if claim in held]

    async def apply(self, decisions: Sequence[Decision], *, now: datetime) -> Sequence[Applied]:
        if not decisions:
            return []
        first = first_decisions(decisions)
        answer = await self._apply(first, now=now) if first else []
        refused = [row for row in answer if row["claim"] is not None]
        if len(refused) < len(answer):
            await self._gates.admit_after([row["job_id"] for row in answer if row["job_id"]], now=now)
        if not refused and len(first) == len(decisions):
            return [Applied.APPLIED] * len(decisions)
        return await self._answers(decisions, {Claim(row["execution_id"], row["claim"]) for row in refused})

    async def _apply(self, first: Sequence[Decision], *, now: datetime) -> Sequence[Row]:
        if are_plain_endings(first):
            return await self._database.fetch("apply_endings", ending_rows(first), now=now)
        return await self._database.fetch("apply", change_rows(first), now=now)

    async def _answers(self, decisions: Sequence[Decision], refused: Collection[Claim]) -> Sequence[Applied]:
        settled = await self._settled([decision.claim for decision in decisions])
        spent = {claim for claim, _ in decisions if claim in refused or not is_possible(claim)}
        answers = []
        for claim, change in decisions:
            if claim not in spent:
                answers.append(Applied.APPLIED)
                spent.add(claim)
            elif settled.get(claim) == change.attempt:
                answers.append(Applied.REPLAYED)
            else:
                answers.append(Applied.LOST)
        return answers

    async def held(self, claims: Sequence[Claim]) -> Sequence[Leased]:
        if not claims:
            return []
        return await self._revisions.leased(await self._database.read("leases_held", _held(claims)))

    async def settled(self, claims: Sequence[Claim]) -> Mapping[Claim, AttemptOutcome]:
        found = await self._settled(claims) if claims else {}
        return {claim: AttemptOutcome(outcome) for claim, outcome in found.items()}

    async def expired(self, *, now: datetime, limit: int) -> Sequence[Leased]:
        check_limit(limit, limit_max=EXPIRED_LIMIT_MAX)
        return await self._revisions.leased(await self._database.read("expired", now=now, limit=limit))

    @again_after_deadlock
    async def cancel(
        self, tenant_id: TenantId, execution_ids: Sequence[ExecutionId], *, now: datetime
    ) -> Mapping[ExecutionId, ExecutionStatus]:
        check_batch(len(execution_ids), field="executions")
        wanted = _wanted(set(execution_ids))
        async with self._database.transaction() as session:
            # Claims and retries move executions between our statements. What we ended or asked to stop is
            # locked by us and stays; for the rest, look again.
            for _ in range(ROUNDS_MAX):
                await session.fetch("executions_stop", wanted, tenant_id=tenant_id)
                await session.fetch("executions_end_waiting", wanted, tenant_id=tenant_id, now=now)
                rows = await session.fetch("executions_get", wanted, tenant_id=tenant_id)
                found = [execution_of(row, now=now) for row in rows]
                if all(one.status.is_final or one.cancel_requested for one in found):
                    break
            else:
                raise StoreUnavailable(
                    f"cancel: executions moved away {ROUNDS_MAX} times in a row. Ask again."
                )
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
            after=after or LAST_ID,
            now=now,
            limit=limit + 1,
        )
        found = tuple(execution_of(row, now=now) for row in rows[:limit])
        return Page(found, found[-1].id if len(rows) > limit else None)

    async def attempts(self, tenant_id: TenantId, execution_id: ExecutionId) -> Sequence[Attempt]:
        rows = await self._database.read("attempts_of", tenant_id=tenant_id, execution_id=execution_id)
        return [attempt_of(row) for row in rows]

    async def _settled(self, claims: Sequence[Claim]) -> Mapping[Claim, str]:
        rows = await self._database.read("settled", _held(claims))
        return {Claim(row["execution_id"], row["claim"]): row["attempt"] for row in rows}


def _wanted(wanted: Iterable[UUID]) -> Rows:
    """In the order of ids, so that two batches cannot wait for each other."""
    return Rows("wanted", ("id",), [(one,) for one in sorted(wanted)])


def _held(claims: Sequence[Claim]) -> Rows:
    """In the order of ids, so that two batches cannot wait for each other."""
    possible = sorted({(claim.execution_id, claim.number) for claim in claims if is_possible(claim)})
    return Rows("held", ("execution_id", "claim"), possible)
