"""Where time comes from: the only module that reads a clock.

All processes follow the clock of the database. Each one keeps a monotonic clock and what it learned about the
difference, so a wall clock that is wrong or gets set does not matter, and reading the time costs no query.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol

from gnomon.core.executions.lease import LEASE
from gnomon.engine.service import Wakeup

logger = logging.getLogger(__name__)

LEARN_EVERY = timedelta(seconds=10)
SAMPLES = 3
# A difference larger than this is not drift: somebody set the database's clock, or this machine slept.
JUMP = timedelta(seconds=1)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


_BOOTTIME: int | None = getattr(time, "CLOCK_BOOTTIME", None)
# Seconds that nobody sets. Where the system counts them, those too in which the machine slept.
uptime: Callable[[], float] = time.monotonic if _BOOTTIME is None else partial(time.clock_gettime, _BOOTTIME)


class Clock(Protocol):
    def now(self) -> datetime: ...

    async def sure(self) -> None:
        """Before a lease is given by it: ask again if the last question was not answered."""

    @property
    def is_settled(self) -> bool:
        """False for a while after time jumped: leases that look expired may only look so."""


class StoreClock:
    """Monotonic time plus an offset learned from the database. Never goes backwards."""

    def __init__(
        self,
        read: Callable[[], Awaitable[datetime]],
        *,
        monotonic: Callable[[], float] = uptime,
        lease: timedelta = LEASE,
    ) -> None:
        self._read = read
        self._monotonic = monotonic
        self._lease = lease
        self._offset: float | None = None
        self._latest = _EPOCH
        self._jumped_at: float | None = None
        self._is_asking = False

    def now(self) -> datetime:
        assert self._offset is not None, "learn() comes first"
        # After a step back, time stands still until it has caught up.
        now = _EPOCH + timedelta(seconds=self._monotonic() + self._offset)
        if now > self._latest:
            self._latest = now
        return self._latest

    @property
    def is_settled(self) -> bool:
        """By now every live worker has renewed by the new time."""
        return self._jumped_at is None or self._monotonic() - self._jumped_at > self._lease.total_seconds()

    async def sure(self) -> None:
        # Who lost touch with the database may have slept: a virtual machine does not notice that it did.
        if self._is_asking:
            await self.learn()

    async def learn(self) -> None:
        """Ask the database what time it is. The quickest of a few answers is the most exact."""
        self._is_asking = True  # And stays so if no answer comes.
        samples = [await self._sample() for _ in range(1 if self._offset is not None else SAMPLES)]
        self._is_asking = False
        round_trip, offset = min(samples)
        before, self._offset = self._offset, offset
        if before is None:
            return
        # The database looked at its clock at some moment of the round trip. An offset that this allows is
        # kept, and else the nearest one that it does is taken: a slow answer says little, but not nothing.
        self._offset = min(max(before, offset), offset + round_trip)
        jump = self._offset - before
        if abs(jump) > JUMP.total_seconds():
            self._jumped_at = self._monotonic()
            self._latest = min(self._latest, _EPOCH + timedelta(seconds=self._jumped_at + self._offset))
            logger.warning("time jumped by %+.3f s, as the database tells it", jump)

    async def _sample(self) -> tuple[float, float]:
        asked = self._monotonic()
        told = await self._read()
        answered = self._monotonic()
        # As if the database had looked at its clock in the last moment. So this one is never ahead of it, and
        # nothing fires before its time; it may be behind by a round trip.
        return answered - asked, (told - _EPOCH).total_seconds() - answered


class ClockKeeper:
    """Keeps a clock in step with the database."""

    def __init__(self, clock: StoreClock) -> None:
        self.wakeup = Wakeup()
        self._clock = clock

    async def step(self) -> timedelta:
        await self._clock.learn()
        return LEARN_EVERY
