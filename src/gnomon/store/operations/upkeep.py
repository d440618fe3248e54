"""Making room: partitions ahead of time, and forgetting what has been kept for long enough."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from gnomon.core.executions.retention import Month, RetentionPolicy, all_droppable_before, droppable
from gnomon.core.values.ids import first_id_of
from gnomon.core.values.limits import check_limit
from gnomon.store.databases.database import Database, Rows
from gnomon.store.databases.rows import FIRST_ID
from gnomon.store.protocols.operations import Forgotten

FORGET_LIMIT_MAX = 10_000
LOG_LINES_AT_ONCE = 10_000
JOBS_AT_ONCE = 1000
# Followers say that they are there several times an hour.
FOLLOWER_GRACE = timedelta(hours=1)


class SqlUpkeep:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def make_months(self, *, now: datetime) -> Sequence[str]:
        partitions = self._database.partitions
        return [] if partitions is None else await partitions.make(now=now)

    async def drop_month(self, policy: RetentionPolicy, *, now: datetime, limit: int) -> Forgotten:
        _check(limit)
        partitions = self._database.partitions
        if partitions is None:
            return Forgotten(0)
        before = all_droppable_before(policy, now=now)
        for month in await partitions.months():
            if month.ends > before:
                break
            if not await self._is_spent(month, policy, now=now):
                continue
            [gone] = await self._database.fetch("month_belongings_forget", **_span(month), limit=limit)
            if limit in (gone["letters"], gone["points"], gone["runs"]):
                return Forgotten(0, more=True)
            if await partitions.drop(month):
                return Forgotten(1, more=True)
        return Forgotten(0)

    async def forget_ended(
        self, policy: RetentionPolicy, *, now: datetime, limit: int, after: UUID | None = None
    ) -> Forgotten:
        _check(limit)
        kept_since = droppable(policy, now=now)
        rows = await self._database.read(
            "ended_walk",
            after=after or FIRST_ID,
            end=first_id_of(max(kept_since.values())),  # What was made later ended later.
            limit=limit,
            **_values(policy, now=now),
        )
        spent = _wanted([row["execution_id"] for row in rows if row["is_spent"]])
        if spent.rows:
            [logs] = await self._database.fetch("logs_forget", spent, limit=LOG_LINES_AT_ONCE)
            if logs["count"] == LOG_LINES_AT_ONCE:
                return Forgotten(0, more=True, after=after)  # The same again, with fewer lines.
            await self._database.fetch("ended_forget", spent)
        return _walked(len(spent.rows), [row["execution_id"] for row in rows], limit=limit)

    async def forget_occurrences(
        self, *, before: datetime, limit: int, after: UUID | None = None
    ) -> Forgotten:
        _check(limit)
        if after is None:
            # The times of backfills are a ledger, too.
            times = await self._database.fetch("backfill_times_forget", before=before, limit=limit)
            if len(times) == limit:
                return Forgotten(limit, more=True)
            await self._database.fetch("backfills_forget", before=before)
        rows = await self._database.read("jobs_walk", after=after or FIRST_ID, limit=JOBS_AT_ONCE)
        jobs = [row["id"] for row in rows]
        [gone] = await self._database.fetch("occurrences_forget", _wanted(jobs), before=before, limit=limit)
        if gone["count"] == limit:
            return Forgotten(limit, more=True, after=after)
        return _walked(gone["count"], jobs, limit=JOBS_AT_ONCE)

    async def forget_checkpoints(
        self, *, ended_before: datetime, limit: int, after: UUID | None = None
    ) -> Forgotten:
        _check(limit)
        rows = await self._database.read(
            "checkpoints_walk", after=after or FIRST_ID, before=ended_before, limit=limit
        )
        spent = _wanted([row["execution_id"] for row in rows if row["is_spent"]])
        if spent.rows:
            await self._database.fetch("checkpoints_forget", spent)
        return _walked(len(spent.rows), [row["execution_id"] for row in rows], limit=limit)

    async def forget_requests(self, *, before: datetime, limit: int) -> Forgotten:
        rows = await self._database.fetch("requests_forget", before=before, limit=_check(limit))
        return Forgotten(len(rows), more=len(rows) == limit)

    async def forget_idempotency_keys(self, *, before: datetime, limit: int) -> Forgotten:
        rows = await self._database.fetch("idempotency_forget", before=before, limit=_check(limit))
        return Forgotten(len(rows), more=len(rows) == limit)

    async def forget_events(self, *, before: datetime, limit: int) -> Forgotten:
        _check(limit)
        rows = await self._database.fetch("events_forget", before=before, limit=limit)
        if len(rows) < limit:
            # Only now: whoever is forgotten and comes back must find that the place they were at is gone.
            await self._database.fetch("event_followers_forget", before=before - FOLLOWER_GRACE)
        return Forgotten(len(rows), more=len(rows) == limit)

    async def forget_workers(self, *, before: datetime, limit: int) -> Forgotten:
        rows = await self._database.fetch("workers_forget", before=before, limit=_check(limit))
        return Forgotten(len(rows), more=len(rows) == limit)

    async def _is_spent(self, month: Month, policy: RetentionPolicy, *, now: datetime) -> bool:
        """Nothing in it waits or runs, and nothing that has ended must be kept longer."""
        if await self._database.read("month_lives", **_span(month)):
            return False
        return not await self._database.read("month_stays", **_span(month), **_values(policy, now=now))


def _check(limit: int) -> int:
    return check_limit(limit, limit_max=FORGET_LIMIT_MAX)


def _span(month: Month) -> dict[str, UUID]:
    return {"first": first_id_of(month.starts), "end": first_id_of(month.ends)}


def _values(policy: RetentionPolicy, *, now: datetime) -> dict[str, datetime]:
    """Before when an execution must have ended to go, by the names of the parameters."""
    return {status.lower(): before for status, before in droppable(policy, now=now).items()}


def _wanted(ids: Sequence[UUID]) -> Rows:
    return Rows("wanted", ("id",), [(one,) for one in ids])


def _walked(count: int, seen: Sequence[UUID], *, limit: int) -> Forgotten:
    more = len(seen) == limit
    return Forgotten(count, more=more, after=seen[-1] if more else None)
