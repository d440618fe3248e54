"""The clock follows the database, whatever happens to the clocks around it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from gnomon.core.executions.lease import LEASE
from gnomon.core.jobs.job import Definition
from gnomon.core.values.document import JSON
from gnomon.engine.clock import StoreClock
from gnomon.errors import StoreUnavailable
from gnomon.handlers.base import Context
from tests.integration.engine.rig import Rig

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


class World:
    """A database's clock and this machine's monotonic one."""

    def __init__(self) -> None:
        self.is_cut = False
        self.database = NOON
        self.monotonic = 1000.0
        self.round_trip = 0.0
        self.way_there = 0.5  # Its share of the round trip.

    async def read(self) -> datetime:
        if self.is_cut:
            raise StoreUnavailable("cut")
        told = self.database + timedelta(seconds=self.round_trip * self.way_there)
        self.pass_by(self.round_trip)
        return told

    def pass_by(self, seconds: float) -> None:
        self.monotonic += seconds
        self.database += timedelta(seconds=seconds)

    def clock(self) -> StoreClock:
        return StoreClock(self.read, monotonic=lambda: self.monotonic)


async def test_it_tells_the_time_of_the_database() -> None:
    world = World()
    clock = world.clock()
    await clock.learn()

    world.pass_by(90)

    assert clock.now() == world.database


@pytest.mark.parametrize("way_there", [0.0, 0.5, 1.0])
async def test_it_is_never_ahead_of_the_database(way_there: float) -> None:
    world = World()
    world.round_trip, world.way_there = 0.2, way_there
    clock = world.clock()

    await clock.learn()

    behind = world.database - clock.now()
    assert timedelta(0) <= behind <= timedelta(seconds=world.round_trip)


async def test_a_quicker_answer_makes_it_more_exact() -> None:
    world = World()
    world.round_trip = 0.2
    clock = world.clock()
    await clock.learn()

    world.round_trip = 0.002
    await clock.learn()

    assert timedelta(0) <= world.database - clock.now() <= timedelta(milliseconds=2)


async def test_a_slow_answer_does_not_make_an_exact_clock_inexact() -> None:
    world = World()
    clock = world.clock()
    await clock.learn()

    world.round_trip, world.way_there = 0.1, 0.9
    await clock.learn()

    assert abs(clock.now() - world.database) < timedelta(milliseconds=1)


async def test_it_follows_a_jump_and_says_that_leases_cannot_be_judged_yet() -> None:
    world = World()
    clock = world.clock()
    await clock.learn()

    world.database += timedelta(hours=1)
    await clock.learn()

    assert clock.now() == world.database
    assert not clock.is_settled
    world.pass_by(LEASE.total_seconds() + 1)
    assert clock.is_settled


async def test_small_corrections_never_turn_time_back() -> None:
    world = World()
    clock = world.clock()
    await clock.learn()
    before = clock.now()

    world.database -= timedelta(milliseconds=400)
    await clock.learn()

    assert clock.now() == before
    assert clock.is_settled
    world.pass_by(1)
    assert clock.now() == world.database


async def test_an_answer_that_took_too_long_is_not_believed() -> None:
    world = World()
    clock = world.clock()
    await clock.learn()

    world.round_trip = 30.0
    world.database += timedelta(milliseconds=700)
    before = world.monotonic
    await clock.learn()

    assert clock.now() == NOON + timedelta(seconds=world.monotonic - before)


async def test_a_slow_answer_still_says_that_a_clock_is_far_behind() -> None:
    world = World()
    clock = world.clock()
    await clock.learn()

    world.database += timedelta(seconds=60)
    world.round_trip = 2.0
    await clock.learn()

    assert timedelta(0) <= world.database - clock.now() <= timedelta(seconds=2)
    assert not clock.is_settled


async def test_who_got_no_answer_asks_again_before_it_is_sure() -> None:
    world = World()
    clock = world.clock()
    await clock.learn()
    world.is_cut = True
    with pytest.raises(StoreUnavailable):
        await clock.learn()
    world.database += timedelta(seconds=60)  # The machine slept, and its monotonic clock stood still.

    with pytest.raises(StoreUnavailable):
        await clock.sure()
    world.is_cut = False
    await clock.sure()

    assert clock.now() == world.database


async def test_who_got_an_answer_is_sure_without_asking() -> None:
    world = World()
    clock = world.clock()
    await clock.learn()
    world.is_cut = True

    await clock.sure()


async def test_a_worker_that_slept_while_it_was_cut_off_claims_by_the_right_time(rig: Rig) -> None:
    async def work(context: Context) -> JSON:
        return None

    world = World()
    clock = world.clock()
    await clock.learn()
    ada = rig.worker(work, clock=clock)
    run = await rig.enqueue(await rig.job(Definition(kind="test")))
    world.is_cut = True
    with pytest.raises(StoreUnavailable):
        await clock.learn()
    world.database += timedelta(seconds=60)
    world.is_cut = False

    await ada.worker.step()

    assert (await rig.get(run)).started_at == world.database
    await ada.settle()


async def test_the_reaper_takes_nothing_while_time_is_unsettled(rig: Rig) -> None:
    async def long_work(context: Context) -> JSON:
        await asyncio.Event().wait()
        return None

    ada = rig.worker(long_work)
    run = await rig.enqueue(await rig.job(Definition(kind="test")))
    await ada.worker.step()
    rig.clock.advance(timedelta(hours=1))
    rig.clock.is_settled = False

    await rig.reap()

    assert (await rig.get(run)).claim == 1
    assert (await rig.store.executions.expired(now=rig.clock.now(), limit=1)) != []
    ada.worker.stop_running()
    await ada.settle()
