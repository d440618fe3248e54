"""Revisions by job and number, remembered: they never change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from gnomon.core.job import JobId, Revision
from gnomon.core.lease import Leased
from gnomon.store.database import Database, Row, Rows
from gnomon.store.rows import leased_of, revision_of

CACHE_MAX = 10_000


class Revisions:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: OrderedDict[tuple[JobId, int], Revision] = OrderedDict()

    async def leased(self, rows: Sequence[Row]) -> list[Leased]:
        """Lease rows with what their revisions say. A revision that is new here is read once for all."""
        known = self._known
        missing = {key for row in rows if (key := (row["job_id"], row["revision"])) not in known}
        if missing:
            batch = Rows("wanted_revision", ("job_id", "revision"), sorted(missing))
            for found in await self._database.read("revisions", batch):
                known[found["job_id"], found["revision"]] = revision_of(found)
        leased = [leased_of(row, known[row["job_id"], row["revision"]]) for row in rows]
        while len(known) > CACHE_MAX:
            known.popitem(last=False)
        return leased
