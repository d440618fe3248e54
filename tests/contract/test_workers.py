"""Workers introduce themselves, beat, drain and leave; tenants are kept."""

from __future__ import annotations

import pytest

from gnomon.core.execution import WorkerId
from gnomon.core.job import DEFAULT_TENANT, TenantId
from gnomon.core.records import Tenant
from gnomon.core.worker import Worker, WorkerStatus
from gnomon.errors import TenantNotFound, WorkerNotFound
from gnomon.store.base import Store
from tests.contract.given import (
    ADA,
    BOB,
    DONE,
    HOUR,
    MINUTE,
    NOW,
    ask,
    claim,
    create_one,
    end,
    enqueue,
    new_id,
    registration,
)


async def test_a_registered_worker_is_active_and_runs_nothing(store: Store) -> None:
    asked = registration(
        ADA,
        slots=8,
        kinds=frozenset({"echo", "http"}),
        queues=frozenset({"a"}),
        capabilities=frozenset({"gpu"}),
    )

    await store.workers.register(asked, now=NOW)

    assert await store.workers.get(ADA) == Worker(
        id=ADA,
        boot=asked.boot,
        hostname="host",
        slots=8,
        kinds=frozenset({"echo", "http"}),
        queues=frozenset({"a"}),
        capabilities=frozenset({"gpu"}),
        status=WorkerStatus.ACTIVE,
        running=0,
        registered_at=NOW,
        last_seen_at=NOW,
    )


async def test_a_beat_says_that_the_worker_lives(store: Store) -> None:
    asked = registration()
    await store.workers.register(asked, now=NOW)

    worker = await store.workers.beat(ADA, asked.boot, now=NOW + MINUTE)

    assert (worker.registered_at, worker.last_seen_at) == (NOW, NOW + MINUTE)
    assert await store.workers.get(ADA) == worker


async def test_a_drained_worker_hears_it_with_its_next_beat(store: Store) -> None:
    asked = registration()
    await store.workers.register(asked, now=NOW)

    assert (await store.workers.drain(ADA)).status is WorkerStatus.DRAINING

    assert (await store.workers.beat(ADA, asked.boot, now=NOW)).status is WorkerStatus.DRAINING
    assert (await store.workers.drain(ADA)).status is WorkerStatus.DRAINING


async def test_an_undrained_worker_is_active_again(store: Store) -> None:
    asked = registration()
    await store.workers.register(asked, now=NOW)
    await store.workers.drain(ADA)

    assert (await store.workers.undrain(ADA)).status is WorkerStatus.ACTIVE
    assert (await store.workers.undrain(ADA)).status is WorkerStatus.ACTIVE

    await store.workers.leave(ADA, asked.boot, now=NOW)
    assert (await store.workers.undrain(ADA)).status is WorkerStatus.GONE


async def test_a_worker_that_left_is_gone(store: Store) -> None:
    asked = registration()
    await store.workers.register(asked, now=NOW)

    await store.workers.leave(ADA, asked.boot, now=NOW + MINUTE)

    gone = await store.workers.get(ADA)
    assert (gone.status, gone.last_seen_at) == (WorkerStatus.GONE, NOW + MINUTE)


async def test_the_newer_boot_takes_the_name(store: Store) -> None:
    old, new = registration(), registration(hostname="other", slots=2)
    await store.workers.register(old, now=NOW)
    await store.workers.drain(ADA)
    await store.workers.register(new, now=NOW + HOUR)

    with pytest.raises(WorkerNotFound):
        await store.workers.beat(ADA, old.boot, now=NOW + HOUR)
    await store.workers.leave(ADA, old.boot, now=NOW + HOUR)

    worker = await store.workers.get(ADA)
    assert (worker.boot, worker.hostname, worker.slots) == (new.boot, "other", 2)
    assert (worker.status, worker.registered_at) == (WorkerStatus.ACTIVE, NOW + HOUR)


async def test_a_worker_that_left_can_come_back_with_a_new_boot(store: Store) -> None:
    old, new = registration(), registration()
    await store.workers.register(old, now=NOW)
    await store.workers.leave(ADA, old.boot, now=NOW)

    await store.workers.register(new, now=NOW + HOUR)

    assert (await store.workers.beat(ADA, new.boot, now=NOW + HOUR)).status is WorkerStatus.ACTIVE


async def test_a_beat_counts_what_runs_like_everybody_else(store: Store) -> None:
    asked = registration()
    await store.workers.register(asked, now=NOW)
    job = await create_one(store)
    await enqueue(store, ask(job), ask(job), ask(job))
    await claim(store, ADA, limit=2)

    beat = await store.workers.beat(ADA, asked.boot, now=NOW + MINUTE)

    assert beat.running == 2
    assert beat == await store.workers.get(ADA)


async def test_what_runs_on_a_worker_is_counted_from_its_leases(store: Store) -> None:
    for worker in (ADA, BOB):
        await store.workers.register(registration(worker), now=NOW)
    job = await create_one(store)
    await enqueue(store, *(ask(job) for _ in range(5)))
    first, *_ = await claim(store, ADA, limit=3)
    await claim(store, BOB, limit=1)

    assert [worker.running for worker in await store.workers.list(limit=10)] == [3, 1]

    await end(store, first, DONE)
    assert (await store.workers.get(ADA)).running == 2


async def test_a_worker_may_claim_before_it_is_registered(store: Store) -> None:
    job = await create_one(store)
    await enqueue(store, ask(job))

    assert len(await claim(store, ADA)) == 1

    await store.workers.register(registration(), now=NOW)
    assert (await store.workers.get(ADA)).running == 1


async def test_workers_are_listed_by_id_in_pages(store: Store) -> None:
    names = ["ada", "Zoe", "bob-10", "bob-9", "élan", "_x"]
    for name in names:
        await store.workers.register(registration(WorkerId(name)), now=NOW)

    first = await store.workers.list(limit=4)
    rest = await store.workers.list(limit=4, after=first[-1].id)

    assert [worker.id for worker in [*first, *rest]] == sorted(names)
    assert list(await store.workers.list(limit=4, after=rest[-1].id)) == []


async def test_unknown_workers_are_not_found_and_may_leave_quietly(store: Store) -> None:
    with pytest.raises(WorkerNotFound):
        await store.workers.get(ADA)
    with pytest.raises(WorkerNotFound):
        await store.workers.beat(ADA, new_id(), now=NOW)
    with pytest.raises(WorkerNotFound):
        await store.workers.drain(ADA)
    with pytest.raises(WorkerNotFound):
        await store.workers.undrain(ADA)

    await store.workers.leave(ADA, new_id(), now=NOW)

    assert list(await store.workers.list(limit=10)) == []


# Tenants ----------------------------------------------------------------------------------------------


async def test_the_default_tenant_exists_from_the_start(store: Store) -> None:
    assert (await store.tenants.get(DEFAULT_TENANT)).id == DEFAULT_TENANT


async def test_a_tenant_is_created_and_replaced(store: Store) -> None:
    tenant_id = TenantId(new_id())
    await store.tenants.save(Tenant(tenant_id, "acme"), now=NOW)
    assert await store.tenants.get(tenant_id) == Tenant(tenant_id, "acme", weight=1, max_concurrent=None)

    await store.tenants.save(Tenant(tenant_id, "ACME", weight=7, max_concurrent=3), now=NOW)

    assert await store.tenants.get(tenant_id) == Tenant(tenant_id, "ACME", weight=7, max_concurrent=3)


async def test_an_unknown_tenant_is_not_found(store: Store) -> None:
    with pytest.raises(TenantNotFound):
        await store.tenants.get(TenantId(new_id()))
