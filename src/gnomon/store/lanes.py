"""Lanes by number, remembered: they are few and only grow, so a process reads each once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from gnomon.core.job import Definition, TenantId
from gnomon.core.lease import Lane
from gnomon.store.database import Database
from gnomon.store.rows import names_of, names_text

# A lane with a lower number may commit after one with a higher number: look back this far for it.
LATE_COMMITS_MAX = 1000


def lane_of(tenant_id: TenantId, definition: Definition) -> Lane:
    return Lane(tenant_id, definition.queue, definition.kind, definition.capabilities)


class Lanes:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._ids: dict[Lane, int] = {}
        self._newest = 0

    @property
    def known(self) -> Mapping[Lane, int]:
        return MappingProxyType(self._ids)

    async def refresh(self) -> bool:
        """Learn lanes that other processes made. True if there were any."""
        known = len(self._ids)
        rows = await self._database.read("lanes_after", after=self._newest - LATE_COMMITS_MAX)
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
