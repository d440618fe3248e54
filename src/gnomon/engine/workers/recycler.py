"""Start anew in time: user code may leak, and a fresh process is the cheapest cure."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

from gnomon.engine.service import Wakeup
from gnomon.engine.workers.worker import Worker

logger = logging.getLogger(__name__)

INTERVAL = timedelta(seconds=2)


class Recycler:
    """Asks for a drain when the worker has run so many attempts, or the process holds so much memory."""

    def __init__(
        self,
        worker: Worker,
        *,
        drain: Callable[[], None],
        memory_bytes: Callable[[], int],
        attempts_max: int | None,
        memory_bytes_max: int | None,
    ) -> None:
        self.wakeup = Wakeup()
        self.has_asked = False
        self._worker = worker
        self._drain = drain
        self._memory_bytes = memory_bytes
        self._attempts_max = attempts_max
        self._memory_bytes_max = memory_bytes_max

    async def step(self) -> timedelta:
        why = self._reason()
        if why and not self._worker.is_draining:
            logger.info("starting anew: %s", why)
            self.has_asked = True
            self._drain()
        return INTERVAL

    def _reason(self) -> str | None:
        if self._attempts_max is not None and self._worker.started >= self._attempts_max:
            return f"{self._worker.started} attempts were run"
        if self._memory_bytes_max is not None and (held := self._memory_bytes()) > self._memory_bytes_max:
            return f"{held // 2**20} MB of memory are in use"
        return None
