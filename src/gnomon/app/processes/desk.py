"""The thread that serves long calls of an API node: see api/serving/aside.py."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from random import Random

from litestar.types import ASGIApp

from gnomon.api import Api, served_aside
from gnomon.client import Client
from gnomon.core.values.ids import IdSource
from gnomon.store.databases.hints import Topic
from gnomon.store.sql_store import SqlStore

# How long calls under way there may take once the process wants to end.
STOP_PATIENCE = timedelta(seconds=5)

OpenStore = Callable[[], Awaitable[SqlStore]]
Announce = Callable[[Topic], None]


class ThreadedDesk:
    """Its thread starts and its store is opened by the first long call: most nodes never have one."""

    def __init__(self, api: Api, announce: Announce, open_store: OpenStore) -> None:
        self._api = api
        self._announce = announce
        self._open_store = open_store
        self._home = asyncio.get_running_loop()
        self._loop = asyncio.new_event_loop()
        # A daemon: a process that must go does not wait for a database that does not answer.
        self._thread = threading.Thread(target=self._loop.run_forever, name="gnomon-long-calls", daemon=True)
        self._turn = asyncio.Lock()
        self._opened: tuple[SqlStore, ASGIApp, Client] | None = None

    async def open(self) -> tuple[asyncio.AbstractEventLoop, ASGIApp, Client]:
        async with self._turn:
            if self._opened is None:
                if not self._thread.is_alive():
                    self._thread.start()
                self._opened = await asyncio.wrap_future(
                    asyncio.run_coroutine_threadsafe(self._open(), self._loop)
                )
        _, app, client = self._opened
        return self._loop, app, client

    async def _open(self) -> tuple[SqlStore, ASGIApp, Client]:
        store = await self._open_store()
        store.runs.stopped = partial(self._announce_at_home, Topic.CANCEL)
        ids = IdSource(Random(secrets.randbits(128)))  # noqa: S311 - ids, no secrets.
        client = self._api.client.on(
            store, ids, announce=self._announce_at_home, at_home=self._home.call_soon_threadsafe
        )
        api = replace(self._api, client=client, events=store.events, reports=store.reports)
        return store, served_aside(api), client

    def _announce_at_home(self, topic: Topic) -> None:
        self._home.call_soon_threadsafe(self._announce, topic)

    async def close(self) -> None:
        if not self._thread.is_alive():
            self._loop.close()
            return
        closed = asyncio.run_coroutine_threadsafe(self._close(), self._loop)
        try:
            async with asyncio.timeout(STOP_PATIENCE.total_seconds()):
                await asyncio.wrap_future(closed)
        except TimeoutError:
            return  # The thread is a daemon. What it has not committed has not happened.
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)
        self._loop.close()

    async def _close(self) -> None:
        if self._opened is not None:
            await self._opened[0].close()


@asynccontextmanager
async def desk_for(api: Api, announce: Announce, open_store: OpenStore) -> AsyncIterator[ThreadedDesk]:
    """Until the end of the block. `announce` is called on the loop of the caller, after a commit there."""
    desk = ThreadedDesk(api, announce, open_store)
    try:
        yield desk
    finally:
        await desk.close()
