"""Looks at the same moment are one read; who comes later gets a read of their own."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from gnomon.client import Ask, Draft
from gnomon.core.jobs.job import JobId
from gnomon.core.jobs.shown import shown_job
from gnomon.errors import JobNotFound
from tests.integration.client.conftest import Office, report


async def test_many_who_look_at_once_share_one_look(office: Office) -> None:
    client = office.client
    one = await client.jobs.create(Draft("one", report()))
    two = await client.jobs.create(Draft("two", report()))
    run = await client.executions.enqueue(Ask(one.id))

    looks = await asyncio.gather(*(client.jobs.look(job.id) for job in (one, two, one)))

    assert [look.job for look in looks] == [shown_job(one), shown_job(two), shown_job(one)]
    assert looks[0] is looks[2]
    assert [recent.id for recent in looks[0].recent] == [run.id]


async def test_a_look_shows_what_was_true_when_it_was_asked_for(office: Office) -> None:
    client = office.client
    job = await client.jobs.create(Draft("one", report()))
    before = await client.jobs.look(job.id)
    await client.jobs.pause(job.id)

    assert before.job.status != (await client.jobs.look(job.id)).job.status


async def test_what_one_asks_for_is_no_matter_of_the_others(office: Office) -> None:
    client = office.client
    job = await client.jobs.create(Draft("one", report()))
    leaving = asyncio.ensure_future(client.jobs.look(job.id))
    staying = asyncio.ensure_future(client.jobs.look(job.id))
    missing = asyncio.ensure_future(client.jobs.look(JobId(uuid4())))
    await asyncio.sleep(0)
    leaving.cancel()

    assert (await staying).job == shown_job(job)
    with pytest.raises(JobNotFound):
        await missing
