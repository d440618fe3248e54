"""A claim that waits at a server, for a worker over HTTP, ends when something is due."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from gnomon.client import Ask, Client, Draft
from gnomon.client.context import ClientContext
from gnomon.client.executions import leases
from gnomon.client.executions.ends import Bells
from gnomon.client.executions.leases import LeaseEnd
from gnomon.core.executions.execution import ExecutionStatus, Failure, WorkerId
from gnomon.core.executions.lease import ClaimRequest, Leased
from gnomon.core.executions.lifecycle import Failed
from gnomon.core.jobs.job import Definition
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.engine.clock import StoreClock
from gnomon.errors import SchemaMismatch
from tests.integration.client.conftest import Office

SOON = timedelta(milliseconds=50)


@pytest.fixture
async def client(office: Office, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A client by the clock of the database, where no poll finds anything in time."""
    monkeypatch.setattr(leases, "LOOK_AGAIN", timedelta(hours=1))
    clock, bells = StoreClock(office.store.clock), Bells()
    await clock.learn()
    return Client(ClientContext(office.store, clock, office.ids, announce=bells.ring, bells=bells))


def request(office: Office) -> ClaimRequest:
    return ClaimRequest(office.ids.next(office.clock.now()), WorkerId("ada"), frozenset({"report"}))


async def test_it_gets_a_delayed_run_when_that_is_due(office: Office, client: Client) -> None:
    job = await client.jobs.create(Draft("late", Definition("report")))
    waiting = asyncio.create_task(client.leases.claim(request(office), wait=timedelta(hours=1)))
    await asyncio.sleep(0)

    async with asyncio.timeout(30):
        run = await client.executions.enqueue(Ask(job.id, delay=SOON))
        [handed] = await waiting
    assert handed.leased.claim.execution_id == run.id


async def test_it_gets_a_run_that_comes_due_while_a_slow_look_for_others_ends(
    office: Office, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = await client.jobs.create(Draft("late", Definition("report")))
    claim = office.store.executions.claim

    async def slow_claim(*args: Any, **kwargs: Any) -> Sequence[Leased]:
        leased = await claim(*args, **kwargs)
        await asyncio.sleep(2 * SOON.total_seconds())
        return leased

    monkeypatch.setattr(office.store.executions, "claim", slow_claim)
    run = await client.executions.enqueue(Ask(job.id, delay=SOON))
    async with asyncio.timeout(30):
        [handed] = await client.leases.claim(request(office), wait=timedelta(hours=1))
    assert handed.leased.claim.execution_id == run.id


async def test_it_gets_a_retry_when_the_backoff_is_over(office: Office, client: Client) -> None:
    retry = RetryPolicy(backoff_base=SOON, jitter=0)
    job = await client.jobs.create(Draft("late", Definition("report", retry=retry)))
    await client.executions.enqueue(Ask(job.id))
    [first] = await client.leases.claim(request(office))
    waiting = asyncio.create_task(client.leases.claim(request(office), wait=timedelta(hours=1)))
    await asyncio.sleep(0)

    async with asyncio.timeout(30):
        failed = LeaseEnd(first.leased.claim, Failed(Failure("oops", "no")))
        await client.leases.complete(WorkerId("ada"), [failed])
        [again] = await waiting
    assert again.leased.claim.number == 2


async def test_nothing_is_claimed_while_the_schema_does_not_fit(office: Office) -> None:
    own = ClientContext(office.store, office.clock, office.ids, misfit=lambda: "The schema is too new.")
    job = await office.client.jobs.create(Draft("late", Definition("report")))
    run = await office.client.executions.enqueue(Ask(job.id))

    with pytest.raises(SchemaMismatch, match="too new"):
        await Client(own).leases.claim(request(office))
    assert (await office.client.executions.get(run.id)).status is ExecutionStatus.QUEUED
