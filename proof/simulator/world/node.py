"""A process of the simulated world: one of virtual time whose clock, line and end may be tampered with."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING

from gnomon.app.processes.assembly import Assembly
from gnomon.store.sql_store import SqlStore
from gnomon.testing.virtual.node import Boot, Machine, VirtualNode
from proof.simulator.scenarios.scenario import NodeSpec, Role
from proof.simulator.world.network import FaultyLine

if TYPE_CHECKING:
    from proof.simulator.world.world import World


class SimulatedNode(VirtualNode):
    world: World
    boot: SimulatedBoot | None

    def __init__(self, world: World, spec: NodeSpec) -> None:
        super().__init__(world, machine_of(spec))
        self.spec = spec
        self.skew = spec.skew

    def _new_boot(self) -> SimulatedBoot:
        return SimulatedBoot(self)


class SimulatedBoot(Boot):
    node: SimulatedNode
    world: World
    line: FaultyLine

    def __init__(self, node: SimulatedNode) -> None:
        self.slept = 0.0  # Seconds in which even the monotonic clock stood still.
        self._pace = 1 + node.spec.drift
        self.slots = node.machine.slots
        self.queues = node.machine.queues if self.slots else ()
        super().__init__(node)

    def monotonic(self) -> float:
        return self._monotonic_from + (self._time() - self.slept) * self._pace

    @property
    def is_heard(self) -> bool:
        world = self.world
        return world.scenario.hints and not world.is_deaf and not self.line.cuts and super().is_heard

    def wall(self) -> datetime:
        """What the wall clock of the machine shows. Nothing of Gnomon may ask for it."""
        return self.world.now() + timedelta(seconds=self.node.skew)

    def drain(self) -> bool:
        if self.process is None:
            return False
        self.process.drain()
        return True

    def _line(self, store: SqlStore, chance: Random) -> FaultyLine:
        return FaultyLine(self.source, store, chance, self.node.spec.latency, heartbeat=self.pulse)

    async def _live(self) -> None:
        if self.node.spec.role is Role.CLIENT:
            await self._learn()  # A client has a clock and a store, and others act for it.
        else:
            await super()._live()

    def _has_started(self, parts: Assembly) -> None:
        parts.telemetry.listeners.append(self.world.happened)
        parts.telemetry.on_decisions.append(self.world.recorder.decided)
        self.world.recorder.up(self)

    def _has_left(self) -> None:
        self.world.recorder.down(self)
        self.node.has_left()
        self.world.nemesis.has_left(self.node)


def machine_of(spec: NodeSpec) -> Machine:
    return Machine(
        name=spec.name,
        latency=spec.latency,
        schedules=spec.role is Role.SCHEDULER,
        slots=spec.slots if spec.role is Role.WORKER else 0,
        queues=spec.queues,
        drain=spec.drain,
    )
