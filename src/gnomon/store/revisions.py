"""Revisions by job and number, remembered: they never change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from gnomon.core.job import JobId, Revision
from gnomon.core.lease import Leased
from gnomon.store.database import Database, Row, Rows
from gnomon.store.rows import Hold, hold_of, leased_of, revision_of

CACHE_MAX = 10_000


class Revisions:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: OrderedDict[tuple[JobId, int], Revision] = OrderedDict()

    async def leased(self, rows: Sequence[Row], hold: Hold | None = None) -> list[Leased]:
        """Lease rows with what their revisions say. `hold` is what they share; None: each has its own."""
        keys = [(job_id, revision) for _, job_id, revision, *_ in rows]
        await self._learn(set(keys))
        known = self._known
        leased = [
            leased_of(row, known[key], hold or hold_of(row)) for row, key in zip(rows, keys, strict=True)
        ]
        while len(known) > CACHE_MAX:
            known.popitem(last=False)
        return leased

    async def _learn(self, keys: set[tuple[JobId, int]]) -> None:
        missing = keys - self._known.keys()
        if not missing:
            return
        batch = Rows("wanted_revision", ("job_id", "revision"), sorted(missing))
        for row in await self._database.read("revisions", batch):
            self._known[row["job_id"], row["revision"]] = revision_of(row)
