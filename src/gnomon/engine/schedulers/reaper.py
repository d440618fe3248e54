"""Take back executions whose worker stopped renewing."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import TypeVar

from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.lease import LEASE, Leased
from gnomon.core.executions.lifecycle import LeaseExpired, after
from gnomon.engine.clock import Clock
from gnomon.engine.failpoints import At, failpoint
from gnomon.engine.service import NOW, PAUSE_AFTER_TROUBLE_MAX, Wakeup
from gnomon.engine.telemetry import Telemetry, What
from gnomon.store.protocols.changes import Applied
from gnomon.store.protocols.executions import ExecutionStore

logger = logging.getLogger(__name__)

BATCH = 500
INTERVAL = timedelta(seconds=3)

T = TypeVar("T")


class Reaper:
    """After an outage of the store every lease looks expired, so the living get the time to renew first.

    The reaper takes nothing until the store has answered it without a break for as long as a live worker
    needs to renew. It begins in doubt: it may have been started during an outage.
    """

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
        # A heartbeat is two statements in a third of the lease. If one takes longer than half of that, a live
        # worker may fail to renew.
        self._late = lease / 6
        # A heartbeat that began before the outage was over gives up after a third of the lease, pauses, and
        # asks again.
        self._patience = lease / 3 + 2 * PAUSE_AFTER_TROUBLE_MAX
        # Often enough to see what could keep a worker from two renewals.
        self._interval = min(INTERVAL, lease / 3)
        self._heard_at: datetime | None = None
        self._steady_since: datetime | None = None

    async def step(self) -> timedelta:
        now = self._clock.now()
        expired = await self._answer(self._executions.expired(now=now, limit=BATCH))
        if not self._may_judge() or not expired:
            return self._interval
        decisions = [
            Decision(
                one.claim,
                after(one, LeaseExpired(), now=now, jitter=self._random.random()),
                one.revision.is_task,
            )
            for one in expired
        ]
        failpoint(At.REAP_BEFORE)
        answers = await self._answer(self._executions.apply(decisions, now=now))
        failpoint(At.REAP_AFTER)
        self._tell(expired, answers, at=now)
        if any(one.in_run for one in decisions):
            self._released()
        return NOW if len(expired) == BATCH else self._interval

    def _tell(self, expired: Sequence[Leased], answers: Sequence[Applied], *, at: datetime) -> None:
        for leased, answer in zip(expired, answers, strict=True):
            if answer is Applied.APPLIED:
                logger.warning(
                    "lease expired; taken back",
                    extra={"execution": str(leased.claim.execution_id), "worker": leased.worker},
                )
                self._telemetry.tell(What.REAPED, leased, at=at)

    async def _answer(self, question: Awaitable[T]) -> T:
        """Ask the store. No answer, a late one, or a question asked late is a break: all begins anew."""
        asked, since = self._clock.now(), self._steady_since
        if self._heard_at is not None and asked - self._heard_at > self._interval + self._late:
            since = None  # This process stood still, and perhaps the machine with it.
        self._steady_since = None  # It stays so if no answer comes.
        answer = await question
        self._heard_at = heard = self._clock.now()
        self._steady_since = since if since is not None and heard - asked <= self._late else heard
        return answer

    def _may_judge(self) -> bool:
        """Asked when the store has just answered."""
        assert self._heard_at is not None
        assert self._steady_since is not None
        return self._heard_at - self._steady_since >= self._patience and self._clock.is_settled
