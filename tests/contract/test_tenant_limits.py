"""A tenant with a limit never has more running at once, whoever claims, and holds up nobody else."""

from __future__ import annotations

import asyncio

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT, Tenant, TenantId
from gnomon.core.executions.execution import ExecutionId
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    BOB,
    LEASE,
    NOW,
    ask,
    claim,
    create_one,
    end,
    new_job,
    other_tenant,
    request,
)

SECONDS_LATER = NOW.replace(second=30)  # By then every claimer has learned what changed.


@pytest.fixture
async def tenant(store: Store) -> TenantId:
    return await other_tenant(store)


async def limit(store: Store, tenant_id: TenantId, max_concurrent: int | None) -> None:
    await store.tenants.save(Tenant(tenant_id, "neighbours", max_concurrent=max_concurrent), now=NOW)


async def waiting(store: Store, tenant_id: TenantId, count: int) -> list[ExecutionId]:
    job = await create_one(store, new_job(tenant_id=tenant_id))
    enqueued = await store.executions.enqueue(tenant_id, [ask(job) for _ in range(count)], now=NOW)
    return [one.id for one in enqueued]


async def test_no_more_run_at_once_than_the_limit(store: Store, tenant: TenantId) -> None:
    await limit(store, tenant, 3)
    await waiting(store, tenant, 5)

    first, second = await claim(store, limit=2), await claim(store, BOB, limit=10)

    assert (len(first), len(second)) == (2, 1)
    assert await claim(store) == []
    await end(store, first[0])
    assert len(await claim(store)) == 1


async def test_who_claims_at_the_same_time_does_not_exceed_it_together(
    store: Store, tenant: TenantId
) -> None:
    await limit(store, tenant, 5)
    await waiting(store, tenant, 40)

    answers = await asyncio.gather(*(claim(store, limit=4) for _ in range(8)))

    assert sum(map(len, answers)) == 5


async def test_a_tenant_at_its_limit_holds_up_nobody_else(store: Store, tenant: TenantId) -> None:
    await limit(store, tenant, 1)
    await waiting(store, tenant, 20)
    assert len(await claim(store)) == 1
    [execution_id] = await waiting(store, DEFAULT_TENANT, 1)

    [leased] = await claim(store, limit=1, now=SECONDS_LATER)

    assert leased.claim.execution_id == execution_id


async def test_a_tenant_with_a_limit_gets_its_turn_beside_others(store: Store, tenant: TenantId) -> None:
    await limit(store, tenant, 1)
    await waiting(store, DEFAULT_TENANT, 100)
    [execution_id] = await waiting(store, tenant, 1)

    # Chance decides who comes first: that it never is this one has odds of 1 in 2**60.
    for _ in range(60):
        if execution_id in {one.claim.execution_id for one in await claim(store, limit=1, now=SECONDS_LATER)}:
            return
    raise AssertionError("It never got its turn.")


async def test_a_limit_that_is_lowered_stops_nothing_and_lets_nothing_in(
    store: Store, tenant: TenantId
) -> None:
    await waiting(store, tenant, 4)
    held = await claim(store, limit=3)

    await limit(store, tenant, 1)

    assert await claim(store, now=SECONDS_LATER) == []
    for leased in held:
        await end(store, leased, now=SECONDS_LATER)
    assert len(await claim(store, now=SECONDS_LATER)) == 1


async def test_a_limit_that_is_lifted_lets_all_in(store: Store, tenant: TenantId) -> None:
    await limit(store, tenant, 1)
    await waiting(store, tenant, 4)
    assert len(await claim(store)) == 1

    await limit(store, tenant, None)

    assert len(await claim(store, now=SECONDS_LATER)) == 3


async def test_a_request_that_is_repeated_below_the_limit_gets_what_it_got(
    store: Store, tenant: TenantId
) -> None:
    await limit(store, tenant, 5)
    await waiting(store, tenant, 3)
    asked = [request(limit=1) for _ in range(3)]
    first = [await store.executions.claim(one, now=NOW, lease_until=NOW + LEASE) for one in asked]

    again = [await store.executions.claim(one, now=NOW, lease_until=NOW + LEASE) for one in asked]

    assert first == again
    assert [len(one) for one in first] == [1, 1, 1]


async def test_a_request_that_is_repeated_at_the_limit_gets_what_it_got(
    store: Store, tenant: TenantId
) -> None:
    await limit(store, tenant, 1)
    await waiting(store, tenant, 1)
    asked = request()
    first = await store.executions.claim(asked, now=NOW, lease_until=NOW + LEASE)

    again = await store.executions.claim(asked, now=NOW, lease_until=NOW + LEASE)

    assert first == again
    assert len(first) == 1
