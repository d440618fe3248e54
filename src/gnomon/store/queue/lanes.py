"""Lanes by number, remembered: they are few and only grow, so a process reads each once.

A tenant with a limit is claimed from on its own: what it may still have is counted while nobody else counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.lease import Lane, Offer
from gnomon.core.jobs.job import Definition
from gnomon.store.databases.database import Database
from gnomon.store.databases.rows import names_of, names_text

# A lane with a lower number may commit after one with a higher number: look back this far for it.
LATE_COMMITS_MAX = 1000


class Turn(NamedTuple):
    """Lanes that are claimed from together: of one tenant with a limit, or of all without one."""

    limited: TenantId | None
    lane_ids: tuple[int, ...]


def lane_of(tenant_id: TenantId, definition: Definition) -> Lane:
    return Lane(tenant_id, definition.queue, definition.kind, definition.capabilities)


class Lanes:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._ids: dict[Lane, int] = {}
        self._newest = 0
        self._limited: frozenset[TenantId] = frozenset()
        self._turns: dict[tuple[frozenset[str], ...], Sequence[Turn]] = {}

    @property
    def known(self) -> Mapping[Lane, int]:
        return MappingProxyType(self._ids)

    def turns(self, offer: Offer) -> Sequence[Turn]:
        """The lanes that fit. First those of tenants without a limit, also if there are none."""
        wanted = (offer.kinds, offer.queues, offer.capabilities)
        found = self._turns.get(wanted)
        if found is None:
            found = self._turns[wanted] = self._turns_of(offer)
        return found

    def _turns_of(self, offer: Offer) -> Sequence[Turn]:
        lanes: dict[TenantId | None, list[int]] = {None: []}
        for lane, number in self._ids.items():
            if lane.fits(offer):
                lanes.setdefault(self._limited_of(lane), []).append(number)
        return [Turn(limited, tuple(sorted(numbers))) for limited, numbers in lanes.items()]

    def fitting(self, offer: Offer) -> list[int]:
        """All lanes that fit, whichever turn they are of."""
        return [lane_id for turn in self.turns(offer) for lane_id in turn.lane_ids]

    def beside(self, lane: Lane, offer: Offer) -> tuple[int, ...]:
        """The lanes that are claimed from together with one of them."""
        return next(turn.lane_ids for turn in self.turns(offer) if turn.limited == self._limited_of(lane))

    def is_limited(self, tenant_id: TenantId) -> bool:
        return tenant_id in self._limited

    def _limited_of(self, lane: Lane) -> TenantId | None:
        return lane.tenant_id if self.is_limited(lane.tenant_id) else None

    async def refresh(self) -> bool:
        """Learn lanes that other processes made, and who has a limit. True if there are new lanes."""
        known = len(self._ids)
        rows = await self._database.read("lanes_after", after=self._newest - LATE_COMMITS_MAX)
        self._limited = frozenset(row["tenant_id"] for row in rows if row["limited"])
        self._turns.clear()
        for row in rows:
            lane = Lane(row["tenant_id"], row["queue"], row["kind"], names_of(row["capabilities"]))
            self._ids[lane] = row["lane_id"]
            self._newest = max(self._newest, row["lane_id"])
        return len(self._ids) > known

    async def ensure(self, lanes: Collection[Lane]) -> Mapping[Lane, int]:
        """Make the missing ones. Outside any transaction: a lane that nobody uses does no harm."""
        missing = [lane for lane in lanes if lane not in self._ids]
        for lane in missing:
            await self._database.fetch(
                "lane_ensure",
                tenant_id=lane.tenant_id,
                queue=lane.queue,
                kind=lane.kind,
                capabilities=names_text(lane.capabilities),
            )
        if missing:
            await self.refresh()
        return self.known
