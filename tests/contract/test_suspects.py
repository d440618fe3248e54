"""What ran on a worker that died is tried again alone: the poison convicts itself, and nothing else."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, WaitsFor, WorkerId
from gnomon.core.executions.lease import LEASE, Leased
from gnomon.core.executions.lifecycle import LeaseExpired, Released
from gnomon.core.executions.suspects import PATIENCE, RESERVED_AGAIN_AFTER, RESERVED_FOR, RESERVED_MAX
from gnomon.core.jobs.job import Definition
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    ADA,
    BOB,
    DONE,
    FAILED,
    HOUR,
    MINUTE,
    NOW,
    SECOND,
    ask,
    claim,
    create_one,
    end,
    enqueue,
    new_job,
    registration,
    request,
    seen,
    tries,
)

DEAD = NOW + HOUR  # When the leases of all that died are taken back.
PATIENT = DEAD + PATIENCE


async def suspects(store: Store, count: int, definition: Definition | None = None) -> list[ExecutionId]:
    """They ran beside each other, on a worker that died."""
    job = await create_one(store, new_job(definition=definition or tries(9)))
    await enqueue(store, *(ask(job) for _ in range(count)))
    leased = await claim(store, ADA, limit=count)
    for one in leased:
        await end(store, one, LeaseExpired(), now=DEAD)
    return [one.claim.execution_id for one in leased]


async def ordinary(store: Store, count: int) -> None:
    job = await create_one(store)
    await enqueue(store, *(ask(job) for _ in range(count)))


async def alone(store: Store, worker: WorkerId = BOB, *, now: datetime = DEAD) -> list[Leased]:
    return await claim(store, worker, now=now, is_alone=True)


async def test_a_suspect_is_claimed_alone_and_by_no_other_claim(store: Store) -> None:
    first, second = await suspects(store, 2)

    assert await claim(store, BOB, now=DEAD, limit=10) == []
    [leased] = await alone(store)

    assert leased.claim.execution_id == first
    assert (leased.crashes, leased.is_suspect, leased.attempts) == (1, True, 1)
    assert (await seen(store, second)).waits_for is WaitsFor.EMPTY_WORKER
    assert (await seen(store, second)).status is ExecutionStatus.PENDING


async def test_a_claim_of_one_alone_takes_no_other_work(store: Store) -> None:
    await ordinary(store, 2)

    assert await alone(store) == []
    assert len(await claim(store, BOB, now=DEAD)) == 2


async def test_a_suspect_that_does_not_crash_is_a_suspect_no_more(store: Store) -> None:
    await suspects(store, 2)
    [failed] = await alone(store)
    await end(store, failed, FAILED, now=DEAD)
    [released] = await alone(store)
    await end(store, released, Released(), now=DEAD)

    again = await claim(store, BOB, now=DEAD + HOUR, limit=10)

    assert {(one.claim, one.crashes) for one in again} == {
        (failed.claim._replace(number=3), 0),
        (released.claim._replace(number=3), 0),
    }


async def test_a_suspect_of_a_job_with_slots_waits_for_one_first_and_keeps_it(store: Store) -> None:
    narrow = Definition("echo", max_concurrent=1, retry=tries(9).retry)
    first = (await suspects(store, 1, narrow))[0]
    job = (await seen(store, first)).job_id
    await store.executions.admit([job], now=DEAD, limit=10)
    assert (await seen(store, first)).waits_for is WaitsFor.EMPTY_WORKER

    [second] = await enqueue(
        store, ask(await store.jobs.get((await seen(store, first)).tenant_id, job)), now=DEAD
    )
    await store.executions.admit([job], now=DEAD, limit=10)

    assert (await seen(store, second)).waits_for is WaitsFor.SLOT
    [leased] = await alone(store)
    await end(store, leased, DONE, now=DEAD)
    assert (await seen(store, second)).waits_for is None


async def test_a_lost_answer_of_a_claim_alone_is_given_again(store: Store) -> None:
    await suspects(store, 2)
    once = request(BOB, is_alone=True)
    first = await store.executions.claim(once, now=DEAD, lease_until=DEAD + LEASE)

    assert await store.executions.claim(once, now=DEAD, lease_until=DEAD + LEASE) == first


async def test_a_worker_sees_when_a_suspect_is_due(store: Store) -> None:
    await suspects(store, 1)

    assert await store.executions.next_due(request(), after=NOW) == DEAD
    assert await store.executions.next_due(request(kinds=frozenset({"other"})), after=NOW) is None


async def test_a_place_tells_how_often_the_worker_died(store: Store) -> None:
    [one] = await suspects(store, 1)

    place = await store.executions.place((await seen(store, one)).tenant_id, one)

    assert place is not None
    assert (place.waits_for, place.crashes) == (WaitsFor.EMPTY_WORKER, 1)


# Who makes room for it ---------------------------------------------------------------------------------


async def holds_back(store: Store, worker: WorkerId, now: datetime) -> bool:
    return await store.executions.hold_back(worker, request(worker), now=now)


async def test_one_worker_holds_back_for_a_suspect_that_has_waited(store: Store) -> None:
    await suspects(store, 3)

    assert not await holds_back(store, ADA, PATIENT - SECOND)
    assert await holds_back(store, ADA, PATIENT)
    assert not await holds_back(store, BOB, PATIENT + SECOND)
    assert await holds_back(store, ADA, PATIENT + SECOND)


async def test_a_worker_holds_back_for_nothing_that_it_cannot_run(store: Store) -> None:
    await suspects(store, 1)

    others = request(ADA, kinds=frozenset({"other"}))
    assert not await store.executions.hold_back(ADA, others, now=PATIENT)


async def test_another_one_holds_back_when_the_first_asks_no_more(store: Store) -> None:
    await suspects(store, 1)
    await holds_back(store, ADA, PATIENT)

    assert not await holds_back(store, BOB, PATIENT + RESERVED_FOR - SECOND)
    assert await holds_back(store, BOB, PATIENT + RESERVED_FOR)
    assert not await holds_back(store, ADA, PATIENT + RESERVED_FOR)


async def test_a_worker_that_does_not_get_empty_gives_up_for_a_while(store: Store) -> None:
    await suspects(store, 1)
    asked = [PATIENT + timedelta(seconds=10 * place) for place in range(200)]

    held_back = [now for now in asked if await holds_back(store, ADA, now)]

    first = [now for now in held_back if now < PATIENT + RESERVED_MAX]
    assert timedelta(0) <= RESERVED_MAX - (first[-1] - first[0]) <= RESERVED_FOR + 10 * SECOND
    assert min(now for now in held_back if now not in first) == PATIENT + RESERVED_AGAIN_AFTER


async def test_who_takes_the_suspect_holds_back_no_more(store: Store) -> None:
    await suspects(store, 2)
    await holds_back(store, ADA, PATIENT)
    await alone(store, ADA, now=PATIENT)

    assert await holds_back(store, BOB, PATIENT)


# Workers whose leases the store counts -----------------------------------------------------------------


async def counted(store: Store, *, now: datetime, worker: WorkerId = BOB) -> list[Leased]:
    await store.workers.register(registration(worker, slots=3), now=now)
    return await claim(store, worker, now=now, limit=3, is_counted=True)


async def test_a_counted_worker_that_is_empty_gets_a_suspect_and_nothing_beside_it(store: Store) -> None:
    first, second = await suspects(store, 2)

    [leased] = await counted(store, now=DEAD)
    await ordinary(store, 2)
    assert leased.claim.execution_id == first
    assert await counted(store, now=DEAD) == []

    await end(store, leased, DONE, now=DEAD)
    others = await counted(store, now=DEAD)
    assert len(others) == 2
    assert second not in {one.claim.execution_id for one in others}


async def test_a_counted_worker_that_is_busy_is_made_to_wait_until_it_is_empty(store: Store) -> None:
    [suspect] = await suspects(store, 1)
    await ordinary(store, 2)
    busy = await counted(store, now=DEAD)
    await ordinary(store, 9)
    assert len(busy) == 2

    assert await counted(store, now=PATIENT) == []
    for one in busy:
        await end(store, one, DONE, now=PATIENT)
    [leased] = await counted(store, now=PATIENT + SECOND)

    assert leased.claim.execution_id == suspect
    await end(store, leased, DONE, now=PATIENT + MINUTE)
    assert len(await counted(store, now=PATIENT + MINUTE)) == 3


@pytest.mark.parametrize("slots", [1, 3])
async def test_a_counted_worker_that_asks_only_when_it_is_empty_takes_suspects_and_other_work(
    store: Store, slots: int
) -> None:
    """There is always other work, and it never asks while it is busy."""
    await suspects(store, 3)
    registered = registration(BOB, slots=slots)
    await store.workers.register(registered, now=DEAD)
    at, taken = DEAD, []
    for _ in range(100):
        await ordinary(store, slots)
        at += SECOND
        await store.workers.beat(BOB, registered.boot, now=at)
        leased = await claim(store, BOB, now=at, limit=slots, is_counted=True)
        taken.append(sum(one.is_suspect for one in leased))
        assert len(leased) == 1 if taken[-1] else slots
        for one in leased:
            await end(store, one, DONE, now=at)

    assert sum(taken[:4]) == 0
    assert sum(taken) == 3
