"""Revisions by job and number, remembered: they never change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from uuid import UUID

from gnomon.core.executions.lease import Leased
from gnomon.core.jobs.job import JobId, Revision
from gnomon.store.databases.database import Database, Row, Rows
from gnomon.store.databases.rows import revision_of
from gnomon.store.queue.claimed import ClaimedRow, Hold, Taken

CACHE_MAX = 10_000
# Tasks of a workflow have revisions side by side, and who claims one of them will claim the next.
AHEAD = 16

# The bytes of the job's id and the number of the revision: to hash a UUID costs ten times as much.
Key = tuple[bytes, int]
_BYTES: Callable[[UUID], bytes] = attrgetter("bytes")


class Revisions:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[Key, Revision] = {}

    async def claimed(self, rows: Sequence[Row | ClaimedRow], hold: Hold) -> list[Leased]:
        """What a claim has just taken: all of it is held alike."""
        return await self._leased(Taken(rows, hold)) if rows else []

    async def leased(self, rows: Sequence[Row]) -> list[Leased]:
        """What others hold, or we did before: each row says by whom and until when."""
        return await self._leased(Taken(rows)) if rows else []

    async def _leased(self, taken: Taken) -> list[Leased]:
        return taken.leased(await self._of(taken.job_ids, taken.revisions))

    async def _of(self, job_ids: Sequence[JobId], numbers: Sequence[int]) -> Sequence[Revision]:
        keys = list(zip(map(_BYTES, job_ids), numbers, strict=True))
        try:
            return [self._known[key] for key in keys]
        except KeyError:
            known = await self._learn(set(keys))
        return [known[key] for key in keys]

    async def _learn(self, wanted: set[Key]) -> Mapping[Key, Revision]:
        """Not the cache itself: while we read, another call may empty it."""
        known = self._known
        found = {key: known[key] for key in wanted & known.keys()}
        missing = wanted - found.keys()
        if len(known) + len(missing) > CACHE_MAX:
            # Seldom, so simply: keep what is needed now.
            for key in known.keys() - wanted:
                del known[key]
        asked = _with_next(missing) if len(missing) == 1 else missing
        batch = Rows(
            "wanted_revision", ("job_id", "revision"), [(UUID(bytes=job), n) for job, n in sorted(asked)]
        )
        for row in await self._database.read("revisions", batch):
            key = (row["job_id"].bytes, row["revision"])
            try:
                found[key] = revision_of(row)
            except Exception:
                if key in wanted:
                    raise
                # Not asked for yet. A later release may have written it.
        known |= found
        return found


def _with_next(keys: set[Key]) -> set[Key]:
    return {(job, number + step) for job, number in keys for step in range(AHEAD)}
