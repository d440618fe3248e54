"""Let in what waits at a gate, in case that whoever should have done it died in between."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from gnomon.engine.clock import Clock
from gnomon.engine.outlook import Outlook
from gnomon.engine.service import NOW, Wakeup
from gnomon.store.protocols.executions import ExecutionStore

JOBS_PER_STEP = 200
ADMITTED_PER_JOB_MAX = 1000
INTERVAL = timedelta(seconds=2)


class Sweeper:
    """Also what makes a retry or a delayed run of a job with slots start when its time has come.

    It sweeps at intervals, and when something is due that waits for a slot.
    """

    def __init__(self, *, executions: ExecutionStore, clock: Clock, admitted: Callable[[], None]) -> None:
        self.wakeup = Wakeup()
        self._executions = executions
        self._clock = clock
        self._admitted = admitted
        self._after: UUID | None = None
        self._outlook = Outlook(lambda after: executions.next_gated(after=after))

    def expect(self) -> None:
        """Something was put off, perhaps until a time that comes before all that is known here."""
        self._outlook.forget()
        self.wakeup.set()

    async def step(self) -> timedelta:
        now = self._clock.now()
        page = await self._executions.gated(now=now, limit=JOBS_PER_STEP, after=self._after)
        self._after = page.next
        if page.items and await self._executions.admit(page.items, now=now, limit=ADMITTED_PER_JOB_MAX):
            self._admitted()
        return NOW if page.next else await self._outlook.pause(now, at_most=INTERVAL)
