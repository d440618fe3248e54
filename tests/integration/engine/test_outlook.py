"""Services sleep until something is due, stepped by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT, Tenant
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.executions.lease import Leased
from gnomon.core.jobs.job import Definition
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.values.document import JSON
from gnomon.engine.outlook import AFTER_DUE, FIRST_INSTANT, PAUSE_MIN, Outlook
from gnomon.engine.schedulers.sweeper import INTERVAL, Sweeper
from gnomon.engine.service import POLL, Wakeup
from gnomon.handlers.base import Context
from tests.integration.engine.rig import Rig

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SOON = timedelta(milliseconds=300)
PLAIN = Definition(kind="test")


async def done(context: Context) -> JSON:
    return None


async def for_ever(context: Context) -> JSON:
    await asyncio.Event().wait()
    return None


class Sky:
    """Answers what a test says, and counts the questions."""

    def __init__(self, *dues: datetime) -> None:
        self.dues = list(dues)
        self.asked: list[datetime] = []

    async def next_due(self, after: datetime) -> datetime | None:
        self.asked.append(after)
        return min((due for due in self.dues if due > after), default=None)


async def test_a_pause_lasts_until_the_first_due_time() -> None:
    sky = Sky(NOW + SOON, NOW + 2 * SOON)
    outlook = Outlook(sky.next_due)

    assert await outlook.pause(NOW, at_most=POLL) == SOON + AFTER_DUE
    assert await outlook.pause(NOW + SOON, at_most=POLL) == SOON + AFTER_DUE
    assert await outlook.pause(NOW + 2 * SOON, at_most=POLL) == POLL
    assert sky.asked == [NOW, NOW + SOON, NOW + 2 * SOON]


async def test_what_came_due_while_others_were_taken_is_not_slept_over() -> None:
    sky = Sky(NOW + SOON)
    outlook = Outlook(sky.next_due)

    assert await outlook.pause(NOW + 2 * SOON, at_most=POLL, taken_at=NOW) == PAUSE_MIN
    assert await outlook.is_due(NOW + 2 * SOON)
    assert await outlook.pause(NOW + 3 * SOON, at_most=POLL, taken_at=NOW + 2 * SOON) == POLL


async def test_what_is_known_is_asked_again_when_it_is_stale_or_something_was_put_off() -> None:
    sky = Sky(NOW + POLL)
    outlook = Outlook(sky.next_due, fresh=POLL / 2)
    await outlook.pause(NOW, at_most=POLL)
    await outlook.pause(NOW + POLL / 4, at_most=POLL)
    assert sky.asked == [NOW]

    sky.dues.append(NOW + SOON)
    outlook.forget()
    assert await outlook.pause(NOW, at_most=POLL) == SOON + AFTER_DUE
    assert await outlook.pause(NOW - POLL, at_most=POLL) == POLL  # The clock was set back.
    assert not await outlook.is_due(NOW + POLL / 2 - POLL)
    assert sky.asked == [NOW, NOW, NOW - POLL, FIRST_INSTANT]


async def test_many_due_times_that_lie_close_together_are_one_step() -> None:
    tick = timedelta(microseconds=100)
    outlook = Outlook(Sky(*(NOW + n * tick for n in range(100))).next_due)

    assert await outlook.pause(NOW, at_most=POLL) == PAUSE_MIN


async def test_a_wakeup_tells_whether_the_pause_was_cut_short() -> None:
    wakeup = Wakeup()
    told = [wakeup.was_early]

    await wakeup.wait(timedelta(microseconds=1))
    told.append(wakeup.was_early)
    wakeup.set()
    await wakeup.wait(POLL)
    told.append(wakeup.was_early)

    assert told == [True, False, True]


async def test_an_idle_worker_sleeps_until_a_delayed_run_is_due(rig: Rig) -> None:
    ada = rig.worker(done)
    job = await rig.job(PLAIN)
    assert await ada.worker.step() == POLL

    run = await rig.enqueue(job, delay=SOON)
    ada.worker.expect()
    pause = await ada.worker.step()
    assert pause == SOON + AFTER_DUE

    ada.worker.wakeup.was_early = False
    rig.clock.advance(pause)
    await ada.work()
    assert (await rig.get(run)).status is ExecutionStatus.COMPLETED


async def test_a_run_that_comes_due_while_a_slow_claim_is_answered_starts_after_it(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = rig.worker(done)
    run = await rig.enqueue(await rig.job(PLAIN), delay=SOON)
    claim = rig.store.executions.claim

    async def slow_claim(*args: Any, **kwargs: Any) -> Sequence[Leased]:
        leased = await claim(*args, **kwargs)
        rig.clock.advance(2 * SOON)
        return leased

    with monkeypatch.context() as slow:
        slow.setattr(rig.store.executions, "claim", slow_claim)
        assert await ada.worker.step() == PAUSE_MIN

    ada.worker.wakeup.was_early = False
    await ada.work()
    assert (await rig.get(run)).status is ExecutionStatus.COMPLETED


async def test_a_poll_finds_out_by_itself_when_something_will_be_due(rig: Rig) -> None:
    ada = rig.worker(done)
    job = await rig.job(PLAIN)
    assert await ada.worker.step() == POLL
    ada.worker.wakeup.was_early = False
    assert await ada.worker.step() == POLL

    run = await rig.enqueue(job, delay=POLL + SOON)
    rig.clock.advance(POLL)
    pause = await ada.worker.step()
    assert pause == SOON + AFTER_DUE

    rig.clock.advance(pause)
    await ada.work()
    assert (await rig.get(run)).status is ExecutionStatus.COMPLETED


async def test_a_retry_is_announced_and_runs_when_its_backoff_is_over(rig: Rig) -> None:
    async def fails_once(context: Context) -> JSON:
        if context.attempt == 1:
            raise ValueError("no")
        return None

    told: list[str] = []
    ada = rig.worker(fails_once, put_off=lambda: told.append("later"))
    retry = RetryPolicy(max_attempts=2, backoff_base=SOON, jitter=0)
    run = await rig.enqueue(await rig.job(Definition(kind="test", retry=retry)))
    await ada.work()
    assert (await rig.get(run)).status is ExecutionStatus.PENDING
    assert told == ["later"]

    ada.worker.expect()
    pause = await ada.worker.step()
    assert pause == SOON + AFTER_DUE
    rig.clock.advance(pause)
    await ada.work()
    assert (await rig.get(run)).status is ExecutionStatus.COMPLETED
    assert told == ["later"]


async def test_what_is_due_and_cannot_be_claimed_does_not_shorten_the_pause(rig: Rig) -> None:
    tenant = await rig.store.tenants.get(DEFAULT_TENANT)
    await rig.store.tenants.save(Tenant(DEFAULT_TENANT, tenant.name, max_concurrent=1), now=rig.clock.now())
    ada, bob = rig.worker(done), rig.worker(for_ever, name="bob", slots=1)
    job = await rig.job(PLAIN)
    await rig.enqueue(job)
    await bob.worker.step()
    await rig.enqueue(job)

    for is_hinted in (True, False, True, False):
        ada.worker.wakeup.was_early = is_hinted
        assert await ada.worker.step() == POLL
        rig.clock.advance(POLL)
    assert ada.worker.started == 0


async def test_a_sweep_comes_when_something_is_due_that_waits_for_a_slot(rig: Rig) -> None:
    admitted: list[datetime] = []
    sweeper = Sweeper(
        executions=rig.store.executions,
        clock=rig.clock,
        admitted=lambda: admitted.append(rig.clock.now()),
    )
    job = await rig.job(Definition(kind="test", max_concurrent=1))
    assert await sweeper.step() == INTERVAL

    await rig.enqueue(job, delay=SOON)
    sweeper.expect()
    pause = await sweeper.step()
    assert pause == SOON + AFTER_DUE
    rig.clock.advance(pause)
    assert await sweeper.step() == INTERVAL
    assert len(admitted) == 1
