"""API keys are kept without their secrets, found by their id, and revoked for good."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from gnomon.core.access.keys import ApiKey, KeyId, KeySource, Scope
from gnomon.core.access.tenants import DEFAULT_TENANT, Tenant, TenantId
from gnomon.errors import KeyNotFound, LastAdminKey, TenantNotFound
from gnomon.store.protocols.store import Store
from tests.contract.given import HOUR, MINUTE, NOW, new_id


def a_key(name: str = "ci", tenant_id: TenantId = DEFAULT_TENANT) -> ApiKey:
    return ApiKey(
        KeyId(new_id()), tenant_id, name, "ab" * 32, frozenset({Scope.READ, Scope.WORKER}), NOW, NOW + HOUR
    )


async def test_a_key_comes_back_as_it_was_made(store: Store) -> None:
    key = a_key()
    await store.keys.create(key)

    assert await store.keys.find(key.id) == key


def an_admin_key(tenant_id: TenantId = DEFAULT_TENANT) -> ApiKey:
    return replace(a_key(tenant_id=tenant_id), scopes=frozenset({Scope.ADMIN}))


async def test_a_key_comes_back_with_how_it_was_made(store: Store) -> None:
    key = replace(a_key(), created_through=KeySource.DATABASE)
    await store.keys.create(key)

    assert (await store.keys.find(key.id)).created_through is KeySource.DATABASE


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


# The last admin key ---------------------------------------------------------------------------------


async def test_the_last_admin_key_cannot_be_revoked(store: Store) -> None:
    key = an_admin_key()
    for one in (key, a_key()):
        await store.keys.create(one)

    with pytest.raises(LastAdminKey):
        await store.keys.revoke(DEFAULT_TENANT, key.id, now=NOW)
    assert (await store.keys.find(key.id)).is_valid(NOW)


async def test_an_admin_key_can_be_revoked_while_there_is_another(store: Store) -> None:
    first, second = an_admin_key(), an_admin_key()
    for one in (first, second):
        await store.keys.create(one)

    assert (await store.keys.revoke(DEFAULT_TENANT, first.id, now=NOW)).revoked_at == NOW
    assert (await store.keys.revoke(DEFAULT_TENANT, first.id, now=NOW + MINUTE)).revoked_at == NOW
    with pytest.raises(LastAdminKey):
        await store.keys.revoke(DEFAULT_TENANT, second.id, now=NOW)


async def test_an_expired_admin_key_does_not_stand_for_a_valid_one_and_can_be_revoked(store: Store) -> None:
    lasting = replace(an_admin_key(), expires_at=None)
    ending = an_admin_key()
    for one in (lasting, ending):
        await store.keys.create(one)

    with pytest.raises(LastAdminKey):
        await store.keys.revoke(DEFAULT_TENANT, lasting.id, now=NOW + HOUR)
    assert (await store.keys.revoke(DEFAULT_TENANT, ending.id, now=NOW + HOUR)).revoked_at == NOW + HOUR


async def test_the_admin_key_of_another_tenant_does_not_count(store: Store) -> None:
    other = TenantId(new_id())
    await store.tenants.save(Tenant(other, "other"), now=NOW)
    ours, theirs = an_admin_key(), an_admin_key(other)
    for one in (ours, theirs):
        await store.keys.create(one)

    with pytest.raises(LastAdminKey):
        await store.keys.revoke(DEFAULT_TENANT, ours.id, now=NOW)


async def test_of_admin_keys_that_are_all_revoked_at_once_one_is_left(store: Store) -> None:
    keys = [an_admin_key() for _ in range(8)]
    for one in keys:
        await store.keys.create(one)

    asked = (store.keys.revoke(DEFAULT_TENANT, one.id, now=NOW) for one in keys)
    answers = await asyncio.gather(*asked, return_exceptions=True)

    assert [type(one) for one in answers].count(LastAdminKey) == 1
    left = [one for one in (await store.keys.page(DEFAULT_TENANT, limit=10)).items if one.is_valid(NOW)]
    assert len(left) == 1


# When a key was last used ---------------------------------------------------------------------------


async def test_the_last_use_of_many_keys_is_kept_and_never_goes_back(store: Store) -> None:
    keys = [a_key(), a_key(), a_key()]
    for one in keys:
        await store.keys.create(one)

    await store.keys.used({keys[0].id: NOW + MINUTE, keys[1].id: NOW, KeyId(new_id()): NOW})
    await store.keys.used({keys[0].id: NOW, keys[1].id: NOW + HOUR})
    await store.keys.used({})

    assert [(await store.keys.find(one.id)).last_used_at for one in keys] == [NOW + MINUTE, NOW + HOUR, None]
