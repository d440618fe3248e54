"""From an address and some options to an engine that runs: which services a process drives, and on what."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from gnomon.app.opening import is_in_memory, open_hints, open_store
from gnomon.core.ids import IdSource
from gnomon.core.lease import LEASE
from gnomon.core.worker import Registration
from gnomon.engine.clock import ClockKeeper, StoreClock
from gnomon.engine.completer import Completer
from gnomon.engine.heartbeat import Heartbeat
from gnomon.engine.node import DRAIN, Node
from gnomon.engine.notebook import Capture, Notebook
from gnomon.engine.pulse import Pulse
from gnomon.engine.reaper import Reaper
from gnomon.engine.scheduler import Scheduler
from gnomon.engine.service import POLL, Service
from gnomon.engine.telemetry import Telemetry
from gnomon.engine.worker import Worker
from gnomon.errors import StoreError
from gnomon.handlers.base import Handler
from gnomon.store.hints import Hints, Topic
from gnomon.store.sql_store import SqlStore

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    registration: Registration
    handlers: Mapping[str, Handler]
    drain: timedelta = DRAIN


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What a process shall do. `seed` is where all its chance comes from."""

    database: str
    seed: int
    schedules: bool = True
    worker: WorkerOptions | None = None
    lease: timedelta = LEASE
    poll: timedelta = POLL


@dataclass(frozen=True, slots=True)
class Engine:
    """The parts of a running engine that others may use beside it."""

    node: Node
    store: SqlStore
    hints: Hints
    clock: StoreClock
    ids: IdSource
    telemetry: Telemetry


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
        yield await _Assembly(options, store, hints, clock).engine(stack)


class _Assembly:
    """Puts the services of one process together."""

    def __init__(self, options: EngineOptions, store: SqlStore, hints: Hints, clock: StoreClock) -> None:
        self.options = options
        self.store = store
        self.hints = hints
        self.clock = clock
        self.random = Random(options.seed)  # noqa: S311 - jitter and ids, no secrets.
        self.ids = IdSource(Random(self.random.getrandbits(128)))  # noqa: S311
        self.telemetry = Telemetry()
        self.services: list[Service] = [ClockKeeper(clock)]
        self.on_hint: dict[Topic, Callable[[], None]] = {}

    async def engine(self, stack: AsyncExitStack) -> Engine:
        if self.options.schedules:
            self._add_scheduler()
        worker = self.options.worker
        node = self._worker_node(worker, stack) if worker else Node(self.services)
        stack.callback(self.hints.listen(self._hint))
        return Engine(node, self.store, self.hints, self.clock, self.ids, self.telemetry)

    def _hint(self, topic: Topic) -> None:
        wake = self.on_hint.get(topic)
        if wake is not None:
            wake()

    def _add_scheduler(self) -> None:
        scheduler = Scheduler(
            schedules=self.store.schedules,
            clock=self.clock,
            ids=self.ids,
            telemetry=self.telemetry,
            fired=lambda: self.hints.announce(Topic.WORK),
            poll=self.options.poll,
        )
        reaper = Reaper(
            executions=self.store.executions,
            clock=self.clock,
            random=self.random,
            telemetry=self.telemetry,
        )
        self.on_hint[Topic.SCHEDULE] = scheduler.wakeup.set
        self.services += [scheduler, reaper]

    def _worker_node(self, chosen: WorkerOptions, stack: AsyncExitStack) -> Node:
        notebook = Notebook(
            logs=self.store.logs,
            checkpoints=self.store.checkpoints,
            clock=self.clock,
            telemetry=self.telemetry,
        )
        completer = Completer(
            executions=self.store.executions,
            clock=self.clock,
            random=self.random,
            notebook=notebook,
            telemetry=self.telemetry,
        )
        worker = Worker(
            chosen.registration,
            executions=self.store.executions,
            checkpoints=self.store.checkpoints,
            clock=self.clock,
            ids=self.ids,
            handlers=chosen.handlers,
            completer=completer,
            notebook=notebook,
            telemetry=self.telemetry,
            lease=self.options.lease,
            poll=self.options.poll,
        )
        self.services += [worker, completer, notebook]
        _capture(notebook, stack)
        node = Node(
            self.services,
            worker=worker,
            drain=chosen.drain,
            goodbye=lambda: self._leave(chosen.registration),
        )
        self.on_hint[Topic.WORK] = worker.wakeup.set
        self.on_hint[Topic.CANCEL] = self._add_heartbeat(worker, node, stack)
        return node

    def _add_heartbeat(self, worker: Worker, node: Node, stack: AsyncExitStack) -> Callable[[], None]:
        """In a thread of its own; not for a database in memory, which nobody else can open.

        Returns how to make it beat early.
        """
        loop = asyncio.get_running_loop()

        def heartbeat(store: SqlStore) -> Heartbeat:
            return Heartbeat(
                worker,
                worker.registration,
                executions=store.executions,
                workers=store.workers,
                clock=self.clock,
                drain=node.drain,
                tell=loop.call_soon_threadsafe,
                lease=self.options.lease,
            )

        @asynccontextmanager
        async def with_its_own_store() -> AsyncIterator[Heartbeat]:
            store = await open_store(self.options.database)
            try:
                yield heartbeat(store)
            finally:
                await store.close()

        if is_in_memory(self.options.database):
            here = heartbeat(self.store)
            self.services.append(here)
            return here.wakeup.set
        pulse = Pulse(with_its_own_store)
        pulse.start()
        stack.push_async_callback(pulse.stop)
        return pulse.hurry

    async def _leave(self, registration: Registration) -> None:
        try:
            await self.store.workers.leave(registration.id, registration.boot, now=self.clock.now())
        except StoreError as error:
            logger.warning("could not say good-bye: %s", error)


def _capture(notebook: Notebook, stack: AsyncExitStack) -> None:
    """What handlers log goes to the notebook, too."""
    root, capture = logging.getLogger(), Capture(notebook)
    logging.getLogger("gnomon.job").setLevel(logging.DEBUG)
    root.addHandler(capture)
    stack.callback(root.removeHandler, capture)
