"""The services of a process that runs jobs, put together: on a store, or on a server over HTTP."""

from __future__ import annotations

import asyncio
import logging
import resource
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random

from gnomon.core.ids import IdSource
from gnomon.core.worker import Registration
from gnomon.engine.clock import Clock
from gnomon.engine.completer import Completer
from gnomon.engine.heartbeat import Heartbeat
from gnomon.engine.needs import WorkStore
from gnomon.engine.node import DRAIN, Node
from gnomon.engine.notebook import Capture, Notebook
from gnomon.engine.pulse import Pulse
from gnomon.engine.recycler import Recycler
from gnomon.engine.service import Service
from gnomon.engine.telemetry import Telemetry
from gnomon.engine.worker import Worker
from gnomon.errors import StoreError
from gnomon.handlers.registry import Registry

logger = logging.getLogger(__name__)

OpenAnother = Callable[[], AbstractAsyncContextManager[WorkStore]]


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    registration: Registration
    handlers: Registry
    drain: timedelta = DRAIN
    recycle_after_attempts: int | None = None
    recycle_above_bytes: int | None = None


@dataclass(slots=True)
class WorkerParts:
    """`open_another` opens the store again, for the thread of the heartbeat; None if that cannot be."""

    chosen: WorkerOptions
    store: WorkStore
    open_another: OpenAnother | None
    clock: Clock
    random: Random
    ids: IdSource
    telemetry: Telemetry
    lease: timedelta
    poll: timedelta
    worker: Worker = field(init=False)
    recycler: Recycler = field(init=False)
    hurry: Callable[[], None] = field(init=False)  # Makes the heartbeat beat early.
    _notebook: Notebook = field(init=False)
    _completer: Completer = field(init=False)
    _pulse: Pulse | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        store, clock, telemetry = self.store, self.clock, self.telemetry
        self._notebook = Notebook(
            logs=store.logs, checkpoints=store.checkpoints, clock=clock, telemetry=telemetry
        )
        self._completer = Completer(
            executions=store.executions,
            clock=clock,
            random=self.random,
            notebook=self._notebook,
            telemetry=telemetry,
        )
        self.worker = Worker(
            self.chosen.registration,
            executions=store.executions,
            checkpoints=store.checkpoints,
            clock=clock,
            ids=self.ids,
            handlers=self.chosen.handlers,
            completer=self._completer,
            notebook=self._notebook,
            telemetry=telemetry,
            lease=self.lease,
            poll=self.poll,
        )

    def node(self, services: list[Service], stack: AsyncExitStack) -> Node:
        """A node that drives these services, and those of the worker, which are added to them."""
        chosen = self.chosen
        services += [self._completer, self._notebook]
        _capture(self._notebook, stack)
        node = Node(services, worker=self.worker, drain=chosen.drain, goodbye=self._leave)
        self.recycler = Recycler(
            self.worker,
            drain=node.drain,
            memory_bytes=memory_bytes,
            attempts_max=chosen.recycle_after_attempts,
            memory_bytes_max=chosen.recycle_above_bytes,
        )
        services += [self.worker, self.recycler]
        self.hurry = self._add_heartbeat(services, node, stack)
        return node

    def _add_heartbeat(
        self, services: list[Service], node: Node, stack: AsyncExitStack
    ) -> Callable[[], None]:
        """In a thread of its own, where it can have a store of its own. Returns how to make it beat early."""
        loop, open_another = asyncio.get_running_loop(), self.open_another

        def heartbeat(store: WorkStore) -> Heartbeat:
            return Heartbeat(
                self.worker,
                self.worker.registration,
                executions=store.executions,
                workers=store.workers,
                clock=self.clock,
                drain=node.drain,
                tell=loop.call_soon_threadsafe,
                lease=self.lease,
            )

        if open_another is None:
            here = heartbeat(self.store)
            services.append(here)
            return here.wakeup.set

        @asynccontextmanager
        async def with_its_own_store() -> AsyncIterator[Heartbeat]:
            async with open_another() as store:
                yield heartbeat(store)

        self._pulse = pulse = Pulse(with_its_own_store)
        pulse.start()
        stack.push_async_callback(pulse.stop)
        return pulse.hurry

    async def _leave(self) -> None:
        """Nothing runs any more, so nothing is to be renewed; and who has left must not beat again."""
        if self._pulse is not None:
            await self._pulse.stop()
        registration, now = self.chosen.registration, self.clock.now()
        await quietly(lambda: self.store.workers.leave(registration.id, registration.boot, now=now))


async def quietly(leave: Callable[[], Awaitable[None]]) -> None:
    """Who leaves does not insist: what is not said now, others find out."""
    try:
        await leave()
    except StoreError as error:
        logger.warning("could not say good-bye: %s", error)


def memory_bytes() -> int:
    """What this process holds in memory right now."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * resource.getpagesize()


def _capture(notebook: Notebook, stack: AsyncExitStack) -> None:
    """What handlers log goes to the notebook, too."""
    root, capture = logging.getLogger(), Capture(notebook)
    logging.getLogger("gnomon.job").setLevel(logging.DEBUG)
    root.addHandler(capture)
    stack.callback(root.removeHandler, capture)
