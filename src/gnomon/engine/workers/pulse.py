"""A thread of its own for the heartbeat: a job that keeps the loop busy for a minute keeps its lease."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from datetime import timedelta

from gnomon.engine.service import Stopping, drive
from gnomon.engine.workers.heartbeat import Heartbeat
from gnomon.errors import StoreError

logger = logging.getLogger(__name__)

OPEN_AGAIN = timedelta(seconds=1)


class Pulse:
    """`make` opens a store for the thread, which belongs to the thread's loop, and closes it again."""

    def __init__(self, make: Callable[[], AbstractAsyncContextManager[Heartbeat]]) -> None:
        self._make = make
        self._loop: asyncio.AbstractEventLoop | None = None
        self._heartbeat: Heartbeat | None = None
        self._stopping = Stopping()
        # A daemon: a process that must go does not wait for a database that does not answer.
        self._thread = threading.Thread(target=self._run, name="gnomon-heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def hurry(self) -> None:
        """Beat soon: somebody asked for the end of something. From any thread."""
        self._in_thread(lambda heartbeat: heartbeat.wakeup.set())

    async def stop(self, *, patience_seconds: float = 5.0) -> None:
        self._stopping.is_set = True
        self._in_thread(lambda heartbeat: heartbeat.wakeup.set())
        await asyncio.to_thread(self._thread.join, patience_seconds)

    def _in_thread(self, call: Callable[[Heartbeat], None]) -> None:
        loop, heartbeat = self._loop, self._heartbeat
        if loop is not None and heartbeat is not None:
            with suppress(RuntimeError):  # The loop is closed: nobody is left to be told.
                loop.call_soon_threadsafe(call, heartbeat)

    def _run(self) -> None:
        try:
            asyncio.run(self._beat())
        except Exception:
            logger.exception("the heartbeat stopped; leases of this worker will run out")

    async def _beat(self) -> None:
        self._loop = asyncio.get_running_loop()
        while not self._stopping.is_set:
            try:
                async with self._make() as heartbeat:
                    self._heartbeat = heartbeat
                    await drive(heartbeat, self._stopping)
            except StoreError as error:  # Refused, too: a server that is a standby now may lead in a moment.
                logger.warning("the heartbeat waits for the store: %s", error)
                await asyncio.sleep(OPEN_AGAIN.total_seconds())
