"""Who is alive stays alive: heartbeats, the reaper's patience, and names that two workers share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from uuid import UUID

import pytest

from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, WaitsFor
from gnomon.core.executions.lease import LEASE, Claim, Leased, Renewed
from gnomon.core.jobs.job import Definition
from gnomon.core.operations.workers import WorkerStatus
from gnomon.core.values.document import JSON
from gnomon.engine.schedulers.reaper import INTERVAL, Reaper
from gnomon.engine.workers.heartbeat import Heartbeat
from gnomon.engine.workers.pulse import Pulse
from gnomon.errors import StoreRefused, StoreUnavailable
from gnomon.handlers.base import Context
from gnomon.store.protocols.executions import ExecutionStore
from tests.integration.engine.rig import Rig, WorkerRig

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
    answers_after: Callable[[], object] | None = None

    async def renew(self, claims: Sequence[Claim], *, lease_until: datetime) -> Sequence[Renewed]:
        if self.is_silent:
            await asyncio.Event().wait()
        return await self.inner.renew(claims, lease_until=lease_until)

    async def expired(self, *, now: datetime, limit: int) -> Sequence[Leased]:
        if self.is_down:
            raise StoreUnavailable("down")
        if self.answers_after is not None:
            self.answers_after()
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


async def running(rig: Rig) -> tuple[WorkerRig, ExecutionId]:
    ada = rig.worker(for_ever)
    run = await rig.enqueue(await rig.job(PLAIN))
    await ada.worker.step()
    return ada, run


async def watch(rig: Rig, reaper: Reaper, how_long: timedelta) -> None:
    """Let it look at the leases as often as it does, for so long."""
    for _ in range(how_long // INTERVAL):
        await reaper.step()
        rig.clock.advance(INTERVAL)


def reaper_of(rig: Rig, store: Frail) -> Reaper:
    return Reaper(executions=store, clock=rig.clock, random=Random(3), telemetry=rig.telemetry)  # type: ignore[arg-type]


async def keeps_its_work(rig: Rig, reaper: Reaper, ada: WorkerRig, run: ExecutionId) -> bool:
    """The store is back, and the reaper is first. The worker comes a third of the lease later."""
    await watch(rig, reaper, LEASE / 3)
    await ada.heartbeat.step()
    await watch(rig, reaper, LEASE / 2)
    found = await rig.get(run)
    return (found.claim, found.status) == (1, ExecutionStatus.RUNNING)


async def test_after_an_outage_the_living_may_renew_before_the_reaper_judges(rig: Rig) -> None:
    ada, run = await running(rig)
    store = Frail(rig.store.executions)
    reaper = reaper_of(rig, store)
    await watch(rig, reaper, LEASE / 2)
    await ada.heartbeat.step()

    store.is_down = True
    for _ in range(LEASE * 2 // INTERVAL):
        rig.clock.advance(INTERVAL)
        with pytest.raises(StoreUnavailable):
            await reaper.step()
    store.is_down = False

    assert await keeps_its_work(rig, reaper, ada, run)


async def test_a_reaper_that_starts_during_an_outage_lets_the_living_renew_first(rig: Rig) -> None:
    ada, run = await running(rig)
    rig.clock.advance(LEASE * 2)

    assert await keeps_its_work(rig, rig.reaper(), ada, run)


async def test_an_outage_of_less_than_half_a_lease_makes_the_reaper_patient_too(
    rig: Rig,
) -> None:
    ada, run = await running(rig)
    reaper = rig.reaper()
    await watch(rig, reaper, LEASE / 2)

    rig.clock.advance(LEASE / 2 - INTERVAL)  # Since its last look: half of the lease.
    await reaper.step()
    rig.clock.advance(INTERVAL)  # Now the lease has run out, since the heartbeats of that time were lost.

    assert await keeps_its_work(rig, reaper, ada, run)


async def test_a_second_outage_while_the_reaper_is_patient_counts_like_the_first(rig: Rig) -> None:
    ada, run = await running(rig)
    reaper = rig.reaper()
    await reaper.step()
    for _ in range(2):
        rig.clock.advance(LEASE * 2)
        await reaper.step()
        rig.clock.advance(INTERVAL)

    assert await keeps_its_work(rig, reaper, ada, run)


async def test_a_store_that_stands_still_while_it_is_asked_makes_the_reaper_patient(rig: Rig) -> None:
    ada, run = await running(rig)
    store = Frail(rig.store.executions)
    reaper = reaper_of(rig, store)
    await watch(rig, reaper, LEASE * 3 / 4)

    store.answers_after = lambda: rig.clock.advance(LEASE * 2)  # SIGSTOP, and SIGCONT.
    await reaper.step()
    store.answers_after = None

    assert await keeps_its_work(rig, reaper, ada, run)


@pytest.mark.parametrize("lease", [timedelta(seconds=2), LEASE, timedelta(minutes=10)])
async def test_the_dead_are_taken_back_whatever_the_lease(rig: Rig, lease: timedelta) -> None:
    _, run = await running(rig)
    rig.clock.advance(LEASE)
    reaper = Reaper(
        executions=rig.store.executions,
        clock=rig.clock,
        random=Random(3),
        telemetry=rig.telemetry,
        lease=lease,
    )

    began = rig.clock.now()
    while rig.clock.now() - began < lease / 3 + timedelta(seconds=6):
        rig.clock.advance(await reaper.step())

    assert (await rig.get(run)).waits_for is WaitsFor.EMPTY_WORKER


async def test_after_an_outage_the_dead_are_taken_back(rig: Rig) -> None:
    _, run = await running(rig)
    reaper = rig.reaper()
    await reaper.step()

    rig.clock.advance(LEASE * 2)
    await watch(rig, reaper, LEASE)

    assert (await rig.get(run)).waits_for is WaitsFor.EMPTY_WORKER


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
