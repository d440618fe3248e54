"""Every reason why something does not run; and none exactly if a live worker would be given it."""

from __future__ import annotations

import asyncio
import shutil
from datetime import timedelta
from pathlib import Path
from random import Random
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gnomon.app import open_database, open_store
from gnomon.client import Ask, Client, Draft
from gnomon.client.context import ClientContext
from gnomon.core.access.tenants import DEFAULT_TENANT, Tenant
from gnomon.core.executions.execution import ExecutionId, WorkerId
from gnomon.core.executions.lease import ClaimRequest
from gnomon.core.executions.lifecycle import Succeeded
from gnomon.core.explain.obstacles import Obstacle
from gnomon.core.jobs.job import Definition, Job
from gnomon.core.operations.workers import Registration, Worker
from gnomon.core.time.schedule import Interval, Overlap, Schedule
from gnomon.core.values.ids import IdSource
from gnomon.engine.schedulers.scheduler import Scheduler
from gnomon.engine.telemetry import Telemetry
from gnomon.store.schema.migrations import migrate
from gnomon.store.sql_store import SqlStore
from gnomon.testing import ManualClock
from tests.integration.client.conftest import LEASE, Office, report

MINUTE = timedelta(minutes=1)
KINDS, QUEUES, CAPABILITIES = ("report", "mail"), ("default", "slow"), ("gpu", "big")


async def codes(office: Office, execution_id: ExecutionId) -> set[Obstacle]:
    found = await office.client.explaining.execution(execution_id)
    return {reason.code for reason in found.reasons}


async def limit_tenant(store: SqlStore, max_concurrent: int | None) -> None:
    tenant = Tenant(DEFAULT_TENANT, "default", max_concurrent=max_concurrent)
    await store.tenants.save(tenant, now=ManualClock().now())


async def register(office: Office, name: str = "ada", **fields: object) -> None:
    known = {"kinds": frozenset({"report"}), "slots": 1, "hostname": "host", "boot": uuid4()}
    worker = Registration(WorkerId(name), **{**known, **fields})  # type: ignore[arg-type]
    await office.store.workers.register(worker, now=office.clock.now())


async def test_without_workers_nothing_runs(office: Office) -> None:
    job = await office.client.jobs.create(Draft("a", report()))
    run = await office.client.executions.enqueue(Ask(job.id))

    assert await codes(office, run.id) == {Obstacle.NO_WORKER}
    await register(office)
    assert await codes(office, run.id) == set()
    office.clock.advance(MINUTE)
    assert await codes(office, run.id) == {Obstacle.NO_WORKER}  # It has fallen silent.


async def test_what_a_worker_lacks_is_named(office: Office) -> None:
    definition = Definition("mail", queue="slow", capabilities=frozenset({"gpu"}))
    job = await office.client.jobs.create(Draft("a", definition))
    run = await office.client.executions.enqueue(Ask(job.id))
    await register(office)

    [reason] = (await office.client.explaining.execution(run.id)).reasons

    assert (
        reason.message
        == "No live worker has the kind 'mail', the queue 'slow', the capability 'gpu'. Start one that has."
    )


async def test_all_reasons_are_told_at_once(office: Office) -> None:
    job = await office.client.jobs.create(Draft("a", Definition("mail", max_concurrent=1)))
    await office.client.executions.enqueue(Ask(job.id))
    run = await office.client.executions.enqueue(Ask(job.id, delay=MINUTE))
    await register(office)

    assert await codes(office, run.id) == {Obstacle.NOT_DUE, Obstacle.WAITS_FOR_SLOT, Obstacle.NO_WORKER}


async def test_who_waits_for_its_tenant_is_told_the_numbers(office: Office) -> None:
    job = await office.client.jobs.create(Draft("a", report()))
    await register(office, slots=10)
    runs = [await office.client.executions.enqueue(Ask(job.id)) for _ in range(3)]
    await limit_tenant(office.store, 2)

    [behind] = (await office.client.explaining.execution(runs[2].id)).reasons
    assert (behind.code, behind.details) == (
        Obstacle.BEHIND_OTHERS,
        {"ahead": 2, "worker_id": "ada", "free": 2},
    )
    assert len(await office.claim()) == 2
    [reason] = (await office.client.explaining.execution(runs[2].id)).reasons
    assert (reason.code, reason.details) == (Obstacle.TENANT_LIMIT, {"running": 2, "limit": 2})


async def test_who_waits_for_a_job_is_told_for_which(office: Office) -> None:
    needed = await office.client.jobs.create(Draft("needed", report()))
    schedule = Schedule(Interval(MINUTE))
    job = await office.client.jobs.create(Draft("a", report(schedule), dependencies=frozenset({needed.id})))
    office.clock.advance(MINUTE)
    await office.scheduler().step()
    await register(office)
    [run] = (await office.client.executions.list(job_id=job.id)).items

    [reason] = (await office.client.explaining.execution(run.id)).reasons

    assert (reason.code, reason.details["name"]) == (Obstacle.WAITS_FOR_JOB, "needed")
    found = await office.client.explaining.job(job.id)
    assert [one.code for one in found.reasons] == [Obstacle.NOT_DUE]
    assert found.executions == ((run.id, (reason,)),)


async def test_the_place_in_the_queue_is_a_reason(office: Office) -> None:
    job = await office.client.jobs.create(Draft("a", report()))
    first = await office.client.executions.enqueue(Ask(job.id))
    second = await office.client.executions.enqueue(Ask(job.id))
    await register(office)

    assert await codes(office, first.id) == set()
    assert await codes(office, second.id) == {Obstacle.BEHIND_OTHERS}
    [leased, _] = await office.claim()
    assert await codes(office, first.id) == {Obstacle.RUNNING}
    await office.end(leased, Succeeded())
    assert await codes(office, first.id) == {Obstacle.ENDED}


