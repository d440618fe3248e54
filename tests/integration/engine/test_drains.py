"""Two hundred drains under load: nothing is claimed after the word, and nobody pays for it."""

from __future__ import annotations

import asyncio
import random
import time
from datetime import datetime, timedelta

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import AttemptOutcome, ExecutionId, ExecutionStatus, NewExecution
from gnomon.core.jobs.job import Definition, JobId
from gnomon.core.values.document import JSON
from gnomon.engine.telemetry import What
from gnomon.handlers.base import Context
from gnomon.store.databases.hints import Topic
from tests.integration.engine.nodes import Running, done, running

DRAINS = 200
AT_ONCE = 4  # Workers that live and leave beside each other.
NO_CLAIM_AFTER = timedelta(seconds=1)


async def some_work(context: Context) -> JSON:
    """Mostly quick; some outlast the patience of a drain and must be given back."""
    await asyncio.sleep(random.choice([0.0, 0.001, 0.01, 5.0]))
    return None


async def enqueue_some(system: Running, job_id: JobId) -> list[ExecutionId]:
    now = system.engine.clock.now()
    asked = [NewExecution(ExecutionId(system.engine.ids.next(now)), job_id) for _ in range(5)]
    await system.engine.store.executions.enqueue(DEFAULT_TENANT, asked, now=now)
    system.engine.hints.announce(Topic.WORK)
    return [one.id for one in asked]


@pytest.mark.thorough("Two hundred drains under load claim nothing late and charge no attempt")
async def test_two_hundred_drains_charge_nobody_and_claim_nothing_late(url: str) -> None:
    told: dict[str, datetime] = {}
    asked: list[ExecutionId] = []

    async def live_and_leave(number: int) -> None:
        for turn in range(DRAINS // AT_ONCE):
            name = f"worker-{number}-{turn}"
            async with running(url, some_work, name=name, drain=timedelta(milliseconds=20)) as system:
                asked.extend(await enqueue_some(system, job_id))
                await asyncio.sleep(0.02)
                told[name] = system.engine.clock.now()

    async with running(url, some_work, name="first") as first:
        job_id = (await first.job(Definition(kind="test"))).id
    await asyncio.gather(*(live_and_leave(number) for number in range(AT_ONCE)))
    async with running(url, done, name="last") as last:
        for run in asked:
            async with asyncio.timeout(30):
                while not (ended := await last.get(run)).status.is_final:  # noqa: ASYNC110 - others do it.
                    await asyncio.sleep(0.02)
            assert (ended.status, ended.attempts) == (ExecutionStatus.COMPLETED, 1)
            for attempt in await last.engine.store.executions.attempts(DEFAULT_TENANT, run):
                assert attempt.outcome in (AttemptOutcome.RELEASED, AttemptOutcome.COMPLETED)
                if attempt.worker in told:
                    assert attempt.started_at <= told[attempt.worker] + NO_CLAIM_AFTER


async def test_a_busy_loop_does_not_make_a_drain_longer(url: str) -> None:
    async def busy(context: Context) -> JSON:
        while True:
            time.sleep(0.05)  # noqa: ASYNC251 - that is the story.
            await asyncio.sleep(0)

    loop = asyncio.get_running_loop()
    async with running(url, busy, drain=timedelta(seconds=1)) as system:
        await system.enqueue(await system.job(Definition(kind="test")))
        await system.until(What.STARTED)
        begun = loop.time()
    assert loop.time() - begun < 4
