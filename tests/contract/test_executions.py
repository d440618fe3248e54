"""Executions as readers see them: statuses derived from where they are, in pages, per tenant."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from uuid import UUID

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus
from gnomon.core.executions.records import ExecutionFilter
from gnomon.core.jobs.job import Job, JobId
from gnomon.core.values.ids import EPOCH, MILLISECOND, uuid7
from gnomon.core.values.instants import MICROSECOND
from gnomon.errors import ExecutionNotFound
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    ADA,
    BROKEN,
    DONE,
    FAILED,
    HOUR,
    MINUTE,
    NOW,
    SECOND,
    ask,
    claim,
    claim_one,
    create_one,
    end,
    enqueue,
    enqueue_one,
    new_id,
    new_job,
    other_tenant,
    running,
    seen,
    tries,
)


async def listed(
    store: Store, *, now: datetime = NOW, status: ExecutionStatus | None = None, job_id: JobId | None = None
) -> list[ExecutionId]:
    wanted = ExecutionFilter(job_id=job_id, status=status)
    page = await store.executions.page(DEFAULT_TENANT, wanted, now=now, limit=100)
    return [execution.id for execution in page.items]


async def test_the_same_execution_is_pending_before_and_queued_at_its_due_time(store: Store) -> None:
    execution_id = await enqueue_one(store, due=NOW + MINUTE)

    assert (await seen(store, execution_id, now=NOW)).status is ExecutionStatus.PENDING
    assert (await seen(store, execution_id, now=NOW + MINUTE - SECOND)).status is ExecutionStatus.PENDING
    assert (await seen(store, execution_id, now=NOW + MINUTE)).status is ExecutionStatus.QUEUED


async def test_a_lease_is_running_even_after_its_end(store: Store) -> None:
    leased = await running(store)

    assert (await seen(store, leased, now=NOW + HOUR)).status is ExecutionStatus.RUNNING


async def test_executions_are_listed_newest_first_and_by_status(store: Store) -> None:
    job = await create_one(store)
    done, dead, dropped, runs, ready, later = await enqueue(
        store, *(ask(job, due=NOW if n < 5 else NOW + MINUTE) for n in range(6))
    )
    first, second, third, _ = await claim(store, limit=4)
    await end(store, first, DONE)
    await end(store, second, BROKEN)
    await end(store, third, DONE)
    await store.executions.cancel(DEFAULT_TENANT, [ready], now=NOW)
    fresh = await enqueue_one(store, job)

    assert await listed(store) == [fresh, later, ready, runs, dropped, dead, done]
    assert await listed(store, status=ExecutionStatus.COMPLETED) == [dropped, done]
    assert await listed(store, status=ExecutionStatus.FAILED) == [dead]
    assert await listed(store, status=ExecutionStatus.CANCELLED) == [ready]
    assert await listed(store, status=ExecutionStatus.RUNNING) == [runs]
    assert await listed(store, status=ExecutionStatus.QUEUED) == [fresh]
    assert await listed(store, status=ExecutionStatus.PENDING) == [later]
    assert await listed(store, status=ExecutionStatus.TIMEOUT) == []
    assert await listed(store, status=ExecutionStatus.QUEUED, now=NOW + MINUTE) == [fresh, later]
    assert await listed(store, status=ExecutionStatus.PENDING, now=NOW + MINUTE) == []


async def test_a_purged_dead_letter_leaves_its_execution_in_the_list_of_failures(store: Store) -> None:
    leased = await running(store)
    await end(store, leased, BROKEN)

    await store.dead_letters.purge(DEFAULT_TENANT, [leased.claim.execution_id])

    assert await listed(store, status=ExecutionStatus.FAILED) == [leased.claim.execution_id]


async def test_executions_are_listed_by_job_and_status_together(store: Store) -> None:
    mine, other = await create_one(store), await create_one(store)
    a, b, c, d = await enqueue(store, ask(mine), ask(other), ask(mine, due=NOW + MINUTE), ask(mine))
    await store.executions.cancel(DEFAULT_TENANT, [a, b], now=NOW)

    assert await listed(store, job_id=mine.id) == [d, c, a]
    assert await listed(store, job_id=mine.id, status=ExecutionStatus.CANCELLED) == [a]
    assert await listed(store, job_id=mine.id, status=ExecutionStatus.PENDING) == [c]
    assert await listed(store, job_id=mine.id, status=ExecutionStatus.QUEUED) == [d]
    assert await listed(store, job_id=other.id, status=ExecutionStatus.QUEUED) == []


@pytest.mark.parametrize("status", [None, ExecutionStatus.QUEUED])
async def test_pages_meet_without_a_gap_while_executions_arrive(
    store: Store, status: ExecutionStatus | None
) -> None:
    job = await create_one(store)
    old = await enqueue(store, *(ask(job) for _ in range(7)))
    wanted = ExecutionFilter(status=status)

    turned: list[ExecutionId] = []
    cursor: UUID | None = None
    for _ in range(3):
        page = await store.executions.page(DEFAULT_TENANT, wanted, now=NOW, limit=3, after=cursor)
        turned += [execution.id for execution in page.items]
        cursor = page.next
        await enqueue(store, ask(job))

    assert turned == old[::-1]
    assert cursor is None


async def test_a_page_holds_what_get_would_return(store: Store) -> None:
    leased = await running(store)
    await end(store, leased, BROKEN)
    waiting = await enqueue_one(store)

    page = await store.executions.page(DEFAULT_TENANT, ExecutionFilter(), now=NOW, limit=10)

    assert list(page.items) == [await seen(store, waiting), await seen(store, leased)]


async def test_another_tenants_execution_does_not_exist(store: Store) -> None:
    leased = await running(store)
    await end(store, leased, DONE)
    neighbours = await other_tenant(store)
    execution_id = leased.claim.execution_id

    with pytest.raises(ExecutionNotFound):
        await store.executions.get(neighbours, execution_id, now=NOW)
    page = await store.executions.page(neighbours, ExecutionFilter(), now=NOW, limit=10)

    assert page.items == ()
    assert list(await store.executions.attempts(neighbours, execution_id)) == []


async def test_an_execution_that_nobody_asked_for_is_not_found(store: Store) -> None:
    nobody = ExecutionId(new_id())

    with pytest.raises(ExecutionNotFound) as refused:
        await store.executions.get(DEFAULT_TENANT, nobody, now=NOW)

    assert refused.value.id == nobody


async def test_the_newest_runs_of_a_job_are_told_in_few_words(store: Store) -> None:
    job = await create_one(store)
    ids = await enqueue(store, *(ask(job) for _ in range(4)))
    one, two = await claim(store, limit=2)
    await end(store, one)

    other = await create_one(store)
    [its_own] = await enqueue(store, ask(other))

    recent = await store.executions.recent(DEFAULT_TENANT, [other.id, job.id], limit=3)

    assert [run.id for run in recent[other.id]] == [its_own]
    assert [(run.id, run.status, run.worker) for run in recent[job.id]] == [
        (ids[3], None, None),
        (ids[2], None, None),
        (two.claim.execution_id, ExecutionStatus.RUNNING, ADA),
    ]
    [*_, ended] = (await store.executions.recent(DEFAULT_TENANT, [job.id], limit=10))[job.id]
    assert (ended.status, ended.worker, ended.attempts) == (ExecutionStatus.COMPLETED, ADA, 1)
    assert (ended.started_at, ended.finished_at) == (NOW, NOW)
    nothing = await store.executions.recent(await other_tenant(store), [job.id], limit=10)
    assert nothing == {job.id: []}


async def test_what_waits_says_until_when(store: Store) -> None:
    job = await create_one(store, new_job(definition=tries(3)))
    await enqueue(store, ask(job), ask(job, due=NOW + HOUR))
    await end(store, await claim_one(store), FAILED)

    later, again = (await store.executions.recent(DEFAULT_TENANT, [job.id], limit=10))[job.id]

    assert (later.status, later.due) == (None, NOW + HOUR)
    assert (again.status, again.due) == (None, (await seen(store, again.id)).due)
    assert NOW < (again.due or NOW) < NOW + HOUR


# Of a period ----------------------------------------------------------------------------------------


async def made_at(
    store: Store, job: Job, *offsets: timedelta, due: datetime | None = None
) -> list[ExecutionId]:
    """Executions with ids of these instants, counted from NOW."""
    ids = [
        ExecutionId(uuid7((NOW + offset - EPOCH) // MILLISECOND, number))
        for number, offset in enumerate(offsets)
    ]
    await store.executions.enqueue(DEFAULT_TENANT, [replace(ask(job, due=due), id=id) for id in ids], now=NOW)
    return ids


async def test_a_list_can_be_of_a_period_to_the_millisecond(store: Store) -> None:
    job = await create_one(store)
    ids = await made_at(store, job, *(number * MILLISECOND for number in range(5)))

    for of_job, status in product([None, job.id], [None, ExecutionStatus.QUEUED]):
        wanted = ExecutionFilter(of_job, status, since=NOW + MILLISECOND, until=NOW + 3 * MILLISECOND)
        page = await store.executions.page(DEFAULT_TENANT, wanted, now=NOW, limit=10)
        assert [one.id for one in page.items] == [ids[2], ids[1]]
        wanted = replace(wanted, until=wanted.until and wanted.until + MICROSECOND, since=NOW + MICROSECOND)
        page = await store.executions.page(DEFAULT_TENANT, wanted, now=NOW, limit=10)
        assert [one.id for one in page.items] == [ids[3], ids[2], ids[1], ids[0]]


async def bring_to(store: Store, ids: list[ExecutionId], status: ExecutionStatus) -> None:
    if status is ExecutionStatus.CANCELLED:
        await store.executions.cancel(DEFAULT_TENANT, ids, now=NOW)
    elif status in (ExecutionStatus.RUNNING, ExecutionStatus.COMPLETED):
        for leased in await claim(store, limit=100):
            if status is ExecutionStatus.COMPLETED:
                await end(store, leased)


@pytest.mark.parametrize(
    "status",
    [
        ExecutionStatus.PENDING,
        ExecutionStatus.QUEUED,
        ExecutionStatus.RUNNING,
        ExecutionStatus.COMPLETED,
        ExecutionStatus.CANCELLED,
    ],
)
async def test_each_status_is_listed_of_a_period_page_by_page(store: Store, status: ExecutionStatus) -> None:
    """Whatever statement reads it: what is outside of the period never comes, on no page."""
    job = await create_one(store)
    due = NOW + HOUR if status is ExecutionStatus.PENDING else None
    ids = await made_at(store, job, *(number * MINUTE for number in range(6)), due=due)
    await bring_to(store, ids, status)
    for of_job in (None, job.id):
        period = ExecutionFilter(of_job, status, since=NOW + MINUTE, until=NOW + 5 * MINUTE)
        first = await store.executions.page(DEFAULT_TENANT, period, now=NOW, limit=3)
        rest = await store.executions.page(DEFAULT_TENANT, period, now=NOW, limit=3, after=first.next)

        assert [one.id for one in (*first.items, *rest.items)] == ids[1:5][::-1]
        assert rest.next is None
