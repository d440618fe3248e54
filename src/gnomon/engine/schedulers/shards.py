"""Share the jobs out among all schedulers, so that they do not all try to fire the same ones."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from gnomon.core.operations.shards import STAY, rebalance
from gnomon.engine.clock import Clock
from gnomon.engine.service import Wakeup
from gnomon.store.protocols.operations import ShardStore

INTERVAL = timedelta(seconds=3)
LEASE = timedelta(seconds=10)


class ShardKeeper:
    """Only a division of work: what nobody fires in time is fired by anybody. See the scheduler."""

    def __init__(self, owner: str, *, shards: ShardStore, clock: Clock) -> None:
        self.wakeup = Wakeup()
        self._owner = owner
        self._shards = shards
        self._clock = clock
        self._moves = STAY
        self._held: frozenset[int] | None = None

    def held(self) -> Collection[int] | None:
        """None until the first look: then it is better to look after all of them."""
        return self._held

    async def step(self) -> timedelta:
        now = self._clock.now()
        division = await self._shards.hold(self._owner, self._moves, now=now, until=now + LEASE)
        self._held = frozenset().union(*[one.shards for one in division.leases if one.owner == self._owner])
        self._moves = rebalance(self._owner, division, now=now)
        return INTERVAL / 10 if self._moves else INTERVAL

    async def leave(self) -> None:
        await self._shards.release(self._owner, now=self._clock.now())
