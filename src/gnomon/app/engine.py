"""From an address and some options to an engine that runs."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from gnomon.app.assembly import Assembly, EngineOptions, MakeHeartbeat, WorkerOptions
from gnomon.app.opening import dialect_of, is_in_memory, open_hints, open_store
from gnomon.core.ids import IdSource
from gnomon.engine.clock import StoreClock
from gnomon.engine.heartbeat import Heartbeat
from gnomon.engine.node import Node
from gnomon.engine.notebook import Capture, Notebook
from gnomon.engine.pulse import Pulse
from gnomon.engine.recycler import Recycler
from gnomon.engine.service import Service
from gnomon.engine.telemetry import Telemetry
from gnomon.store.hints import Hints
from gnomon.store.sql_store import SqlStore
from gnomon.store.sqlite import SqliteDatabase

__all__ = ["Engine", "EngineOptions", "WorkerOptions", "open_engine"]


@dataclass(frozen=True, slots=True)
class Engine:
    """The parts of a running engine that others may use beside it."""

    node: Node
    store: SqlStore
    hints: Hints
    clock: StoreClock
    ids: IdSource
    telemetry: Telemetry
    recycler: Recycler | None


@asynccontextmanager
async def open_engine(options: EngineOptions) -> AsyncIterator[Engine]:
    """Connected and ready. `await engine.node.run()` runs it until it is asked to leave."""
    async with AsyncExitStack() as stack:
        store = await open_store(options.database)
        stack.push_async_callback(store.close)
        hints = open_hints(options.database)
        stack.push_async_callback(hints.close)
        clock = StoreClock(store.clock, lease=options.lease)
        await clock.learn()
        # With a file there is nobody to share with.
        shares = options.shards and dialect_of(options.database) != SqliteDatabase.dialect
        parts = Assembly(
            replace(options, shards=shares), store, hints, clock, _Process(options.database, store)
        )
        node = parts.node(stack)
        yield Engine(node, store, hints, clock, parts.ids, parts.telemetry, parts.recycler)


@dataclass(slots=True)
class _Process:
    """The ways of a process of its own."""

    database: str
    store: SqlStore
    pulse: Pulse | None = None

    def beat(self, make: MakeHeartbeat, services: list[Service], stack: AsyncExitStack) -> Callable[[], None]:
        """In a thread of its own; not for a database in memory, which nobody else can open."""
        if is_in_memory(self.database):
            here = make(self.store)
            services.append(here)
            return here.wakeup.set
        self.pulse = pulse = Pulse(partial(self._beating, make))
        pulse.start()
        stack.push_async_callback(pulse.stop)
        return pulse.hurry

    @asynccontextmanager
    async def _beating(self, make: MakeHeartbeat) -> AsyncIterator[Heartbeat]:
        store = await open_store(self.database)
        try:
            yield make(store)
        finally:
            await store.close()

    async def silence(self) -> None:
        if self.pulse is not None:
            await self.pulse.stop()

    def capture(self, notebook: Notebook, stack: AsyncExitStack) -> None:
        root, capture = logging.getLogger(), Capture(notebook)
        logging.getLogger("gnomon.job").setLevel(logging.DEBUG)
        root.addHandler(capture)
        stack.callback(root.removeHandler, capture)
