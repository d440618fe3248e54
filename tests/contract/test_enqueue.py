"""From the ask to the queue: what is kept, and under which name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import (
    Enqueued,
    Execution,
    ExecutionId,
    ExecutionStatus,
    NewExecution,
    Trigger,
)
from gnomon.core.executions.lifecycle import JobAction, change_of
from gnomon.core.executions.records import ExecutionFilter
from gnomon.core.jobs.job import Definition, Job, JobId
from gnomon.core.values.document import Document
from gnomon.errors import IllegalTransition, JobNotFound
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    DONE,
    HOUR,
    NOW,
    act,
    ask,
    claim_one,
    create_one,
    end,
    enqueue,
    enqueue_one,
    new_id,
    new_job,
    other_tenant,
    seen,
)


async def count_of(store: Store) -> int:
    page = await store.executions.page(DEFAULT_TENANT, ExecutionFilter(), now=NOW, limit=1000)
    return len(page.items)


async def job_of(store: Store, kind: str, **words: object) -> Job:
    return await create_one(store, new_job(definition=Definition(kind, **words)))  # type: ignore[arg-type]


# Enqueue ----------------------------------------------------------------------------------------------


async def test_an_ask_without_wishes_is_due_now_as_the_job_says(store: Store) -> None:
    job = await job_of(store, "echo", priority=8)
    execution_id = await enqueue_one(store, job)

    assert await seen(store, execution_id) == Execution(
        id=execution_id,
        tenant_id=DEFAULT_TENANT,
        job_id=job.id,
        revision=1,
        status=ExecutionStatus.QUEUED,
        trigger=Trigger.MANUAL,
        nominal_time=None,
        due=NOW,
        priority=8,
        claim=0,
        attempts=0,
        worker=None,
        input=None,
        result=None,
        failure=None,
        unique_key=None,
        cancel_requested=False,
        created_at=NOW,
        started_at=None,
        finished_at=None,
    )


async def test_the_wishes_of_an_ask_are_kept(store: Store) -> None:
    data = Document.of({"user": 7}, field="input")
    execution_id = await enqueue_one(
        store, due=NOW + HOUR, priority=0, input=data, unique_key="user 7", trigger=Trigger.DAG
    )

    execution = await seen(store, execution_id)

    assert execution.status is ExecutionStatus.PENDING
    assert (execution.due, execution.priority, execution.input) == (NOW + HOUR, 0, data)
    assert (execution.unique_key, execution.trigger) == ("user 7", Trigger.DAG)


async def test_an_empty_input_is_not_the_same_as_no_input(store: Store) -> None:
    nothing = await enqueue_one(store, input=Document.of(None, field="input"))
    empty = await enqueue_one(store, input=Document.of({}, field="input"))

    assert (await seen(store, nothing)).input == Document("null")
    assert (await seen(store, empty)).input == Document("{}")


async def test_answers_come_in_the_order_of_the_asks(store: Store) -> None:
    job = await create_one(store)
    asked = [ask(job) for _ in range(5)]

    answers = await store.executions.enqueue(DEFAULT_TENANT, asked[::-1], now=NOW)

    assert answers == [Enqueued(one.id, is_new=True) for one in asked[::-1]]


async def test_an_unknown_job_refuses_the_whole_batch(store: Store) -> None:
    job = await create_one(store)
    nobody = NewExecution(ExecutionId(new_id()), JobId(new_id()))

    with pytest.raises(JobNotFound) as refused:
        await store.executions.enqueue(DEFAULT_TENANT, [ask(job), nobody], now=NOW)

    assert refused.value.id == nobody.job_id
    assert await count_of(store) == 0


async def test_another_tenants_job_cannot_be_run(store: Store) -> None:
    theirs = await create_one(store, new_job(tenant_id=await other_tenant(store)))

    with pytest.raises(JobNotFound):
        await store.executions.enqueue(DEFAULT_TENANT, [ask(theirs)], now=NOW)


async def test_a_cancelled_job_runs_no_more(store: Store) -> None:
    well = await create_one(store)
    job = await act(store, await create_one(store), JobAction.CANCEL)

    with pytest.raises(IllegalTransition):
        await store.executions.enqueue(DEFAULT_TENANT, [ask(well), ask(job)], now=NOW)

    assert await count_of(store) == 0


async def test_a_deleted_job_runs_no_more(store: Store) -> None:
    job = await act(store, await create_one(store), JobAction.DELETE)

    with pytest.raises((JobNotFound, IllegalTransition)):
        await store.executions.enqueue(DEFAULT_TENANT, [ask(job)], now=NOW)

    assert await count_of(store) == 0


async def test_a_paused_job_can_be_run_by_hand(store: Store) -> None:
    job = await act(store, await create_one(store), JobAction.PAUSE)

    await enqueue_one(store, job)

    assert (await claim_one(store)).job_id == job.id


async def test_an_execution_keeps_the_revision_it_was_asked_for(store: Store) -> None:
    job = await job_of(store, "echo", priority=3)
    execution_id = await enqueue_one(store, job)
    change = change_of(job, JobAction.UPDATE, next_run_time=None)
    await store.jobs.change([replace(change, definition=Definition("http", priority=9))], now=NOW)

    leased = await claim_one(store)

    assert leased.claim.execution_id == execution_id
    assert (leased.revision.number, leased.revision.definition) == (1, job.definition)
    assert leased.priority == 3


# Unique keys ------------------------------------------------------------------------------------------


async def test_a_unique_key_names_the_execution_that_holds_it(store: Store) -> None:
    job = await create_one(store)
    first = ask(job, unique_key="user 7")
    await enqueue(store, first)

    answers = await store.executions.enqueue(
        DEFAULT_TENANT, [ask(job, unique_key="user 7"), ask(job, unique_key="user 8")], now=NOW
    )

    assert answers[0] == Enqueued(first.id, is_new=False)
    assert answers[1].is_new
    assert await count_of(store) == 2


async def test_a_unique_key_twice_in_a_batch_is_one_execution(store: Store) -> None:
    job = await create_one(store)
    first, second = ask(job, unique_key="user 7"), ask(job, unique_key="user 7")

    answers = await store.executions.enqueue(DEFAULT_TENANT, [first, second], now=NOW)

    assert answers == [Enqueued(first.id, is_new=True), Enqueued(first.id, is_new=False)]
    assert await count_of(store) == 1


async def test_a_running_execution_still_holds_its_unique_key(store: Store) -> None:
    job = await create_one(store)
    first = await enqueue_one(store, job, unique_key="user 7")
    leased = await claim_one(store)

    assert await enqueue_one(store, job, unique_key="user 7") == first

    await end(store, leased, DONE)
    assert await enqueue_one(store, job, unique_key="user 7") != first


async def test_a_cancelled_execution_gives_its_unique_key_back(store: Store) -> None:
    job = await create_one(store)
    first = await enqueue_one(store, job, unique_key="user 7")
    await store.executions.cancel(DEFAULT_TENANT, [first], now=NOW)

    assert await enqueue_one(store, job, unique_key="user 7") != first


async def test_who_asks_again_gets_its_own_execution_although_the_unique_key_has_gone_to_another(
    store: Store,
) -> None:
    job = await create_one(store)
    first, second = ask(job, unique_key="user 7"), ask(job, unique_key="user 7")
    await store.executions.enqueue(DEFAULT_TENANT, [first], now=NOW)
    await end(store, await claim_one(store), DONE)
    await store.executions.enqueue(DEFAULT_TENANT, [second], now=NOW)

    again = await store.executions.enqueue(DEFAULT_TENANT, [first], now=NOW)

    assert again == [Enqueued(first.id, is_new=False)]


async def test_two_jobs_may_use_one_unique_key(store: Store) -> None:
    first = await enqueue_one(store, await create_one(store), unique_key="user 7")

    assert await enqueue_one(store, await create_one(store), unique_key="user 7") != first
