"""Writes down what happens: at the store every verb that was done, in the processes what handlers do.

It tells what the store answered, not what it should have answered: whether that was right is for the checker
to say. See `docs/reference/proof.md` for the events.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import Enqueued, Execution, ExecutionId, ExecutionStatus, NewExecution
from gnomon.core.executions.lease import Claim, ClaimRequest, Leased, Renewed
from gnomon.core.executions.records import Redrive, Redriven
from gnomon.core.jobs.job import Job
from gnomon.core.runs.run import Run
from gnomon.core.schedules.occurrence import Firing
from gnomon.core.workflows.dag import Dag
from gnomon.store.protocols.changes import Applied, Handover
from gnomon.store.protocols.store import Store
from proof.checker.history import events
from proof.checker.history.events import Event
from proof.simulator.recording.flow_recorder import FlowRecorder
from proof.simulator.recording.notes import Note
from proof.simulator.recording.pen import Pen
from proof.simulator.recording.seen import JobSeen, RunSeen
from proof.simulator.recording.told import change_event, fire_event, sched_set

if TYPE_CHECKING:
    from proof.simulator.world.network import Call

E = TypeVar("E", bound=Event)


class Recorder(Pen):
    """`store` is looked at for what an answer does not tell: which waiting runs a cancel has ended."""

    def __init__(
        self, store: Store, now: Callable[[], datetime], notes: Callable[[], Sequence[Note]] | None = None
    ) -> None:
        super().__init__(now)
        self.flows = FlowRecorder(self)
        self._notes = notes
        self.runs: dict[UUID, RunSeen] = {}
        self.jobs: dict[UUID, JobSeen] = {}
        self.calendars: dict[str, frozenset[date]] = {}
        self._store = store
        self._decided: dict[Claim, datetime] = {}
        self._keys: set[str] = set()
        self._verbs: dict[tuple[str, str], Callable[[Call, Any], Awaitable[None]]] = {
            ("jobs", "create"): self._jobs_set,
            ("jobs", "change"): self._jobs_changed,
            ("schedules", "fire"): self._fired,
            ("schedules", "next_due"): self._looked,
            ("workers", "beat"): self._looked,
            ("executions", "enqueue"): self._enqueued,
            ("executions", "claim"): self._claimed,
            ("executions", "renew"): self._renewed,
            ("executions", "apply"): self._applied,
            ("executions", "apply_and_claim"): self._applied,
            ("executions", "cancel"): self._cancelled,
            ("dead_letters", "redrive"): self._redriven,
            ("runs", "begin"): self._begun,
            ("dags", "create"): self._dag_set,
            ("dags", "change"): self._dag_set,
        }

    # The store -----------------------------------------------------------------------------------------

    async def done(self, call: Call, answer: Any, error: Exception | None) -> None:
        notes = self._notes() if self._notes is not None else ()
        self.flows.look(notes)
        told = self._verbs.get((call.noun, call.verb))
        if told is not None and error is None:
            await told(call, answer)
        if self._notes is not None:
            self.flows.hear(call, notes, error)
        if isinstance(answer, Handover) and answer.leased:  # The notes say where it comes from.
            self._handed_out(call.line.source, call.args[1], answer.leased)

    async def _looked(self, call: Call, _: object) -> None:
        self.alive(call.line.source)

    async def _jobs_set(self, call: Call, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self._job_set(job, since=call.kwargs["now"])

    async def _jobs_changed(self, call: Call, jobs: Sequence[Job]) -> None:
        for job in jobs:
            if self._job_set(job, since=call.kwargs["now"]) and job.next_run_time is None:
                await self._look_at_live(job.id)

    async def _dag_set(self, call: Call, dag: Dag) -> None:
        if self._job_set(dag.job, since=call.kwargs["now"]):
            self.jobs[dag.job.id].is_dag = True
            self.flows.defined(call, dag)

    def _job_set(self, job: Job, *, since: datetime) -> bool:
        """False if this was known: the answer to a repeated call."""
        seen = self.jobs.get(job.id)
        if seen is not None and seen.version >= job.version:
            return False
        if seen is None:
            self.jobs[job.id] = JobSeen(job.version, job.revision)
        else:
            seen.version, seen.rev = job.version, job.revision
        closed = self.calendars.get(job.definition.schedule.calendar or "", ())
        self.stored(events.SchedSet, **sched_set(job, since=since, closed=closed))
        return True

    async def _fired(self, call: Call, taken: Sequence[UUID]) -> None:
        firings: Sequence[Firing] = call.args[0]
        now: datetime = call.kwargs["now"]
        for firing in firings:
            if firing.job_id not in taken:
                self.seen["fire.beaten"] += 1
                continue
            self._fire(firing, now)
            if firing.replaces:
                new = {one.execution_id for one in firing.occurrences}
                await self._look_at_live(firing.job_id, but=new)

    def _fire(self, firing: Firing, now: datetime) -> None:
        rev = self.jobs[firing.job_id].rev
        for one in firing.occurrences:
            if one.execution_id is not None:
                self.born(one.execution_id, firing.job_id, firing.tenant_id, rev)
            make, fields = fire_event(firing, one, rev=rev, now=now)
            self.stored(make, **fields)

    async def _enqueued(self, call: Call, made: Sequence[Enqueued]) -> None:
        tenant_id, asked = call.args
        idempotency = call.kwargs.get("idempotency")
        new: NewExecution
        if idempotency is not None and idempotency.key in self._keys:
            self.write(events.Again, call.line.source, op="submit", req=idempotency.key)
        elif idempotency is not None:
            self._keys.add(idempotency.key)
        for new, one in zip(asked, made, strict=True):
            if not one.is_new:
                self.seen["enqueue.known"] += 1
                continue
            job = self.jobs[new.job_id]
            self.born(one.id, new.job_id, tenant_id, job.rev)
            self.stored(
                events.Enqueue,
                run=str(one.id),
                job=str(new.job_id),
                rev=job.rev,
                key=idempotency.key if idempotency else None,
                run_at=new.due,
                priority=new.priority,
            )

    async def _begun(self, call: Call, run: Run | None) -> None:
        if run is None:
            return
        self.born(run.id, run.dag_id, run.tenant_id, run.base)
        self.stored(events.Enqueue, run=str(run.id), job=str(run.dag_id), rev=run.base)

    async def _redriven(self, call: Call, made: Sequence[Redriven]) -> None:
        tenant_id, redrives = call.args
        asked: Redrive
        for asked, one in zip(redrives, made, strict=True):
            # Of a task, its run goes on, and says so itself.
            if one.is_new and one.dag_run_id is None:
                assert one.revision is not None
                job = self.runs[asked.execution_id].job
                self.born(one.id, job, tenant_id, one.revision)
                self.stored(
                    events.Enqueue,
                    run=str(one.id),
                    job=str(job),
                    rev=one.revision,
                    rerun_of=str(asked.execution_id),
                )

    async def _claimed(self, call: Call, leased: Sequence[Leased]) -> None:
        if not leased:
            self.alive(call.line.source)
        self._handed_out(call.line.source, call.args[0], leased)

    def _handed_out(self, source: str, request: ClaimRequest, leased: Sequence[Leased]) -> None:
        name, _, boot = source.partition("/")
        for one in leased:
            run = self.runs[one.claim.execution_id]
            if one.claim.number <= run.token:
                self.write(events.Again, source, op="claim", req=str(request.id))
                continue
            run.token, run.lease_until = one.claim.number, one.lease_until
            self.changed(
                events.Claim,
                one.claim.execution_id,
                attempt=one.attempt,
                token=one.claim.number,
                worker=name,
                boot=int(boot),
                req=str(request.id),
                lease_until=one.lease_until,
            )

    async def _renewed(self, call: Call, renewed: Sequence[Renewed]) -> None:
        held = {one.claim for one in renewed}
        until: datetime = call.kwargs["lease_until"]
        claim: Claim
        for claim in call.args[0]:
            if claim in held:
                # A renewal that comes late takes no time away. If it did, a run would expire too early.
                run = self.runs[claim.execution_id]
                run.lease_until = max(run.lease_until, until)
                self.changed(events.Beat, claim.execution_id, token=claim.number, lease_until=run.lease_until)
            else:
                self.stored(events.BeatRefused, run=str(claim.execution_id), token=claim.number)

    async def _applied(self, call: Call, done: Sequence[Applied] | Handover) -> None:
        decisions: Sequence[Decision] = call.args[0]
        answers = done.applied if isinstance(done, Handover) else done
        for (claim, change, _), answer in zip(decisions, answers, strict=True):
            run = self.runs[claim.execution_id]
            if answer is Applied.APPLIED:
                decided = self._decided.pop(claim, call.kwargs["now"])
                make, fields = change_event(change, now=decided)
                is_over = change.due is None
                fields["tx"] = self.flows.tx_of(claim.execution_id) if run.is_noted else None
                if not is_over and run.is_cancelling and await self._is_cancelled(claim.execution_id):
                    # A cancel that was asked for in the meantime wins over going back to wait.
                    make, is_over, fields["next_at"] = events.Cancelled, True, None
                self.changed(make, claim.execution_id, token=claim.number, **fields)
                if is_over:
                    self.over(claim.execution_id)
            elif answer is Applied.REPLAYED:
                self.write(events.Again, call.line.source, op="apply")
            else:
                self.stored(
                    events.Refused,
                    run=str(claim.execution_id),
                    token=claim.number,
                    op=str(change.attempt),
                    holder_token=run.token,
                )

    async def _cancelled(self, call: Call, found: Mapping[ExecutionId, ExecutionStatus]) -> None:
        for execution_id in found:
            await self._look_at(execution_id)

    async def _look_at_live(self, job_id: UUID, but: Collection[ExecutionId | None] = ()) -> None:
        for run_id in list(self.jobs[job_id].live):
            if run_id not in but:
                await self._look_at(run_id)

    async def _look_at(self, run_id: UUID) -> None:
        """What somebody's cancel made of a run: a waiting one has ended, a running one shall."""
        run = self.runs[run_id]
        if run.is_over or run.is_noted:
            return
        found = await self._read(run_id)
        if found.status is ExecutionStatus.CANCELLED:
            self.changed(events.Cancelled, run_id)
            self.over(run_id)
        elif found.cancel_requested and not run.is_cancelling:
            run.is_cancelling = True
            self.changed(events.CancelOk, run_id)

    async def _is_cancelled(self, run_id: UUID) -> bool:
        return (await self._read(run_id)).status is ExecutionStatus.CANCELLED

    async def _read(self, run_id: UUID) -> Execution:
        run = self.runs[run_id]
        return await self._store.executions.get(run.tenant, ExecutionId(run_id), now=self._now())

    def born(
        self, run_id: UUID, job_id: UUID, tenant_id: TenantId, rev: int, *, is_noted: bool = False
    ) -> None:
        job = self.jobs[job_id]
        run = self.runs[run_id] = RunSeen(job_id, tenant_id, rev, is_noted=is_noted or job.is_dag)
        job.live[run_id] = run

    def over(self, run_id: UUID) -> None:
        run = self.runs[run_id]
        run.is_over = True
        self.jobs[run.job].live.pop(run_id, None)

    def changed(self, make: Callable[..., E], run_id: UUID, **fields: Any) -> None:
        run = self.runs[run_id]
        run.v += 1
        self.stored(make, run=str(run_id), v=run.v, **fields)

    def decided(self, decisions: Sequence[Decision], now: datetime) -> None:
        """A worker knows what it will write, whenever it gets to it."""
        for decision in decisions:
            self._decided[decision.claim] = now
