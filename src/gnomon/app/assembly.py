"""Which services a process drives, put together on any store."""

from __future__ import annotations

import asyncio
import logging
import resource
from collections.abc import Awaitable, Callable, Collection
from contextlib import AsyncExitStack
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Protocol

from gnomon.core.ids import IdSource
from gnomon.core.lease import LEASE
from gnomon.core.retention import RetentionPolicy
from gnomon.core.worker import Registration
from gnomon.engine.clock import ClockKeeper, StoreClock
from gnomon.engine.completer import Completer
from gnomon.engine.heartbeat import Heartbeat
from gnomon.engine.maintenance import Maintenance
from gnomon.engine.node import DRAIN, Node
from gnomon.engine.notebook import Notebook
from gnomon.engine.reaper import Reaper
from gnomon.engine.recycler import Recycler
from gnomon.engine.scheduler import BATCH, Scheduler
from gnomon.engine.service import POLL, Service
from gnomon.engine.shards import ShardKeeper
from gnomon.engine.sweeper import Sweeper
from gnomon.engine.telemetry import Telemetry
from gnomon.engine.worker import Worker
from gnomon.errors import StoreError
from gnomon.handlers.registry import Registry
from gnomon.store.base import Store
from gnomon.store.hints import Hints, Topic

logger = logging.getLogger(__name__)

MakeHeartbeat = Callable[[Store], Heartbeat]


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    registration: Registration
    handlers: Registry
    drain: timedelta = DRAIN
    recycle_after_attempts: int | None = None
    recycle_above_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What a process shall do. `seed` is where all its chance comes from."""

    database: str
    seed: int
    schedules: bool = True
    worker: WorkerOptions | None = None
    lease: timedelta = LEASE
    poll: timedelta = POLL
    fire_batch: int = BATCH
    shards: bool = True
    retention: RetentionPolicy = field(default_factory=RetentionPolicy)


class Ways(Protocol):
    """What depends on where a process runs."""

    def beat(self, make: MakeHeartbeat, services: list[Service], stack: AsyncExitStack) -> Callable[[], None]:
        """Keep a heartbeat going until the stack is closed, perhaps as one of the services of the process.

        Returns how to make it beat early.
        """

    async def silence(self) -> None:
        """Stop the heartbeat, before the process says good-bye: who has left must not beat again."""

    def capture(self, notebook: Notebook, stack: AsyncExitStack) -> None:
        """What handlers log goes to the notebook, too, until the stack is closed."""


class Assembly:
    """Puts the services of one process together."""

    def __init__(
        self, options: EngineOptions, store: Store, hints: Hints, clock: StoreClock, ways: Ways
    ) -> None:
        self.options = options
        self.store = store
        self.hints = hints
        self.clock = clock
        self.ways = ways
        self.random = Random(options.seed)  # noqa: S311 - jitter and ids, no secrets.
        self.ids = IdSource(Random(self.random.getrandbits(128)))  # noqa: S311
        self.telemetry = Telemetry()
        self.services: list[Service] = [ClockKeeper(clock)]
        self.recycler: Recycler | None = None
        self.on_hint: dict[Topic, Callable[[], None]] = {}

    def node(self, stack: AsyncExitStack) -> Node:
        """What the process drives. What the stack holds goes with it."""
        if self.options.schedules:
            self._add_scheduler(stack)
        worker = self.options.worker
        node = self._worker_node(worker, stack) if worker else Node(self.services)
        stack.callback(self.hints.listen(self._hint))
        return node

    def _hint(self, topic: Topic) -> None:
        wake = self.on_hint.get(topic)
        if wake is not None:
            wake()

    def _add_scheduler(self, stack: AsyncExitStack) -> None:
        def announce_work() -> None:
            self.hints.announce(Topic.WORK)

        scheduler = Scheduler(
            schedules=self.store.schedules,
            clock=self.clock,
            ids=self.ids,
            telemetry=self.telemetry,
            fired=announce_work,
            replaced=lambda: self.hints.announce(Topic.CANCEL),
            shards=self._shards(stack),
            batch=self.options.fire_batch,
            poll=self.options.poll,
        )
        reaper = Reaper(
            executions=self.store.executions,
            clock=self.clock,
            random=self.random,
            telemetry=self.telemetry,
            lease=self.options.lease,
        )
        sweeper = Sweeper(executions=self.store.executions, clock=self.clock, admitted=announce_work)
        maintenance = Maintenance(upkeep=self.store.upkeep, clock=self.clock, policy=self.options.retention)
        self.on_hint[Topic.SCHEDULE] = scheduler.wakeup.set
        self.services += [scheduler, reaper, sweeper, maintenance]

    def _shards(self, stack: AsyncExitStack) -> Callable[[], Collection[int] | None]:
        """How this scheduler knows which jobs are its own."""
        if not self.options.shards:
            return lambda: None
        keeper = ShardKeeper(str(self.ids.next(self.clock.now())), shards=self.store.shards, clock=self.clock)
        self.services.append(keeper)
        stack.push_async_callback(_quietly, keeper.leave)
        return keeper.held

    def _worker_node(self, chosen: WorkerOptions, stack: AsyncExitStack) -> Node:
        worker = self._worker(chosen, stack)
        node = Node(
            self.services,
            worker=worker,
            drain=chosen.drain,
            goodbye=lambda: self._leave(chosen.registration),
        )
        self.recycler = Recycler(
            worker,
            drain=node.drain,
            memory_bytes=memory_bytes,
            attempts_max=chosen.recycle_after_attempts,
            memory_bytes_max=chosen.recycle_above_bytes,
        )
        self.services += [worker, self.recycler]
        self.on_hint[Topic.WORK] = worker.wakeup.set
        self.on_hint[Topic.CANCEL] = self._add_heartbeat(worker, node, stack)
        return node

    def _worker(self, chosen: WorkerOptions, stack: AsyncExitStack) -> Worker:
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
        self.services += [completer, notebook]
        self.ways.capture(notebook, stack)
        return Worker(
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

    def _add_heartbeat(self, worker: Worker, node: Node, stack: AsyncExitStack) -> Callable[[], None]:
        # What the heartbeat learns is told here and not in its own surroundings: it may be a thread apart.
        tell = partial(asyncio.get_running_loop().call_soon_threadsafe, context=copy_context())

        def heartbeat(store: Store) -> Heartbeat:
            return Heartbeat(
                worker,
                worker.registration,
                executions=store.executions,
                workers=store.workers,
                clock=self.clock,
                drain=node.drain,
                tell=tell,
                lease=self.options.lease,
            )

        return self.ways.beat(heartbeat, self.services, stack)

    async def _leave(self, registration: Registration) -> None:
        await self.ways.silence()
        now = self.clock.now()
        await _quietly(lambda: self.store.workers.leave(registration.id, registration.boot, now=now))


async def _quietly(leave: Callable[[], Awaitable[None]]) -> None:
    """Who leaves does not insist: what is not said now, others find out."""
    try:
        await leave()
    except StoreError as error:
        logger.warning("could not say good-bye: %s", error)


def memory_bytes() -> int:
    """What this process holds in memory right now."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * resource.getpagesize()
