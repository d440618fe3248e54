"""Everything that runs is a step; this is the only loop around steps."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Protocol

from gnomon.errors import StoreUnavailable

logger = logging.getLogger(__name__)

NOW = timedelta(0)
# What is wanted by a person or a clock starts this late at worst when every hint got lost.
POLL = timedelta(seconds=1)
PAUSE_AFTER_TROUBLE = timedelta(milliseconds=100)
PAUSE_AFTER_TROUBLE_MAX = timedelta(seconds=1)
PAUSE_AFTER_BUG = timedelta(seconds=1)
PAUSE_WHILE_HALTED = timedelta(seconds=1)


class Wakeup:
    """Ends a pause early. A hint, never a promise: without it, the pause is over a bit later."""

    __slots__ = ("_is_set", "_waiter", "was_early")

    def __init__(self) -> None:
        self.was_early = True  # False if the last pause lasted until its end.
        self._is_set = False
        self._waiter: asyncio.Future[None] | None = None

    def set(self) -> None:
        self._is_set = True
        self._ring()

    async def wait(self, pause: timedelta) -> None:
        """Sleep for `pause`, or until `set` is called, or not at all if that happened meanwhile."""
        if self._is_set or pause <= NOW:
            await asyncio.sleep(0)
            self.was_early = True
        else:
            loop = asyncio.get_running_loop()
            self._waiter = loop.create_future()
            alarm = loop.call_later(pause.total_seconds(), self._ring)
            try:
                await self._waiter
            finally:
                alarm.cancel()
                self._waiter = None
            self.was_early = self._is_set
        self._is_set = False

    def _ring(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Service(Protocol):
    @property
    def wakeup(self) -> Wakeup: ...

    async def step(self) -> timedelta:
        """Do one bounded piece of work; return how long to wait before the next."""


class Stopping:
    """Tells the loops around services to come to an end after the step they are in."""

    def __init__(self) -> None:
        self.is_set = False

    def set(self, services: Iterable[Service]) -> None:
        self.is_set = True
        for service in services:
            service.wakeup.set()


class Signs:
    """Of each service, by name: how long ago it got through a step, and how often it failed in one."""

    def __init__(self) -> None:
        self.failed: Counter[str] = Counter()
        self._at: dict[str, float] = {}

    def stepped(self, name: str) -> None:
        self._at[name] = asyncio.get_running_loop().time()

    def age(self, name: str) -> timedelta | None:
        """None: there is no such service here."""
        at = self._at.get(name)
        return None if at is None else timedelta(seconds=asyncio.get_running_loop().time() - at)


async def drive(
    service: Service,
    stopping: Stopping,
    signs: Signs | None = None,
    *,
    is_halted: Callable[[], bool] = lambda: False,
    failed: Callable[[], None] = lambda: None,
) -> None:
    """Step after step. Trouble with the store is waited out; a bug is told and does not stop the others.

    While `is_halted`, it does not step. `failed` is called after a bug.
    """
    name = type(service).__name__
    signs = signs or Signs()
    signs.stepped(name)  # It has all the time of a step to get through its first one.
    trouble = 0
    while not stopping.is_set:
        if is_halted():
            await service.wakeup.wait(PAUSE_WHILE_HALTED)
            continue
        try:
            pause = await service.step()
            signs.stepped(name)
            if trouble:
                logger.info("%s: the store answers again", name)
            trouble = 0
        except StoreUnavailable as error:
            signs.failed[name] += 1
            if not trouble:
                logger.warning("%s waits for the store: %s", name, error)
            pause = min(PAUSE_AFTER_TROUBLE * 2 ** min(trouble, 10), PAUSE_AFTER_TROUBLE_MAX)
            trouble += 1
        except Exception:
            signs.failed[name] += 1
            logger.exception("%s failed; it will try again", name)
            failed()
            pause = PAUSE_AFTER_BUG
        await service.wakeup.wait(pause)
