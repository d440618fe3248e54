"""Revisions by job and number, remembered: they never change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import islice

from gnomon.core.job import JobId, Revision
from gnomon.core.lease import Leased
from gnomon.store.database import Database, Row, Rows
from gnomon.store.rows import LEASED_COLUMNS, Hold, hold_of, leased_of, revision_of

CACHE_MAX = 10_000


class Revisions:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: OrderedDict[tuple[JobId, int], Revision] = OrderedDict()

    async def claimed(self, rows: Sequence[Row], hold: Hold) -> list[Leased]:
        """What a claim has just taken: all of it is held alike."""
        known = await self._learn(rows)
        return [leased_of(row, known[row[1], row[2]], hold) for row in rows]

    async def leased(self, rows: Sequence[Row]) -> list[Leased]:
        """What others hold, or we did before: each row says by whom and until when."""
        known = await self._learn(rows)
        return [leased_of(islice(row, LEASED_COLUMNS), known[row[1], row[2]], hold_of(row)) for row in rows]

    async def _learn(self, rows: Sequence[Row]) -> Mapping[tuple[JobId, int], Revision]:
        known = self._known
        missing = {(row[1], row[2]) for row in rows} - known.keys()
        if missing:
            while known and len(known) + len(missing) > CACHE_MAX:
                known.popitem(last=False)
            batch = Rows("wanted_revision", ("job_id", "revision"), sorted(missing))
            for row in await self._database.read("revisions", batch):
                known[row["job_id"], row["revision"]] = revision_of(row)
        return known
