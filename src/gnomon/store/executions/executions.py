"""Executions over any SQL database: ask, claim, hold on, apply, cancel, read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import (
    Attempt,
    AttemptOutcome,
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
from gnomon.errors import ExecutionNotFound, InvalidInput, StoreUnavailable
from gnomon.store.databases.database import Database, Row, Rows, UniqueViolation, again_after_deadlock
from gnomon.store.databases.rows import FIRST_ID, Hold, attempt_of, bounds, execution_of, is_possible
from gnomon.store.executions.changes import are_plain_endings, change_rows, ending_rows, first_decisions
from gnomon.store.jobs.revisions import Revisions
from gnomon.store.protocols.changes import Applied, Decision, Handover
from gnomon.store.queue.claimer import AskedBefore, Claimer
from gnomon.store.queue.claims_with_ends import ClaimWithEnds, with_ends
from gnomon.store.queue.enqueue import are_plain, enqueue_and_admit, enqueue_plain
from gnomon.store.queue.gates import Gates, note_unbegun
from gnomon.store.queue.lanes import Lanes
from gnomon.store.queue.waiting import Prospects
from gnomon.store.runs.ends import WentOn
from gnomon.store.runs.runs import SqlRuns

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
        self,
        database: Database,
        claimer: Claimer,
        revisions: Revisions,
        gates: Gates,
        lanes: Lanes,
        runs: SqlRuns,
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
        rows = await self._database.fetch("renew", _held(claims), lease_until=lease_until)
        held = {Claim(row["execution_id"], row["claim"]): row["cancel_requested"] for row in rows}
        return [Renewed(claim, held[claim]) for claim in claims if claim in held]

    async def apply(self, decisions: Sequence[Decision], *, now: datetime) -> Sequence[Applied]:
        return (await self._apply_all(decisions, None, now=now))[0] if decisions else []

    async def apply_and_claim(
        self, decisions: Sequence[Decision], request: ClaimRequest, *, now: datetime, lease_until: datetime
    ) -> Handover:
        claim = with_ends(self._claimer, request, now=now, lease_until=lease_until)
        answers, went_on = await self._apply_all(decisions, claim, now=now)
        leased = await self._revisions.claimed(went_on.claimed, Hold(request.worker, now, lease_until))
        return Handover(answers, leased or None, went_on.has_more)

    async def _apply_all(
        self, decisions: Sequence[Decision], claim: ClaimWithEnds | None, *, now: datetime
    ) -> tuple[Sequence[Applied], WentOn]:
        first = first_decisions(decisions)
        tasks = [one for one in first if one.in_run]
        plain = [one for one in first if not one.in_run] if tasks else first
        answer = await self._apply(plain, now=now) if plain else []
        refused = [row for row in answer if row["claim"] is not None]
        if refused:
            unsaid = await self._unsaid_tasks(plain, refused)
            tasks += unsaid
            said = {one.claim for one in unsaid}
            refused = [row for row in refused if (row["execution_id"], row["claim"]) not in said]
        went_on = await self._runs.apply(tasks, now=now, claim=claim) if tasks else WentOn()
        if went_on.refused:
            refused += await self._apply_alone(tasks, went_on.refused, now=now)
        if watched := [row["job_id"] for row in answer if row["job_id"]]:
            await self._gates.admit_after(watched, now=now)
        if not refused and len(first) == len(decisions):
            return [Applied.APPLIED] * len(decisions), went_on
        answers = await self._answers(
            decisions, {Claim(row["execution_id"], row["claim"]) for row in refused}
        )
        return answers, went_on

    async def _apply(self, first: Sequence[Decision], *, now: datetime) -> Sequence[Row]:
        if are_plain_endings(first):
            return await self._database.fetch("apply_endings", ending_rows(first), now=now, in_run=False)
        return await self._database.fetch("apply", change_rows(first), now=now, in_run=False)

    async def _apply_alone(
        self, tasks: Sequence[Decision], refused: Sequence[Row], *, now: datetime
    ) -> Sequence[Row]:
        """A task that an earlier release redrove by itself is in no run."""
        again = {(row["execution_id"], row["claim"]) for row in refused}
        answer = await self._apply([one for one in tasks if one.claim in again], now=now)
        return [row for row in answer if row["claim"] is not None]

    async def _unsaid_tasks(self, asked: Sequence[Decision], refused: Sequence[Row]) -> list[Decision]:
        """Those that were refused because they are of tasks, which nobody said."""
        claims = [Claim(row["execution_id"], row["claim"]) for row in refused]
        rows = await self._database.read("claims_in_runs", _held(claims))
        found = {(row["execution_id"], row["claim"]) for row in rows}
        return [one for one in asked if one.claim in found] if found else []

    async def _answers(self, decisions: Sequence[Decision], refused: Collection[Claim]) -> Sequence[Applied]:
        settled = await self._settled([decision.claim for decision in decisions])
        spent = {claim for claim, *_ in decisions if claim in refused or not is_possible(claim)}
        answers = []
        for claim, change, _ in decisions:
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
            # Claims and retries move executions between our statements. What we ended or asked to stop is
            # locked by us and stays; for the rest, look again.
            for _ in range(ROUNDS_MAX):
                await session.fetch("executions_stop", wanted, tenant_id=tenant_id)
                ended = await session.fetch("executions_end_waiting", wanted, tenant_id=tenant_id, now=now)
                await note_unbegun(session, ended, now=now)
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
            **bounds(wanted, after),
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
