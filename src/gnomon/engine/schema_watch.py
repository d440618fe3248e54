"""Notice that the schema was changed under a running process, and stop what must not run on it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta

from gnomon.engine.service import Wakeup

logger = logging.getLogger(__name__)

EVERY = timedelta(minutes=1)
# While it does not fit: it is said again, and noticed soon when it fits.
AGAIN = timedelta(seconds=10)


class SchemaWatch:
    """`look` says why this release must not run on the schema as it is now, or nothing.

    A step is due every minute, and when a service failed for a reason that nothing else explains.
    """

    def __init__(self, look: Callable[[], Awaitable[str | None]]) -> None:
        self.wakeup = Wakeup()
        self._look = look
        self.reason: str | None = None

    @property
    def is_unfit(self) -> bool:
        return self.reason is not None

    async def step(self) -> timedelta:
        reason = await self._look()
        if reason is not None:
            logger.error("The schema does not fit this process. Nothing is claimed or fired. %s", reason)
        elif self.is_unfit:
            logger.warning("the schema fits this process again")
        self.reason = reason
        return EVERY if reason is None else AGAIN
