"""Executions as a dictionary, from the ask to the end."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import (
    Attempt,
    AttemptOutcome,
    Enqueued,
    Execution,
    ExecutionId,
    ExecutionStatus,
    NewExecution,
    RecentRun,
    WaitsFor,
    WorkerId,
)
from gnomon.core.executions.gates import gate, last_gate, slots
from gnomon.core.executions.lease import Claim, ClaimRequest, Leased, Offer, Renewed
from gnomon.core.executions.lifecycle import Change
from gnomon.core.executions.records import DeadLetter, ExecutionFilter, Page, Redrive
from gnomon.core.executions.suspects import PATIENCE
from gnomon.core.explain.executions import QueuePlace
from gnomon.core.jobs.job import Job, JobId
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.values.ids import EPOCH, first_id_of
from gnomon.errors import ExecutionNotFound, InvalidInput
from gnomon.store.protocols.changes import Applied
from tests.contract.model import gates, suspects
from tests.contract.model.jobs import triggerable
from tests.contract.model.state import Lease, Run, State, page_of


@dataclass(frozen=True, slots=True)
class ModelExecutions:
    state: State

    async def enqueue(
        self,
        tenant_id: TenantId,
        asked: Sequence[NewExecution],
        *,
        now: datetime,
        idempotency: Idempotency | None = None,
    ) -> Sequence[Enqueued]:
        if len({new.id for new in asked}) < len(asked):
            raise InvalidInput("executions", "the same id is asked for twice.")
        known = self.state.answered(tenant_id, idempotency)
        if known is not None:
            return [Enqueued(made, is_new=False) for made in cast("Sequence[ExecutionId]", known)]
        jobs = [triggerable(self.state.jobs, tenant_id, new.job_id) for new in asked]
        answer = [self._enqueue(new, job, now) for new, job in zip(asked, jobs, strict=True)]
        if any(kept.is_new for kept in answer):
            gates.admit(self.state, {job.id for job in jobs if slots(job.definition)}, now)
        self.state.remember(tenant_id, idempotency, [kept.id for kept in answer])
        return answer

    async def claim(self, request: ClaimRequest, *, now: datetime, lease_until: datetime) -> Sequence[Leased]:
        runs = sorted(self.state.runs.values(), key=lambda run: (-run.priority, run.due, run.id))
        if request.id in self.state.requests:
            asked = (request.id, request.worker)
            return [
                run.leased()
                for run in runs
                if run.lease and (run.lease.request.id, run.lease.request.worker) == asked
            ]
        due = [run for run in runs if run.due <= now and run.lane.fits(request)]
        fitting = [] if request.is_alone else [run for run in due if run.is_ready]
        waiting = sorted((run for run in due if run.is_suspect), key=lambda run: (run.due, run.id))
        limit, may_be_alone, is_first = request.limit, request.is_alone, False
        if request.is_counted:
            limit, may_be_alone, is_first = self._free(request, waiting, now)
        picked = [] if is_first else self._first_turn(fitting, request, limit)
        if not picked and may_be_alone and (request.is_alone or not request.is_repeat):
            picked = self._first_turn(waiting, request, 1)
            if picked:
                suspects.let_go(self.state, request.worker)
        picked = picked or self._first_turn(fitting, request, limit)
        if picked or request.is_repeat:
            self.state.requests[request.id] = now
        for run in picked:
            run.claim += 1
            run.waits_for = None
            run.lease = Lease(request, started_at=now, until=lease_until)
        return [run.leased() for run in picked]

    def _free(self, request: ClaimRequest, waiting: Sequence[Run], now: datetime) -> tuple[int, bool, bool]:
        """How many the worker may have, whether a suspect in their place, and whether that first."""
        worker = self.state.workers.get(request.worker)
        held = [
            one
            for one in self.state.runs.values()
            if one.lease is not None and one.lease.request.worker == request.worker
        ]
        free = min(request.limit, worker.slots - len(held)) if worker and worker.is_live(now) else 0
        if free < 1 or any(one.crashes for one in held):
            return 0, False, False
        if not waiting or held:
            is_reserved = waiting and suspects.reserve(self.state, request.worker, request, now)
            return 0 if is_reserved else free, False, False
        is_first = suspects.is_reserved(self.state, request.worker, now) or (
            request.is_heads and any(run.due <= now - PATIENCE for run in waiting)
        )
        return free, True, is_first and not request.is_repeat

    async def hold_back(self, worker: WorkerId, offer: Offer, *, now: datetime) -> bool:
        return suspects.reserve(self.state, worker, offer, now)

    def _first_turn(self, fitting: list[Run], request: ClaimRequest, wanted: int) -> list[Run]:
        return next(filter(None, self._turns(fitting, request, wanted)), [])

    def _turns(self, fitting: list[Run], request: ClaimRequest, wanted: int) -> Iterator[list[Run]]:
        turns = {None} if request.is_repeat else {None, *map(self.state.limited, fitting)}
        for turn in sorted(turns, key=request.lot):
            room = wanted
            if turn is not None:
                limit = self.state.tenants[turn].max_concurrent
                assert limit is not None
                room = max(0, min(room, limit - self.state.running(turn)))
            yield [run for run in fitting if self.state.limited(run) == turn][:room]

    async def renew(self, claims: Sequence[Claim], *, lease_until: datetime) -> Sequence[Renewed]:
        answer = []
        for claim in dict.fromkeys(claims):
            run = self.state.current(claim)
            if run is not None and run.lease is not None:
                run.lease.until = max(run.lease.until, lease_until)
                answer.append(Renewed(claim, run.cancel_requested))
        return answer

    async def apply(self, decisions: Sequence[Decision], *, now: datetime) -> Sequence[Applied]:
        answers = [self._apply(decision.claim, decision.change, now) for decision in decisions]
        runs = [self.state.runs.get(decision.claim.execution_id) for decision in decisions]
        changed = zip(runs, answers, strict=True)
        self._admit_after(
            {run.job_id for run, answer in changed if run and run.watched and answer is Applied.APPLIED}, now
        )
        return answers

    async def admit(self, job_ids: Collection[JobId], *, now: datetime, limit: int) -> int:
        return gates.admit(self.state, gates.with_dependents(self.state, job_ids), now, limit)

    async def gated(self, *, now: datetime, limit: int, after: UUID | None = None) -> Page[JobId]:
        waiting = {run.job_id for run in self.state.runs.values() if run.waits_for}
        looked_at = sorted(job_id for job_id in waiting if after is None or job_id > after)[:limit]
        found = [one for one in looked_at if gates.may_open(self.state, self.state.jobs[one], now)]
        return Page(tuple(found), looked_at[-1] if len(looked_at) == limit else None)

    async def held(self, claims: Sequence[Claim]) -> Sequence[Leased]:
        current = (self.state.current(claim) for claim in dict.fromkeys(claims))
        return [run.leased() for run in current if run is not None]

    async def settled(self, claims: Sequence[Claim]) -> Mapping[Claim, AttemptOutcome]:
        return {
            claim: attempt.outcome
            for claim in claims
            if claim.execution_id in self.state.runs
            for attempt in self.state.runs[claim.execution_id].history
            if attempt.claim == claim.number
        }

    async def place(self, tenant_id: TenantId, execution_id: ExecutionId) -> QueuePlace | None:
        run = self.state.runs.get(execution_id)
        if run is None or run.tenant_id != tenant_id or not run.is_waiting:
            return None
        return gates.place(self.state, run)

    async def ahead(self, place: QueuePlace, offer: Offer, *, now: datetime, limit: int) -> int:
        own = (-place.priority, place.due, place.execution_id)
        ready = [run for run in self.state.runs.values() if run.is_ready and run.due <= now]
        turn = self.state.limited(self.state.runs[place.execution_id])
        rivals = [run for run in ready if run.lane.fits(offer) and self.state.limited(run) == turn]
        before = [run for run in rivals if (-run.priority, run.due, run.id) < own]
        return min(len(before), limit)

    async def next_due(self, offer: Offer, *, after: datetime) -> datetime | None:
        ready = [run for run in self.state.runs.values() if run.is_let_in and run.lane.fits(offer)]
        return min((run.due for run in ready if run.due > after), default=None)

    async def next_gated(self, *, after: datetime) -> datetime | None:
        gated = [run for run in self.state.runs.values() if run.waits_for is WaitsFor.SLOT]
        return min((run.due for run in gated if run.due > after), default=None)

    async def expired(self, *, now: datetime, limit: int) -> Sequence[Leased]:
        leased = [run.leased() for run in self.state.runs.values() if run.lease is not None]
        expired = [one for one in leased if one.lease_until < now]
        return sorted(expired, key=lambda one: (one.lease_until, one.claim.execution_id))[:limit]

    async def cancel(
        self, tenant_id: TenantId, execution_ids: Sequence[ExecutionId], *, now: datetime
    ) -> Mapping[ExecutionId, ExecutionStatus]:
        answer = {}
        for execution_id in execution_ids:
            run = self.state.runs.get(execution_id)
            if run is not None and run.tenant_id == tenant_id:
                run.stop(now)
                answer[execution_id] = run.status(now)
        self._admit_after({self.state.runs[one].job_id for one in answer}, now)
        return answer

    async def get(self, tenant_id: TenantId, execution_id: ExecutionId, *, now: datetime) -> Execution:
        run = self.state.runs.get(execution_id)
        if run is None or run.tenant_id != tenant_id:
            raise ExecutionNotFound(execution_id)
        return run.seen(now)

    async def page(
        self,
        tenant_id: TenantId,
        wanted: ExecutionFilter,
        *,
        now: datetime,
        limit: int,
        after: UUID | None = None,
    ) -> Page[Execution]:
        seen = [run.seen(now) for run in self.state.runs.values() if run.tenant_id == tenant_id]
        fitting = [
            (one.id, one)
            for one in seen
            if wanted.job_id in (None, one.job_id) and wanted.status in (None, one.status)
            if wanted.since is None or one.id >= first_id_of(wanted.since)
            if wanted.until is None or made_before(one.id, wanted.until)
        ]
        return page_of(fitting, limit=limit, after=after)

    async def recent(
        self, tenant_id: TenantId, job_ids: Collection[JobId], *, limit: int
    ) -> Mapping[JobId, Sequence[RecentRun]]:
        newest = sorted(self.state.runs.values(), key=lambda run: run.id, reverse=True)
        own = [run for run in newest if run.tenant_id == tenant_id]
        return {
            job_id: [_in_few_words(run) for run in own if run.job_id == job_id][:limit] for job_id in job_ids
        }

    async def progress(
        self, tenant_id: TenantId, execution_ids: Collection[ExecutionId]
    ) -> Mapping[ExecutionId, float]:
        runs = (self.state.runs.get(one) for one in execution_ids)
        own = [run.id for run in runs if run is not None and run.tenant_id == tenant_id]
        saved = {one: self.state.checkpoints[one].progress for one in own if one in self.state.checkpoints}
        return {one: progress for one, progress in saved.items() if progress is not None}

    async def repeat(self, tenant_id: TenantId, asked: Redrive, *, now: datetime) -> Enqueued:
        ended = self.state.runs.get(asked.execution_id)
        if ended is None or ended.tenant_id != tenant_id:
            raise ExecutionNotFound(asked.execution_id)
        triggerable(self.state.jobs, tenant_id, ended.job_id)
        if asked.new_id in self.state.runs:
            return Enqueued(asked.new_id, is_new=False)
        gates.enter_again(self.state, ended, asked.new_id, ended.revision, now)
        gates.admit(
            self.state, {ended.job_id} if slots(self.state.jobs[ended.job_id].definition) else (), now
        )
        return Enqueued(asked.new_id, is_new=True)

    async def attempts(self, tenant_id: TenantId, execution_id: ExecutionId) -> Sequence[Attempt]:
        run = self.state.runs.get(execution_id)
        return list(run.history) if run is not None and run.tenant_id == tenant_id else []

    async def latest_attempts(
        self, tenant_id: TenantId, execution_id: ExecutionId, *, limit: int
    ) -> Sequence[Attempt]:
        return list(reversed(await self.attempts(tenant_id, execution_id)))[:limit]

    def _admit_after(self, job_ids: Collection[JobId], now: datetime) -> None:
        gates.admit(self.state, gates.with_dependents(self.state, job_ids), now)

    def _enqueue(self, new: NewExecution, job: Job, now: datetime) -> Enqueued:
        if new.id in self.state.runs:
            return Enqueued(new.id, is_new=False)  # Ids are the caller's own: it asks again.
        for run in self.state.runs.values():
            is_same = new.unique_key is not None and run.unique_key == new.unique_key
            if is_same and run.job_id == job.id and run.end is None:
                return Enqueued(run.id, is_new=False)
        run = Run(
            id=new.id,
            tenant_id=job.tenant_id,
            revision=self.state.revisions[job.id, job.revision],
            trigger=new.trigger,
            nominal_time=None,
            due=now if new.due is None else new.due,
            priority=job.definition.priority if new.priority is None else new.priority,
            input=new.input,
            unique_key=new.unique_key,
            created_at=now,
            waits_for=gate(slots(job.definition)),
        )
        gates.enter(self.state, run)
        return Enqueued(new.id, is_new=True)

    def _apply(self, claim: Claim, change: Change, now: datetime) -> Applied:
        run = self.state.current(claim)
        if run is None:
            return self._replayed_or_lost(claim, change)
        assert run.lease is not None
        if change.only_if_expired_at is not None and not run.lease.until < change.only_if_expired_at:
            return Applied.LOST
        run.history.append(
            Attempt(
                execution_id=run.id,
                claim=run.claim,
                worker=run.lease.request.worker,
                outcome=change.attempt,
                failure=change.failure,
                started_at=run.lease.started_at,
                finished_at=now,
            )
        )
        run.attempts, run.crashes = change.attempts, change.crashes
        if change.due is None:
            run.end_as(change.status, now, change.result)
        elif run.cancel_requested:
            # Somebody asked for the end after the worker had decided: nothing that was cancelled waits again.
            run.end_as(ExecutionStatus.CANCELLED, now)
        else:
            run.due, run.lease = change.due, None
            # What is not counted takes no slot, and goes on to the next gate.
            is_slot = change.waits_for is WaitsFor.SLOT and not run.watched
            run.waits_for = last_gate(run.crashes) if is_slot else change.waits_for
        if change.dead is not None:
            self.state.dead_letters[run.id] = DeadLetter(
                execution_id=run.id,
                tenant_id=run.tenant_id,
                job_id=run.job_id,
                reason=change.dead,
                failure=change.failure,
                attempts=change.attempts,
                died_at=now,
                redriven_as=None,
                redriven_at=None,
            )
        return Applied.APPLIED

    def _replayed_or_lost(self, claim: Claim, change: Change) -> Applied:
        """A claim is spent once. Asking for the end it got is a lost reply; for another end, it came late."""
        run = self.state.runs.get(claim.execution_id)
        ends = {attempt.claim: attempt.outcome for attempt in run.history} if run is not None else {}
        return Applied.REPLAYED if ends.get(claim.number) is change.attempt else Applied.LOST


def _in_few_words(run: Run) -> RecentRun:
    status = run.end or (ExecutionStatus.RUNNING if run.lease else None)
    last = run.history[-1] if run.history and run.end and run.history[-1].claim == run.claim else None
    lease = run.lease
    return RecentRun(
        run.id,
        status,
        lease.request.worker if lease else last.worker if last else None,
        run.attempts if status else 0,
        lease.started_at if lease else last.started_at if last else None,
        run.finished_at,
        run.due if status is None else None,
    )


def made_before(id: UUID, instant: datetime) -> bool:
    """A part of a millisecond counts as a whole."""
    return (id.int >> 80) * timedelta(milliseconds=1) < instant - EPOCH
