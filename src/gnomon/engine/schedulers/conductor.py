"""Begin runs of workflows when their turn has come, and see to it that none is stuck.

Runs need no conductor to go on: an end releases what follows in its own transaction. This is for what no end
brings about: a run that was fired, a wait that is over, a workflow that is gone.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from gnomon.engine.clock import Clock
from gnomon.engine.outlook import until_due
from gnomon.engine.service import NOW, POLL, Wakeup
from gnomon.store.protocols.workflows import RunStore

BATCH = 100
REST = timedelta(seconds=5)  # Between looking over the last run and the first again.


class Conductor:
    """`released` is called when there may be new work; `stopped` when something that runs shall stop."""

    def __init__(
        self,
        *,
        runs: RunStore,
        clock: Clock,
        released: Callable[[], None],
        stopped: Callable[[], None] = lambda: None,
        poll: timedelta = POLL,
    ) -> None:
        self.wakeup = Wakeup()
        self._runs = runs
        self._clock = clock
        self._released = released
        self._stopped = stopped
        self._poll = poll
        self._rested_at: datetime | None = None
        self._after: UUID | None = None

    async def step(self) -> timedelta:
        now = self._clock.now()
        waiting = await self._runs.wait_for_us(now=now)
        if waiting.is_due:
            started = await self._runs.start(now=now, limit=BATCH)
            expired = await self._runs.expire(now=now, limit=BATCH)
            if started or expired:
                self._released()
            if BATCH in (started, expired):
                return NOW
        await self._look_over(self._clock.now())
        return until_due(waiting.next_due, self._clock.now(), at_most=self._poll)

    async def _look_over(self, now: datetime) -> None:
        # Also when the clock was set back.
        is_rested = self._rested_at is None or not timedelta(0) <= now - self._rested_at < REST
        if self._after is None and not is_rested:
            return
        page = await self._runs.repair(now=now, limit=BATCH, after=self._after)
        self._after, self._rested_at = page.next, now
        if page.items:
            self._stopped()
            self._released()
