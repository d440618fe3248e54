"""Begin runs of workflows when their turn has come, and see to it that none is stuck.

Runs need no conductor to go on: an end releases what follows in its own transaction. This is for what no end
brings about: a run that was fired, a wait that is over, a workflow that is gone.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from gnomon.engine.clock import Clock
from gnomon.engine.service import NOW, POLL, Wakeup
from gnomon.store.workflows import RunStore

BATCH = 100
RUNS_PER_SWEEP = 20
SWEEP = timedelta(seconds=5)


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
        self._swept_at: datetime | None = None
        self._after: UUID | None = None

    async def step(self) -> timedelta:
        started = await self._runs.start(now=self._clock.now(), limit=BATCH)
        expired = await self._runs.expire(now=self._clock.now(), limit=BATCH)
        if started or expired:
            self._released()
        if BATCH in (started, expired):
            return NOW
        now = self._clock.now()
        # Also when the clock was set back.
        if self._swept_at is None or not timedelta(0) <= now - self._swept_at < SWEEP:
            await self._sweep(now)
            self._swept_at = None if self._after else now
        return NOW if self._after else self._poll

    async def _sweep(self, now: datetime) -> None:
        if await self._runs.stop_stale(now=now, limit=BATCH):
            self._stopped()
        page = await self._runs.repair(now=now, limit=RUNS_PER_SWEEP, after=self._after)
        self._after = page.next
        if page.items:
            self._released()