async def test_a_job_tells_why_it_does_not_fire(office: Office) -> None:
    manual = await office.client.jobs.create(Draft("manual", report()))
    paused = await office.client.jobs.create(Draft("paused", report(Schedule(Interval(MINUTE)))))
    await office.client.jobs.pause(paused.id)
    gone = await office.client.jobs.create(Draft("gone", report()))
    await office.client.jobs.delete(gone.id)

    async def job_codes(job: object) -> list[Obstacle]:
        return [one.code for one in (await office.client.explaining.job(job.id)).reasons]  # type: ignore[attr-defined]

    assert await job_codes(manual) == [Obstacle.MANUAL]
    assert await job_codes(paused) == [Obstacle.PAUSED, Obstacle.NOT_DUE]
    assert await job_codes(gone) == [Obstacle.DELETED]
    office.clock.advance(MINUTE * 2)
    await office.client.jobs.resume(paused.id)


# No reason exactly if a claim would return it -----------------------------------------------------------

offers = st.tuples(
    st.frozensets(st.sampled_from(KINDS), min_size=1),
    st.frozensets(st.sampled_from(QUEUES), min_size=1),
    st.frozensets(st.sampled_from(CAPABILITIES)),
)
jobs = st.builds(
    Definition,
    kind=st.sampled_from(KINDS),
    queue=st.sampled_from(QUEUES),
    capabilities=st.frozensets(st.sampled_from(CAPABILITIES), max_size=1),
    priority=st.integers(4, 6),
    max_concurrent=st.none() | st.integers(1, 2),
    schedule=st.sampled_from(
        [Schedule(), Schedule(Interval(MINUTE)), Schedule(Interval(MINUTE), overlap=Overlap.QUEUE)]
    ),
)
worlds = st.fixed_dictionaries(
    {
        "jobs": st.lists(st.tuples(jobs, st.booleans()), min_size=1, max_size=4),
        "runs": st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=8),
        "workers": st.lists(
            st.tuples(offers, st.integers(1, 3), st.sampled_from(["live", "silent", "draining"])), max_size=3
        ),
        "claimed": st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=3),
        "tenant_limit": st.none() | st.integers(1, 3),
    }
)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explaining") / "template.db"

    async def make() -> None:
        database = await open_database(f"sqlite://{path}")
        await migrate(database, now=ManualClock().now())
        await database.close()

    asyncio.run(make())
    return path


@given(world=worlds)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_there_is_no_reason_exactly_if_a_claim_would_return_it(template: Path, world: dict) -> None:  # type: ignore[type-arg]
    asyncio.run(_compare(template, world))


async def _compare(template: Path, world: dict) -> None:  # type: ignore[type-arg]
    path = template.with_name(f"{uuid4().hex}.db")
    shutil.copyfile(template, path)
    store = await open_store(f"sqlite://{path}", rescan=timedelta(0))
    clock, ids = ManualClock(), IdSource(Random(1))
    client = Client(ClientContext(store, clock, ids))
    await _build(store, client, clock, ids, world)
    executions = (await client.executions.list(limit=1000)).items
    unhindered = {one.id for one in executions if not (await client.explaining.execution(one.id)).reasons}
    workers = await store.workers.list(limit=100)
    await store.close()
    claimable: set[ExecutionId] = set()
    for worker in workers:
        if worker.is_live(clock.now()) and worker.free:
            claimable |= await _claimed_in_a_copy(path, worker, clock, ids)
    assert unhindered == claimable


async def _build(store: SqlStore, client: Client, clock: ManualClock, ids: IdSource, world: dict) -> None:  # type: ignore[type-arg]
    await limit_tenant(store, world["tenant_limit"])
    made: list[Job] = []
    for number, (definition, depends) in enumerate(world["jobs"]):
        needed = frozenset({made[-1].id}) if depends and made else frozenset()
        made.append(await client.jobs.create(Draft(f"job {number}", definition, dependencies=needed)))
    names = []
    for number, ((kinds, queues, capabilities), slots, state) in enumerate(world["workers"]):
        name = WorkerId(f"worker {number}")
        names.append((name, kinds, queues, capabilities))
        seen_at = clock.now() - (timedelta(minutes=5) if state == "silent" else -MINUTE)
        worker = Registration(name, uuid4(), "host", slots, kinds, queues, capabilities)
        await store.workers.register(worker, now=seen_at)
        if state == "draining":
            await store.workers.drain(name)
    for job, delay in world["runs"]:
        await client.executions.enqueue(Ask(made[job % len(made)].id, delay=MINUTE * delay))
    clock.advance(MINUTE)
    await Scheduler(
        schedules=store.schedules, clock=clock, ids=ids, telemetry=Telemetry(), fired=lambda: None
    ).step()
    for number, _ in world["claimed"]:
        if names:
            name, kinds, queues, capabilities = names[number % len(names)]
            request = ClaimRequest(ids.next(clock.now()), name, kinds, queues, capabilities, limit=1)
            await store.executions.claim(request, now=clock.now(), lease_until=clock.now() + LEASE)


async def _claimed_in_a_copy(
    path: Path, worker: Worker, clock: ManualClock, ids: IdSource
) -> set[ExecutionId]:
    copy = path.with_name(f"{uuid4().hex}.db")
    shutil.copyfile(path, copy)
    store = await open_store(f"sqlite://{copy}", rescan=timedelta(0))
    request = ClaimRequest(
        ids.next(clock.now()), worker.id, worker.kinds, worker.queues, worker.capabilities, limit=worker.free
    )
    leased = await store.executions.claim(request, now=clock.now(), lease_until=clock.now() + LEASE)
    await store.close()
    return {one.claim.execution_id for one in leased}
