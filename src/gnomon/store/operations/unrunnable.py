"""Reads how much is due that no live worker can run. Bounded: it costs little where all is well."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from gnomon.core.executions.execution import ExecutionId, WorkerId
from gnomon.core.explain.unrunnable import (
    LiveWorker,
    Stuck,
    TurnedAway,
    WaitingInLane,
    lanes_without_worker,
    unrunnable,
)
from gnomon.core.jobs.job import PRIORITIES
from gnomon.core.operations.workers import SILENT
from gnomon.store.databases.database import Database
from gnomon.store.databases.rows import names_of
from gnomon.store.queue.lanes import Lanes

COUNT_MAX = 1000  # Of one lane, and of what was turned away. More than that is many.
LANES_MAX = 100
WORKERS_MAX = 10_000
# What is turned away is offered again every ten seconds, unless the workers are busy.
TURNED_AWAY_WITHIN = timedelta(minutes=5)


class SqlUnrunnable:
    def __init__(self, database: Database, lanes: Lanes) -> None:
        self._database = database
        self._lanes = lanes

    async def find(self, *, now: datetime, due_before: datetime) -> Sequence[Stuck]:
        """By lane and by what is lacking. Counts up to COUNT_MAX each."""
        live = await self._live(now)
        await self._lanes.refresh()
        unfit = lanes_without_worker(self._lanes.known, live)
        waiting = await self._waiting(list(unfit.values())[:LANES_MAX], due_before) if unfit else []
        return unrunnable(waiting, await self._turned_away(now), live)

    async def _live(self, now: datetime) -> list[LiveWorker]:
        rows = await self._database.read("workers_live", seen_after=now - SILENT, limit=WORKERS_MAX)
        return [
            LiveWorker(
                WorkerId(row["worker_id"]),
                names_of(row["kinds"]),
                names_of(row["queues"]),
                names_of(row["capabilities"]),
            )
            for row in rows
        ]

    async def _waiting(self, lane_ids: list[int], due_before: datetime) -> list[WaitingInLane]:
        rows = await self._database.read(
            "unrunnable_in_lanes",
            lane_ids=lane_ids,
            priorities=PRIORITIES,
            before=due_before,
            limit=COUNT_MAX,
        )
        by_id = {number: lane for lane, number in self._lanes.known.items()}
        return [
            WaitingInLane(by_id[row["lane_id"]], row["count"], ExecutionId(row["execution_id"]))
            for row in rows
            if row["count"]
        ]

    async def _turned_away(self, now: datetime) -> list[TurnedAway]:
        rows = await self._database.read("turned_away", since=now - TURNED_AWAY_WITHIN, limit=COUNT_MAX)
        by_id = {number: lane for lane, number in self._lanes.known.items()} if rows else {}
        return [
            TurnedAway(
                ExecutionId(row["execution_id"]),
                WorkerId(row["worker"]),
                by_id[row["lane_id"]],
                row["failure_message"],
            )
            for row in rows
            if row["lane_id"] in by_id
        ]
