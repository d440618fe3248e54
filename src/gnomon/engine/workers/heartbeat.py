"""Hold on to what runs: renew its leases, learn what was lost or cancelled, say that the worker lives."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Protocol

from gnomon.core.executions.lease import LEASE, Claim
from gnomon.core.operations.workers import Registration, WorkerStatus
from gnomon.engine.clock import Clock
from gnomon.engine.failpoints import At, failpoint
from gnomon.engine.service import Wakeup
from gnomon.engine.workers.needs import Leases, Presence
from gnomon.errors import StoreUnavailable, WorkerNameTaken, WorkerNotFound

logger = logging.getLogger(__name__)


class Holder(Protocol):
    """Who holds the leases. `claims` may be called from any thread, the others in the loop's only."""

    def claims(self) -> Sequence[Claim]: ...
    def lost(self, claims: Iterable[Claim]) -> None: ...
    def cancel(self, claims: Iterable[Claim]) -> None: ...
    def drain(self) -> None: ...
    def undrain(self) -> None: ...


class Heartbeat:
    """May run in a thread and a loop of its own, with a store of its own, so that a busy job still beats.

    `tell` hands a call over to the loop of the holder.
    """

    def __init__(
        self,
        holder: Holder,
        registration: Registration,
        *,
        executions: Leases,
        workers: Presence,
        clock: Clock,
        tell: Callable[[Callable[[], None]], object],
        lease: timedelta = LEASE,
    ) -> None:
        self.wakeup = Wakeup()
        self._holder = holder
        self._registration = registration
        self._executions = executions
        self._workers = workers
        self._clock = clock
        self._tell = tell
        self._lease = lease

    async def step(self) -> timedelta:
        """A store that says nothing is asked again in time: a lease is shorter than its patience."""
        pause = self._lease / 3
        try:
            async with asyncio.timeout(pause.total_seconds()):
                await self._renew()
                await self._beat()
        except TimeoutError as error:
            raise StoreUnavailable(f"no answer within {pause.total_seconds():g} s") from error
        return pause

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
        is_drained = worker.status is WorkerStatus.DRAINING
        self._tell(self._holder.drain if is_drained else self._holder.undrain)

    async def _register(self) -> None:
        """Unknown, or a namesake started after us. Two of one name would replace each other for ever.

        Which of them is the later one is told by their clocks, so a dead one does not count.
        """
        own, now = self._registration, self._clock.now()
        try:
            other = await self._workers.get(own.id)
        except WorkerNotFound:
            other = None
        is_alive = (
            other is not None
            and other.status is not WorkerStatus.GONE
            and now < other.last_seen_at + self._lease
        )
        if other is not None and is_alive and other.boot > own.boot:
            logger.error("another worker has the name %s; give each one its own", own.id)
            return
        try:
            await self._workers.register(own, now=now)
        except WorkerNameTaken as error:
            logger.error("%s", error)
