"""A whole system in one event loop: nodes, the network between them and the store, and what goes on in it."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Execution
from gnomon.core.executions.records import ExecutionFilter
from gnomon.core.values.limits import PAGE_LIMIT_MAX
from gnomon.engine.telemetry import Happening, What
from gnomon.handlers.registry import Registry
from gnomon.proof import events
from gnomon.proof.events import Event
from gnomon.store.databases.hints import Topic
from gnomon.store.databases.one_thread import Here
from gnomon.store.databases.sqlite import SqliteDatabase
from gnomon.store.databases.sqlite_connection import MEMORY
from gnomon.store.schema.migrations import migrate
from gnomon.store.sql_store import SqlStore
from gnomon.testing.sim.chance import Chance
from gnomon.testing.sim.clients import Clients
from gnomon.testing.sim.handler import SimulatedHandler
from gnomon.testing.sim.loop import VirtualLoop
from gnomon.testing.sim.nemesis import Nemesis
from gnomon.testing.sim.network import Network
from gnomon.testing.sim.node import Boot, CaptureHere, SimulatedNode
from gnomon.testing.sim.notes import NotingDatabase
from gnomon.testing.sim.pen import NEMESIS
from gnomon.testing.sim.recorder import Recorder
from gnomon.testing.sim.scenario import Scenario
from gnomon.testing.sim.story import Story

HINT_TAKES = 0.01  # Seconds, on average, from one process to another.
HINTS_LOST = 0.02
PUNCTUAL = 5.0  # Seconds.


class World:
    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.chance = Chance(scenario.seed)
        self.loop = VirtualLoop(self.chance.fork("loop"))
        self.happenings: Counter[What] = Counter()
        self.is_deaf = 0
        self.is_over = False
        self._hints = self.chance.fork("hints")
        self.nodes: dict[str, SimulatedNode] = {}
        self.on_event: Callable[[Event], None] | None = None  # Who wants to watch.

    def now(self) -> datetime:
        """True time, which is that of the store."""
        return self.scenario.start + timedelta(seconds=self.loop.time())

    def run(self) -> Story:
        asyncio.set_event_loop(None)
        with _Watch() as watch:
            self.loop.set_exception_handler(watch.unhandled)
            return self.loop.run(self._live(watch))

    async def _live(self, watch: _Watch) -> Story:
        scenario = self.scenario
        noting = NotingDatabase() if self.has_workflows() else None
        self.database = noting or SqliteDatabase(MEMORY, hands=Here)
        await migrate(self.database, now=self.now())
        self.store = SqlStore(self.database)
        self.recorder = Recorder(self.store, self.now, noting.taken if noting is not None else None)
        if noting is not None:
            noting.note()
        self.recorder.on_event = self.on_event
        self.network = Network(self.loop, now=self.now, observer=self.recorder)
        self.clients = Clients(self)
        self.nemesis = Nemesis(self)
        self._expect()
        async with self._settled():
            runs = await self._years()
        # A copy of what may grow: at the end of the world everything is cancelled, and messages still arrive.
        return Story(
            scenario,
            list(self.recorder.events),
            self.recorder.digest,
            runs,
            list(watch.bugs),
            self.happenings,
            self.recorder.seen,
            self.network.calls,
            self.loop.turns,
            self.nemesis.count,
        )

    def has_workflows(self) -> bool:
        return bool(self.scenario.flows)

    @asynccontextmanager
    async def _settled(self) -> AsyncIterator[None]:
        """The jobs are there, before anything goes wrong."""
        await self.clients.make_jobs()
        yield

    async def _years(self) -> list[Execution]:
        """From the beginning to the end. Returns what was found there."""
        scenario = self.scenario
        for spec in scenario.nodes:
            node = self.nodes[spec.name] = SimulatedNode(self, spec)
            node.start()
        self.clients.schedule(scenario.acts)
        self.nemesis.schedule(scenario.faults)
        await asyncio.sleep(scenario.healed_at - self.loop.time())
        self.nemesis.heal()
        await asyncio.sleep(scenario.seconds - self.loop.time())
        return await self._final_read()

    def _expect(self) -> None:
        # A hint may get lost, and then a worker finds out when it polls.
        tolerance = PUNCTUAL + self.scenario.poll
        self.recorder.write(events.Expect, NEMESIS, lease=self.scenario.lease, tolerance=tolerance)

    async def _final_read(self) -> list[Execution]:
        """Everything there is, straight from the store."""
        self.clients.close()
        self.is_over = True
        found = await self.kept()
        for one in found:
            self.recorder.write(
                events.Kept, NEMESIS, run=str(one.id), job=str(one.job_id), state=str(one.status)
            )
        self.recorder.write(events.Read, NEMESIS, kept=len(found))
        return found

    async def kept(self) -> list[Execution]:
        found: list[Execution] = []
        after = None
        while True:
            page = await self.store.executions.page(
                DEFAULT_TENANT, ExecutionFilter(), now=self.now(), limit=PAGE_LIMIT_MAX, after=after
            )
            found += page.items
            after = page.next
            if after is None:
                return found

    def handlers(self, boot: Boot) -> Registry:
        """What its worker can run."""
        return Registry([SimulatedHandler(boot)])

    # What nodes do to the world -------------------------------------------------------------------------

    def happened(self, happening: Happening) -> None:
        self.happenings[happening.what] += 1

    def spread(self, boot: Boot, topic: Topic) -> None:
        """A hint to all other processes: each hears it a bit later, or never."""
        if not self.scenario.hints or self.is_deaf or boot.line.cuts or self.network.is_down:
            return
        for node in self.nodes.values():
            lost, delay = self._hints.random() < HINTS_LOST, self._hints.expovariate(1 / HINT_TAKES)
            other = node.boot
            if other is not None and other is not boot and not lost and not other.line.cuts:
                other.within(other.hints.hear, topic, delay=delay)

    def crash(self, boot: Boot) -> None:
        """A handler took its process along."""
        self.nemesis.crash(boot)

    def has_left(self, boot: Boot) -> None:
        self.recorder.down(boot)
        boot.node.has_left()
        self.nemesis.has_left(boot.node)


class _Watch(logging.Handler):
    """Errors that production code logs because it must go on: here, they are what we look for."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.bugs: list[str] = []
        self._logger = logging.getLogger("gnomon")
        self._job_logger = logging.getLogger("gnomon.job")
        self._capture = CaptureHere()

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.name != "gnomon.job":
            self.bugs.append(self.format(record))

    def unhandled(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        lines = traceback.format_exception(error) if isinstance(error, BaseException) else []
        self.bugs.append(f"{context['message']}\n{''.join(lines)}")

    def __enter__(self) -> _Watch:
        self._before = (self._logger.level, self._logger.propagate, self._job_logger.level)
        self._logger.addHandler(self)
        self._logger.setLevel(logging.ERROR)
        self._logger.propagate = False
        self._job_logger.addHandler(self._capture)
        self._job_logger.setLevel(logging.DEBUG)
        return self

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)
        self._job_logger.removeHandler(self._capture)
        level, self._logger.propagate, job_level = self._before
        self._logger.setLevel(level)
        self._job_logger.setLevel(job_level)
