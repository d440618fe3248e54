"""What stories begin with: jobs, asks, workers and their answers, in a few words each."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

from gnomon.core.access.tenants import DEFAULT_TENANT, Tenant, TenantId
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import Execution, ExecutionId, Failure, NewExecution, WorkerId
from gnomon.core.executions.lease import LEASE as LEASE
from gnomon.core.executions.lease import ClaimRequest, Leased
from gnomon.core.executions.lifecycle import Change, Failed, JobAction, Outcome, Succeeded, after, change_of
from gnomon.core.jobs.job import Definition, Job, JobId, NewJob
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.operations.workers import Registration
from gnomon.core.runs.run import RunId
from gnomon.core.values.ids import EPOCH, MILLISECOND, uuid7
from gnomon.store.protocols.changes import Applied
from gnomon.store.protocols.store import Store

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)

ADA, BOB = WorkerId("ada"), WorkerId("bob")
OOPS = Failure("oops", "It did not work.")
DONE = Succeeded()
FAILED = Failed(OOPS)
BROKEN = Failed(OOPS, permanent=True)

_numbers = count(1 << 60)


def new_id(now: datetime = NOW) -> UUID:
    """Of the very instant, whatever later ones other tests have asked for; and larger than the one before."""
    return uuid7((now - EPOCH) // MILLISECOND, next(_numbers))


# Jobs -----------------------------------------------------------------------------------------------


def new_job(
    name: str | None = None,
    *,
    tenant_id: TenantId = DEFAULT_TENANT,
    next_run_time: datetime | None = None,
    tags: Iterable[str] = (),
    dependencies: Iterable[JobId] = (),
    definition: Definition | None = None,
) -> NewJob:
    job_id = JobId(new_id())
    return NewJob(
        id=job_id,
        tenant_id=tenant_id,
        name=f"job {job_id}" if name is None else name,
        definition=definition or Definition("echo"),
        next_run_time=next_run_time,
        tags=frozenset(tags),
        dependencies=frozenset(dependencies),
    )


def tries(max_attempts: int, kind: str = "echo") -> Definition:
    """A definition that retries after a minute sharp, so that stories can say when."""
    return Definition(kind, retry=RetryPolicy(max_attempts=max_attempts, backoff_base=MINUTE, jitter=0.0))


async def create(store: Store, *jobs: NewJob, now: datetime = NOW) -> list[Job]:
    return list(await store.jobs.create(jobs, now=now))


async def create_one(store: Store, job: NewJob | None = None, *, now: datetime = NOW) -> Job:
    [created] = await store.jobs.create([job or new_job()], now=now)
    return created


async def act(store: Store, job: Job, action: JobAction, *, now: datetime = NOW) -> Job:
    """Pause, resume, cancel, delete: as the core decides it."""
    change = change_of(job, action, next_run_time=job.next_run_time)
    [changed] = await store.jobs.change([change], now=now)
    return changed


async def other_tenant(store: Store) -> TenantId:
    tenant = Tenant(TenantId(new_id()), "neighbours")
    await store.tenants.save(tenant, now=NOW)
    return tenant.id


# Executions -----------------------------------------------------------------------------------------


def ask(job: Job, **wishes: object) -> NewExecution:
    return NewExecution(ExecutionId(new_id()), job.id, **wishes)  # type: ignore[arg-type]


async def enqueue(store: Store, *asked: NewExecution, now: datetime = NOW) -> list[ExecutionId]:
    return [kept.id for kept in await store.executions.enqueue(DEFAULT_TENANT, asked, now=now)]


async def enqueue_one(
    store: Store, job: Job | None = None, *, now: datetime = NOW, **wishes: object
) -> ExecutionId:
    [execution_id] = await enqueue(store, ask(job or await create_one(store), **wishes), now=now)
    return execution_id


def request(worker: WorkerId = ADA, *, limit: int = 10, **wishes: Any) -> ClaimRequest:
    kinds = frozenset({"echo"})
    return ClaimRequest(**{"id": new_id(), "worker": worker, "kinds": kinds, "limit": limit, **wishes})


async def claim(
    store: Store, worker: WorkerId = ADA, *, now: datetime = NOW, limit: int = 10, **wishes: object
) -> list[Leased]:
    asked = request(worker, limit=limit, **wishes)
    return list(await store.executions.claim(asked, now=now, lease_until=now + LEASE))


async def claim_one(store: Store, worker: WorkerId = ADA, *, now: datetime = NOW) -> Leased:
    """What waits for any worker, or else a suspect."""
    found = await claim(store, worker, now=now, limit=1) or await claim(store, worker, now=now, is_alone=True)
    [leased] = found
    return leased


async def running(store: Store, definition: Definition | None = None, *, now: datetime = NOW) -> Leased:
    """A new execution of a new job, in Ada's hands."""
    await enqueue_one(store, await create_one(store, new_job(definition=definition)), now=now)
    return await claim_one(store, now=now)


def decided(leased: Leased, outcome: Outcome, *, now: datetime = NOW) -> Decision:
    return Decision(leased.claim, change_to(leased, outcome, now=now))


def change_to(leased: Leased, outcome: Outcome, *, now: datetime = NOW) -> Change:
    return after(leased, outcome, now=now, jitter=0.5)


async def end(store: Store, leased: Leased, outcome: Outcome = DONE, *, now: datetime = NOW) -> Applied:
    [answer] = await store.executions.apply([decided(leased, outcome, now=now)], now=now)
    return answer


async def seen(store: Store, execution: Leased | ExecutionId | RunId, *, now: datetime = NOW) -> Execution:
    execution_id = execution.claim.execution_id if isinstance(execution, Leased) else ExecutionId(execution)
    return await store.executions.get(DEFAULT_TENANT, execution_id, now=now)


# Workers --------------------------------------------------------------------------------------------


def registration(worker: WorkerId = ADA, **wishes: object) -> Registration:
    known = {"boot": new_id(), "hostname": "host", "slots": 4, "kinds": frozenset({"echo"})}
    return Registration(worker, **{**known, **wishes})  # type: ignore[arg-type]
