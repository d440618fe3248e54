"""Who is alive stays alive: heartbeats, the reaper's patience, and names that two workers share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from uuid import UUID

import pytest

from gnomon.core.document import JSON
from gnomon.core.execution import ExecutionStatus
from gnomon.core.job import Definition
from gnomon.core.lease import LEASE, Claim, Leased, Renewed
from gnomon.core.worker import WorkerStatus
from gnomon.engine.heartbeat import Heartbeat
from gnomon.engine.pulse import Pulse
from gnomon.engine.reaper import INTERVAL, Reaper
from gnomon.errors import StoreRefused, StoreUnavailable
from gnomon.handlers.base import Context
from gnomon.store.base import ExecutionStore
from tests.integration.engine.rig import Rig

PLAIN = Definition(kind="test")


async def for_ever(context: Context) -> JSON:
    await asyncio.Event().wait()
    return None


@dataclass
class Frail:
    """A store that does not answer for a while."""

    inner: ExecutionStore
    is_silent: bool = False
    is_down: bool = False

    async def renew(self, claims: Sequence[Claim], *, lease_until: datetime) -> Sequence[Renewed]:
        if self.is_silent:
            await asyncio.Event().wait()
        return await self.inner.renew(claims, lease_until=lease_until)

    async def expired(self, *, now: datetime, limit: int) -> Sequence[Leased]:
        if self.is_down:
            raise StoreUnavailable("down")
        return await self.inner.expired(now=now, limit=limit)

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


async def test_a_heartbeat_that_gets_no_answer_asks_again_before_the_lease_is_over(rig: Rig) -> None:
    ada = rig.worker(for_ever)
    await rig.enqueue(await rig.job(PLAIN))
    await ada.worker.step()
    heartbeat = Heartbeat(
        ada.worker,
        ada.worker.registration,
        executions=Frail(rig.store.executions, is_silent=True),  # type: ignore[arg-type]
        workers=rig.store.workers,
        clock=rig.clock,
        tell=lambda call: call(),
        lease=timedelta(seconds=0.3),
    )

    async with asyncio.timeout(5):
        with pytest.raises(StoreUnavailable):
            await heartbeat.step()


async def test_a_pulse_that_is_refused_at_first_beats_later(rig: Rig) -> None:
    opened, beaten = 0, threading.Event()

    @asynccontextmanager
    async def make() -> AsyncIterator[Heartbeat]:
        nonlocal opened
        opened += 1
        if opened == 1:
            raise StoreRefused("This server is a standby, for the moment.")
        ada = rig.worker(for_ever)
        ada.heartbeat._beat = beat  # type: ignore[method-assign]
        yield ada.heartbeat

    async def beat() -> None:
        beaten.set()

    pulse = Pulse(make)
    pulse.start()
    assert await asyncio.to_thread(beaten.wait, 10)
    await pulse.stop()


async def test_after_an_outage_the_living_may_renew_before_the_reaper_judges(rig: Rig) -> None:
    ada = rig.worker(for_ever)
    run = await rig.enqueue(await rig.job(PLAIN))
    await ada.worker.step()
    store = Frail(rig.store.executions)
    reaper = Reaper(executions=store, clock=rig.clock, random=Random(3), telemetry=rig.telemetry)  # type: ignore[arg-type]
    await reaper.step()

    store.is_down = True
    for _ in range(LEASE * 2 // INTERVAL):
        rig.clock.advance(INTERVAL)
        with pytest.raises(StoreUnavailable):
            await reaper.step()
    store.is_down = False
    await reaper.step()
    await ada.heartbeat.step()
    for _ in range(5):
        rig.clock.advance(INTERVAL)
        await reaper.step()

    assert (await rig.get(run)).claim == 1
    assert (await rig.get(run)).status is ExecutionStatus.RUNNING


async def test_after_an_outage_the_dead_are_taken_back(rig: Rig) -> None:
    ada = rig.worker(for_ever)
    run = await rig.enqueue(await rig.job(PLAIN))
    await ada.worker.step()
    reaper = rig.reaper()
    await reaper.step()

    rig.clock.advance(LEASE * 2)
    for _ in range(LEASE // INTERVAL):
        await reaper.step()
        rig.clock.advance(INTERVAL)

    assert (await rig.get(run)).status is ExecutionStatus.QUEUED


async def test_a_drained_worker_takes_nothing_until_it_is_undrained(rig: Rig) -> None:
    ada = rig.worker(for_ever)
    await ada.heartbeat.step()
    await rig.enqueue(await rig.job(PLAIN))

    await rig.store.workers.drain(ada.worker.registration.id)
    await ada.heartbeat.step()
    await ada.worker.step()
    assert ada.worker.running == 0
    await rig.store.workers.undrain(ada.worker.registration.id)
    await ada.heartbeat.step()
    await ada.worker.step()

    assert ada.worker.running == 1


async def test_a_worker_whose_dead_namesake_had_a_later_clock_registers_after_a_lease(rig: Rig) -> None:
    ada = rig.worker(for_ever)
    later = replace(ada.worker.registration, boot=UUID(int=2**128 - 1))
    await rig.store.workers.register(later, now=rig.clock.now())

    await ada.heartbeat.step()
    assert (await rig.store.workers.get(later.id)).boot == later.boot
    rig.clock.advance(LEASE)
    await ada.heartbeat.step()

    known = await rig.store.workers.get(later.id)
    assert (known.boot, known.status) == (ada.worker.registration.boot, WorkerStatus.ACTIVE)
