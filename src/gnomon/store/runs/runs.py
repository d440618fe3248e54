"""Runs of workflows over any SQL database. What they do is decided by `core/runs/decisions.py`."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, NewExecution
from gnomon.core.executions.records import Page
from gnomon.core.jobs.job import DAG_KIND, PRIORITIES, JobId
from gnomon.core.runs.events import Arrived, Cancel, Ended, Event, Expired, name_of
from gnomon.core.runs.run import Run, RunId
from gnomon.core.runs.state import ENDS, RunStatus
from gnomon.core.values.document import Document
from gnomon.core.values.limits import check_limit
from gnomon.core.workflows.dag import Dag
from gnomon.errors import IllegalTransition, InvalidInput, StoreUnavailable
from gnomon.store.databases.database import Database, Row, Rows
from gnomon.store.databases.rows import FIRST_ID, document_of
from gnomon.store.executions.redrives import Redriving
from gnomon.store.protocols.workflows import Waiting
from gnomon.store.queue.gates import Gates, note_unbegun
from gnomon.store.runs.aftermath import Aftermath
from gnomon.store.runs.beginnings import begin, begin_at_once, give_up
from gnomon.store.runs.ends import outcomes_of
from gnomon.store.runs.memory import RunMemory
from gnomon.store.runs.progress import Happened, Progress
from gnomon.store.runs.readers import RunReaders, find_run
from gnomon.store.runs.task_ends import TaskEnds
from gnomon.store.workflows.backfills import SqlBackfills
from gnomon.store.workflows.plans import Plans
from gnomon.store.writes.writer import Writer

logger = logging.getLogger(__name__)

START_LIMIT_MAX = 1000
EVENT_TAKERS_MAX = 1000


class SqlRuns:
    """`stopped` is called after a commit that asked what runs to stop, whatever brought that about."""

    def __init__(
        self, database: Database, plans: Plans, gates: Gates, backfills: SqlBackfills, writer: Writer
    ) -> None:
        self._database = database
        self._plans = plans
        self._gates = gates
        self._backfills, self._writer = backfills, writer
        self._memory = RunMemory()
        self.stopped: Callable[[], None] = lambda: None
        self.apply = TaskEnds(database, plans, self._memory, writer, self._progress, self._follow).apply
        self.redriving = Redriving(database, self._progress, self._follow)
        readers = RunReaders(database)
        self.get, self.page, self.recent = readers.get, readers.page, readers.recent
        self.tasks, self.open_tasks, self.places = readers.tasks, readers.open_tasks, readers.places
        self.failed_tasks, self.brought = readers.failed_tasks, readers.brought

    # Beginnings --------------------------------------------------------------------------------------

    async def wait_for_us(self, *, now: datetime) -> Waiting:
        [row] = await self._database.read("runs_wait_for_us", now=now, kind=DAG_KIND, priorities=PRIORITIES)
        return Waiting(bool(row["is_due"]), row["due"])

    async def start(self, *, now: datetime, limit: int) -> int:
        """Begin runs whose turn has come. Returns how many were there to be begun."""
        check_limit(limit, limit_max=START_LIMIT_MAX)
        await self._backfills.advance(now=now, limit=limit)
        rows = await self._database.read(
            "runs_due", now=now, limit=limit, kind=DAG_KIND, priorities=PRIORITIES
        )
        for row in rows:
            if row["watched"]:
                await self._stop_replaced(row["execution_id"], now=now)
            await self._start(row["execution_id"], row["dag_run_id"], now=now)
        return len(rows)

    async def _stop_replaced(self, run_id: UUID, *, now: datetime) -> int:
        """Before it begins. What is stopped ends in its own time."""
        rows = await self._database.read("runs_replaced", run_id=run_id)
        return sum([await self._report(row, Cancel(), now=now) for row in rows])

    async def start_now(self, run_ids: Collection[RunId], *, now: datetime, may_replace: bool = True) -> int:
        """Begin these at once, if their turn has come. If it fails, the next `start` does it.

        Returns how many runs were asked to stop, because one of these replaces them.
        """
        stopped = 0
        with suppress(StoreUnavailable):
            for run_id in sorted(run_ids):
                if may_replace:
                    stopped += await self._stop_replaced(run_id, now=now)
                await self._start(run_id, None, now=now)
        return stopped

    async def begin(self, dag: Dag, asked: NewExecution, *, now: datetime) -> Run | None:
        try:
            return await begin_at_once(self._database, self._plans, self._memory, dag, asked, now=now)
        except (StoreUnavailable, InvalidInput):
            raise
        except Exception:  # Whatever it is about this run: the long way gives it an end that says so.
            logger.exception("run %s cannot begin at once", asked.id)
            return None

    async def _start(self, run_id: UUID, outer: UUID | None, *, now: datetime) -> None:
        todo: list[tuple[UUID, UUID | None]] = [(run_id, outer)]
        while todo:
            run_id, outer = todo.pop()
            around = [] if outer is None else [outer]
            try:
                async with self._progress(around, now=now) as progress:
                    await begin(progress, run_id)
            except StoreUnavailable:
                raise
            except Exception as error:  # Whatever it is about this run, the others must not wait for it.
                logger.exception("run %s cannot begin", run_id)
                async with self._progress(around, now=now) as progress:
                    await give_up(progress, run_id, error)
            todo += progress.aftermath.to_start

    # Ends --------------------------------------------------------------------------------------------

    async def cancel(
        self, tenant_id: TenantId, execution_ids: Collection[ExecutionId], *, now: datetime
    ) -> Collection[UUID]:
        """Cancel those of these executions that are runs or tasks of runs. Returns which of them are."""
        asked = Rows("wanted", ("id",), [(one,) for one in sorted(execution_ids)])
        found = await self._database.read("executions_in_runs", asked, tenant_id=tenant_id)
        if not found:
            return []
        members = {row["execution_id"]: row for row in found}
        ours = Rows("wanted", ("id",), [(one,) for one in sorted(members)])
        runs = {row["dag_run_id"] for row in found if row["dag_run_id"]}
        runs |= {one for one, row in members.items() if row["has_tasks"]}
        async with self._progress(runs, now=now) as progress:
            session = progress.session
            before = await session.fetch("executions_in_runs", ours, tenant_id=tenant_id)
            live = [row for row in before if row["outcome"] is None]
            # What is claimed in between ends its queue row first, and is then asked to stop.
            waited = await session.fetch("executions_end_waiting", ours, tenant_id=tenant_id, now=now)
            await note_unbegun(session, waited, now=now)
            await session.fetch("executions_stop", ours, tenant_id=tenant_id)
            ended = await outcomes_of(progress, [row["execution_id"] for row in live])
            happened: Happened = {}
            for row in live:
                if row["execution_id"] in ended and row["dag_run_id"] in progress.runs:
                    status = ended[row["execution_id"]]
                    happened.setdefault(row["dag_run_id"], []).append(_ended(row, status, None))
                elif row["has_tasks"]:
                    happened.setdefault(row["execution_id"], []).append(Cancel())
            await progress.take(happened)
        await self._follow(progress.aftermath, now=now)
        return list(members)

    # What people and others do -----------------------------------------------------------------------

    async def act(self, tenant_id: TenantId, run_id: RunId, event: Event, *, now: datetime) -> Run:
        """Raises RunNotFound, or IllegalTransition if the run is not in a state for it."""
        async with self._progress([run_id], now=now) as progress:
            run = progress.runs.get(run_id)
            if run is None or run.tenant_id != tenant_id:
                # By this session: one that waits for another, while it holds its own, may wait for ever.
                found = await find_run(progress.session.fetch, tenant_id, run_id)
                advice = "It never began: trigger its workflow anew." if found.status.is_final else ""
                raise IllegalTransition("run", status=found.status, action=name_of(event), advice=advice)
            await progress.take({run_id: [event]})
        if run_id in progress.unreadable:
            raise IllegalTransition("run", status="unreadable", action=name_of(event))
        await self._follow(progress.aftermath, now=now)
        return await self.get(tenant_id, run_id)

    async def send(
        self, tenant_id: TenantId, event: str, correlation: str, data: Document, *, now: datetime
    ) -> int:
        """Tell the tasks that wait for this event. Returns how many there were."""
        told = 0
        while True:
            rows = await self._database.read(
                "task_holds_for",
                tenant_id=tenant_id,
                event=event,
                correlation=correlation,
                limit=EVENT_TAKERS_MAX,
            )
            moved = [
                await self._report(row, Arrived(row["task"], row["round"], data), now=now) for row in rows
            ]
            told += sum(moved)
            if len(rows) < EVENT_TAKERS_MAX or not any(moved):
                return told

    async def expire(self, *, now: datetime, limit: int) -> int:
        """End what was held for as long as it may be. Returns how many there were."""
        rows = await self._database.read("task_holds_expired", now=now, limit=check_limit(limit))
        return sum([await self._report(row, Expired(row["task"], row["round"]), now=now) for row in rows])

    async def _report(self, row: Row, event: Event, *, now: datetime) -> bool:
        """Whether the run could take it."""

        async def told(progress: Progress) -> Sequence[Event]:
            return [event]

        return await self._tell(row["dag_run_id"], told, now=now)

    async def _tell(
        self, run_id: UUID, told: Callable[[Progress], Awaitable[Sequence[Event]]], *, now: datetime
    ) -> bool:
        """Whatever is the matter with one run, the others must not wait for it."""
        try:
            async with self._progress([run_id], now=now) as progress:
                events = await told(progress)
                await progress.take({run_id: list(events)} if events else {})
        except StoreUnavailable:
            raise
        except Exception:
            logger.exception("run %s cannot go on", run_id)
            return False
        await self._follow(progress.aftermath, now=now)
        return bool(events) and run_id not in progress.unreadable

    # Never stuck -------------------------------------------------------------------------------------

    async def stop_all(self, dag_id: JobId, *, now: datetime, limit: int) -> int:
        rows = await self._database.read("runs_live_of", dag_id=dag_id, limit=check_limit(limit))
        return sum([await self._report(row, Cancel(), now=now) for row in rows])

    async def repair(self, *, now: datetime, limit: int, after: UUID | None = None) -> Page[RunId]:
        rows = await self._database.read("runs_look_over", after=after or FIRST_ID, limit=check_limit(limit))
        moved = [RunId(row["dag_run_id"]) for row in rows if await self._repair(row, now=now)]
        return Page(tuple(moved), rows[-1]["dag_run_id"] if len(rows) == limit else None)

    async def _repair(self, row: Row, *, now: datetime) -> bool:
        was_behind = row["is_behind"] and await self._catch_up(row["dag_run_id"], now=now)
        was_stale = row["is_stale"] and await self._report(row, Cancel(), now=now)
        return was_behind or was_stale

    async def _catch_up(self, run_id: UUID, *, now: datetime) -> bool:
        async def told(progress: Progress) -> Sequence[Event]:
            # Again, under the lock: what seemed lost may just have been on its way.
            lost = await progress.session.fetch("run_lost_ends", run_id=run_id)
            return [_ended(row, ExecutionStatus(row["outcome"]), document_of(row["result"])) for row in lost]

        return await self._tell(run_id, told, now=now)

    # -------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _progress(self, run_ids: Collection[UUID], *, now: datetime) -> AsyncIterator[Progress]:
        async with self._database.transaction() as session:
            progress = Progress(session, self._plans, self._writer, now)
            if run_ids:
                await progress.lock(run_ids)
            yield progress
        for run_id, tasks in progress.seen.items():
            self._memory.learn(progress.runs[run_id], tasks, since=progress.found.get(run_id))
        self._memory.learn_begun(progress.released)

    async def _follow(self, aftermath: Aftermath, *, now: datetime) -> bool:
        """After the commit. If it fails, a sweep does it. Whether something may have begun by that."""
        begun = len(aftermath.to_start)
        if aftermath.asked_to_stop:
            self.stopped()
        try:
            for run_id, outer in aftermath.to_start:
                await self._start(run_id, outer, now=now)
            if aftermath.ended:
                # A run that has ended may make room for the next of its workflow.
                ended = [JobId(one) for one in aftermath.ended]
                admitted = await self._gates.admit(ended, now=now, limit=START_LIMIT_MAX)
                begun += admitted
                if admitted:
                    await self.start(now=now, limit=min(admitted, START_LIMIT_MAX))
            if aftermath.ended_for_a_time:
                # Or for the next of a backfill.
                next_of_backfills = await self._backfills.advance(
                    now=now, limit=START_LIMIT_MAX, dag_ids=aftermath.ended_for_a_time
                )
                begun += len(next_of_backfills)
                await self.start_now(next_of_backfills, now=now, may_replace=False)
        except StoreUnavailable:
            return True
        return begun > 0


def _ended(row: Row, status: ExecutionStatus | RunStatus, result: Document | None) -> Ended:
    return Ended(row["task"], row["round"], ENDS[status], result, row["item"])
