"""A store and the machines around it, in one event loop, with the accidents that a test may ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextvars import copy_context
from datetime import datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeVar

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Execution
from gnomon.core.executions.records import ExecutionFilter
from gnomon.core.values.limits import PAGE_LIMIT_MAX
from gnomon.handlers.registry import Registry
from gnomon.store.databases.hints import Topic
from gnomon.store.databases.sqlite import SqliteDatabase
from gnomon.store.schema.migrations import migrate
from gnomon.store.sql_store import SqlStore
from gnomon.testing.virtual.chance import Chance
from gnomon.testing.virtual.loop import VirtualLoop
from gnomon.testing.virtual.network import Network
from gnomon.testing.virtual.node import Boot, Machine, VirtualNode
from gnomon.testing.virtual.watch import Watch

HINT_TAKES = 0.01  # Seconds, on average, from one process to another.
HINTS_LOST = 0.02

Answer = TypeVar("Answer")
AnyNode = TypeVar("AnyNode", bound=VirtualNode)


class Outage(NamedTuple):
    """The store is away, from so many seconds after the start, for so many seconds."""

    at: float
    seconds: float


class VirtualWorld(Generic[AnyNode]):
    """Durations are seconds. A world lives once: make another one to begin again."""

    def __init__(
        self,
        machines: Sequence[Machine],
        *,
        seed: int,
        start: datetime,
        lease: float = 20.0,
        poll: float = 1.0,
        crash_lasts: float = 3.0,
    ) -> None:
        self.machines = machines
        self.start = start
        self.lease = lease
        self.poll = poll
        self.chance = Chance(seed)
        self.loop = VirtualLoop(self.chance.fork("loop"))
        self.watch = Watch()
        self.network: Network[Any]
        self.nodes: dict[str, AnyNode] = {}
        self.is_over = False
        self._crash_lasts = crash_lasts
        self._hints = self.chance.fork("hints")
        self._context = copy_context()  # Not a node's: a process that crashes does not hold up its restart.

    def now(self) -> datetime:
        """True time, which is that of the store."""
        return self.start + timedelta(seconds=self.loop.time())

    def live(self, life: Coroutine[Any, Any, Answer]) -> Answer:
        """From the beginning of a life to its end. `watch` then knows what went wrong in Gnomon itself."""
        asyncio.set_event_loop(None)
        with self.watch:
            self.loop.set_exception_handler(self.watch.unhandled)
            return self.loop.run(life)

    async def found(self, database: SqliteDatabase) -> None:
        """The one real store, empty."""
        self.database = database
        await migrate(database, now=self.now())
        self.store = SqlStore(database)

    def populate(self, nodes: Iterable[AnyNode]) -> None:
        for node in nodes:
            self.nodes[node.name] = node
            node.start()

    async def kept(self) -> list[Execution]:
        """All executions there are, straight from the store."""
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
        raise NotImplementedError

    # Accidents ------------------------------------------------------------------------------------------

    def schedule(self, outages: Iterable[Outage]) -> None:
        for outage in outages:
            self.at(outage.at, self._drop_store, outage.seconds)

    def crash(self, boot: Boot) -> None:
        """A handler took its process along. Another boot of it comes later."""
        if boot.node.kill():
            self.later(self._crash_lasts, self.start_again, boot.node)

    def start_again(self, node: VirtualNode) -> None:
        if node.boot is None and not self.is_over:
            node.start()

    def at(self, instant: float, callback: Callable[..., None], *args: Any) -> None:
        """Call it so many seconds after the start, on behalf of no node."""
        self.loop.call_at(instant, callback, *args, context=self._context)

    def later(self, seconds: float, callback: Callable[..., None], *args: Any) -> None:
        self.loop.call_later(seconds, callback, *args, context=self._context)

    def _drop_store(self, seconds: float) -> None:
        self.network.drop_store()
        self.later(seconds, self.network.bring_store_back)

    # Hints ----------------------------------------------------------------------------------------------

    def spread(self, boot: Boot, topic: Topic) -> None:
        """A hint to all other processes: each hears it a bit later, or never."""
        if not boot.is_heard:
            return
        for node in self.nodes.values():
            lost, delay = self._hints.random() < HINTS_LOST, self._hints.expovariate(1 / HINT_TAKES)
            other = node.boot
            if other is not None and other is not boot and not lost and other.is_heard:
                other.within(other.hints.hear, topic, delay=delay)
