"""The services of a process that runs jobs, put together: on a store, or on a server over HTTP."""

from __future__ import annotations

import asyncio
import logging
import resource
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Protocol

from gnomon.core.operations.workers import Registration
from gnomon.core.values.ids import IdSource
from gnomon.engine.clock import Clock
from gnomon.engine.node import DRAIN, Node
from gnomon.engine.service import Service
from gnomon.engine.telemetry import Telemetry
from gnomon.engine.workers.completer import Completer
from gnomon.engine.workers.heartbeat import Heartbeat
from gnomon.engine.workers.needs import Forecast, WorkStore
from gnomon.engine.workers.notebook import Capture, Notebook
from gnomon.engine.workers.pulse import Pulse
from gnomon.engine.workers.recycler import Recycler
from gnomon.engine.workers.slots import Slots
from gnomon.engine.workers.tidier import Tidier
from gnomon.engine.workers.worker import Worker
from gnomon.errors import StoreError
from gnomon.handlers.registry import Registry

logger = logging.getLogger(__name__)

MakeHeartbeat = Callable[[WorkStore], Heartbeat]
OpenAnother = Callable[[], AbstractAsyncContextManager[WorkStore]]


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    registration: Registration
    handlers: Registry
    drain: timedelta = DRAIN
    recycle_after_attempts: int | None = None
    recycle_above_bytes: int | None = None


class ProcessHooks(Protocol):
    """What depends on where a process runs."""

    def beat(self, make: MakeHeartbeat, services: list[Service], stack: AsyncExitStack) -> Callable[[], None]:
        """Keep a heartbeat going until the stack is closed, perhaps as one of the services of the process.

        Returns how to make it beat early.
        """

    async def silence(self) -> None:
        """Stop the heartbeat, before the process says good-bye: who has left must not beat again."""

    def capture(self, notebook: Notebook, stack: AsyncExitStack) -> None:
        """What handlers log goes to the notebook, too, until the stack is closed."""


@dataclass(slots=True)
class WorkerParts:
    """What runs jobs in one process."""

    chosen: WorkerOptions
    store: WorkStore
    hooks: ProcessHooks
    clock: Clock
    random: Random
    ids: IdSource
    telemetry: Telemetry
    lease: timedelta
    poll: timedelta
    # Tells all workers, ours included, that a task has released what follows it. None: there is only ours.
    released: Callable[[], None] | None = None
    put_off: Callable[[], None] = lambda: None  # The same, that something shall be tried again.
    forecast: Forecast | None = None
    worker: Worker = field(init=False)
    recycler: Recycler = field(init=False)
    hurry: Callable[[], None] = field(init=False)  # Makes the heartbeat beat early.

    def node(self, services: list[Service], stack: AsyncExitStack) -> Node:
        """A node that drives these services, and those of the worker, which are added to them."""
        chosen = self.chosen
        self.worker = self._worker(services, stack)
        node = Node(services, worker=self.worker, drain=chosen.drain, goodbye=self._leave)
        self.recycler = Recycler(
            self.worker,
            drain=node.drain,
            memory_bytes=memory_bytes,
            attempts_max=chosen.recycle_after_attempts,
            memory_bytes_max=chosen.recycle_above_bytes,
        )
        services += [self.worker, self.recycler, Tidier(chosen.handlers.tidy)]
        self.hurry = self._add_heartbeat(services, stack)
        return node

    def _worker(self, services: list[Service], stack: AsyncExitStack) -> Worker:
        notebook = Notebook(
            logs=self.store.logs,
            checkpoints=self.store.checkpoints,
            clock=self.clock,
            telemetry=self.telemetry,
        )
        slots = Slots(self.chosen.registration.slots)
        completer = Completer(
            slots,
            executions=self.store.executions,
            clock=self.clock,
            random=self.random,
            notebook=notebook,
            telemetry=self.telemetry,
            lease=self.lease,
            # Once, and not by two ways: a second look would stand in the way of the next end.
            released=self.released or self._wake,
            put_off=self.put_off,
        )
        services += [completer, notebook]
        self.hooks.capture(notebook, stack)
        return Worker(
            self.chosen.registration,
            slots,
            executions=self.store.executions,
            checkpoints=self.store.checkpoints,
            clock=self.clock,
            ids=self.ids,
            handlers=self.chosen.handlers,
            notebook=notebook,
            telemetry=self.telemetry,
            forecast=self.forecast,
            lease=self.lease,
            poll=self.poll,
        )

    def _wake(self) -> None:
        self.worker.wakeup.set()

    def _add_heartbeat(self, services: list[Service], stack: AsyncExitStack) -> Callable[[], None]:
        # What the heartbeat learns is told here and not in its own surroundings: it may be a thread apart.
        tell = partial(asyncio.get_running_loop().call_soon_threadsafe, context=copy_context())

        def heartbeat(store: WorkStore) -> Heartbeat:
            return Heartbeat(
                self.worker,
                self.worker.registration,
                executions=store.executions,
                workers=store.workers,
                clock=self.clock,
                tell=tell,
                lease=self.lease,
            )

        return self.hooks.beat(heartbeat, services, stack)

    async def _leave(self) -> None:
        await self.hooks.silence()
        registration, now = self.chosen.registration, self.clock.now()
        await quietly(lambda: self.store.workers.leave(registration.id, registration.boot, now=now))


@dataclass(slots=True)
class OwnProcess:
    """The hooks of a process of its own.

    `open_another` opens the store again, for the thread of the heartbeat; None if that cannot be.
    """

    store: WorkStore
    open_another: OpenAnother | None
    pulse: Pulse | None = None

    def beat(self, make: MakeHeartbeat, services: list[Service], stack: AsyncExitStack) -> Callable[[], None]:
        """In a thread of its own, where it can have a store of its own."""
        if self.open_another is None:
            here = make(self.store)
            services.append(here)
            return here.wakeup.set
        self.pulse = pulse = Pulse(partial(self._beating, make, self.open_another))
        pulse.start()
        stack.push_async_callback(pulse.stop)
        return pulse.hurry

    @asynccontextmanager
    async def _beating(self, make: MakeHeartbeat, open_another: OpenAnother) -> AsyncIterator[Heartbeat]:
        async with open_another() as store:
            yield make(store)

    async def silence(self) -> None:
        if self.pulse is not None:
            await self.pulse.stop()

    def capture(self, notebook: Notebook, stack: AsyncExitStack) -> None:
        root, capture = logging.getLogger(), Capture(notebook)
        logging.getLogger("gnomon.job").setLevel(logging.DEBUG)
        root.addHandler(capture)
        stack.callback(root.removeHandler, capture)


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
