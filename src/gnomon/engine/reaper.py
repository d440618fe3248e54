"""Take back executions whose worker stopped renewing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random

from gnomon.core.lease import LEASE
from gnomon.core.lifecycle import LeaseExpired, after
from gnomon.engine.clock import Clock
from gnomon.engine.failpoints import At, failpoint
from gnomon.engine.service import NOW, Wakeup
from gnomon.engine.telemetry import Telemetry, What
from gnomon.store.base import Applied, Decision, ExecutionStore

logger = logging.getLogger(__name__)

BATCH = 500
INTERVAL = timedelta(seconds=3)


class Reaper:
    """After an outage of the store every lease looks expired. Who is alive then gets the time to renew."""

    def __init__(
        self,
        *,
        executions: ExecutionStore,
        clock: Clock,
        random: Random,
        telemetry: Telemetry,
        lease: timedelta = LEASE,
        released: Callable[[], None] = lambda: None,
    ) -> None:
        self.wakeup = Wakeup()
        self._executions = executions
        self._clock = clock
        self._random = random
        self._telemetry = telemetry
        self._lease = lease
        self._released = released
        # The store answers at every step. If it did not for so long, nobody else could renew, either.
        self._silence = max(INTERVAL * 1.5, lease / 2)
        self._answered_at: datetime | None = None
        self._patient_until: datetime | None = None

    async def step(self) -> timedelta:
        now = self._clock.now()
        expired = await self._executions.expired(now=now, limit=BATCH)
        if not self._may_judge() or not expired:
            return INTERVAL
        decisions = [
            Decision(
                one.claim,
                after(one, LeaseExpired(), now=now, jitter=self._random.random()),
                one.revision.is_task,
            )
            for one in expired
        ]
        failpoint(At.REAP_BEFORE)
        answers = await self._executions.apply(decisions, now=now)
        failpoint(At.REAP_AFTER)
        for leased, answer in zip(expired, answers, strict=True):
            if answer is Applied.APPLIED:
                logger.warning(
                    "lease expired; taken back",
                    extra={"execution": str(leased.claim.execution_id), "worker": leased.worker},
                )
                self._telemetry.tell(What.REAPED, leased, at=now)
        if any(one.in_run for one in decisions):
            self._released()
        return NOW if len(expired) == BATCH else INTERVAL

    def _may_judge(self) -> bool:
        """Asked when the store has just answered. Who is alive renews within a third of the lease."""
        now, before = self._clock.now(), self._answered_at
        self._answered_at = now
        if self._patient_until is None and before is not None and now - before > self._silence:
            self._patient_until = now + self._lease / 2
        if self._patient_until is not None:
            if now < self._patient_until:
                return False
            self._patient_until = None
        return self._clock.is_settled
