"""Executions, dead letters and workers in the hands of a user, on both databases."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from gnomon.client import Ask, Draft
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, Failure, WorkerId
from gnomon.core.executions.lifecycle import Failed, Succeeded
from gnomon.core.jobs.job import Job
from gnomon.core.operations.workers import Registration, WorkerStatus
from gnomon.core.values.document import Document
from gnomon.errors import DeadLetterNotFound, ExecutionNotFound, IllegalTransition, InvalidInput
from gnomon.store.databases.hints import Topic
from tests.integration.client.conftest import Office, report

HOUR = timedelta(hours=1)
NOBODY = ExecutionId(UUID(int=1))
GONE_WRONG = Failed(Failure("oops", "It went wrong."), permanent=True)


@pytest.fixture
async def job(office: Office) -> Job:
    return await office.client.jobs.create(Draft("nightly", report()))


async def test_a_run_that_is_asked_for_waits_and_workers_are_told(office: Office, job: Job) -> None:
    given = Document.of({"day": 1}, field="input")
    enqueued = await office.client.executions.enqueue(Ask(job.id, input=given, priority=7))

    found = await office.client.executions.get(enqueued.id)
    assert (found.status, found.input, found.priority) == (ExecutionStatus.QUEUED, given, 7)
    assert office.told == [Topic.WORK]


async def test_a_run_for_later_is_announced_as_one(office: Office, job: Job) -> None:
    now = office.clock.now()
    later = await office.client.executions.enqueue_many([Ask(job.id, delay=HOUR), Ask(job.id, at=now + HOUR)])

    for one in later:
        found = await office.client.executions.get(one.id)
        assert (found.status, found.due) == (ExecutionStatus.PENDING, now + HOUR)
    assert office.told == [Topic.LATER]


async def test_a_delay_and_an_instant_are_one_too_many(office: Office, job: Job) -> None:
    with pytest.raises(InvalidInput):
        await office.client.executions.enqueue(Ask(job.id, delay=HOUR, at=office.clock.now()))
    with pytest.raises(InvalidInput):
        await office.client.executions.enqueue(Ask(job.id, delay=-HOUR))


async def test_a_unique_key_is_held_by_one(office: Office, job: Job) -> None:
    first, second = await office.client.executions.enqueue_many([Ask(job.id, unique_key="a")] * 2)

    assert (first.is_new, second.is_new, second.id) == (True, False, first.id)


async def test_who_waits_gets_the_end(office: Office, job: Job) -> None:
    asked = await office.client.executions.enqueue(Ask(job.id))
    waiting = asyncio.create_task(office.client.executions.wait(asked.id))
    [leased] = await office.claim()
    await office.end(leased, Succeeded(Document.of(42, field="result")))

    ended = await waiting

    assert (ended.status, ended.result) == (ExecutionStatus.COMPLETED, Document("42"))


async def test_who_waits_too_short_gets_it_as_it_is(office: Office, job: Job) -> None:
    asked = await office.client.executions.enqueue(Ask(job.id))

    found = await office.client.executions.wait(asked.id, timeout=timedelta(milliseconds=30))

    assert found.status is ExecutionStatus.QUEUED


async def test_a_run_that_waits_is_cancelled_at_once_and_one_that_runs_is_asked_to_stop(
    office: Office, job: Job
) -> None:
    running = await office.client.executions.enqueue(Ask(job.id))
    await office.claim()
    waiting = await office.client.executions.enqueue(Ask(job.id))
    office.told.clear()

    assert await office.client.executions.cancel(waiting.id) is ExecutionStatus.CANCELLED
    assert office.told == []
    assert await office.client.executions.cancel(running.id) is ExecutionStatus.RUNNING
    assert office.told == [Topic.CANCEL]


async def test_what_nobody_knows_is_not_found(office: Office) -> None:
    executions = office.client.executions
    for verb in (executions.get, executions.cancel, executions.retry, executions.logs, executions.attempts):
        with pytest.raises(ExecutionNotFound):
            await verb(NOBODY)


async def test_a_failed_run_is_tried_again_once_however_often_that_is_asked(office: Office, job: Job) -> None:
    asked = await office.client.executions.enqueue(Ask(job.id, input=Document("7")))
    with pytest.raises(IllegalTransition):
        await office.client.executions.retry(asked.id)
    [leased] = await office.claim()
    await office.end(leased, GONE_WRONG)

    again = await office.client.executions.retry(asked.id)

    assert await office.client.executions.retry(asked.id) == again._replace(is_new=False)
    assert (await office.client.executions.get(again.id)).input == Document("7")
    assert [one.outcome for one in await office.client.executions.attempts(asked.id)] == ["FAILED"]


async def test_a_run_whose_dead_letter_was_purged_can_still_be_tried_again(office: Office, job: Job) -> None:
    asked = await office.client.executions.enqueue(Ask(job.id, input=Document("7")))
    [leased] = await office.claim()
    await office.end(leased, GONE_WRONG)
    assert await office.client.dead_letters.purge([asked.id]) == [asked.id]
    with pytest.raises(DeadLetterNotFound):
        await office.client.dead_letters.get(asked.id)

    again = await office.client.executions.retry(asked.id)

    assert (await office.client.executions.get(again.id)).input == Document("7")


async def test_the_dead_letters_of_a_job_are_redriven_once(office: Office, job: Job) -> None:
    await office.client.executions.enqueue_many([Ask(job.id)] * 5)
    for leased in await office.claim():
        await office.end(leased, GONE_WRONG)
    assert len((await office.client.dead_letters.list(job_id=job.id)).items) == 5

    assert len((await office.client.dead_letters.redrive_job(job.id, limit=3)).made) == 3
    assert len((await office.client.dead_letters.redrive_job(job.id)).made) == 2
    assert await office.client.dead_letters.redrive_job(job.id) == ([], [])


async def test_a_worker_is_asked_to_drain(office: Office) -> None:
    registration = Registration(WorkerId("ada"), UUID(int=1), "here", 1, frozenset({"report"}))
    await office.store.workers.register(registration, now=office.clock.now())

    drained = await office.client.workers.drain(WorkerId("ada"))

    assert drained.status is WorkerStatus.DRAINING
    assert await office.client.workers.list() == [drained]
    assert office.told == [Topic.CANCEL]
