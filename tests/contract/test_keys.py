"""API keys are kept without their secrets, found by their id, and revoked for good."""

from __future__ import annotations

import asyncio

import pytest

from gnomon.core.job import DEFAULT_TENANT, TenantId
from gnomon.core.keys import ApiKey, KeyId, Scope
from gnomon.core.records import Tenant
from gnomon.errors import KeyNotFound, TenantNotFound
from gnomon.store.base import Store
from tests.contract.given import HOUR, MINUTE, NOW, new_id


def a_key(name: str = "ci", tenant_id: TenantId = DEFAULT_TENANT) -> ApiKey:
    return ApiKey(
        KeyId(new_id()), tenant_id, name, "ab" * 32, frozenset({Scope.READ, Scope.WORKER}), NOW, NOW + HOUR
    )


async def test_a_key_comes_back_as_it_was_made(store: Store) -> None:
    key = a_key()
    await store.keys.create(key)

    assert await store.keys.find(key.id) == key


async def test_a_key_that_nobody_made_is_not_found(store: Store) -> None:
    with pytest.raises(KeyNotFound):
        await store.keys.find(KeyId(new_id()))


async def test_a_key_needs_its_tenant(store: Store) -> None:
    with pytest.raises(TenantNotFound):
        await store.keys.create(a_key(tenant_id=TenantId(new_id())))


async def test_of_many_first_keys_one_is_made(store: Store) -> None:
    made = await asyncio.gather(*(store.keys.create_first(a_key(str(number))) for number in range(8)))

    assert sum(made) == 1
    assert len((await store.keys.page(DEFAULT_TENANT, limit=10)).items) == 1


async def test_who_had_a_key_gets_no_first_one_even_if_it_was_revoked(store: Store) -> None:
    key = a_key()
    await store.keys.create(key)
    await store.keys.revoke(DEFAULT_TENANT, key.id, now=NOW)

    assert not await store.keys.create_first(a_key("another"))


async def test_a_revoked_key_keeps_the_time_it_was_revoked_first(store: Store) -> None:
    key = a_key()
    await store.keys.create(key)

    await store.keys.revoke(DEFAULT_TENANT, key.id, now=NOW)
    again = await store.keys.revoke(DEFAULT_TENANT, key.id, now=NOW + MINUTE)

    assert again.revoked_at == NOW
    assert not (await store.keys.find(key.id)).is_valid(NOW)


async def test_a_tenant_sees_and_revokes_its_own_keys_only(store: Store) -> None:
    other = TenantId(new_id())
    await store.tenants.save(Tenant(other, "other"), now=NOW)
    key = a_key()
    await store.keys.create(key)

    assert (await store.keys.page(other, limit=10)).items == ()
    with pytest.raises(KeyNotFound):
        await store.keys.revoke(other, key.id, now=NOW)


async def test_keys_are_listed_newest_first_page_by_page(store: Store) -> None:
    keys = [a_key(str(number)) for number in range(3)]
    for key in keys:
        await store.keys.create(key)

    first = await store.keys.page(DEFAULT_TENANT, limit=2)
    rest = await store.keys.page(DEFAULT_TENANT, limit=2, after=first.next)

    assert [key.name for key in (*first.items, *rest.items)] == ["2", "1", "0"]
    assert rest.next is None
