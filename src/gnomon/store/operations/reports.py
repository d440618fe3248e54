"""Counts for those who watch the whole installation. Only reads, and not for hot paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gnomon.core.explain.unrunnable import Lack
from gnomon.core.operations.workers import SILENT
from gnomon.store.databases.database import Database
from gnomon.store.operations.diagnosis import INVARIANTS, SqlDiagnosis
from gnomon.store.operations.unrunnable import SqlUnrunnable
from gnomon.store.queue.lanes import Lanes

# Names are the users' own: more of them than this are no use to a graph.
QUEUES_MAX = 100
TENANTS_MAX = 100


@dataclass(frozen=True, slots=True)
class QueueReport:
    queue: str
    state: str  # `queued`: could run now; `pending`: waits for its time or a gate.
    depth: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class TenantReport:
    name: str
    weight: int
    running: int


@dataclass(frozen=True, slots=True)
class Report:
    queues: tuple[QueueReport, ...]
    running: int
    dead_letters: int
    slots: int
    workers: int
    next_run_time: datetime | None
    dead_rows: Mapping[str, int]  # By table; where rows do not linger, there are none.
    blocked: Mapping[
        str, int
    ]  # By the limit that executions wait for that are due: of a `job`, or a `tenant`.
    tenants: tuple[TenantReport, ...]  # Those that have work.
    broken: Mapping[str, int]  # By the name of the invariant, at most FOUND_MAX each.
    unrunnable: Mapping[Lack, int]  # Due, and no live worker can run it: by what they lack.


class SqlReports:
    def __init__(self, database: Database, lanes: Lanes) -> None:
        self._database = database
        self._diagnosis = SqlDiagnosis(database)
        self.unrunnable = SqlUnrunnable(database, lanes)

    async def now(self, now: datetime) -> Report:
        queues = await self._database.read("report_queues", now=now, limit=QUEUES_MAX)
        [totals] = await self._database.read("report_totals", now=now, seen_after=now - SILENT)
        tenants = await self._database.read("report_tenants", now=now, limit=TENANTS_MAX)
        unrunnable = dict.fromkeys(Lack, 0)
        for stuck in await self.unrunnable.find(now=now, due_before=now):
            unrunnable[stuck.lack] += stuck.count
        return Report(
            tuple(QueueReport(row["queue"], row["state"], row["depth"], row["due"]) for row in queues),
            totals["running"],
            totals["dead_letters"],
            int(totals["slots"]),
            totals["workers"],
            totals["next_run_time"],
            {row["name"]: row["dead"] for row in await self._database.read("report_dead_rows")},
            {"job": totals["blocked_by_job"], "tenant": int(totals["blocked_by_tenant"])},
            tuple(TenantReport(row["name"], row["weight"], row["running"]) for row in tenants),
            {one.name: len(await self._diagnosis.look(one, now=now)) for one in INVARIANTS if one.is_of_time},
            unrunnable,
        )
