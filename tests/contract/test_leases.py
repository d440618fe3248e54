"""Holding on to what runs: renewals, expiry, and asking it to stop."""

from __future__ import annotations

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus
from gnomon.core.executions.lease import LEASE, Claim, Renewed
from gnomon.core.executions.lifecycle import Released
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    DONE,
    FAILED,
    HOUR,
    MINUTE,
    NOW,
    OOPS,
    SECOND,
    ask,
    claim,
    claim_one,
    create_one,
    end,
    enqueue,
    enqueue_one,
    new_id,
    other_tenant,
    running,
    seen,
    tries,
)

LATER = NOW + HOUR


async def test_a_renewal_moves_the_end_of_the_lease(store: Store) -> None:
    leased = await running(store)

    assert list(await store.executions.renew([leased.claim], lease_until=LATER)) == [
        Renewed(leased.claim, False)
    ]

    assert list(await store.executions.expired(now=LATER, limit=10)) == []
    [expired] = await store.executions.expired(now=LATER + SECOND, limit=10)
    assert (expired.claim, expired.lease_until) == (leased.claim, LATER)


async def test_a_renewal_that_arrives_late_takes_no_time_away(store: Store) -> None:
    leased = await running(store)
    await store.executions.renew([leased.claim], lease_until=LATER)

    await store.executions.renew([leased.claim], lease_until=NOW + MINUTE)

    assert list(await store.executions.expired(now=LATER, limit=10)) == []


async def test_lost_claims_are_missing_from_the_answer(store: Store) -> None:
    job = await create_one(store)
    await enqueue(store, *(ask(job) for _ in range(3)))
    ended, released, held = await claim(store)
    await end(store, ended, DONE)
    await end(store, released, Released())
    nobody = Claim(ExecutionId(new_id()), 1)
    future = Claim(held.claim.execution_id, 2)

    answer = await store.executions.renew(
        [ended.claim, nobody, released.claim, held.claim, future], lease_until=LATER
    )

    assert list(answer) == [Renewed(held.claim, False)]


async def test_a_zombie_cannot_renew_what_somebody_else_holds(store: Store) -> None:
    zombie = await running(store)
    await end(store, zombie, Released())
    current = await claim_one(store)

    assert list(await store.executions.renew([zombie.claim], lease_until=LATER)) == []

    assert [one.claim for one in await store.executions.expired(now=LATER, limit=10)] == [current.claim]


async def test_a_claim_named_twice_is_no_trouble(store: Store) -> None:
    leased = await running(store)

    answer = await store.executions.renew([leased.claim, leased.claim], lease_until=LATER)

    assert set(answer) == {Renewed(leased.claim, False)}


async def test_a_lease_that_ran_out_can_be_renewed_until_somebody_takes_it(store: Store) -> None:
    leased = await running(store)
    assert len(await store.executions.expired(now=LATER, limit=10)) == 1

    assert len(await store.executions.renew([leased.claim], lease_until=LATER + LEASE)) == 1

    assert list(await store.executions.expired(now=LATER, limit=10)) == []


async def test_leases_expire_oldest_first_and_not_before_their_end(store: Store) -> None:
    job = await create_one(store)
    await enqueue(store, *(ask(job) for _ in range(3)))
    a, b, c = await claim(store)
    await store.executions.renew([a.claim], lease_until=NOW + 3 * MINUTE)
    await store.executions.renew([b.claim], lease_until=NOW + 1 * MINUTE)
    await store.executions.renew([c.claim], lease_until=NOW + 2 * MINUTE)

    async def expired(now: object, limit: int = 10) -> list[Claim]:
        return [one.claim for one in await store.executions.expired(now=now, limit=limit)]  # type: ignore[arg-type]

    assert await expired(NOW + MINUTE) == []
    assert await expired(NOW + 2 * MINUTE) == [b.claim]
    assert await expired(NOW + HOUR) == [b.claim, c.claim, a.claim]
    assert await expired(NOW + HOUR, limit=2) == [b.claim, c.claim]


