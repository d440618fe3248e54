"""A process that runs: services that are driven together, and how it leaves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import timedelta

from gnomon.engine.schema_watch import SchemaWatch
from gnomon.engine.service import Service, Signs, Stopping, Wakeup, drive
from gnomon.engine.workers.attempts import STOP_GRACE
from gnomon.engine.workers.worker import Worker

logger = logging.getLogger(__name__)

DRAIN = timedelta(seconds=25)
# How long the last writes may take, once everything has stopped.
WRITE_GRACE = timedelta(seconds=5)
LAST_STEPS = timedelta(seconds=5)
LOOK_AGAIN = timedelta(milliseconds=20)


class Node:
    """Drives services until it is asked to leave.

    `drain` lets what runs finish, for a while. `hurry` ends that while. What does not end goes back to the
    queue without charge. `goodbye` is the last thing that is done.
    """

    def __init__(
        self,
        services: Sequence[Service],
        *,
        worker: Worker | None = None,
        drain: timedelta = DRAIN,
        goodbye: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.signs = Signs()
        self._services = services
        self._worker = worker
        self._drain = drain
        self._goodbye = goodbye
        self._stopping = Stopping()
        self._asked = asyncio.Event()
        self._is_hurried = False
        self._attention = Wakeup()
        self._watch: SchemaWatch | None = None
        self._halting: Sequence[Service] = ()

    def watch(self, watch: SchemaWatch, *, halting: Sequence[Service]) -> None:
        """These do not step while the schema does not fit, and a worker claims nothing."""
        self._watch, self._halting = watch, halting
        if self._worker is not None:
            self._worker.is_halted = self._is_unfit

    def join(self, service: Service) -> None:
        """Drive this one, too; not while the schema does not fit. Only before `run`."""
        self._services = [*self._services, service]
        self._halting = [*self._halting, service]

    def misfit(self) -> str | None:
        """Why this process must not run on the schema as it was last seen, or None."""
        return self._watch.reason if self._watch is not None else None

    def _is_unfit(self) -> bool:
        return self.misfit() is not None

    def _failed(self) -> None:
        """Perhaps because the schema is another one now."""
        if self._watch is not None:
            self._watch.wakeup.set()

    def _driven(self, service: Service) -> Coroutine[None, None, None]:
        if service is self._watch:
            return drive(service, self._stopping, self.signs)
        is_halted = self._is_unfit if service in self._halting else _never
        return drive(service, self._stopping, self.signs, is_halted=is_halted, failed=self._failed)

    def drain(self) -> None:
        """Take nothing new from this moment on."""
        if self._worker is not None:
            self._worker.stop_claiming()
        self._asked.set()

    @property
    def is_draining(self) -> bool:
        return self._asked.is_set()

    def hurry(self) -> None:
        self._is_hurried = True
        self._attention.set()

    async def run(self) -> None:
        drivers = [
            asyncio.create_task(self._driven(service), name=type(service).__name__)
            for service in self._services
        ]
        try:
            await self._asked.wait()
            if self._worker is not None:
                await self._empty(self._worker)
            self._stopping.set(self._services)
            await asyncio.wait(drivers, timeout=LAST_STEPS.total_seconds())
            if self._goodbye is not None:
                await self._goodbye()
        finally:
            for driver in drivers:
                driver.cancel()
            await asyncio.gather(*drivers, return_exceptions=True)

    async def _empty(self, worker: Worker) -> None:
        """Wait for what runs; stop what is left; wait until all of it is written."""
        logger.info("draining", extra={"running": worker.running})
        await self._until_empty(worker, self._drain, or_hurried=True)
        if worker.running:
            logger.info("stopping what still runs", extra={"running": worker.running})
        worker.stop_running()
        await self._until_empty(worker, STOP_GRACE + WRITE_GRACE, or_hurried=False)
        if not worker.is_empty:
            logger.warning("left with unwritten outcomes; their leases will run out")

    async def _until_empty(self, worker: Worker, patience: timedelta, *, or_hurried: bool) -> None:
        """By the clock, not by counting looks: a busy loop makes each of them long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience.total_seconds()):
                while not worker.is_empty and not (or_hurried and self._is_hurried):
                    await self._attention.wait(LOOK_AGAIN)


def _never() -> bool:
    return False
