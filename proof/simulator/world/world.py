"""A whole system in one event loop: nodes, the network between them and the store, and what goes on in it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from gnomon.core.executions.execution import Execution
from gnomon.engine.telemetry import Happening, What
from gnomon.handlers.registry import Registry
from gnomon.store.databases.one_thread import Here
from gnomon.store.databases.sqlite import SqliteDatabase
from gnomon.store.databases.sqlite_connection import MEMORY
from gnomon.testing.virtual.node import Boot
from gnomon.testing.virtual.world import VirtualWorld
from proof.checker.history import events
from proof.checker.history.events import Event
from proof.simulator.recording.notes import NotingDatabase
from proof.simulator.recording.pen import NEMESIS
from proof.simulator.recording.recorder import Recorder
from proof.simulator.scenarios.scenario import Scenario
from proof.simulator.world.clients import Clients
from proof.simulator.world.handler import SimulatedHandler
from proof.simulator.world.nemesis import Nemesis
from proof.simulator.world.network import FaultyNetwork
from proof.simulator.world.node import SimulatedBoot, SimulatedNode, machine_of
from proof.simulator.world.story import Story

PUNCTUAL = 5.0  # Seconds.


class World(VirtualWorld[SimulatedNode]):
    network: FaultyNetwork

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(
            [machine_of(spec) for spec in scenario.nodes],
            seed=scenario.seed,
            start=scenario.start,
            lease=scenario.lease,
            poll=scenario.poll,
        )
        self.scenario = scenario
        self.happenings: Counter[What] = Counter()
        self.is_deaf = 0
        self.on_event: Callable[[Event], None] | None = None  # Who wants to watch.

    def run(self) -> Story:
        return self.live(self._life())

    async def _life(self) -> Story:
        await self._create()
        await self.clients.make_jobs()  # Before anything goes wrong.
        runs = await self._years()
        # A copy of what may grow: at the end of the world everything is cancelled, and messages still arrive.
        return Story(
            self.scenario,
            list(self.recorder.events),
            self.recorder.digest,
            runs,
            list(self.watch.bugs),
            self.happenings,
            self.recorder.seen,
            self.network.calls,
            self.loop.turns,
            self.nemesis.count,
        )

    async def _create(self) -> None:
        noting = NotingDatabase() if self.scenario.flows else None
        await self.found(noting or SqliteDatabase(MEMORY, hands=Here))
        self.recorder = Recorder(self.store, self.now, noting.taken if noting is not None else None)
        if noting is not None:
            noting.note()
        self.recorder.on_event = self.on_event
        self.network = FaultyNetwork(self.loop, now=self.now, observer=self.recorder)
        self.clients = Clients(self)
        self.nemesis = Nemesis(self)
        # A hint may get lost, and then a worker finds out when it polls.
        tolerance = PUNCTUAL + self.scenario.poll
        self.recorder.write(events.Expect, NEMESIS, lease=self.lease, tolerance=tolerance)

    async def _years(self) -> list[Execution]:
        """From the beginning to the end. Returns what was found there."""
        scenario = self.scenario
        self.populate(SimulatedNode(self, spec) for spec in scenario.nodes)
        self.clients.schedule(scenario.acts)
        self.nemesis.schedule(scenario.faults)
        await asyncio.sleep(scenario.healed_at - self.loop.time())
        self.nemesis.heal()
        await asyncio.sleep(scenario.seconds - self.loop.time())
        return await self._final_read()

    async def _final_read(self) -> list[Execution]:
        """Everything there is, straight from the store."""
        self.clients.close()
        self.is_over = True
        found = await self.kept()
        for one in found:
            self.recorder.write(
                events.Kept, NEMESIS, run=str(one.id), job=str(one.job_id), state=str(one.status)
            )
        self.recorder.write(events.Read, NEMESIS, kept=len(found))
        return found

    def handlers(self, boot: Boot) -> Registry:
        """What its worker can run."""
        assert isinstance(boot, SimulatedBoot)
        return Registry([SimulatedHandler(boot)])

    def crash(self, boot: Boot) -> None:
        self.nemesis.crash(boot)

    def happened(self, happening: Happening) -> None:
        self.happenings[happening.what] += 1
