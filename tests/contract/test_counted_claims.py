"""A worker that is counted gets no more than it has slots for, and only while it is live."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from gnomon.core.executions.lease import LEASE
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    ADA,
    BOB,
    DONE,
    MINUTE,
    NOW,
    ask,
    claim,
    create_one,
    end,
    enqueue,
    registration,
    request,
)


async def waiting(store: Store, count: int) -> None:
    job = await create_one(store)
    await enqueue(store, *(ask(job) for _ in range(count)))


async def test_it_gets_what_it_has_slots_for_and_another_one_for_each_that_ended(store: Store) -> None:
    await waiting(store, 5)
    await store.workers.register(registration(slots=2), now=NOW)

    first, _ = await claim(store, is_counted=True)
    assert await claim(store, is_counted=True) == []
    await end(store, first, DONE)

    assert len(await claim(store, is_counted=True)) == 1
    assert len(await claim(store, BOB)) == 2


async def test_a_beat_that_changes_its_slots_changes_what_it_gets(store: Store) -> None:
    await waiting(store, 5)
    asked = registration(slots=1)
    await store.workers.register(asked, now=NOW)
    await claim(store, is_counted=True)

    await store.workers.beat(ADA, asked.boot, now=NOW, slots=4)

    assert len(await claim(store, is_counted=True)) == 3


async def test_a_full_worker_whose_answer_got_lost_gets_it_again(store: Store) -> None:
    await waiting(store, 2)
    await store.workers.register(registration(slots=1), now=NOW)
    once = request(is_counted=True)
    [leased] = await store.executions.claim(once, now=NOW, lease_until=NOW + LEASE)

    for again in (once, replace(once, is_repeat=True)):
        [same] = await store.executions.claim(again, now=NOW, lease_until=NOW + LEASE)
        assert same.claim == leased.claim


@pytest.mark.parametrize("worker", ["unknown", "drained", "silent", "gone"])
async def test_it_gets_nothing_while_it_is_not_live(store: Store, worker: str) -> None:
    await waiting(store, 1)
    asked = registration()
    if worker != "unknown":
        await store.workers.register(asked, now=NOW - MINUTE if worker == "silent" else NOW)
    if worker == "drained":
        await store.workers.drain(ADA)
    if worker == "gone":
        await store.workers.leave(ADA, asked.boot, now=NOW)

    assert await claim(store, is_counted=True) == []


async def test_a_crowd_of_claims_of_one_worker_does_not_pass_its_slots(store: Store) -> None:
    await waiting(store, 40)
    await store.workers.register(registration(slots=7), now=NOW)

    crowd = await asyncio.gather(*(claim(store, limit=3, is_counted=True) for _ in range(10)))

    assert sum(map(len, crowd)) == 7


async def test_the_request_of_another_worker_returns_nothing_of_it(store: Store) -> None:
    await waiting(store, 2)
    once = request(ADA, limit=1)
    assert len(await store.executions.claim(once, now=NOW, lease_until=NOW + LEASE)) == 1

    for repeat in (False, True):
        stolen = replace(once, worker=BOB, is_repeat=repeat)
        assert list(await store.executions.claim(stolen, now=NOW, lease_until=NOW + LEASE)) == []
