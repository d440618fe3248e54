"""Where an execution waits, what for, and who comes first; which claims hold, and how others ended."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import AttemptOutcome, ExecutionId, WaitsFor
from gnomon.core.executions.lease import Claim, Lane
from gnomon.core.explain.executions import Needed, QueuePlace
from gnomon.core.jobs.job import Definition
from gnomon.core.schedules.occurrence import Firing, Occurrence
from gnomon.core.time.schedule import Interval, Schedule
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    BOB,
    FAILED,
    HOUR,
    MINUTE,
    NOW,
    ask,
    claim,
    create_one,
    end,
    enqueue,
    enqueue_one,
    new_id,
    new_job,
    other_tenant,
    request,
    running,
    tries,
)


async def place_of(store: Store, execution_id: ExecutionId) -> QueuePlace:
    place = await store.executions.place(DEFAULT_TENANT, execution_id)
    assert place is not None
    return place


async def test_what_waits_for_a_worker_has_a_place(store: Store) -> None:
    definition = Definition("echo", queue="mail", capabilities=frozenset({"gpu"}), priority=7)
    job = await create_one(store, new_job(definition=definition))
    execution_id = await enqueue_one(store, job, due=NOW + MINUTE)

    assert await place_of(store, execution_id) == QueuePlace(
        execution_id=execution_id,
        lane=Lane(DEFAULT_TENANT, "mail", "echo", frozenset({"gpu"})),
        priority=7,
        due=NOW + MINUTE,
        waits_for=None,
        slots=None,
        taken=0,
    )


async def test_what_runs_or_has_ended_or_is_foreign_has_no_place(store: Store) -> None:
    leased = await running(store)
    waiting = await enqueue_one(store)
    tenant = await other_tenant(store)

    assert await store.executions.place(DEFAULT_TENANT, leased.claim.execution_id) is None
    assert await store.executions.place(tenant, waiting) is None
    assert await store.executions.place(DEFAULT_TENANT, ExecutionId(new_id())) is None


async def test_what_waits_for_a_slot_knows_how_many_are_taken(store: Store) -> None:
    job = await create_one(store, new_job(definition=Definition("echo", max_concurrent=2)))
    executions = await enqueue(store, *(ask(job) for _ in range(4)))
    await claim(store, limit=1)

    place = await place_of(store, executions[-1])

    assert (place.waits_for, place.slots, place.taken) == (WaitsFor.SLOT, 2, 2)


async def test_what_waits_for_jobs_names_those_that_have_not_succeeded(store: Store) -> None:
    done, missing = await create_one(store, new_job("done")), await create_one(store, new_job("missing"))
    schedule = Schedule(Interval(HOUR, anchor=NOW))
    job = await create_one(
        store,
        new_job(
            definition=Definition("echo", schedule=schedule),
            next_run_time=NOW,
            dependencies=[done.id, missing.id],
        ),
    )
    await enqueue_one(store, done)
    [leased] = await claim(store)
    await end(store, leased)
    execution_id = ExecutionId(new_id())
    firing = Firing(
        job_id=job.id,
        tenant_id=DEFAULT_TENANT,
        expected_version=job.version,
        expected_next_run_time=NOW,
        status=job.status,
        next_run_time=NOW + HOUR,
        last_run_time=NOW,
        fires=1,
        anchor=None,
        occurrences=(Occurrence(NOW, NOW, execution_id=execution_id, due=NOW),),
        waits_for=WaitsFor.JOBS,
    )
    assert await store.schedules.fire([firing], now=NOW)

    place = await place_of(store, execution_id)

    assert (place.waits_for, place.needed) == (WaitsFor.JOBS, (Needed(missing.id, "missing"),))


async def test_those_who_come_first_are_counted_in_the_order_of_a_claim(store: Store) -> None:
    job = await create_one(store)
    first, second = await enqueue(store, ask(job), ask(job))
    urgent = await enqueue_one(store, job, priority=9, due=NOW)
    later = await enqueue_one(store, job, due=NOW + MINUTE)
    other = await create_one(store, new_job(definition=Definition("other")))
    await enqueue_one(store, other, priority=9)

    async def ahead(execution_id: ExecutionId, *, limit: int = 100, **offer: Any) -> int:
        place = await place_of(store, execution_id)
        return await store.executions.ahead(place, request(**offer), now=NOW, limit=limit)

    assert [await ahead(one) for one in (urgent, first, second, later)] == [0, 1, 2, 3]
    assert await ahead(second, kinds=frozenset({"echo", "other"})) == 3
    assert await ahead(second, limit=1) == 1


async def test_the_next_due_time_of_what_a_worker_may_run_is_known(store: Store) -> None:
    job = await create_one(store)
    other = await create_one(store, new_job(definition=Definition("other")))
    far = await create_one(store, new_job(definition=Definition("echo", queue="far")))
    await enqueue(store, ask(job), ask(job, due=NOW + HOUR), ask(job, due=NOW + MINUTE, priority=0))
    await enqueue(store, ask(other, due=NOW + MINUTE / 2), ask(far, due=NOW + MINUTE / 3))

    async def next_due(after: datetime, **offer: Any) -> datetime | None:
        return await store.executions.next_due(request(**offer), after=after)

    assert await next_due(NOW - HOUR) == NOW
    assert await next_due(NOW) == NOW + MINUTE
    assert await next_due(NOW + MINUTE) == NOW + HOUR
    assert await next_due(NOW + HOUR) is None
    assert await next_due(NOW, kinds=frozenset({"echo", "other"})) == NOW + MINUTE / 2
    assert await next_due(NOW, queues=frozenset({"far"})) == NOW + MINUTE / 3
    assert await next_due(NOW, kinds=frozenset({"nothing"})) is None


async def test_what_runs_or_waits_for_a_slot_is_not_due_for_a_worker(store: Store) -> None:
    job = await create_one(store, new_job(definition=Definition("echo", max_concurrent=1)))
    await enqueue(store, ask(job), ask(job), ask(job, due=NOW + MINUTE), ask(job, due=NOW + HOUR))

    assert await store.executions.next_due(request(), after=NOW - HOUR) == NOW
    assert len(await claim(store)) == 1
    assert await store.executions.next_due(request(), after=NOW - HOUR) is None

    assert await store.executions.next_gated(after=NOW - HOUR) == NOW
    assert await store.executions.next_gated(after=NOW) == NOW + MINUTE
    assert await store.executions.next_gated(after=NOW + HOUR) is None


async def test_a_claim_is_held_until_somebody_ends_it(store: Store) -> None:
    leased = await running(store)
    wrong = Claim(leased.claim.execution_id, 2)

    assert list(await store.executions.held([wrong, leased.claim])) == [leased]
    await end(store, leased)
    assert list(await store.executions.held([leased.claim])) == []


async def test_how_claims_ended_is_known(store: Store) -> None:
    leased = await running(store, tries(2))
    await end(store, leased, FAILED)
    [again] = await claim(store, BOB, now=NOW + MINUTE)

    settled = await store.executions.settled([leased.claim, again.claim])
    assert settled == {leased.claim: AttemptOutcome.FAILED}
    await end(store, again, now=NOW + MINUTE)

    settled = await store.executions.settled([leased.claim, again.claim])
    assert settled == {leased.claim: AttemptOutcome.FAILED, again.claim: AttemptOutcome.COMPLETED}
