"""Ended executions that are run again: as new ones, or, if they are tasks, by repairing their runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import Enqueued, ExecutionId
from gnomon.core.executions.records import AtRevision, Redrive, Redriven
from gnomon.core.runs.events import Redrive as RedriveTasks
from gnomon.core.values.limits import check_batch
from gnomon.errors import DeadLetterNotFound, ExecutionNotFound, IllegalTransition
from gnomon.store.databases.database import Database, Row, Rows, Session, UniqueViolation
from gnomon.store.queue.enqueue import jobs_for
from gnomon.store.queue.gates import admit
from gnomon.store.runs.progress import Happened, Progress
from gnomon.store.runs.task_ends import Follow, OpenProgress


@dataclass(frozen=True, slots=True)
class Redriving:
    database: Database
    progress: OpenProgress
    follow: Follow

    async def redrive(
        self,
        tenant_id: TenantId,
        redrives: Sequence[Redrive],
        *,
        now: datetime,
        revision: AtRevision = AtRevision.NEWEST,
    ) -> Sequence[Redriven]:
        check_batch(len(redrives), field="executions")
        wanted = {one.execution_id: one.new_id for one in reversed(redrives)}
        letters = _rows(wanted)
        # Runs are locked before anything else. In which run an execution is never changes.
        seen = await self.database.read("redrive_find", letters, tenant_id=tenant_id)
        runs = {row["dag_run_id"] for row in seen if row["dag_run_id"] is not None}
        async with self.progress(runs, now=now) as progress:
            session = progress.session
            before = await _find(session, tenant_id, letters)
            _check_found(redrives, before)
            jobs = await jobs_for(session, tenant_id, {row["job_id"] for row in before.values()})
            plain = {dead: new for dead, new in wanted.items() if before[dead]["dag_run_id"] is None}
            taken = await _run_again(session, tenant_id, plain, now=now, revision=revision)
            repaired = [row for row in before.values() if _is_open_task(row)]
            await _repair(progress, repaired)
            await admit(session, [one for one, job in jobs.items() if job["slots"] is not None], now=now)
            after = await _find(session, tenant_id, letters)
        await self.follow(progress.aftermath, now=now)
        return _answers(redrives, after, taken.union(row["execution_id"] for row in repaired))

    async def repeat(self, tenant_id: TenantId, asked: Redrive, *, now: datetime) -> Enqueued:
        wanted = Rows("wanted", ("id",), [(asked.execution_id,)])
        try:
            async with self.database.transaction() as session:
                rows = await session.fetch("executions_get", wanted, tenant_id=tenant_id)
                if not rows:
                    raise ExecutionNotFound(asked.execution_id)
                jobs = await jobs_for(session, tenant_id, {rows[0]["job_id"]})
                again = _rows({asked.execution_id: asked.new_id})
                await session.fetch("redrive_enqueue", again, now=now, original=True)
                await admit(session, [one for one, job in jobs.items() if job["slots"] is not None], now=now)
        except UniqueViolation:  # The id is the caller's own: this was asked for before.
            return Enqueued(asked.new_id, is_new=False)
        return Enqueued(asked.new_id, is_new=True)


async def _find(session: Session, tenant_id: TenantId, letters: Rows) -> Mapping[ExecutionId, Row]:
    rows = await session.fetch("redrive_find", letters, tenant_id=tenant_id)
    return {row["execution_id"]: row for row in rows}


def _check_found(redrives: Iterable[Redrive], found: Collection[ExecutionId]) -> None:
    for one in redrives:
        if one.execution_id not in found:
            raise DeadLetterNotFound(one.execution_id)


def _is_open_task(row: Row) -> bool:
    return row["dag_run_id"] is not None and row["redriven_as"] is None


async def _run_again(
    session: Session,
    tenant_id: TenantId,
    wanted: Mapping[ExecutionId, ExecutionId],
    *,
    now: datetime,
    revision: AtRevision,
) -> set[ExecutionId]:
    """Those that were not redriven before. Who marks a dead letter makes its new execution."""
    if not wanted:
        return set()
    rows = await session.fetch("redrive_take", _rows(wanted), tenant_id=tenant_id, now=now)
    taken = {ExecutionId(row["execution_id"]) for row in rows}
    ours = {dead: new for dead, new in wanted.items() if dead in taken}
    is_original = revision is AtRevision.ORIGINAL
    made = await session.fetch("redrive_enqueue", _rows(ours), now=now, original=is_original)
    if len(made) < len(ours):
        # Retention has dropped the execution; without its input there is nothing to run again.
        raise DeadLetterNotFound(next(iter(ours)))
    return taken


async def _repair(progress: Progress, rows: Iterable[Row]) -> None:
    """What the run decides settles the dead letters, too."""
    ends: dict[UUID, set[tuple[int, int | None]]] = {}
    for row in rows:
        # It is open, so its task has not been run anew since, or that was before dead letters were settled.
        ends.setdefault(row["dag_run_id"], set()).add((row["task"], None))
    happened: Happened = {run_id: [RedriveTasks(frozenset(tasks))] for run_id, tasks in ends.items()}
    for run_id in happened:
        if run_id not in progress.runs:
            advice = "Trigger its workflow anew."
            raise IllegalTransition("run", status="forgotten", action="redrive", advice=advice)
    await progress.take(happened)
    if progress.unreadable.intersection(happened):
        raise IllegalTransition("run", status="unreadable", action="redrive")


def _answers(
    redrives: Iterable[Redrive], found: Mapping[ExecutionId, Row], ours: set[ExecutionId]
) -> list[Redriven]:
    answers = []
    for one in redrives:
        row = found[one.execution_id]
        is_new = one.execution_id in ours
        ours.discard(one.execution_id)  # Asked for twice in one batch, it is made once.
        answers.append(Redriven(row["redriven_as"], is_new, row["revision"], row["dag_run_id"]))
    return answers


def _rows(wanted: Mapping[ExecutionId, ExecutionId]) -> Rows:
    return Rows("redrive", ("execution_id", "new_id"), sorted(wanted.items()))