async def test_what_has_expired_comes_with_all_that_deciding_needs(store: Store) -> None:
    leased = await running(store, tries(3))

    assert list(await store.executions.expired(now=LATER, limit=1)) == [leased]


# Cancel -----------------------------------------------------------------------------------------------


async def test_cancelling_ends_what_waits_asks_what_runs_and_leaves_what_has_ended(store: Store) -> None:
    job = await create_one(store)
    ended, started, ready, delayed = await enqueue(
        store, ask(job), ask(job), ask(job, due=NOW + SECOND), ask(job, due=LATER)
    )
    first, _ = await claim(store, limit=2)
    await end(store, first, DONE)
    nobody = ExecutionId(new_id())

    answer = await store.executions.cancel(
        DEFAULT_TENANT, [ended, started, ready, delayed, nobody], now=NOW + MINUTE
    )

    assert dict(answer) == {
        ended: ExecutionStatus.COMPLETED,
        started: ExecutionStatus.RUNNING,
        ready: ExecutionStatus.CANCELLED,
        delayed: ExecutionStatus.CANCELLED,
    }
    cancelled = await seen(store, ready)
    assert (cancelled.status, cancelled.finished_at) == (ExecutionStatus.CANCELLED, NOW + MINUTE)
    assert (cancelled.claim, cancelled.attempts) == (0, 0)
    assert (cancelled.worker, cancelled.started_at) == (None, None)
    assert await claim(store, now=LATER) == []


async def test_a_renewal_tells_the_worker_that_somebody_asked_for_the_end(store: Store) -> None:
    leased = await running(store)
    await store.executions.cancel(DEFAULT_TENANT, [leased.claim.execution_id], now=NOW)

    asked = await seen(store, leased)

    assert (asked.status, asked.cancel_requested) == (ExecutionStatus.RUNNING, True)
    assert list(await store.executions.renew([leased.claim], lease_until=LATER)) == [
        Renewed(leased.claim, True)
    ]
    [expired] = await store.executions.expired(now=LATER + SECOND, limit=1)
    assert expired.cancel_requested


async def test_cancelling_twice_is_cancelling_once(store: Store) -> None:
    execution_id = await enqueue_one(store)
    await store.executions.cancel(DEFAULT_TENANT, [execution_id], now=NOW)
    before = await seen(store, execution_id)

    answer = await store.executions.cancel(DEFAULT_TENANT, [execution_id, execution_id], now=LATER)

    assert dict(answer) == {execution_id: ExecutionStatus.CANCELLED}
    assert await seen(store, execution_id) == before


async def test_a_retry_that_is_cancelled_while_it_waits_keeps_its_history(store: Store) -> None:
    leased = await running(store, tries(3))
    await end(store, leased, FAILED, now=NOW + SECOND)

    await store.executions.cancel(DEFAULT_TENANT, [leased.claim.execution_id], now=NOW + MINUTE)

    ended = await seen(store, leased)
    assert (ended.status, ended.finished_at) == (ExecutionStatus.CANCELLED, NOW + MINUTE)
    assert (ended.claim, ended.attempts, ended.failure) == (1, 1, OOPS)
    assert (ended.worker, ended.started_at) == (leased.worker, NOW)
    assert len(await store.executions.attempts(DEFAULT_TENANT, leased.claim.execution_id)) == 1


async def test_a_cancel_wins_over_a_retry_that_does_not_know_of_it(store: Store) -> None:
    leased = await running(store, tries(3))
    await store.executions.cancel(DEFAULT_TENANT, [leased.claim.execution_id], now=NOW)

    await end(store, leased, FAILED, now=NOW + SECOND)

    ended = await seen(store, leased)
    assert (ended.status, ended.attempts) == (ExecutionStatus.CANCELLED, 1)
    assert await claim(store, now=LATER) == []


async def test_another_tenant_cannot_cancel(store: Store) -> None:
    waiting = await enqueue_one(store)
    neighbours = await other_tenant(store)

    assert dict(await store.executions.cancel(neighbours, [waiting], now=NOW)) == {}

    assert (await seen(store, waiting)).status is ExecutionStatus.QUEUED
