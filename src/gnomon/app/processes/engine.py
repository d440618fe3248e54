"""From an address and some options to an engine that runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from gnomon.app.processes.assembly import Assembly, EngineOptions
from gnomon.app.processes.opening import dialect_of, is_in_memory, misfit, open_hints, open_store
from gnomon.app.processes.patience import patiently
from gnomon.app.processes.worker_parts import OwnProcess
from gnomon.core.jobs.kinds import Kinds
from gnomon.core.values.ids import IdSource
from gnomon.engine.clock import StoreClock
from gnomon.engine.node import Node
from gnomon.engine.telemetry import Telemetry
from gnomon.engine.workers.recycler import Recycler
from gnomon.settings import without_password
from gnomon.store.databases.hints import Hints, Topic
from gnomon.store.databases.sqlite import SqliteDatabase
from gnomon.store.sql_store import SqlStore

__all__ = ["Engine", "EngineOptions", "open_engine"]


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
    shards_held: Callable[[], Collection[int] | None] = lambda: None
    kinds: Kinds = field(default_factory=Kinds)  # That may be saved here.


@asynccontextmanager
async def open_engine(options: EngineOptions) -> AsyncIterator[Engine]:
    """Connected and ready. `await engine.node.run()` runs it until it is asked to leave."""
    async with AsyncExitStack() as stack:
        what = f"the database {without_password(options.database)}"
        store = await patiently(what, lambda: open_store(options.database), patience=options.patience)
        stack.push_async_callback(store.close)
        hints = open_hints(options.database)
        stack.push_async_callback(hints.close)
        store.runs.stopped = partial(hints.announce, Topic.CANCEL)
        clock = StoreClock(store.clock, lease=options.lease)
        await patiently(what, clock.learn, patience=options.patience)
        # With a file there is nobody to share with.
        shares = options.shards and dialect_of(options.database) != SqliteDatabase.dialect
        # Nobody else can open a database in memory.
        another = None if is_in_memory(options.database) else partial(_open_another, options.database)
        hooks = OwnProcess(store, another)
        schema = partial(misfit, store)
        parts = Assembly(replace(options, shards=shares), store, hints, clock, hooks, schema=schema)
        node = parts.node(stack)
        yield Engine(
            node,
            store,
            hints,
            clock,
            parts.ids,
            parts.telemetry,
            parts.recycler,
            parts.shards_held,
            options.kinds,
        )


@asynccontextmanager
async def _open_another(database: str) -> AsyncIterator[SqlStore]:
    store = await open_store(database)
    try:
        yield store
    finally:
        await store.close()
