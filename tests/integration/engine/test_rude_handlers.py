"""Handlers that break what they touch: their own execution ends, and nothing else suffers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal

import pytest

from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.executions.lease import Claim
from gnomon.core.executions.records import Checkpoint
from gnomon.core.jobs.job import Definition
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.values.document import JSON, Document
from gnomon.engine.telemetry import Happening
from gnomon.handlers.base import Context, JobFailed, Snooze
from gnomon.store.protocols.executions import CheckpointStore
from tests.integration.engine.rig import Body, Rig

ONCE = Definition(kind="test", retry=RetryPolicy(max_attempts=1))


class Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit("nobody shall know")


class Halfway(JobFailed):
    def __init__(self) -> None:
        """Without what JobFailed would set up."""


async def is_mute(context: Context) -> JSON:
    raise Mute


async def is_halfway(context: Context) -> JSON:
    raise Halfway


async def has_no_kind(context: Context) -> JSON:
    raise JobFailed("no", kind="")


async def snoozes_a_number(context: Context) -> JSON:
    raise Snooze(5)  # type: ignore[arg-type]


async def retries_after_a_number(context: Context) -> JSON:
    raise JobFailed("no", retry_after=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (is_mute, "Mute"),
        (is_halfway, "Halfway"),
        (has_no_kind, "JobFailed"),
        (snoozes_a_number, "TypeError"),
        (retries_after_a_number, "TypeError"),
    ],
)
async def test_an_exception_that_is_broken_itself_is_a_failure(rig: Rig, body: Body, kind: str) -> None:
    ada = rig.worker(body)
    run = await rig.enqueue(await rig.job(ONCE))

    await ada.work()

    ended = await rig.get(run)
    assert ended.status is ExecutionStatus.FAILED
    assert ended.failure is not None
    assert ended.failure.kind == kind
    assert ada.worker.running == 0
    assert ada.worker.is_empty


async def test_a_snooze_into_the_past_is_due_at_once(rig: Rig) -> None:
    async def sleepy(context: Context) -> JSON:
        if context.claim == 1:
            context.snooze(timedelta.min)
        return None

    ada = rig.worker(sleepy)
    run = await rig.enqueue(await rig.job(ONCE))

    await ada.work()
    await ada.work()

    assert (await rig.get(run)).status is ExecutionStatus.COMPLETED


async def test_an_outcome_that_nobody_can_decide_about_takes_no_other_with_it(rig: Rig) -> None:
    async def body(context: Context) -> JSON:
        if context.input == 1:
            error = Snooze(timedelta(0))
            error.delay = "soon"  # type: ignore[assignment]
            raise error
        return None

    ada, job = rig.worker(body), await rig.job(ONCE)
    bad, good = await rig.enqueue(job, value=1), await rig.enqueue(job, value=2)

    await ada.work()

    assert (await rig.get(good)).status is ExecutionStatus.COMPLETED
    assert (await rig.get(bad)).status is ExecutionStatus.FAILED
    assert ada.worker.is_empty


async def test_who_stops_waiting_for_a_checkpoint_keeps_nobody_else_waiting(rig: Rig) -> None:
    async def body(context: Context) -> JSON:
        kept = context.checkpoint({"n": 1})
        if context.input == 1:
            waiting = asyncio.ensure_future(_awaited(kept))
            await asyncio.sleep(0)
            waiting.cancel()
        else:
            await kept
        return None

    ada, job = rig.worker(body), await rig.job(ONCE)
    runs = [await rig.enqueue(job, value=1), await rig.enqueue(job, value=2)]

    await ada.work()
    await ada.settle()

    assert [(await rig.get(run)).status for run in runs] == [ExecutionStatus.COMPLETED] * 2


async def _awaited(kept: object) -> None:
    await kept  # type: ignore[misc]


@dataclass
class SlowCheckpoints:
    """Saves when it is told to, like a store that is far away."""

    inner: CheckpointStore
    may_save: asyncio.Event = field(default_factory=asyncio.Event)

    async def save(self, checkpoints: Sequence[Checkpoint]) -> Sequence[Claim]:
        await self.may_save.wait()
        return await self.inner.save(checkpoints)


async def test_an_end_is_not_written_before_a_checkpoint_that_is_on_its_way(rig: Rig) -> None:
    async def fails_the_first_time(context: Context) -> JSON:
        if context.state is not None:
            return context.state
        context.checkpoint({"half": True})
        raise ValueError("not yet")

    ada = rig.worker(fails_the_first_time)
    slow = SlowCheckpoints(rig.store.checkpoints)
    ada.notebook._checkpoints = slow  # type: ignore[assignment]
    run = await rig.enqueue(await rig.job(Definition(kind="test")))

    await ada.worker.step()
    for _ in range(5):
        await asyncio.sleep(0)
    saving = asyncio.create_task(ada.notebook.step())
    await asyncio.sleep(0)
    ending = asyncio.create_task(ada.completer.step())
    for _ in range(5):
        await asyncio.sleep(0)
    slow.may_save.set()
    await saving
    await ending
    rig.clock.advance(timedelta(minutes=2))
    await ada.work()

    assert (await rig.get(run)).result == Document('{"half": true}')


async def test_progress_may_be_any_kind_of_number(rig: Rig) -> None:
    async def body(context: Context) -> JSON:
        await context.checkpoint({"n": 1}, progress=Decimal("0.5"))  # type: ignore[arg-type]
        return None

    ada = rig.worker(body)
    run = await rig.enqueue(await rig.job(ONCE))

    await ada.work()
    await ada.settle()

    assert (await rig.get(run)).status is ExecutionStatus.COMPLETED


async def test_a_checkpoint_that_the_store_cannot_keep_is_told_and_blocks_nobody(rig: Rig) -> None:
    async def body(context: Context) -> JSON:
        state = Document("\ud800") if context.input == 1 else Document("{}")
        future = ada.worker.checkpoint(context._leased, state, None)
        await asyncio.wrap_future(future)
        return None

    ada, job = rig.worker(body), await rig.job(ONCE)
    bad, good = await rig.enqueue(job, value=1), await rig.enqueue(job, value=2)

    await ada.work()
    await ada.settle()

    assert (await rig.get(good)).status is ExecutionStatus.COMPLETED
    assert (await rig.get(bad)).status is ExecutionStatus.FAILED


async def test_a_listener_that_fails_keeps_no_outcome_from_the_store(rig: Rig) -> None:
    def fails(happening: Happening) -> None:
        raise RuntimeError("no screen")

    async def done(context: Context) -> JSON:
        return None

    ada, job = rig.worker(done), await rig.job(ONCE)
    ada.telemetry.listeners.append(fails)
    runs = [await rig.enqueue(job) for _ in range(3)]

    await ada.work()

    assert [(await rig.get(run)).status for run in runs] == [ExecutionStatus.COMPLETED] * 3
    assert ada.worker.is_empty
