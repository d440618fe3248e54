"""Workers introduce themselves, beat, drain and leave; tenants are kept."""

from __future__ import annotations

import pytest

from gnomon.core.access.keys import KeyId
from gnomon.core.access.tenants import DEFAULT_TENANT, Tenant, TenantId
from gnomon.core.executions.execution import WorkerId
from gnomon.core.operations.workers import Worker, WorkerStatus
from gnomon.errors import TenantNotFound, WorkerNameTaken, WorkerNotFound
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


async def test_the_kinds_of_workers_that_neither_left_nor_fell_silent_are_known(store: Store) -> None:
    here = registration(ADA, kinds=frozenset({"Echo", "http"}))
    gone = registration(BOB, kinds=frozenset({"http", "mail"}))
    await store.workers.register(here, now=NOW)
    await store.workers.register(gone, now=NOW)
    assert await store.workers.live_kinds(now=NOW) == {"echo", "http", "mail"}

    await store.workers.leave(BOB, gone.boot, now=NOW)
    await store.workers.drain(ADA)  # It may be undrained.
    assert await store.workers.live_kinds(now=NOW) == {"echo", "http"}
    assert await store.workers.live_kinds(now=NOW + HOUR) == set()


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


# Keys -------------------------------------------------------------------------------------------------

OURS, THEIRS = KeyId(new_id()), KeyId(new_id())


async def test_a_key_starts_its_worker_again_with_a_later_boot_and_not_with_an_earlier_one(
    store: Store,
) -> None:
    earlier, later = (registration(key_id=OURS) for _ in range(2))
    await store.workers.register(earlier, now=NOW)
    await store.workers.register(later, now=NOW)
    await store.workers.register(later, now=NOW)

    with pytest.raises(WorkerNameTaken):
        await store.workers.register(earlier, now=NOW)
    assert (await store.workers.registered(ADA)).registration == later

    await store.workers.register(earlier, now=NOW + MINUTE)
    assert (await store.workers.registered(ADA)).registration == earlier


@pytest.mark.parametrize("owner", [THEIRS, None])
async def test_the_name_of_a_live_worker_of_another_is_taken(store: Store, owner: KeyId | None) -> None:
    theirs, ours = registration(key_id=owner), registration(key_id=OURS)
    await store.workers.register(theirs, now=NOW)

    with pytest.raises(WorkerNameTaken):
        await store.workers.register(ours, now=NOW + MINUTE - SECOND)
    await store.workers.register(ours, now=NOW + MINUTE)

    assert (await store.workers.get(ADA)).key_id == OURS


async def test_the_name_of_a_worker_that_left_is_free_once_it_holds_nothing(store: Store) -> None:
    theirs, ours = registration(key_id=THEIRS), registration(key_id=OURS)
    await store.workers.register(theirs, now=NOW)
    await enqueue(store, ask(await create_one(store)))
    [leased] = await claim(store, ADA)
    await store.workers.leave(ADA, theirs.boot, now=NOW)

    with pytest.raises(WorkerNameTaken):
        await store.workers.register(ours, now=NOW)
    await end(store, leased, DONE)
    await store.workers.register(ours, now=NOW)

    assert (await store.workers.registered(ADA)).registration == ours


async def test_a_process_on_the_store_takes_any_name(store: Store) -> None:
    await store.workers.register(registration(key_id=THEIRS), now=NOW)
    own = registration()

    await store.workers.register(own, now=NOW)

    assert (await store.workers.registered(ADA)).registration == own


async def test_a_beat_may_change_the_slots(store: Store) -> None:
    asked = registration(slots=8)
    await store.workers.register(asked, now=NOW)

    assert (await store.workers.beat(ADA, asked.boot, now=NOW, slots=3)).slots == 3
    assert (await store.workers.beat(ADA, asked.boot, now=NOW)).slots == 3


async def test_what_a_worker_registered_with_is_known_also_when_it_has_left(store: Store) -> None:
    asked = registration(queues=frozenset({"a", "b"}), key_id=OURS)
    with pytest.raises(WorkerNotFound):
        await store.workers.registered(ADA)
    await store.workers.register(asked, now=NOW)
    assert await store.workers.registered(ADA) == (asked, WorkerStatus.ACTIVE)

    await store.workers.leave(ADA, asked.boot, now=NOW)

    assert await store.workers.registered(ADA) == (asked, WorkerStatus.GONE)


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
