"""Which services a process drives, put together on any store."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from random import Random

from gnomon.app.worker_parts import Ways, WorkerOptions, WorkerParts, quietly
from gnomon.core.ids import IdSource
from gnomon.core.lease import LEASE
from gnomon.core.retention import RetentionPolicy
from gnomon.engine.clock import ClockKeeper, StoreClock
from gnomon.engine.conductor import Conductor
from gnomon.engine.maintenance import Maintenance
from gnomon.engine.node import Node
from gnomon.engine.reaper import Reaper
from gnomon.engine.recycler import Recycler
from gnomon.engine.scheduler import BATCH, Scheduler
from gnomon.engine.service import POLL, Service
from gnomon.engine.shards import ShardKeeper
from gnomon.engine.sweeper import Sweeper
from gnomon.engine.telemetry import Telemetry
from gnomon.store.hints import Hints, Topic
from gnomon.store.workflows import WorkflowStore


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


class Assembly:
    """Puts the services of one process together."""

    def __init__(
        self, options: EngineOptions, store: WorkflowStore, hints: Hints, clock: StoreClock, ways: Ways
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
        self.shards_held: Callable[[], Collection[int] | None] = lambda: None
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
        announce_work = partial(self.hints.announce, Topic.WORK)
        announce_cancel = partial(self.hints.announce, Topic.CANCEL)

        def fired() -> None:
            announce_work()
            conductor.wakeup.set()

        conductor = Conductor(
            runs=self.store.runs,
            clock=self.clock,
            released=announce_work,
            stopped=announce_cancel,
            poll=self.options.poll,
        )
        self.shards_held = self._shards(stack)
        scheduler = Scheduler(
            schedules=self.store.schedules,
            clock=self.clock,
            ids=self.ids,
            telemetry=self.telemetry,
            fired=fired,
            replaced=announce_cancel,
            shards=self.shards_held,
            batch=self.options.fire_batch,
            poll=self.options.poll,
        )
        reaper = Reaper(
            executions=self.store.executions,
            clock=self.clock,
            random=self.random,
            telemetry=self.telemetry,
            lease=self.options.lease,
            released=announce_work,
        )
        sweeper = Sweeper(executions=self.store.executions, clock=self.clock, admitted=announce_work)
        maintenance = Maintenance(upkeep=self.store.upkeep, clock=self.clock, policy=self.options.retention)
        self.on_hint[Topic.SCHEDULE] = scheduler.wakeup.set
        self.services += [scheduler, reaper, sweeper, conductor, maintenance]

    def _shards(self, stack: AsyncExitStack) -> Callable[[], Collection[int] | None]:
        """How this scheduler knows which jobs are its own."""
        if not self.options.shards:
            return lambda: None
        keeper = ShardKeeper(str(self.ids.next(self.clock.now())), shards=self.store.shards, clock=self.clock)
        self.services.append(keeper)
        stack.push_async_callback(quietly, keeper.leave)
        return keeper.held

    def _worker_node(self, chosen: WorkerOptions, stack: AsyncExitStack) -> Node:
        parts = WorkerParts(
            chosen,
            store=self.store,
            ways=self.ways,
            clock=self.clock,
            random=self.random,
            ids=self.ids,
            telemetry=self.telemetry,
            lease=self.options.lease,
            poll=self.options.poll,
            released=lambda: self.hints.announce(Topic.WORK),
        )
        node = parts.node(self.services, stack)
        self.recycler = parts.recycler
        self.on_hint[Topic.WORK] = parts.worker.wakeup.set
        self.on_hint[Topic.CANCEL] = parts.hurry
        return node
