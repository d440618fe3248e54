"""A process in virtual time: production services on a clock, a store and hints of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from contextvars import Context, copy_context
from dataclasses import dataclass
from datetime import timedelta
from random import Random
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
from gnomon.store.databases.hints import LocalHints, Topic
from gnomon.store.sql_store import SqlStore
from gnomon.testing.virtual.loop import STRAND, Strand
from gnomon.testing.virtual.network import Line, RemoteStore
from gnomon.testing.virtual.watch import CAPTURE

if TYPE_CHECKING:
    from gnomon.testing.virtual.world import VirtualWorld

SUPERVISOR_WAITS = 1.0  # Seconds until a process that could not start is started again.


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What runs on a machine: a scheduler, or a worker if it has slots. Durations are seconds."""

    name: str
    latency: float  # To the store, one way, on average.
    schedules: bool = False
    slots: int = 0
    queues: tuple[str, ...] = ("default",)
    drain: float = 25.0


class VirtualNode:
    """One machine. What runs on it is a boot: it ends with a kill, and the next one knows nothing of it."""

    def __init__(self, world: VirtualWorld[Any], machine: Machine) -> None:
        self.world = world
        self.machine = machine
        self.boots = 0
        self.boot: Boot | None = None
        self._past: list[Boot] = []

    @property
    def name(self) -> str:
        return self.machine.name

    @property
    def source(self) -> str:
        """The name of its latest boot."""
        return f"{self.name}/{self.boots}"

    def start(self) -> None:
        assert self.boot is None
        self.boots += 1
        self.boot = self._new_boot()

    def kill(self) -> bool:
        """SIGKILL: nothing of it runs again, no cleaning up. What it has sent still arrives."""
        if self.boot is None:
            return False
        self.boot.line.is_dead = True
        for strand in self.boot.strands:
            self.world.loop.hold(strand)
        # It must be remembered: a task that nothing refers to is swept away, and cleans up on the way.
        self._past.append(self.boot)
        self.boot = None
        return True

    def has_left(self) -> None:
        self.boot = None

    def _new_boot(self) -> Boot:
        return Boot(self)


class Boot:
    """From start to end of one process. It has two threads, as in production: the heartbeat has its own."""

    def __init__(self, node: VirtualNode) -> None:
        world = node.world
        self.node = node
        self.world = world
        self.source = node.source
        self.main, self.pulse = Strand(f"{self.source} main"), Strand(f"{self.source} pulse")
        self.strands = (self.main, self.pulse)
        self._contexts = {strand: _context_of(strand) for strand in self.strands}
        chance = world.chance.fork(f"net:{node.source}")
        self.line = self._line(SqlStore(world.database), chance)
        self.store = RemoteStore(world.network, self.line)
        # As if the machine had been switched on at some other time.
        self._monotonic_from = chance.uniform(0, 1e6)
        self._time = world.loop.time
        self.clock = StoreClock(
            self.store.clock, monotonic=self.monotonic, lease=timedelta(seconds=world.lease)
        )
        self.hints = VirtualHints(self)
        self.process: Node | None = None
        self._stop_beating: Callable[[], Awaitable[None]] = _no_heartbeat
        self.task = world.loop.create_task(self._live(), name=self.source, context=self._contexts[self.main])

    @property
    def is_heard(self) -> bool:
        """Whether its hints get to other processes, and theirs to it."""
        return not self.world.network.is_down

    def monotonic(self) -> float:
        return self._monotonic_from + self._time()

    def _line(self, store: SqlStore, chance: Random) -> Line:
        return Line(self.source, store, chance, self.node.machine.latency)

    # Life ----------------------------------------------------------------------------------------------

    async def _live(self) -> None:
        """Production code, put together as in a process of its own."""
        await self._learn()
        async with AsyncExitStack() as stack:
            parts = Assembly(self._options(), self.store, self.hints, self.clock, self)
            self.process = parts.node(stack)
            self._has_started(parts)
            await self.process.run()
        self._has_left()

    def _has_started(self, parts: Assembly) -> None:
        """Its services are put together, and run from now on."""

    def _has_left(self) -> None:
        """It has ended by itself. A supervisor starts the next boot."""
        self.node.has_left()
        self.world.later(0.0, self.world.start_again, self.node)

    async def _learn(self) -> None:
        while True:
            try:
                await self.clock.learn()
                return
            except StoreUnavailable:
                await asyncio.sleep(SUPERVISOR_WAITS)

    def _options(self) -> EngineOptions:
        world, machine = self.world, self.node.machine
        return EngineOptions(
            ":memory:",
            world.chance.number(f"engine:{self.source}"),
            schedules=machine.schedules,
            worker=self._worker() if machine.slots else None,
            lease=timedelta(seconds=world.lease),
            poll=timedelta(seconds=world.poll),
            # As in production: a scheduler that is alone has nobody to share with.
            shards=sum(one.schedules for one in world.machines) > 1,
        )

    def _worker(self) -> WorkerOptions:
        machine = self.node.machine
        handlers = self.world.handlers(self)
        boot = IdSource(self.world.chance.fork(f"boot:{self.source}")).next(self.clock.now())
        registration = Registration(
            WorkerId(machine.name),
            boot,
            machine.name,
            machine.slots,
            handlers.kinds,
            frozenset(machine.queues),
        )
        return WorkerOptions(registration, handlers, drain=timedelta(seconds=machine.drain))

    # The ways of a process in virtual time: see app/processes/worker_parts.py

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


class VirtualHints(LocalHints):
    """Hints within a process at once; to the others later, or never."""

    def __init__(self, boot: Boot) -> None:
        super().__init__()
        self._boot = boot

    def announce(self, topic: Topic) -> None:
        super().announce(topic)
        self._boot.world.spread(self._boot, topic)

    def hear(self, topic: Topic) -> None:
        """Another process announced it."""
        super().announce(topic)
