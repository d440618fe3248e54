"""Two calls with one key are one call; one key for two requests is a mistake."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Enqueued, ExecutionId
from gnomon.core.executions.lifecycle import JobAction, change_of
from gnomon.core.executions.records import ExecutionFilter, JobFilter
from gnomon.core.values.idempotency import Idempotency
from gnomon.errors import IdempotencyConflict, JobAlreadyExists, VersionConflict
from gnomon.store.protocols.store import Store
from tests.contract.given import MINUTE, NOW, act, ask, create_one, new_job, other_tenant

KEY = Idempotency("order-7", "fingerprint")
OTHER = Idempotency("order-7", "another fingerprint")


async def count_of_jobs(store: Store) -> int:
    return len((await store.jobs.page(DEFAULT_TENANT, JobFilter(), limit=1000)).items)


async def live_ids(store: Store) -> list[ExecutionId]:
    page = await store.executions.page(DEFAULT_TENANT, ExecutionFilter(), now=NOW, limit=1000)
    return [execution.id for execution in page.items]


async def test_creating_again_with_the_key_returns_the_first_jobs(store: Store) -> None:
    first = await store.jobs.create([new_job("a"), new_job("b")], now=NOW, idempotency=KEY)

    again = await store.jobs.create([new_job("a"), new_job("b")], now=NOW + MINUTE, idempotency=KEY)

    assert again == first
    assert await count_of_jobs(store) == 2


async def test_creating_again_returns_the_jobs_as_they_are_now(store: Store) -> None:
    [job] = await store.jobs.create([new_job("a")], now=NOW, idempotency=KEY)
    paused = await act(store, job, JobAction.PAUSE)

    assert await store.jobs.create([new_job("a")], now=NOW, idempotency=KEY) == [paused]


async def test_creating_something_else_with_the_key_is_refused(store: Store) -> None:
    await store.jobs.create([new_job("a")], now=NOW, idempotency=KEY)

    with pytest.raises(IdempotencyConflict) as refused:
        await store.jobs.create([new_job("b")], now=NOW, idempotency=OTHER)

    assert refused.value.key == "order-7"
    assert await count_of_jobs(store) == 1


async def test_a_refused_call_does_not_use_up_its_key(store: Store) -> None:
    namesake = await create_one(store, new_job("a"))
    with pytest.raises(JobAlreadyExists):
        await store.jobs.create([new_job("a")], now=NOW, idempotency=KEY)
    await act(store, namesake, JobAction.DELETE)

    new = new_job("a")
    [job] = await store.jobs.create([new], now=NOW, idempotency=OTHER)

    assert job.id == new.id


async def test_changing_again_with_the_key_changes_nothing_more(store: Store) -> None:
    job = await create_one(store)
    pause = change_of(job, JobAction.PAUSE, next_run_time=None)
    first = await store.jobs.change([pause], now=NOW, idempotency=KEY)

    again = await store.jobs.change([pause], now=NOW + MINUTE, idempotency=KEY)

    assert again == first
    assert (await store.jobs.get(DEFAULT_TENANT, job.id)).version == 2


async def test_changing_something_else_with_the_key_is_refused(store: Store) -> None:
    job = await create_one(store)
    pause = change_of(job, JobAction.PAUSE, next_run_time=None)
    [paused] = await store.jobs.change([pause], now=NOW, idempotency=KEY)
    resume = change_of(paused, JobAction.RESUME, next_run_time=None)

    with pytest.raises(IdempotencyConflict):
        await store.jobs.change([resume], now=NOW, idempotency=OTHER)

    assert await store.jobs.get(DEFAULT_TENANT, job.id) == paused


async def test_a_stale_change_does_not_use_up_its_key(store: Store) -> None:
    job = await create_one(store)
    pause = change_of(job, JobAction.PAUSE, next_run_time=None)
    with pytest.raises(VersionConflict):
        await store.jobs.change([replace(pause, expected_version=9)], now=NOW, idempotency=KEY)

    [paused] = await store.jobs.change([pause], now=NOW, idempotency=OTHER)

    assert paused.version == 2


async def test_enqueuing_again_with_the_key_answers_the_same(store: Store) -> None:
    job = await create_one(store)
    first = await store.executions.enqueue(DEFAULT_TENANT, [ask(job), ask(job)], now=NOW, idempotency=KEY)

    again = await store.executions.enqueue(DEFAULT_TENANT, [ask(job), ask(job)], now=NOW, idempotency=KEY)

    assert [kept.id for kept in again] == [kept.id for kept in first]
    assert await live_ids(store) == [first[1].id, first[0].id]


async def test_enqueuing_again_names_the_execution_that_held_the_unique_key(store: Store) -> None:
    job = await create_one(store)
    [holder] = await store.executions.enqueue(DEFAULT_TENANT, [ask(job, unique_key="user 7")], now=NOW)
    asked = [ask(job, unique_key="user 7"), ask(job)]
    first = await store.executions.enqueue(DEFAULT_TENANT, asked, now=NOW, idempotency=KEY)
    assert first[0] == Enqueued(holder.id, is_new=False)

    again = await store.executions.enqueue(DEFAULT_TENANT, asked, now=NOW, idempotency=KEY)

    assert [kept.id for kept in again] == [kept.id for kept in first]


async def test_enqueuing_something_else_with_the_key_is_refused(store: Store) -> None:
    job = await create_one(store)
    [kept] = await store.executions.enqueue(DEFAULT_TENANT, [ask(job)], now=NOW, idempotency=KEY)

    with pytest.raises(IdempotencyConflict):
        await store.executions.enqueue(DEFAULT_TENANT, [ask(job)], now=NOW, idempotency=OTHER)

    assert await live_ids(store) == [kept.id]


async def test_a_key_is_one_key_for_all_verbs(store: Store) -> None:
    [job] = await store.jobs.create([new_job()], now=NOW, idempotency=KEY)

    with pytest.raises(IdempotencyConflict):
        await store.executions.enqueue(DEFAULT_TENANT, [ask(job)], now=NOW, idempotency=OTHER)

    assert await live_ids(store) == []


async def test_each_tenant_has_its_own_keys(store: Store) -> None:
    neighbours = await other_tenant(store)
    await store.jobs.create([new_job("a")], now=NOW, idempotency=KEY)

    theirs = new_job("a", tenant_id=neighbours)
    [job] = await store.jobs.create([theirs], now=NOW, idempotency=OTHER)

    assert (job.id, job.tenant_id) == (theirs.id, neighbours)


async def test_calls_without_a_key_are_different_calls(store: Store) -> None:
    job = await create_one(store)

    for _ in range(2):
        await store.executions.enqueue(DEFAULT_TENANT, [ask(job)], now=NOW)

    assert len(await live_ids(store)) == 2


# The same ids -----------------------------------------------------------------------------------------


async def test_creating_the_same_jobs_again_creates_nothing(store: Store) -> None:
    asked = [new_job("a"), new_job("b")]
    first = await store.jobs.create(asked, now=NOW)

    assert await store.jobs.create(asked, now=NOW + MINUTE) == first

    assert await count_of_jobs(store) == 2


async def test_asking_for_the_same_executions_again_makes_nothing_new(store: Store) -> None:
    job = await create_one(store)
    asked = [ask(job), ask(job, unique_key="user 7")]
    await store.executions.enqueue(DEFAULT_TENANT, asked, now=NOW)

    again = await store.executions.enqueue(DEFAULT_TENANT, asked, now=NOW + MINUTE)

    assert again == [Enqueued(one.id, is_new=False) for one in asked]
    assert await live_ids(store) == [asked[1].id, asked[0].id]


async def test_asking_again_for_more_makes_the_rest(store: Store) -> None:
    job = await create_one(store)
    first, second = ask(job), ask(job)
    await store.executions.enqueue(DEFAULT_TENANT, [first], now=NOW)

    answers = await store.executions.enqueue(DEFAULT_TENANT, [first, second], now=NOW)

    assert answers == [Enqueued(first.id, is_new=False), Enqueued(second.id, is_new=True)]
    assert await live_ids(store) == [second.id, first.id]


async def test_asking_again_names_the_execution_that_holds_the_unique_key(store: Store) -> None:
    job = await create_one(store)
    holder = ask(job, unique_key="user 7")
    await store.executions.enqueue(DEFAULT_TENANT, [holder], now=NOW)
    asked = [ask(job, unique_key="user 7"), ask(job)]
    await store.executions.enqueue(DEFAULT_TENANT, asked, now=NOW)

    again = await store.executions.enqueue(DEFAULT_TENANT, asked, now=NOW)

    assert [kept.id for kept in again] == [holder.id, asked[1].id]


# Many at once -----------------------------------------------------------------------------------------


async def test_sixty_four_concurrent_creates_with_one_key_make_one_job(store: Store) -> None:
    calls = [store.jobs.create([new_job("a")], now=NOW, idempotency=KEY) for _ in range(64)]

    answers = await asyncio.gather(*calls)

    assert len({job.id for [job] in answers}) == 1
    assert await count_of_jobs(store) == 1


async def test_sixty_four_concurrent_asks_with_one_key_are_one_execution(store: Store) -> None:
    job = await create_one(store)
    calls = [
        store.executions.enqueue(DEFAULT_TENANT, [ask(job)], now=NOW, idempotency=KEY) for _ in range(64)
    ]

    answers = await asyncio.gather(*calls)

    assert len({kept.id for [kept] in answers}) == 1
    assert len(await live_ids(store)) == 1


async def test_sixty_four_concurrent_asks_with_one_unique_key_are_one_execution(store: Store) -> None:
    job = await create_one(store)
    calls = [
        store.executions.enqueue(DEFAULT_TENANT, [ask(job, unique_key="user 7")], now=NOW) for _ in range(64)
    ]

    answers: list[Enqueued] = [kept for [kept] in await asyncio.gather(*calls)]

    assert len({kept.id for kept in answers}) == 1
    assert sum(kept.is_new for kept in answers) == 1
    assert len(await live_ids(store)) == 1
