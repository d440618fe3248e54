"""A worker that has no database: it works for a server, over HTTP."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from random import Random

from gnomon.app.processes.patience import patiently
from gnomon.app.processes.process import installed_handlers, worker_options
from gnomon.app.processes.worker_parts import OwnProcess, WorkerOptions, WorkerParts
from gnomon.client.remote.wire import ServerAddress
from gnomon.client.remote.work_store import RemoteStore
from gnomon.core.values.ids import IdSource
from gnomon.engine.clock import ClockKeeper, StoreClock
from gnomon.engine.node import Node
from gnomon.engine.service import Service
from gnomon.engine.telemetry import Telemetry
from gnomon.engine.workers.recycler import Recycler
from gnomon.errors import ServerRefused, StoreUnavailable
from gnomon.settings import Settings

# What a server answers that is busy, or waits for its own store.
PASSING = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class RemoteEngine:
    """The parts of it that others may use beside it."""

    node: Node
    clock: StoreClock
    telemetry: Telemetry
    recycler: Recycler
    read_clock: Callable[[], Awaitable[datetime]]  # Asks the server.


@asynccontextmanager
async def running_remotely(settings: Settings, address: ServerAddress) -> AsyncIterator[RemoteEngine]:
    """A worker that is known to its server and ready to run. Raises what the server says to it."""
    handlers = installed_handlers(settings)
    try:
        async with open_remote(address, worker_options(settings, handlers), settings) as engine:
            yield engine
    finally:
        await handlers.aclose()


@asynccontextmanager
async def open_remote(
    address: ServerAddress, chosen: WorkerOptions, settings: Settings
) -> AsyncIterator[RemoteEngine]:
    own = chosen.registration
    async with AsyncExitStack() as stack:

        def answered() -> None:
            parts.worker.wakeup.set()

        store = RemoteStore(address, own.id, answered=answered)
        stack.push_async_callback(store.close)
        what, patience = f"the server {address.url}", settings.startup.wait
        lease = await patiently(what, partial(_introduced, store, chosen), patience=patience)
        read_clock = partial(store.workers.clock, own.boot)
        clock = StoreClock(read_clock, lease=lease)
        await patiently(what, clock.learn, patience=patience)

        @asynccontextmanager
        async def open_another() -> AsyncIterator[RemoteStore]:
            another = RemoteStore(address, own.id)
            try:
                yield another
            finally:
                await another.close()

        random, telemetry = Random(secrets.randbits(128)), Telemetry()  # noqa: S311 - jitter and ids.
        parts = WorkerParts(
            chosen,
            store=store,
            hooks=OwnProcess(store, open_another),
            clock=clock,
            random=random,
            ids=IdSource(Random(random.getrandbits(128))),  # noqa: S311
            telemetry=telemetry,
            lease=lease,
            poll=settings.poll,
        )
        services: list[Service] = [ClockKeeper(clock)]
        node = parts.node(services, stack)
        yield RemoteEngine(node, clock, telemetry, parts.recycler, read_clock)


async def _introduced(store: RemoteStore, chosen: WorkerOptions) -> timedelta:
    """How long a lease lasts. Raises StoreUnavailable for what may be better in a moment."""
    try:
        return await store.workers.introduce(chosen.registration)
    except StoreUnavailable as error:
        cause = error.__cause__
        if isinstance(cause, ServerRefused) and cause.http_status not in PASSING:
            raise cause from None  # Such as a key that is not valid.
        raise
