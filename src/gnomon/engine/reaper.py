"""Take back executions whose worker stopped renewing."""

from __future__ import annotations

import logging
from datetime import timedelta
from random import Random

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
    def __init__(
        self, *, executions: ExecutionStore, clock: Clock, random: Random, telemetry: Telemetry
    ) -> None:
        self.wakeup = Wakeup()
        self._executions = executions
        self._clock = clock
        self._random = random
        self._telemetry = telemetry

    async def step(self) -> timedelta:
        if not self._clock.is_settled:
            return INTERVAL
        now = self._clock.now()
        expired = await self._executions.expired(now=now, limit=BATCH)
        if not expired:
            return INTERVAL
        decisions = [
            Decision(one.claim, after(one, LeaseExpired(), now=now, jitter=self._random.random()))
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
        return NOW if len(expired) == BATCH else INTERVAL
