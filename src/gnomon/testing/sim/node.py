"""A process of the simulated world: production services on a clock, a store and hints of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from contextvars import Context, ContextVar, copy_context
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from gnomon.app.processes.assembly import Assembly, EngineOptions
from gnomon.app.processes.worker_parts import MakeHeartbeat, WorkerOptions
from gnomon.core.executions.execution import WorkerId
from gnomon.core.operations.workers import Registration
from gnomon.core.values.ids import IdSource
from gnomon.engine.clock import StoreClock
from gnomon.engine.node import Node
from gnomon.engine.service import Service, Stopping, drive
from gnomon.engine.workers.notebook import Capture, Notebook
from gnomon.errors import StoreUnavailable
from gnomon.proof.events import source_of
from gnomon.store.databases.hints import LocalHints, Topic
from gnomon.store.sql_store import SqlStore
from gnomon.testing.sim.loop import STRAND, Strand
from gnomon.testing.sim.network import Line, RemoteStore
from gnomon.testing.sim.scenario import NodeSpec, Role

if TYPE_CHECKING:
    from gnomon.testing.sim.world import World

SUPERVISOR_WAITS = 1.0  # Seconds until a process that could not start is started again.

# What captures the log lines of the attempts that run in this context.
CAPTURE: ContextVar[Capture | None] = ContextVar("gnomon_sim_capture", default=None)


class CaptureHere(logging.Handler):
    """Hands the lines of an attempt to the notebook of the node that runs it."""

    def emit(self, record: logging.LogRecord) -> None:
        capture = CAPTURE.get()
        if capture is not None:
            capture.emit(record)


class SimulatedNode:
    """One machine. What runs on it is a boot: it ends with a kill, and the next one knows nothing of it."""

    def __init__(self, world: World, spec: NodeSpec) -> None:
        self.world = world
        self.spec = spec
        self.boots = 0
        self.skew = spec.skew
        self.boot: Boot | None = None
        self._past: list[Boot] = []

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def source(self) -> str:
        return source_of(self.name, self.boots)

    def start(self) -> None:
        assert self.boot is None
        self.boots += 1
        self.boot = Boot(self)

    def kill(self) -> bool:
        """SIGKILL: nothing of it runs again, no cleaning up. What it has sent still arrives."""
        if self.boot is None:
            return False
        self.boot.line.is_dead = True
        for strand in self.boot.strands:
            self.world.loop.hold(strand)
        # Somebody must remember it: a task that nobody knows is swept away, and cleans up on the way.
        self._past.append(self.boot)
        self.boot = None
        return True

    def has_left(self) -> None:
        self.boot = None


class Boot:
    """From start to end of one process. It has two threads, as in production: the heartbeat has its own."""

    def __init__(self, node: SimulatedNode) -> None:
        world, spec = node.world, node.spec
        self.node = node
        self.world = world
        self.source = node.source
        self.main, self.pulse = Strand(f"{self.source} main"), Strand(f"{self.source} pulse")
        self.strands = (self.main, self.pulse)
        self._contexts = {strand: _context_of(strand) for strand in self.strands}
        chance = world.chance.fork(f"net:{node.source}")
        self.line = Line(node.source, SqlStore(world.database), chance, spec.latency, heartbeat=self.pulse)
        self.store = RemoteStore(world.network, self.line)
        # As if the machine had been switched on at some other time.
        self._monotonic_from = chance.uniform(0, 1e6)
        self._pace = 1 + spec.drift
        self._time = world.loop.time
        self.slept = 0.0  # Seconds in which even the monotonic clock stood still.
        self.clock = StoreClock(
            self.store.clock, monotonic=self.monotonic, lease=timedelta(seconds=world.scenario.lease)
        )
        self.hints = SimulatedHints(self)
        self.process: Node | None = None
        self._stop_beating: Callable[[], Awaitable[None]] = _no_heartbeat
        self.slots = spec.slots if spec.role is Role.WORKER else 0
        self.queues = spec.queues if spec.role is Role.WORKER else ()
        live = self._live if spec.role is not Role.CLIENT else self._attend
        self.task = world.loop.create_task(live(), name=self.source, context=self._contexts[self.main])

    def monotonic(self) -> float:
        return self._monotonic_from + (self._time() - self.slept) * self._pace

    def wall(self) -> datetime:
        """What the wall clock of the machine shows. Nothing of Gnomon may ask for it."""
        return self.world.now() + timedelta(seconds=self.node.skew)

    def drain(self) -> bool:
        if self.process is None:
            return False
        self.process.drain()
        return True

    # Life ----------------------------------------------------------------------------------------------

    async def _live(self) -> None:
        """Production code, put together as in a process of its own."""
        await self._learn()
        async with AsyncExitStack() as stack:
            parts = Assembly(self._options(), self.store, self.hints, self.clock, self)
            self.process = parts.node(stack)
            parts.telemetry.listeners.append(self.world.happened)
            parts.telemetry.on_decisions.append(self.world.recorder.decided)
            self.world.recorder.up(self)
            await self.process.run()
        self.world.has_left(self)

    async def _attend(self) -> None:
        """A client has a clock and a store, and whoever acts for it."""
        await self._learn()

    async def _learn(self) -> None:
        while True:
            try:
                await self.clock.learn()
                return
            except StoreUnavailable:
                await asyncio.sleep(SUPERVISOR_WAITS)

    def _options(self) -> EngineOptions:
        spec, scenario = self.node.spec, self.world.scenario
        seed = self.world.chance.number(f"engine:{self.source}")
        return EngineOptions(
            ":memory:",
            seed,
            schedules=spec.role is Role.SCHEDULER,
            worker=self._worker() if spec.role is Role.WORKER else None,
            lease=timedelta(seconds=scenario.lease),
            poll=timedelta(seconds=scenario.poll),
            # As in production: who is alone has nobody to share with.
            shards=sum(one.role is Role.SCHEDULER for one in scenario.nodes) > 1,
        )

    def _worker(self) -> WorkerOptions:
        spec = self.node.spec
        handlers = self.world.handlers(self)
        boot = IdSource(self.world.chance.fork(f"boot:{self.source}")).next(self.clock.now())
        registration = Registration(
            WorkerId(spec.name), boot, spec.name, spec.slots, handlers.kinds, frozenset(spec.queues)
        )
        return WorkerOptions(registration, handlers, drain=timedelta(seconds=spec.drain))

    # The ways of a simulated process: see app/processes/worker_parts.py

    def beat(self, make: MakeHeartbeat, services: list[Service], stack: AsyncExitStack) -> Callable[[], None]:
        heartbeat, stopping = make(self.store), Stopping()
        task = self.world.loop.create_task(drive(heartbeat, stopping), context=self._contexts[self.pulse])

        async def stop() -> None:
            stopping.set([heartbeat])
            await asyncio.wait([task], timeout=5)

        self._stop_beating = stop
        stack.push_async_callback(stop)
        return heartbeat.wakeup.set

    async def silence(self) -> None:
        await self._stop_beating()

    def capture(self, notebook: Notebook, stack: AsyncExitStack) -> None:
        CAPTURE.set(Capture(notebook))

    def within(self, callback: Callable[..., Any], *args: Any, delay: float = 0.0) -> None:
        """Call it in the main thread of this process, after a while."""
        self.world.loop.call_later(delay, callback, *args, context=self._contexts[self.main].copy())


async def _no_heartbeat() -> None:
    """Not every process has one."""


def _context_of(strand: Strand) -> Context:
    context = copy_context()
    context.run(STRAND.set, strand)
    return context


class SimulatedHints(LocalHints):
    """Hints within a process at once; to the others later, or never."""

    def __init__(self, boot: Boot) -> None:
        super().__init__()
        self._boot = boot

    def announce(self, topic: Topic) -> None:
        super().announce(topic)
        self._boot.world.spread(self._boot, topic)

    def hear(self, topic: Topic) -> None:
        """Somebody else announced it."""
        super().announce(topic)
