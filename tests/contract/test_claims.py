"""Who gets what, in which order, and only once."""

from __future__ import annotations

import asyncio

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus
from gnomon.core.executions.lease import LEASE, Claim, Leased
from gnomon.core.jobs.job import PRIORITY_MAX, PRIORITY_MIN, Definition, Job
from gnomon.core.values.document import Document
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    ADA,
    BOB,
    DONE,
    HOUR,
    MINUTE,
    NOW,
    SECOND,
    ask,
    claim,
    claim_one,
    create_one,
    end,
    enqueue,
    enqueue_one,
    new_job,
    other_tenant,
    request,
    seen,
)


def ids(leased: list[Leased]) -> list[ExecutionId]:
    return [one.claim.execution_id for one in leased]


async def job_of(store: Store, kind: str, **words: object) -> Job:
    return await create_one(store, new_job(definition=Definition(kind, **words)))  # type: ignore[arg-type]


async def test_claims_come_by_priority_then_due_time_then_id(store: Store) -> None:
    job = await create_one(store)
    asked = [
        ask(job, priority=5, due=NOW),
        ask(job, priority=5, due=NOW),
        ask(job, priority=5, due=NOW - MINUTE),
        ask(job, priority=9, due=NOW),
        ask(job, priority=0, due=NOW - HOUR),
    ]
    await enqueue(store, *asked)

    leased = await claim(store)

    assert ids(leased) == [asked[n].id for n in (3, 2, 0, 1, 4)]


async def test_who_has_room_for_one_gets_the_most_urgent_not_the_oldest(store: Store) -> None:
    job = await create_one(store)
    patient, urgent = ask(job, priority=0, due=NOW - HOUR), ask(job, priority=9, due=NOW)
    await enqueue(store, patient, urgent)

    assert ids(await claim(store, limit=1)) == [urgent.id]
    assert ids(await claim(store, limit=1)) == [patient.id]


async def test_a_claim_holds_all_that_running_needs(store: Store) -> None:
    job = await create_one(store)
    data = Document.of([1, 2], field="input")
    execution_id = await enqueue_one(store, job, input=data, due=NOW - MINUTE, priority=6)

    leased = await claim_one(store, BOB, now=NOW + SECOND)

    assert leased == Leased(
        claim=Claim(execution_id, 1),
        tenant_id=DEFAULT_TENANT,
        job_id=job.id,
        revision=await store.jobs.revision(DEFAULT_TENANT, job.id, 1),
        worker=BOB,
        priority=6,
        nominal_time=None,
        due=NOW - MINUTE,
        input=data,
        attempts=0,
        crashes=0,
        started_at=NOW + SECOND,
        lease_until=NOW + SECOND + LEASE,
        cancel_requested=False,
    )
    execution = await seen(store, execution_id)
    assert (execution.status, execution.claim, execution.attempts) == (ExecutionStatus.RUNNING, 1, 0)
    assert (execution.worker, execution.started_at) == (BOB, NOW + SECOND)


async def test_nothing_is_claimed_before_it_is_due(store: Store) -> None:
    execution_id = await enqueue_one(store, due=NOW + SECOND)

    assert await claim(store, now=NOW) == []
    assert ids(await claim(store, now=NOW + SECOND)) == [execution_id]


async def test_what_one_worker_holds_no_other_gets(store: Store) -> None:
    await enqueue_one(store)
    await claim_one(store, ADA)

    assert await claim(store, BOB) == []


async def test_a_claim_takes_at_most_its_limit(store: Store) -> None:
    job = await create_one(store)
    asked = await enqueue(store, *(ask(job) for _ in range(5)))

    assert ids(await claim(store, limit=3)) == asked[:3]
    assert ids(await claim(store, limit=3)) == asked[3:]


async def test_a_worker_gets_only_kinds_it_offers(store: Store) -> None:
    await enqueue_one(store, await job_of(store, "http"))
    echo = await enqueue_one(store, await job_of(store, "echo"))

    assert ids(await claim(store, kinds=frozenset({"echo", "shell"}))) == [echo]
    assert await claim(store, kinds=frozenset()) == []


async def test_a_worker_gets_only_queues_it_serves(store: Store) -> None:
    slow = await enqueue_one(store, await job_of(store, "echo", queue="slow"))
    default = await enqueue_one(store, await job_of(store, "echo"))

    assert ids(await claim(store)) == [default]
    assert ids(await claim(store, queues=frozenset({"slow", "fast"}))) == [slow]


async def test_a_worker_needs_every_capability_that_a_job_asks_for(store: Store) -> None:
    demanding = await job_of(store, "echo", capabilities=frozenset({"gpu", "eu"}))
    execution_id = await enqueue_one(store, demanding)

    assert await claim(store) == []
    assert await claim(store, capabilities=frozenset({"gpu"})) == []
    assert ids(await claim(store, capabilities=frozenset({"eu", "gpu", "ssd"}))) == [execution_id]


