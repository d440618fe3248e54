"""What runs do, as the batches that statements read. Rows have names: a batch has the columns of its row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple, assert_never
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import WaitsFor
from gnomon.core.jobs.job import JobId
from gnomon.core.runs.decisions import why_given_up
from gnomon.core.runs.events import Changes, Release
from gnomon.core.runs.state import RunState, TaskState
from gnomon.core.runs.write_set import Begun, Step, VersionedRun, WriteSet
from gnomon.core.values.ids import PLACE_MAX, derived_id
from gnomon.core.workflows.dag import task_revision
from gnomon.core.workflows.workflow import Approval, AwaitEvent, Execute, SubDag
from gnomon.store.databases.database import Rows
from gnomon.store.databases.rows import document_text


class ReleasedRow(NamedTuple):
    execution_id: UUID
    tenant_id: TenantId
    job_id: JobId
    revision: int
    dag_run_id: UUID
    task: int
    round: int
    item: int | None
    input: str | None
    nominal_time: datetime | None
    waits_for: str | None
    priority: int | None


class HoldRow(NamedTuple):
    dag_run_id: UUID
    task: int
    tenant_id: TenantId
    round: int
    event: str | None
    correlation: str | None
    until: datetime | None


class NoteRow(NamedTuple):
    """How a task ended that no execution ended."""

    dag_run_id: UUID
    task: int
    round: int
    tenant_id: TenantId
    result: str | None = None
    failure_kind: str | None = None
    failure_message: str | None = None


class EndedRunRow(NamedTuple):
    """How the execution ends that a run is."""

    id: UUID
    outcome: str
    result: str | None = None
    failure_kind: str | None = None
    failure_message: str | None = None


_TASK = (
    "dag_run_id", "task", "status", "parents_left", "parents_failed", "parents_skipped", "round",
    "items_left", "items_failed", "items_cancelled",
)  # fmt: skip
_UNIFORM_TASK = frozenset(_TASK) - {"task"}
_UNIFORM_RELEASED = frozenset({"job_id", "dag_run_id", "round"})
_RUN = (
    "id", "status", "unended", "live", "halted", "completed", "failed", "cancelled", "is_paused", "ends_as",
    "finished_at", "version",
)  # fmt: skip

# Runs and their tasks --------------------------------------------------------------------------------


def _task_row(run_id: UUID, task: int, state: TaskState) -> tuple[object, ...]:
    return (
        run_id,
        task,
        state.status,
        state.left,
        state.failed,
        state.skipped,
        state.round,
        state.items_left,
        state.items_failed,
        state.items_cancelled,
    )


def task_rows(run_id: UUID, tasks: Mapping[int, TaskState]) -> Rows:
    rows = [_task_row(run_id, task, state) for task, state in tasks.items()]
    return Rows("task_row", _TASK, rows, _UNIFORM_TASK)


def moved_tasks(steps: Iterable[Step]) -> Rows:
    rows = [
        _task_row(step.run.id, task, state)
        for step in steps
        if step.moves
        for task, state in step.changes.tasks.items()
    ]
    return Rows("task_row", _TASK, rows, _UNIFORM_TASK)


def run_columns(state: RunState, *, now: datetime) -> dict[str, Any]:
    return {
        "status": state.status,
        "unended": state.left,
        "live": state.live,
        "halted": state.halted,
        "completed": state.completed,
        "failed": state.failed,
        "cancelled": state.cancelled,
        "is_paused": state.is_paused,
        "ends_as": state.ends_as,
        "finished_at": now if state.status.is_final else None,
    }


def moved_runs(steps: Iterable[Step], *, now: datetime) -> Rows:
    """As they shall be, with the versions that they had."""
    rows = [
        (step.run.id, *run_columns(step.changes.run, now=now).values(), step.run.version)
        for step in steps
        if step.moves
    ]
    return Rows("run_row", _RUN, rows)


def ended_runs(steps: Iterable[Step]) -> Rows:
    return ended_run_rows([_ended_run(one) for one in steps])


def ended_run_rows(rows: Sequence[EndedRunRow]) -> Rows:
    return Rows("ended_run", EndedRunRow._fields, rows)


def _ended_run(step: Step) -> EndedRunRow:
    state = step.changes.run
    why = why_given_up(step.plan, state)
    told = (None, None) if why is None else (why.kind, why.message)
    return EndedRunRow(step.run.id, state.status, step.result.text, *told)


def notes(steps: Iterable[Step]) -> Rows:
    return note_rows(list(chain.from_iterable(map(_notes_of, steps))))


def note_rows(rows: Sequence[NoteRow]) -> Rows:
    return Rows("note", NoteRow._fields, rows)


def _notes_of(step: Step) -> Iterator[NoteRow]:
    run, changes = step.run, step.changes
    for task in sorted({*changes.results, *changes.failures}):
        failure = changes.failures.get(task)
        told = (None, None) if failure is None else (failure.kind, failure.message)
        result = document_text(changes.results.get(task))
        yield NoteRow(run.id, task, changes.tasks[task].round, run.tenant_id, result, *told)


def wanted_tasks(tasks: Iterable[tuple[UUID, int]]) -> Rows:
    return Rows("wanted_task", ("dag_run_id", "task"), list(tasks))


def unheld_tasks(steps: Iterable[Step]) -> Rows:
    return wanted_tasks((one.run.id, task) for one in steps for task in sorted(one.changes.unheld))


def repaired_tasks(steps: Iterable[Step]) -> Rows:
    return wanted_tasks((one.run.id, task) for one in steps for task in sorted(one.changes.repaired))


# What tasks begin ------------------------------------------------------------------------------------


def released(write_set: WriteSet) -> list[ReleasedRow]:
    """Executions, in the order of the definition or of the items: so are they claimed."""
    found: list[ReleasedRow] = []
    for step in write_set.steps:
        for release in step.changes.releases:
            if isinstance(step.plan.task(release.task).work, Execute):
                found += _executions(step.run, step.changes, release, now=write_set.now)
    return found


def _executions(run: VersionedRun, changes: Changes, release: Release, *, now: datetime) -> list[ReleasedRow]:
    revision = task_revision(run.base, release.task)
    waits_for = WaitsFor.APPROVAL if changes.is_held else None
    items = [(None, release.payload)] if release.items is None else enumerate(release.items)
    return [
        ReleasedRow(
            id_of(run, release, item, now=now),
            run.tenant_id,
            run.dag_id,
            revision,
            run.id,
            release.task,
            release.round,
            item,
            document_text(payload),
            run.nominal_time,
            waits_for,
            run.priority,
        )
        for item, payload in items
    ]


def id_of(run: VersionedRun, release: Release, item: int | None, *, now: datetime) -> UUID:
    """In the order of the definition, or of the items: that is the order in which they are claimed."""
    place = min(release.task + (item or 0), PLACE_MAX)
    return derived_id(now, run.id, release.task, release.round, -1 if item is None else item, place=place)


def released_rows(rows: Sequence[ReleasedRow]) -> Rows:
    return Rows("released", ReleasedRow._fields, rows, _UNIFORM_RELEASED)


def begun(rows: Iterable[ReleasedRow]) -> dict[UUID, Begun]:
    """Those that begin now."""
    return {
        row.execution_id: Begun(row.dag_run_id, row.task, row.round, row.item)
        for row in rows
        if row.waits_for is None
    }


def holds(write_set: WriteSet) -> Rows:
    """Waits for a person or an event."""
    rows = []
    for (run, plan, _, _), release in write_set.releases:
        match plan.task(release.task).work:
            case Approval():
                rows.append(_hold(run, release, None))
            case AwaitEvent(event=event):
                rows.append(_hold(run, release, event))
            case Execute() | SubDag():
                pass  # See `released`, and `begin_inner_runs`.
            case _ as other:
                assert_never(other)
    return Rows("hold", HoldRow._fields, rows)


def _hold(run: VersionedRun, release: Release, event: str | None) -> HoldRow:
    told = (release.round, event, release.correlation, release.until)
    return HoldRow(run.id, release.task, run.tenant_id, *told)
