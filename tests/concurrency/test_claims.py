"""Many claimers, one queue: each execution goes to one of them, and each claim is settled once."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from uuid import UUID

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionStatus, WorkerId
from gnomon.core.executions.lease import LEASE, Claim, Leased
from gnomon.core.executions.lifecycle import LeaseExpired
from gnomon.core.jobs.job import Definition
from gnomon.store.protocols.changes import Applied
from gnomon.store.sql_store import SqlStore
from tests.concurrency.conftest import Crowd
from tests.contract.given import (
    DONE,
    NOW,
    SECOND,
    ask,
    claim,
    create,
    decided,
    new_job,
    registration,
    request,
)

SECONDS_MAX = 60
QUEUES = frozenset({"default", "slow"})
KINDS = frozenset({"echo", "http"})


async def test_sixteen_claimers_get_each_of_five_thousand_executions_once(crowd: Crowd) -> None:
    stores = await crowd(16)
    waiting = await fill(stores[0], 5000)
    taken: Counter[UUID] = Counter()

    async def work(store: SqlStore, worker: WorkerId) -> None:
        # A claim may come back empty while others hold locks on what is left; so count, and ask again.
        while taken.total() < len(waiting):
            leased = await claim(store, worker, limit=20, kinds=KINDS, queues=QUEUES)
            taken.update(one.claim.execution_id for one in leased)

    async with asyncio.timeout(SECONDS_MAX), asyncio.TaskGroup() as group:
        for number, store in enumerate(stores):
            group.create_task(work(store, WorkerId(f"worker {number}")))

    assert set(taken) == waiting
    assert set(taken.values()) == {1}
    assert await claim(stores[0], kinds=KINDS, queues=QUEUES) == []


async def test_a_worker_that_claims_at_many_nodes_at_once_gets_what_it_has_slots_for(crowd: Crowd) -> None:
    stores = await crowd(8)
    await fill(stores[0], 300)
    await stores[0].workers.register(registration(slots=20), now=NOW)

    for _ in range(3):
        answers = await asyncio.gather(
            *(claim(store, limit=9, kinds=KINDS, queues=QUEUES, is_counted=True) for store in stores)
        )
        assert sum(map(len, answers)) == 20
        for leased in answers:
            await stores[0].executions.apply([decided(one, DONE) for one in leased], now=NOW)


async def test_one_request_sent_twice_at_once_gets_one_set_of_claims(crowd: Crowd) -> None:
    stores = await crowd(4)
    waiting = await fill(stores[0], 300)
    held: list[Leased] = []
    while len(held) < len(waiting):
        asked = request(limit=10, kinds=KINDS, queues=QUEUES)
        answers = await asyncio.gather(
            *(store.executions.claim(asked, now=NOW, lease_until=NOW + LEASE) for store in stores)
        )
        again = await stores[0].executions.claim(asked, now=NOW, lease_until=NOW + LEASE)
        assert again
        # One that finds all that is left locked by its twin, which has not committed, knows of nothing yet.
        assert all(answer in ([], again) for answer in answers)
        held += again
    assert {one.claim.execution_id for one in held} == waiting
    assert len(held) == len(waiting)
    assert len(await leases(stores[0])) == len(waiting)


async def test_a_repeat_gets_what_its_twin_got_also_while_that_is_still_at_work(crowd: Crowd) -> None:
    stores = await crowd(4)
    waiting = await fill(stores[0], 100)
    held: list[Leased] = []
    while len(held) < len(waiting):
        first = request(limit=10, kinds=KINDS, queues=QUEUES)
        asked = [first, *[replace(first, is_repeat=True)] * 3]
        answers = await asyncio.gather(
            *(
                store.executions.claim(one, now=NOW, lease_until=NOW + LEASE)
                for store, one in zip(stores, asked, strict=True)
            )
        )
        again = await stores[0].executions.claim(asked[1], now=NOW, lease_until=NOW + LEASE)
        # The first one may find all that is left locked by a repeat that was faster, and know of nothing yet.
        assert answers[0] in ([], again)
        assert all(answer == again for answer in answers[1:])
        held += again
    assert {one.claim.execution_id for one in held} == waiting
    assert len(held) == len(waiting)


async def test_workers_and_reapers_settle_each_claim_once(crowd: Crowd) -> None:
    stores = await crowd(8)
    waiting = await fill(stores[0], 400)
    leased = await claim(stores[0], limit=400, kinds=KINDS, queues=QUEUES)
    late = NOW + LEASE + SECOND
    settled: list[tuple[Claim, Applied]] = []

    async def finish(store: SqlStore, mine: list[Leased]) -> None:
        for one in mine:
            [answer] = await store.executions.apply([decided(one, DONE, now=late)], now=late)
            settled.append((one.claim, answer))

    async def reap(store: SqlStore) -> None:
        while found := await store.executions.expired(now=late, limit=50):
            decisions = [decided(one, LeaseExpired(), now=late) for one in found]
            answers = await store.executions.apply(decisions, now=late)
            settled.extend((one.claim, answer) for one, answer in zip(found, answers, strict=True))

    async with asyncio.timeout(SECONDS_MAX), asyncio.TaskGroup() as group:
        for number, store in enumerate(stores[:6]):
            group.create_task(finish(store, leased[number::6]))
        for store in stores[6:]:
            group.create_task(reap(store))

    applied = Counter(claim for claim, answer in settled if answer is Applied.APPLIED)
    assert set(applied) == {one.claim for one in leased}
    assert set(applied.values()) == {1}
    ends = [
        (await stores[0].executions.get(DEFAULT_TENANT, one.claim.execution_id, now=late)).status
        for one in leased
    ]
    assert set(ends) <= {ExecutionStatus.COMPLETED, ExecutionStatus.PENDING}
    assert {one.claim.execution_id for one in leased} == waiting


async def test_a_lease_that_is_renewed_in_time_is_not_reaped(crowd: Crowd) -> None:
    stores = await crowd(4)
    await fill(stores[0], 200)
    leased = await claim(stores[0], limit=200, kinds=KINDS, queues=QUEUES)
    late, later = NOW + LEASE + SECOND, NOW + LEASE * 3
    kept: set[Claim] = set()
    reaped: set[Claim] = set()

    async def renew(store: SqlStore) -> None:
        for start in range(0, len(leased), 5):
            claims = [one.claim for one in leased[start : start + 5]]
            kept.update(renewed.claim for renewed in await store.executions.renew(claims, lease_until=later))

    async def reap(store: SqlStore) -> None:
        while found := await store.executions.expired(now=late, limit=7):
            decisions = [decided(one, LeaseExpired(), now=late) for one in found]
            answers = await store.executions.apply(decisions, now=late)
            reaped.update(
                one.claim for one, answer in zip(found, answers, strict=True) if answer is Applied.APPLIED
            )

    async with asyncio.timeout(SECONDS_MAX):
        await asyncio.gather(renew(stores[0]), *(reap(store) for store in stores[1:]))

    assert kept | reaped == {one.claim for one in leased}
    # Who was told that the lease holds, and did not let it run out, holds it still.
    assert not kept & reaped


async def fill(store: SqlStore, count: int) -> set[UUID]:
    """So many due executions, over several queues, kinds and priorities."""
    jobs = await create(
        store,
        *(
            new_job(definition=Definition(kind, queue=queue))
            for kind in sorted(KINDS)
            for queue in sorted(QUEUES)
        ),
    )
    asked = [ask(jobs[n % len(jobs)], priority=n % 3 * 4, due=NOW - SECOND * (n % 7)) for n in range(count)]
    for start in range(0, count, 1000):
        await store.executions.enqueue(DEFAULT_TENANT, asked[start : start + 1000], now=NOW)
    return {one.id for one in asked}


async def leases(store: SqlStore) -> list[Leased]:
    return list(await store.executions.expired(now=NOW + LEASE * 2, limit=10_000))
