"""Rules that call every verb at random on the model and on a real store, and compare."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any, ClassVar
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from gnomon.core.access.tenants import DEFAULT_TENANT, Tenant, TenantId
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, NewExecution
from gnomon.core.executions.gates import slots
from gnomon.core.executions.lease import LEASE, Claim, ClaimRequest, Leased
from gnomon.core.executions.lifecycle import LeaseExpired, Outcome, Released, after
from gnomon.core.executions.records import AtRevision, Checkpoint, ExecutionFilter, LogLevel, LogLine, Redrive
from gnomon.core.jobs.job import Job, JobStatus, NewJob
from gnomon.core.schedules.firing import plan
from gnomon.core.schedules.occurrence import Firing
from gnomon.core.values.document import Document
from gnomon.core.values.ids import IdSource
from tests.contract import drawn
from tests.contract.given import ADA, BOB, NOW
from tests.contract.grounds import Ground
from tests.contract.twins import Refusal, Twins

NEIGHBOURS = TenantId(UUID("00000000-0000-7000-8000-00000000000b"))
TENANTS = [DEFAULT_TENANT, NEIGHBOURS]
WORKER_VERBS = ["register", "registered", "beat", "resize", "drain", "undrain", "leave"]

tenants = st.sampled_from([DEFAULT_TENANT, DEFAULT_TENANT, DEFAULT_TENANT, NEIGHBOURS])
data = st.data()
pauses = st.sampled_from([0, 1, 7, 19, 20, 21, 60, 600]).map(lambda seconds: timedelta(seconds=seconds))


class Machine(RuleBasedStateMachine):
    ground: ClassVar[Ground]

    @initialize()
    def begin(self) -> None:
        # The claimer remembers no position: the order of claims is then exact.
        self.twins = Twins(self.ground, rescan=timedelta(0))
        self.state = self.twins.model.state
        self.ids = IdSource(Random(7))
        self.now = NOW
        self.created: list[list[NewJob]] = []
        self.asked: list[tuple[TenantId, list[NewExecution]]] = []
        self.requests: list[ClaimRequest] = []
        self.leased: list[Leased] = []
        self.firings: list[Firing] = []
        self.twins.ask("tenants", "save", Tenant(NEIGHBOURS, "neighbours"), now=NOW)
        for tenant in TENANTS:
            jobs = drawn.first_jobs(self.new_id, tenant)
            self.twins.ask("jobs", "create", jobs, now=NOW)
            asked = [NewExecution(self.new_id(), job.id) for job in jobs]
            self.twins.ask("executions", "enqueue", tenant, asked, now=NOW)

    def teardown(self) -> None:
        if hasattr(self, "twins"):
            self.twins.close()

    @invariant()
    def both_look_the_same(self) -> None:
        if hasattr(self, "twins"):
            self.twins.compare(TENANTS, now=self.now)

    @invariant()
    def no_job_runs_more_than_it_has_slots(self) -> None:
        """Unless it had more when they were let in."""
        if hasattr(self, "twins"):
            for job in self.state.jobs.values():
                running = sum(
                    run.job_id == job.id and run.lease is not None for run in self.state.runs.values()
                )
                assert job.revision > 1 or running <= (slots(job.definition) or running)

    def new_id(self) -> Any:
        return self.ids.next(self.now)

    def jobs(self, tenant: TenantId, *statuses: JobStatus) -> list[Job]:
        """The jobs of a tenant, live ones unless told otherwise."""
        wanted = statuses or (JobStatus.ACTIVE, JobStatus.PAUSED, JobStatus.COMPLETED)
        return [job for job in self.state.jobs.values() if job.tenant_id == tenant and job.status in wanted]

    # Jobs -----------------------------------------------------------------------------------------------

    @rule(data=data, tenant=tenants, idempotency=drawn.idempotency("create"))
    def create(self, data: st.DataObject, tenant: TenantId, idempotency: Any) -> None:
        new = data.draw(drawn.new_jobs(self.new_id, tenant, self.jobs(tenant), now=self.now))
        self.created.append(new)
        self.twins.ask("jobs", "create", new, now=self.now, idempotency=idempotency)

    @precondition(lambda self: self.state.jobs)
    @rule(data=data, idempotency=drawn.idempotency("change"))
    def change(self, data: st.DataObject, idempotency: Any) -> None:
        job = data.draw(st.sampled_from(list(self.state.jobs.values())))
        changes = data.draw(drawn.changes(job, self.jobs(job.tenant_id), now=self.now))
        if changes:
            self.twins.ask("jobs", "change", changes, now=self.now, idempotency=idempotency)

    @rule(limit=st.none() | st.integers(1, 3))
    def limit_neighbours(self, limit: int | None) -> None:
        neighbours = Tenant(NEIGHBOURS, "neighbours", max_concurrent=limit)
        self.twins.ask("tenants", "save", neighbours, now=self.now)

    # Schedules ------------------------------------------------------------------------------------------

    @rule(later=pauses, limit=st.integers(1, 3), shards=st.none() | st.sets(st.integers(0, 63), min_size=20))
    def fire(self, later: timedelta, limit: int, shards: set[int] | None) -> None:
        self.now += later
        due, _ = self.twins.ask("schedules", "due", now=self.now, limit=limit, shards=shards)
        self.firings += [self._planned(job) for job in due]
        self.twins.ask("schedules", "fire", self.firings[-len(due) :] if due else [], now=self.now)

    def _planned(self, job: Job) -> Firing:
        live = self.twins.ask("schedules", "live", [job.id])[job.id]
        return plan(job, now=self.now, live=live, excluded_dates=frozenset(), new_id=self.new_id, limit=5)

    # Executions -----------------------------------------------------------------------------------------

    @precondition(lambda self: self.state.jobs)
    @rule(data=data, idempotency=drawn.idempotency("enqueue"))
    def enqueue(self, data: st.DataObject, idempotency: Any) -> None:
        job = data.draw(st.sampled_from(list(self.state.jobs.values())))
        asked = data.draw(drawn.asks(self.new_id, job, self.jobs(job.tenant_id), now=self.now))
        tenant = NEIGHBOURS if data.draw(st.integers(0, 19)) == 0 else job.tenant_id
        if tenant != job.tenant_id:
            asked = asked[:1]  # Which of several unknown jobs an error names is nobody's promise.
        self.asked.append((tenant, asked))
        self.twins.ask("executions", "enqueue", tenant, asked, now=self.now, idempotency=idempotency)

    @rule(data=data, later=pauses)
    def claim(self, data: st.DataObject, later: timedelta) -> None:
        self.now += later
        self._claim(data.draw(drawn.requests(self.new_id)), LEASE)

    def _claim(self, request: ClaimRequest, lease: timedelta) -> None:
        self.requests.append(request)
        until = self.now + lease
        self.leased += self.twins.ask("executions", "claim", request, now=self.now, lease_until=until)

    @rule(data=data, later=pauses, limit=st.integers(1, 3))
    def sweep(self, data: st.DataObject, later: timedelta, limit: int) -> None:
        """Let in what may pass, of the jobs that the sweep finds or of any."""
        self.now += later
        page = self.twins.ask("executions", "gated", now=self.now, limit=limit)
        if page.next:
            page = self.twins.ask("executions", "gated", now=self.now, limit=limit, after=page.next)
        any_job = data.draw(st.lists(st.sampled_from(list(self.state.jobs)), max_size=2))
        wanted = page.items or any_job
        self.twins.ask("executions", "admit", wanted, now=self.now, limit=limit)

    @precondition(lambda self: self.leased)
    @rule(data=data)
    def renew(self, data: st.DataObject) -> None:
        claims = [one.claim for one in self._some_leased(data)]
        forged = [Claim(claims[0].execution_id, claims[0].number + 1), Claim(ExecutionId(UUID(int=7)), 1)]
        self.twins.ask("executions", "renew", claims + forged, lease_until=self.now + LEASE)

    @rule(data=data, later=pauses)
    def work(self, data: st.DataObject, later: timedelta) -> None:
        """Claim if nothing is held, then come to an end with some of it."""
        self.now += later
        if not any(self.state.current(one.claim) for one in self.leased):
            self._claim(data.draw(drawn.requests(self.new_id)), LEASE)
        if self.leased:
            self._end_some(data)

    @precondition(lambda self: self.leased)
    @rule(data=data)
    def work_on(self, data: st.DataObject) -> None:
        self._end_some(data)

    def _end_some(self, data: st.DataObject) -> None:
        leased = self._some_leased(data)
        self._apply(leased, [data.draw(drawn.outcomes) for _ in leased])

    def _apply(self, leased: list[Leased], outcomes: list[Outcome]) -> None:
        decisions = [
            Decision(one.claim, after(one, outcome, now=self.now, jitter=0.5))
            for one, outcome in zip(leased, outcomes, strict=True)
        ]
        self.twins.ask("executions", "apply", decisions, now=self.now)

    @rule(later=pauses, limit=st.integers(1, 3), renewed=st.booleans())
    def reap(self, later: timedelta, limit: int, renewed: bool) -> None:
        self.now += later
        expired = self.twins.ask("executions", "expired", now=self.now, limit=limit)
        if renewed and expired:
            self.twins.ask("executions", "renew", [expired[0].claim], lease_until=self.now + LEASE)
        self._apply(expired, [LeaseExpired()] * len(expired))

    @rule(data=data, later=pauses)
    def hold_back(self, data: st.DataObject, later: timedelta) -> None:
        self.now += later
        asked = data.draw(drawn.requests(self.new_id))
        self.twins.ask("executions", "hold_back", asked.worker, asked, now=self.now)

    @precondition(lambda self: self.state.runs)
    @rule(data=data, tenant=tenants)
    def cancel(self, data: st.DataObject, tenant: TenantId) -> None:
        wanted = data.draw(st.lists(st.sampled_from(list(self.state.runs)), min_size=1, max_size=3))
        self.twins.ask("executions", "cancel", tenant, wanted, now=self.now)

    @rule(tenant=tenants, status=st.sampled_from(ExecutionStatus), limit=st.integers(1, 3), data=data)
    def look_by_status(
        self, tenant: TenantId, status: ExecutionStatus, limit: int, data: st.DataObject
    ) -> None:
        job_id = data.draw(st.sampled_from([None, *self.state.jobs]))
        wanted = ExecutionFilter(job_id=job_id, status=status)
        page = self.twins.ask("executions", "page", tenant, wanted, now=self.now, limit=limit)
        if page.next:
            self.twins.ask("executions", "page", tenant, wanted, now=self.now, limit=limit, after=page.next)

    def _some_leased(self, data: st.DataObject) -> list[Leased]:
        """What runs, as it was handed out; and what zombies think they hold."""
        held = [one for one in self.leased if self.state.current(one.claim)]
        lost = [one for one in self.leased if not self.state.current(one.claim)]
        stolen = [one for one in lost if self.state.runs[one.claim.execution_id].lease]
        one_of = st.one_of([st.sampled_from(some) for some in (held, lost, stolen) if some])
        return data.draw(st.lists(one_of, min_size=1, max_size=3))

    @precondition(lambda self: any(self.state.current(one.claim) for one in self.leased))
    @rule(data=data)
    def hand_over(self, data: st.DataObject) -> None:
        """One worker gives something back, another takes all there is, and then the first speaks again."""
        zombie = data.draw(st.sampled_from([one for one in self.leased if self.state.current(one.claim)]))
        self._apply([zombie], [Released()])
        self._claim(drawn.greedy_request(self.new_id), LEASE)
        self.twins.ask("executions", "renew", [zombie.claim], lease_until=self.now + 2 * LEASE)
        self.twins.ask("checkpoints", "save", [Checkpoint(zombie.claim, Document("0"), None, self.now)])
        self.twins.ask("logs", "append", [LogLine(zombie.claim, 9, self.now, LogLevel.ERROR, "boo")])
        self._apply([zombie], [data.draw(drawn.outcomes)])

    # Lost replies ---------------------------------------------------------------------------------------

    @rule(data=data, verb=st.sampled_from(["create", "enqueue", "claim", "fire"]))
    def ask_again(self, data: st.DataObject, verb: str) -> None:
        """As somebody does whose reply was lost, perhaps long ago."""
        match verb:
            case "create" if self.created:
                self.twins.ask("jobs", "create", data.draw(st.sampled_from(self.created)), now=self.now)
            case "enqueue" if self.asked:
                tenant, asked = data.draw(st.sampled_from(self.asked))
                self.twins.ask("executions", "enqueue", tenant, asked, now=self.now)
            case "claim" if self.requests:
                self._claim(data.draw(st.sampled_from(self.requests)), LEASE)
            case "fire" if self.firings:
                self.twins.ask("schedules", "fire", [data.draw(st.sampled_from(self.firings))], now=self.now)

    # Records --------------------------------------------------------------------------------------------

    @precondition(lambda self: self.leased)
    @rule(data=data, page=st.integers(1, 9))
    def checkpoint(self, data: st.DataObject, page: int) -> None:
        state = Document.of({"page": page}, field="state")
        saved = [Checkpoint(one.claim, state, page / 10, self.now) for one in self._some_leased(data)]
        self.twins.ask("checkpoints", "save", saved)

    @precondition(lambda self: self.leased)
    @rule(data=data, numbers=st.lists(st.integers(1, 5), min_size=1, max_size=3))
    def log(self, data: st.DataObject, numbers: list[int]) -> None:
        lines = [
            LogLine(one.claim, number, self.now, LogLevel.INFO, f"line {number}")
            for one in self._some_leased(data)
            for number in numbers
        ]
        self.twins.ask("logs", "append", lines)

    @precondition(lambda self: self.state.dead_letters)
    @rule(data=data, tenant=tenants, at=st.sampled_from(AtRevision))
    def redrive(self, data: st.DataObject, tenant: TenantId, at: AtRevision) -> None:
        known = st.sampled_from(list(self.state.dead_letters))
        redrives = [Redrive(one, self.new_id()) for one in data.draw(st.lists(known, min_size=1, max_size=2))]
        answer = self.twins.ask("dead_letters", "redrive", tenant, redrives, now=self.now, revision=at)
        assert isinstance(answer, Refusal) or len(answer) == len(redrives)

    @precondition(lambda self: self.state.dead_letters)
    @rule(data=data, tenant=tenants)
    def purge(self, data: st.DataObject, tenant: TenantId) -> None:
        known = st.sampled_from(list(self.state.dead_letters))
        self.twins.ask("dead_letters", "purge", tenant, data.draw(st.lists(known, min_size=1, max_size=2)))

    # Workers --------------------------------------------------------------------------------------------

    @rule(data=data, worker=st.sampled_from([ADA, BOB]), boot=st.integers(1, 2))
    def worker_speaks(self, data: st.DataObject, worker: Any, boot: int) -> None:
        match data.draw(st.sampled_from(WORKER_VERBS)):
            case "register":
                key = data.draw(st.sampled_from([None, 1, 2]))
                self.twins.ask("workers", "register", drawn.registration_of(worker, boot, key), now=self.now)
            case "drain" | "undrain" as verb:
                self.twins.ask("workers", verb, worker)
            case "registered":
                self.twins.ask("workers", "registered", worker)
            case "resize":
                self.twins.ask("workers", "beat", worker, UUID(int=boot), now=self.now, slots=3)
            case verb:
                self.twins.ask("workers", verb, worker, UUID(int=boot), now=self.now)
