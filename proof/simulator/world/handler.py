"""Work that is no work: handlers that take time, fail, crash, snooze or do not listen, as their job says."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

import msgspec

from gnomon.core.values.document import JSON
from gnomon.errors import LeaseLost
from gnomon.handlers.base import Context, JobFailed, Snooze
from proof.simulator.scenarios.behaviour import KIND, Behaviour
from proof.simulator.scenarios.flows import marks_of

if TYPE_CHECKING:
    from proof.simulator.world.node import SimulatedBoot

STUBBORN_FOR = (1.0, 12.0)
SNOOZE_FOR = (1.0, 30.0)


class SimulatedHandler:
    kind = KIND

    def __init__(self, boot: SimulatedBoot) -> None:
        self._boot = boot

    def check(self, payload: JSON) -> None:
        """All payloads are our own."""

    async def run(self, payload: JSON, context: Context) -> JSON:
        world = self._boot.world
        behaviour = msgspec.convert(payload, type=Behaviour)
        chance = world.chance.fork(f"run:{context.token}")
        world.recorder.started(self._boot, context, marks_of(behaviour.inputs))
        code = 1
        try:
            await self._work(behaviour, context, chance)
            world.recorder.effect(self._boot, context)
            code = 0
            return _result(behaviour, context)
        finally:
            world.recorder.exited(self._boot, context, code)

    async def _work(self, behaviour: Behaviour, context: Context, chance: Random) -> None:
        # Drawn at once, so that what happens on the way does not change what comes later.
        lasts = chance.uniform(behaviour.shortest, behaviour.longest)
        is_long, fate, is_stubborn = chance.random(), chance.random(), chance.random()
        if is_long < behaviour.long:
            lasts = behaviour.long_lasts * chance.uniform(0.9, 1.1)
        try:
            await self._steps(behaviour, context, lasts)
        except asyncio.CancelledError:
            self._boot.world.recorder.told(self._boot, context)
            if is_stubborn >= behaviour.stubborn:
                raise
            await _insist(chance.uniform(*STUBBORN_FOR))
            raise
        self._end(behaviour, fate, chance)

    async def _steps(self, behaviour: Behaviour, context: Context, lasts: float) -> None:
        pieces = max(1, behaviour.checkpoints)
        done = context.state if isinstance(context.state, int) else 0
        for number in range(min(done, pieces), pieces):
            for line in range(behaviour.lines):
                context.log.info("step %d, line %d", number, line)
            await asyncio.sleep(lasts / pieces)
            if behaviour.checkpoints:
                with contextlib.suppress(LeaseLost):
                    await context.checkpoint(number + 1, progress=(number + 1) / pieces)

    def _end(self, behaviour: Behaviour, fate: float, chance: Random) -> None:
        for likely, end in (
            (behaviour.crashes, self._crash),
            (behaviour.fails_for_good, _fail_for_good),
            (behaviour.fails, _fail),
            (behaviour.snoozes, _snooze),
        ):
            if fate < likely:
                end(chance)
                return
            fate -= likely

    def _crash(self, chance: Random) -> None:
        self._boot.world.crash(self._boot)
        raise JobFailed("It crashed, so nobody hears of this.")


def _result(behaviour: Behaviour, context: Context) -> JSON:
    """It says which attempt brought it, so that whoever is given it can tell."""
    proof = f"{context.execution_id}/{context.claim}"
    items: list[JSON] = [f"{proof}#{place}" for place in range(behaviour.items)]
    return {"proof": proof, "items": items, "coin": context.execution_id.int % 3 > 0}


async def _insist(seconds: float) -> None:
    """Sleep, and do not let anybody end it: as code that catches too much does."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while (left := until - loop.time()) > 0:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(left)


def _fail(chance: Random) -> None:
    raise JobFailed("as its behaviour says")


def _fail_for_good(chance: Random) -> None:
    raise JobFailed("as its behaviour says", permanent=True)


def _snooze(chance: Random) -> None:
    raise Snooze(timedelta(seconds=chance.uniform(*SNOOZE_FOR)))
