"""Keep house: make room for the months to come, and forget what may be forgotten, a little at a time."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from gnomon.core.executions.retention import RetentionPolicy, all_droppable_before
from gnomon.engine.clock import Clock
from gnomon.engine.service import Wakeup
from gnomon.errors import StoreRefused, StoreUnavailable
from gnomon.store.protocols.operations import Forgotten, UpkeepStore

logger = logging.getLogger(__name__)

BATCH = 500
BETWEEN_BATCHES = timedelta(milliseconds=200)  # Others have work to do.
BETWEEN_CHORES = timedelta(seconds=20)
REQUESTS_KEPT = timedelta(hours=1)
KEYS_KEPT = timedelta(days=1)
CHECKPOINTS_KEPT = timedelta(days=1)
WORKERS_KEPT = timedelta(days=1)
EVENTS_KEPT = timedelta(days=1)
EVENTS_BATCH = 10_000  # A row each, and there may be many a second.

Chore = Callable[[datetime, UUID | None], Awaitable[Forgotten]]


class Maintenance:
    """One chore after the other, each in small batches. Any number of processes may do it at once."""

    def __init__(self, *, upkeep: UpkeepStore, clock: Clock, policy: RetentionPolicy) -> None:
        self.wakeup = Wakeup()
        self._upkeep = upkeep
        self._clock = clock
        self._policy = policy
        self._chores: Sequence[Chore] = (
            self._make_months,
            self._drop_month,
            self._forget_ended,
            self._forget_occurrences,
            self._forget_checkpoints,
            self._forget_requests,
            self._forget_keys,
            self._forget_workers,
            self._forget_events,
        )
        self._next = 0
        self._after: UUID | None = None

    async def step(self) -> timedelta:
        chore = self._chores[self._next]
        try:
            done = await chore(self._clock.now(), self._after)
        except (StoreRefused, StoreUnavailable) as error:
            # No reason to stop the other chores. This one has its turn again.
            logger.warning("%s: %s", getattr(chore, "__name__", chore), error)
            done = Forgotten(0)
        if done.more:
            self._after = done.after
            return BETWEEN_BATCHES
        self._next, self._after = (self._next + 1) % len(self._chores), None
        return BETWEEN_CHORES

    async def _make_months(self, now: datetime, after: UUID | None) -> Forgotten:
        for made in await self._upkeep.make_months(now=now):
            logger.info("made %s", made)
        return Forgotten(0)

    async def _drop_month(self, now: datetime, after: UUID | None) -> Forgotten:
        return await self._upkeep.drop_month(self._policy, now=now, limit=BATCH)

    async def _forget_ended(self, now: datetime, after: UUID | None) -> Forgotten:
        return await self._upkeep.forget_ended(self._policy, now=now, limit=BATCH, after=after)

    async def _forget_occurrences(self, now: datetime, after: UUID | None) -> Forgotten:
        before = all_droppable_before(self._policy, now=now)
        return await self._upkeep.forget_occurrences(before=before, limit=BATCH, after=after)

    async def _forget_checkpoints(self, now: datetime, after: UUID | None) -> Forgotten:
        before = now - CHECKPOINTS_KEPT
        return await self._upkeep.forget_checkpoints(ended_before=before, limit=BATCH, after=after)

    async def _forget_requests(self, now: datetime, after: UUID | None) -> Forgotten:
        return await self._upkeep.forget_requests(before=now - REQUESTS_KEPT, limit=BATCH)

    async def _forget_keys(self, now: datetime, after: UUID | None) -> Forgotten:
        return await self._upkeep.forget_idempotency_keys(before=now - KEYS_KEPT, limit=BATCH)

    async def _forget_workers(self, now: datetime, after: UUID | None) -> Forgotten:
        return await self._upkeep.forget_workers(before=now - WORKERS_KEPT, limit=BATCH)

    async def _forget_events(self, now: datetime, after: UUID | None) -> Forgotten:
        return await self._upkeep.forget_events(before=now - EVENTS_KEPT, limit=EVENTS_BATCH)
