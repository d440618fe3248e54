"""Runs of workflows and their tasks, as readers see them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId, RecentRun
from gnomon.core.executions.records import Page
from gnomon.core.explain.job_state import OF_RUNS
from gnomon.core.jobs.job import JobId
from gnomon.core.runs.run import Brought, FailedTask, OpenTask, Run, RunId, TaskPlace, TaskRun
from gnomon.core.runs.state import RunStatus, TaskStatus
from gnomon.core.values.limits import check_limit
from gnomon.errors import RunNotFound
from gnomon.store.databases.database import Database, Row, Rows
from gnomon.store.databases.rows import LAST_ID, document_of, failure_of
from gnomon.store.runs.rows import run_of, task_run

TASK_LIMIT_MAX = 20_000
EXECUTIONS_MAX = 20_000
MESSAGE_LENGTH_MAX = 1000  # Of failures in a list.


class RunReaders:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, tenant_id: TenantId, run_id: RunId) -> Run:
        return await find_run(self._database.read, tenant_id, run_id)

    async def page(
        self,
        tenant_id: TenantId,
        dag_id: JobId,
        *,
        limit: int,
        status: RunStatus | None = None,
        after: UUID | None = None,
    ) -> Page[Run]:
        """The runs of a workflow, newest first."""
        rows = await self._database.read(
            "dag_runs_page",
            tenant_id=tenant_id,
            dag_id=dag_id,
            status=status,
            after=after or LAST_ID,
            limit=check_limit(limit) + 1,
        )
        found = tuple(run_of(row) for row in rows[:limit])
        return Page(found, found[-1].id if len(rows) > limit else None)

    async def recent(
        self, tenant_id: TenantId, dag_ids: Collection[JobId], *, limit: int
    ) -> Mapping[JobId, Sequence[RecentRun]]:
        wanted = Rows("wanted", ("id",), [(one,) for one in dag_ids])
        rows = await self._database.read("dags_recent", wanted, tenant_id=tenant_id, limit=check_limit(limit))
        found: dict[JobId, list[RecentRun]] = {dag_id: [] for dag_id in dag_ids}
        for row in rows:
            status = OF_RUNS[RunStatus(row["status"])]
            found[row["dag_id"]].append(
                RecentRun(row["id"], status, None, 0, row["started_at"], row["finished_at"])
            )
        return found

    async def tasks(
        self, tenant_id: TenantId, run_id: RunId, *, limit: int, after: int = -1
    ) -> Sequence[TaskRun]:
        """Tasks in the order of the definition, after that place. None if the run has not begun."""
        check_limit(limit, limit_max=TASK_LIMIT_MAX)
        key: dict[str, Any] = {"tenant_id": tenant_id, "run_id": run_id, "after": after}
        rows = await self._database.read("run_tasks", **key, limit=limit)
        if not rows:
            return []
        key["last"] = rows[-1]["task"]
        ran: dict[int, list[Row]] = {}
        for row in await self._database.read("run_executions", **key, limit=EXECUTIONS_MAX):
            ran.setdefault(row["task"], []).append(row)
        notes = {row["task"]: row for row in await self._database.read("run_notes", **key)}
        holds = {}
        if any(row["status"] == TaskStatus.HELD for row in rows):
            holds = {row["task"]: row for row in await self._database.read("run_holds", **key)}
        return [
            task_run(row, ran.get(row["task"], ()), notes.get(row["task"]), holds.get(row["task"]))
            for row in rows
        ]

    async def places(
        self, tenant_id: TenantId, execution_ids: Collection[ExecutionId]
    ) -> Mapping[ExecutionId, TaskPlace]:
        if not execution_ids:
            return {}
        wanted = Rows("wanted", ("id",), [(one,) for one in sorted(execution_ids)])
        rows = await self._database.read("executions_places", wanted, tenant_id=tenant_id)
        return {
            row["execution_id"]: TaskPlace(
                RunId(row["dag_run_id"]),
                JobId(row["dag_id"]),
                row["revision"],
                row["task"],
                row["round"],
                row["item"],
            )
            for row in rows
        }

    async def brought(
        self, tenant_id: TenantId, execution_ids: Collection[ExecutionId], *, bytes_max: int
    ) -> Mapping[ExecutionId, Brought]:
        """What those of these executions that have ended brought, if it is no longer than that."""
        wanted = Rows("wanted", ("id",), [(one,) for one in sorted(execution_ids)])
        rows = await self._database.read(
            "execution_results",
            wanted,
            tenant_id=tenant_id,
            bytes_max=bytes_max,
            message_length_max=MESSAGE_LENGTH_MAX,
        )
        return {
            ExecutionId(row["execution_id"]): Brought(
                document_of(row["result"]), bool(row["is_left_out"]), failure_of(row)
            )
            for row in rows
        }

    async def failed_tasks(self, tenant_id: TenantId, run_id: RunId, *, limit: int) -> Sequence[FailedTask]:
        """Those that failed, and those of which an item did, in the order of the definition."""
        rows = await self._database.read(
            "run_failed_tasks", tenant_id=tenant_id, run_id=run_id, limit=check_limit(limit)
        )
        return [
            FailedTask(
                row["task"],
                TaskStatus(row["status"]),
                failure_of(row),
                row["execution_id"],
                row["item"],
                row["attempts"] or 0,
                row["items_left"],
                row["items_failed"],
            )
            for row in rows
        ]

    async def open_tasks(self, tenant_id: TenantId, run_id: RunId, *, limit: int) -> Sequence[OpenTask]:
        """Those that have begun and not ended: first the halted ones, then those that are held."""
        rows = await self._database.read(
            "run_open_tasks", tenant_id=tenant_id, run_id=run_id, limit=check_limit(limit)
        )
        return [
            OpenTask(
                row["task"],
                TaskStatus(row["status"]),
                row["event"],
                row["correlation"],
                row["until"],
                failure_of(row),
                row["execution_id"],
            )
            for row in rows
        ]


async def find_run(read: Callable[..., Awaitable[Sequence[Row]]], tenant_id: TenantId, run_id: RunId) -> Run:
    """Raises RunNotFound."""
    rows = await read("dag_run", tenant_id=tenant_id, run_id=run_id)
    if not rows:
        raise RunNotFound(run_id)
    return run_of(rows[0])
