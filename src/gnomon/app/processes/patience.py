"""Waiting at start for a store that is away: it may be started at the same moment, or later."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from gnomon.errors import StoreUnavailable

logger = logging.getLogger(__name__)

T = TypeVar("T")

PAUSE_MIN = timedelta(milliseconds=100)
PAUSE_MAX = timedelta(seconds=1)
TELL_EVERY = timedelta(seconds=5)


async def patiently(what: str, attempt: Callable[[], Awaitable[T]], *, patience: timedelta) -> T:
    """The answer of the first attempt that finds the store there; `what` names it, for people.

    Raises StoreUnavailable when `patience` is over, and at once whatever waiting does not mend.
    """
    loop = asyncio.get_running_loop()
    began, told_at, pause = loop.time(), None, PAUSE_MIN
    limit = patience.total_seconds()
    while True:
        try:
            answer = await attempt()
        except StoreUnavailable as error:
            waited = loop.time() - began
            if waited >= limit:
                raise _given_up(what, error, limit) from error
            if told_at is None or loop.time() - told_at >= TELL_EVERY.total_seconds():
                told_at = loop.time()
                logger.warning("waiting for %s, for %.0f of %g s: %s", what, waited, limit, error)
            await asyncio.sleep(min(pause.total_seconds(), limit - waited))
            pause = min(pause * 2, PAUSE_MAX)
        else:
            if told_at is not None:
                logger.info("%s answers, after %.0f s", what, loop.time() - began)
            return answer


def _given_up(what: str, error: StoreUnavailable, limit: float) -> StoreUnavailable:
    if not limit:
        return error
    return StoreUnavailable(
        f"Waited {limit:g} s for {what}: {error}. Check that it runs and that its address is right; "
        "startup.wait_seconds says how long a start waits."
    )
