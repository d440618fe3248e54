"""Which services a process drives, put together on any store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from random import Random

from gnomon.app.processes.worker_parts import ProcessHooks, WorkerOptions, WorkerParts, quietly
from gnomon.core.executions.lease import LEASE
from gnomon.core.executions.retention import RetentionPolicy
from gnomon.core.jobs.kinds import Kinds
from gnomon.core.values.ids import IdSource
from gnomon.engine.clock import ClockKeeper, StoreClock
from gnomon.engine.node import Node
from gnomon.engine.outlook import PAUSE_MIN
from gnomon.engine.schedulers.conductor import Conductor
from gnomon.engine.schedulers.maintenance import Maintenance
from gnomon.engine.schedulers.reaper import Reaper
from gnomon.engine.schedulers.scheduler import BATCH, Scheduler
from gnomon.engine.schedulers.shards import ShardKeeper
from gnomon.engine.schedulers.sweeper import Sweeper
from gnomon.engine.schema_watch import SchemaWatch
from gnomon.engine.service import POLL, Service
from gnomon.engine.telemetry import Telemetry
from gnomon.engine.workers.recycler import Recycler
from gnomon.store.databases.hints import Hints, Topic
from gnomon.store.protocols.workflows import WorkflowStore


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What a process shall do. `seed` is where all its chance comes from."""

    database: str
    seed: int
    schedules: bool = True
    worker: WorkerOptions | None = None
    lease: timedelta = LEASE
    poll: timedelta = POLL
    patience: timedelta = timedelta(0)  # With a database that is away when the process starts.
    fire_batch: int = BATCH
    shards: bool = True
    retention: RetentionPolicy = field(default_factory=RetentionPolicy)
    kinds: Kinds = field(default_factory=Kinds)  # That may be saved by those who work through the engine.


class Assembly:
    """Puts the services of one process together."""

    def __init__(
        self,
        options: EngineOptions,
        store: WorkflowStore,
        hints: Hints,
        clock: StoreClock,
        hooks: ProcessHooks,
        *,
        schema: Callable[[], Awaitable[str | None]] | None = None,
    ) -> None:
        """`schema` says why this release must not run on the schema as it is now, or nothing."""
        self._schema = schema
        self.options = options
        self.store = store
        self.hints = hints
        self.clock = clock
        self.hooks = hooks
        self.random = Random(options.seed)  # noqa: S311 - jitter and ids, no secrets.
        self.ids = IdSource(Random(self.random.getrandbits(128)))  # noqa: S311
        self.telemetry = Telemetry()
        self.services: list[Service] = [ClockKeeper(clock)]
        self.recycler: Recycler | None = None
        self.shards_held: Callable[[], Collection[int] | None] = lambda: None
        self._announce_work = partial(hints.announce, Topic.WORK)
        self._announce_later = partial(hints.announce, Topic.LATER)
        self._announce_cancel = partial(hints.announce, Topic.CANCEL)
        self.on_hint: dict[Topic, Callable[[], None]] = {Topic.LATER: self._expect_soon}
        self.expecting: list[Callable[[], None]] = []  # Told when something was put off.
        self._is_expecting = False

    def node(self, stack: AsyncExitStack) -> Node:
        """What the process drives. What the stack holds goes with it."""
        if self.options.schedules:
            self._add_scheduler(stack)
        worker = self.options.worker
        halting = list(self.services[1:])  # All but the clock's. What runs here may still end.
        node = self._worker_node(worker, stack) if worker else Node(self.services)
        if self._schema is not None:
            watch = SchemaWatch(self._schema)
            self.services.append(watch)
            node.watch(watch, halting=halting)
        stack.callback(self.hints.listen(self._hint))
        return node

    def _hint(self, topic: Topic) -> None:
        wake = self.on_hint.get(topic)
        if wake is not None:
            wake()

    def _expect_soon(self) -> None:
        """Each of those who expect something looks for its time: not more often than they need to."""
        if not self._is_expecting:
            self._is_expecting = True
            asyncio.get_running_loop().call_later(PAUSE_MIN.total_seconds(), self._expect)

    def _expect(self) -> None:
        self._is_expecting = False
        for expect in self.expecting:
            expect()

    def _add_scheduler(self, stack: AsyncExitStack) -> None:
        def fired() -> None:
            self._announce_work()
            conductor.wakeup.set()

        def taken_back() -> None:
            self._announce_work()
            self._announce_later()

        conductor = Conductor(
            runs=self.store.runs,
            clock=self.clock,
            released=self._announce_work,
            stopped=self._announce_cancel,
            poll=self.options.poll,
        )
        self.shards_held = self._shards(stack)
        scheduler = self._scheduler(fired)
        reaper = Reaper(
            executions=self.store.executions,
            clock=self.clock,
            random=self.random,
            telemetry=self.telemetry,
            lease=self.options.lease,
            released=taken_back,
        )
        sweeper = Sweeper(executions=self.store.executions, clock=self.clock, admitted=self._announce_work)
        maintenance = Maintenance(upkeep=self.store.upkeep, clock=self.clock, policy=self.options.retention)
        self.on_hint[Topic.SCHEDULE] = scheduler.wakeup.set
        self.expecting += [sweeper.expect, conductor.wakeup.set]
        self.services += [scheduler, reaper, sweeper, conductor, maintenance]

    def _scheduler(self, fired: Callable[[], None]) -> Scheduler:
        return Scheduler(
            schedules=self.store.schedules,
            clock=self.clock,
            ids=self.ids,
            telemetry=self.telemetry,
            fired=fired,
            replaced=self._announce_cancel,
            put_off=self._announce_later,
            shards=self.shards_held,
            batch=self.options.fire_batch,
            poll=self.options.poll,
        )

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
            hooks=self.hooks,
            clock=self.clock,
            random=self.random,
            ids=self.ids,
            telemetry=self.telemetry,
            lease=self.options.lease,
            poll=self.options.poll,
            released=self._announce_work,
            put_off=self._announce_later,
            forecast=self.store.executions,
        )
        node = parts.node(self.services, stack)
        self.recycler = parts.recycler
        self.on_hint[Topic.WORK] = parts.worker.wakeup.set
        self.on_hint[Topic.CANCEL] = parts.hurry
        self.expecting.append(parts.worker.expect)
        return node
