"""Runs of other workflows that tasks begin. They wait in the queue, and begin after the commit."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from gnomon.core.runs.events import Ended, Event, Release
from gnomon.core.runs.state import TaskStatus
from gnomon.core.runs.write_set import VersionedRun, WriteSet
from gnomon.core.workflows.workflow import SubDag
from gnomon.store.databases.database import Rows, Session
from gnomon.store.writes.batches import NoteRow, ReleasedRow, id_of, note_rows


async def begin_inner_runs(
    session: Session, write_set: WriteSet
) -> tuple[list[tuple[UUID, UUID]], dict[UUID, list[Event]]]:
    """Returns those to start, with the runs around them, and the ends of tasks whose workflow is unknown."""
    to_start, lost = list[tuple[UUID, UUID]](), dict[UUID, list[Event]]()
    rows, notes = [], []
    for (run, plan, _, _), release in write_set.releases:
        work = plan.task(release.task).work
        if not isinstance(work, SubDag):
            continue
        row = await _inner_run(session, run, release, work, now=write_set.now)
        if row is None:
            lost.setdefault(run.id, []).append(Ended(release.task, release.round, TaskStatus.FAILED))
            notes.append(_unknown(run, release, work))
        else:
            rows.append(row)
            to_start.append((row.execution_id, run.id))
    if rows:
        batch = Rows("released", ReleasedRow._fields, rows)
        await session.fetch("inner_runs_release", batch, now=write_set.now)
    if notes:
        await session.fetch("task_notes_add", note_rows(notes), now=write_set.now)
    return to_start, lost


async def _inner_run(
    session: Session, run: VersionedRun, release: Release, inner: SubDag, *, now: datetime
) -> ReleasedRow | None:
    found = await session.fetch("dag_named", tenant_id=run.tenant_id, name=inner.dag)
    if not found:
        return None
    [dag] = found
    config = release.payload if release.payload is not None else inner.config
    return ReleasedRow(
        id_of(run, release, None, now=now),
        run.tenant_id,
        dag["dag_id"],
        dag["base"],
        run.id,
        release.task,
        release.round,
        item=None,
        input=config.text,
        nominal_time=run.nominal_time,
        waits_for=None,
        priority=run.priority,
    )


def _unknown(run: VersionedRun, release: Release, inner: SubDag) -> NoteRow:
    told = f"There is no workflow {inner.dag!r}."
    return NoteRow(run.id, release.task, release.round, run.tenant_id, None, "unknown_dag", told)
