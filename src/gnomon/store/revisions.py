"""Revisions by job and number, remembered: they never change."""

from __future__ import annotations

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
        self._known: dict[tuple[JobId, int], Revision] = {}

    async def claimed(self, rows: Sequence[Row], hold: Hold) -> list[Leased]:
        """What a claim has just taken: all of it is held alike."""
        known: Mapping[tuple[JobId, int], Revision] = self._known
        try:
            return [leased_of(row, known[row[1], row[2]], hold) for row in rows]
        except KeyError:
            known = await self._learn(rows)
        return [leased_of(row, known[row[1], row[2]], hold) for row in rows]

    async def leased(self, rows: Sequence[Row]) -> list[Leased]:
        """What others hold, or we did before: each row says by whom and until when."""
        known = await self._learn(rows)
        return [leased_of(islice(row, LEASED_COLUMNS), known[row[1], row[2]], hold_of(row)) for row in rows]

    async def _learn(self, rows: Sequence[Row]) -> Mapping[tuple[JobId, int], Revision]:
        """The revisions of these rows. Not the cache itself: while we read, another call may empty it."""
        known = self._known
        wanted = {(row[1], row[2]) for row in rows}
        found = {key: known[key] for key in wanted & known.keys()}
        missing = wanted - found.keys()
        if not missing:
            return found
        if len(known) + len(missing) > CACHE_MAX:
            # Seldom, so simply: keep what is needed now.
            for key in known.keys() - wanted:
                del known[key]
        batch = Rows("wanted_revision", ("job_id", "revision"), sorted(missing))
        for row in await self._database.read("revisions", batch):
            found[row["job_id"], row["revision"]] = revision_of(row)
        known |= found
        return found
