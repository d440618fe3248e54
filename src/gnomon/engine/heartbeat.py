"""Hold on to what runs: renew its leases, learn what was lost or cancelled, say that the worker lives."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from datetime import timedelta
from typing import Protocol

from gnomon.core.lease import LEASE, Claim
from gnomon.core.worker import Registration, WorkerStatus
from gnomon.engine.clock import Clock
from gnomon.engine.failpoints import At, failpoint
from gnomon.engine.service import Wakeup
from gnomon.errors import StoreUnavailable, WorkerNotFound
from gnomon.store.base import ExecutionStore, WorkerStore

logger = logging.getLogger(__name__)


class Holder(Protocol):
    """Who holds the leases. `claims` may be called from any thread, the others in the loop's only."""

    def claims(self) -> Sequence[Claim]: ...
    def lost(self, claims: Iterable[Claim]) -> None: ...
    def cancel(self, claims: Iterable[Claim]) -> None: ...


class Heartbeat:
    """May run in a thread and a loop of its own, with a store of its own, so that a busy job still beats.

    `tell` hands a call over to the loop of the holder.
    """

    def __init__(
        self,
        holder: Holder,
        registration: Registration,
        *,
        executions: ExecutionStore,
        workers: WorkerStore,
        clock: Clock,
        drain: Callable[[], None],
        tell: Callable[[Callable[[], None]], object],
        lease: timedelta = LEASE,
    ) -> None:
        self.wakeup = Wakeup()
        self._holder = holder
        self._registration = registration
        self._executions = executions
        self._workers = workers
        self._clock = clock
        self._drain = drain
        self._tell = tell
        self._lease = lease

    async def step(self) -> timedelta:
        # A connection that went silent must not cost the leases: the store's own patience may be longer.
        await self._in_time(self._renew())
        await self._in_time(self._beat())
        return self._lease / 3

    async def _in_time(self, call: Coroutine[None, None, None]) -> None:
        patience = self._lease / 3
        try:
            async with asyncio.timeout(patience.total_seconds()):
                await call
        except TimeoutError:
            raise StoreUnavailable(
                f"No answer to a heartbeat within {patience.total_seconds():g} s."
            ) from None

    async def _renew(self) -> None:
        claims = self._holder.claims()
        if not claims:
            return
        failpoint(At.RENEW_BEFORE)
        held = await self._executions.renew(claims, lease_until=self._clock.now() + self._lease)
        failpoint(At.RENEW_AFTER)
        lost = set(claims) - {one.claim for one in held}
        cancelled = [one.claim for one in held if one.cancel_requested]
        if lost:
            self._tell(lambda: self._holder.lost(lost))
        if cancelled:
            self._tell(lambda: self._holder.cancel(cancelled))

    async def _beat(self) -> None:
        own, now = self._registration, self._clock.now()
        try:
            worker = await self._workers.beat(own.id, own.boot, now=now)
        except WorkerNotFound:
            await self._register()
            return
        if worker.status is WorkerStatus.DRAINING:
            self._tell(self._drain)

    async def _register(self) -> None:
        """Unknown, or a namesake started after us. Two of one name would replace each other for ever."""
        own = self._registration
        try:
            other = await self._workers.get(own.id)
        except WorkerNotFound:
            other = None
        if other is not None and other.boot > own.boot and other.status is not WorkerStatus.GONE:
            logger.error("another worker has the name %s; give each one its own", own.id)
            return
        await self._workers.register(own, now=self._clock.now())
