"""How an execution that waits stands: its gate, and its place in the queue. Only reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import Attempt, ExecutionId, ExecutionStatus, RecentRun, WaitsFor
from gnomon.core.executions.lease import Lane, Offer
from gnomon.core.explain.executions import Needed, QueuePlace
from gnomon.core.jobs.job import PRIORITIES, JobId
from gnomon.core.values.limits import check_limit
from gnomon.store.databases.database import Database, Row, Rows
from gnomon.store.databases.rows import attempt_of, names_of
from gnomon.store.queue.lanes import Lanes


class Prospects:
    def __init__(self, database: Database, lanes: Lanes) -> None:
        self._database = database
        self._lanes = lanes

    async def place(self, tenant_id: TenantId, execution_id: ExecutionId) -> QueuePlace | None:
        rows = await self._database.read("waiting_place", tenant_id=tenant_id, execution_id=execution_id)
        if not rows:
            return None
        [row] = rows
        waits_for = None if row["waits_for"] is None else WaitsFor(row["waits_for"])
        needed: list[Needed] = []
        if waits_for is WaitsFor.JOBS:
            unmet = await self._database.read("waiting_for_jobs", execution_id=execution_id)
            needed = [Needed(JobId(one["depends_on"]), one["name"]) for one in unmet]
        return QueuePlace(
            execution_id=execution_id,
            lane=Lane(tenant_id, row["lane_queue"], row["lane_kind"], names_of(row["lane_capabilities"])),
            priority=row["priority"],
            due=row["due"],
            waits_for=waits_for,
            slots=row["slots"],
            taken=row["taken"],
            needed=tuple(needed),
            tenant_running=row["tenant_running"],
            tenant_limit=row["tenant_limit"],
            run_id=row["dag_run_id"],
            crashes=row["crashes"],
        )

    async def latest_attempts(
        self, tenant_id: TenantId, execution_id: ExecutionId, *, limit: int
    ) -> Sequence[Attempt]:
        rows = await self._database.read(
            "attempts_latest", tenant_id=tenant_id, execution_id=execution_id, limit=check_limit(limit)
        )
        return [attempt_of(row) for row in rows]

    async def recent(
        self, tenant_id: TenantId, job_ids: Collection[JobId], *, limit: int
    ) -> Mapping[JobId, Sequence[RecentRun]]:
        rows = await self._database.read(
            "jobs_recent",
            Rows("wanted", ("id",), [(one,) for one in job_ids]),
            tenant_id=tenant_id,
            limit=check_limit(limit),
        )
        found: dict[JobId, list[RecentRun]] = {job_id: [] for job_id in job_ids}
        for row in rows:
            found[row["job_id"]].append(_recent_run(row))
        return found

    async def progress(
        self, tenant_id: TenantId, execution_ids: Collection[ExecutionId]
    ) -> Mapping[ExecutionId, float]:
        wanted = Rows("wanted", ("id",), [(one,) for one in execution_ids])
        rows = await self._database.read("executions_progress", wanted, tenant_id=tenant_id)
        return {row["execution_id"]: row["progress"] for row in rows}

    async def ahead(self, place: QueuePlace, offer: Offer, *, now: datetime, limit: int) -> int:
        await self._lanes.refresh()
        lanes = [(number,) for number in self._lanes.beside(place.lane, offer)]
        [row] = await self._database.read(
            "waiting_ahead",
            Rows("lane", ("id",), lanes),
            priority=place.priority,
            due=place.due,
            execution_id=place.execution_id,
            now=now,
            limit=limit,
        )
        ahead: int = row["ahead"]
        return ahead

    async def next_due(self, offer: Offer, *, after: datetime) -> datetime | None:
        await self._lanes.refresh()
        lane_ids = self._lanes.fitting(offer)
        if not lane_ids:
            return None
        [row] = await self._database.read(
            "waiting_next_due", lane_ids=lane_ids, priorities=PRIORITIES, after=after
        )
        due: datetime | None = row["due"]
        return due

    async def next_gated(self, *, after: datetime) -> datetime | None:
        rows = await self._database.read("waiting_next_gated", after=after)
        return rows[0]["due"] if rows else None


def _recent_run(row: Row) -> RecentRun:
    status = None if row["outcome"] is None else ExecutionStatus(row["outcome"])
    if status is None and row["is_leased"]:
        status = ExecutionStatus.RUNNING
    return RecentRun(
        row["id"],
        status,
        row["worker"],
        row["attempts"],
        row["started_at"],
        row["finished_at"],
        row["due"],
    )
