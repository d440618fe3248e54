"""Removes what processes left behind that were killed: at the start of a worker, and from time to time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

from gnomon.engine.service import Wakeup

INTERVAL = timedelta(minutes=10)


class Tidier:
    def __init__(self, tidy: Callable[[], Awaitable[None]]) -> None:
        self.wakeup = Wakeup()
        self._tidy = tidy

    async def step(self) -> timedelta:
        await self._tidy()
        return INTERVAL