async def test_what_does_not_fit_does_not_hide_what_does(store: Store) -> None:
    http = await job_of(store, "http", priority=9)
    await enqueue(store, *(ask(http) for _ in range(20)))
    echo = await enqueue_one(store, await job_of(store, "echo", priority=0))

    assert ids(await claim(store, limit=1)) == [echo]


async def test_workers_serve_all_tenants(store: Store) -> None:
    neighbours = await other_tenant(store)
    theirs = await create_one(store, new_job(tenant_id=neighbours))
    await store.executions.enqueue(neighbours, [ask(theirs)], now=NOW)

    assert (await claim_one(store)).tenant_id == neighbours


async def test_the_same_request_gets_the_same_answer(store: Store) -> None:
    job = await create_one(store)
    asked = await enqueue(store, *(ask(job) for _ in range(5)))
    once = request(limit=3)
    first = await store.executions.claim(once, now=NOW, lease_until=NOW + LEASE)

    again = await store.executions.claim(once, now=NOW + SECOND, lease_until=NOW + SECOND + LEASE)

    assert (
        [one.claim for one in again] == [one.claim for one in first] == [Claim(one, 1) for one in asked[:3]]
    )
    assert ids(await claim(store, limit=10)) == asked[3:]


async def test_the_same_request_gets_only_what_it_still_holds(store: Store) -> None:
    job = await create_one(store)
    await enqueue(store, *(ask(job) for _ in range(5)))
    once = request(limit=3)
    first = await store.executions.claim(once, now=NOW, lease_until=NOW + LEASE)
    await end(store, first[1], DONE)

    again = await store.executions.claim(once, now=NOW, lease_until=NOW + LEASE)

    assert [one.claim for one in again] == [first[0].claim, first[2].claim]


async def test_the_request_that_took_the_last_work_gets_it_again(store: Store) -> None:
    execution_id = await enqueue_one(store)
    once = request()
    await store.executions.claim(once, now=NOW, lease_until=NOW + LEASE)

    again = await store.executions.claim(once, now=NOW, lease_until=NOW + LEASE)

    assert [one.claim for one in again] == [Claim(execution_id, 1)]


async def test_a_request_whose_claims_have_ended_gets_nothing_until_it_is_forgotten(store: Store) -> None:
    job = await create_one(store)
    await enqueue(store, ask(job), ask(job))
    once = request(limit=1)
    [first] = await store.executions.claim(once, now=NOW, lease_until=NOW + LEASE)
    await end(store, first, DONE)
    assert list(await store.executions.claim(once, now=NOW, lease_until=NOW + LEASE)) == []

    await store.upkeep.forget_requests(before=NOW, limit=10)
    assert list(await store.executions.claim(once, now=NOW, lease_until=NOW + LEASE)) == []
    await store.upkeep.forget_requests(before=NOW + SECOND, limit=10)

    assert len(await store.executions.claim(once, now=NOW, lease_until=NOW + LEASE)) == 1


async def test_a_request_that_found_nothing_may_find_something_later(store: Store) -> None:
    once = request()
    assert list(await store.executions.claim(once, now=NOW, lease_until=NOW + LEASE)) == []
    await enqueue_one(store)

    assert len(await store.executions.claim(once, now=NOW, lease_until=NOW + LEASE)) == 1


async def test_who_found_nothing_finds_what_comes_next_of_every_priority(store: Store) -> None:
    job = await create_one(store)
    for priority in range(PRIORITY_MIN, PRIORITY_MAX + 1):
        assert await claim(store) == []
        execution_id = await enqueue_one(store, job, priority=priority)

        assert ids(await claim(store)) == [execution_id]


async def test_who_found_nothing_finds_the_first_work_of_a_lane_that_others_made(store: Store) -> None:
    assert await claim(store, queues=frozenset({"new"})) == []
    execution_id = await enqueue_one(store, await job_of(store, "echo", queue="new"), due=NOW + SECOND)

    assert await claim(store, queues=frozenset({"new"})) == []
    assert ids(await claim(store, queues=frozenset({"new"}), now=NOW + SECOND)) == [execution_id]


async def test_a_crowd_of_workers_gets_everything_once(store: Store) -> None:
    job = await create_one(store)
    asked = await enqueue(store, *(ask(job) for _ in range(60)))

    crowd = await asyncio.gather(*(claim(store, limit=5) for _ in range(20)))
    rest = await claim(store, limit=100)

    handed_out = [one for leased in crowd for one in ids(leased)] + ids(rest)
    assert sorted(handed_out) == asked
