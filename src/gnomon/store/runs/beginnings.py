"""How a run of a workflow begins when its turn has come, and what becomes of one that cannot."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from gnomon.core.executions.execution import Failure, NewExecution
from gnomon.core.runs.decisions import after
from gnomon.core.runs.events import Changes, Ended, Started, State
from gnomon.core.runs.run import Run, RunId
from gnomon.core.runs.state import RunState, RunStatus, TaskState, TaskStatus, born
from gnomon.core.runs.write_set import Outer, Step, VersionedRun, WriteSet
from gnomon.core.values.document import Document
from gnomon.core.workflows.dag import Dag
from gnomon.core.workflows.workflow import Execute
from gnomon.errors import InvalidInput
from gnomon.store.databases.database import Database, Row
from gnomon.store.databases.rows import document_text
from gnomon.store.runs.memory import RunMemory
from gnomon.store.runs.progress import Progress
from gnomon.store.workflows.plans import Plans, UnreadablePlan
from gnomon.store.writes.batches import (
    EndedRunRow,
    NoteRow,
    begun,
    ended_run_rows,
    note_rows,
    released,
    released_rows,
    run_columns,
    task_rows,
)


async def begin(progress: Progress, run_id: UUID) -> None:
    """If its turn has come. Its rows are made as they are after its first tasks have begun."""
    taken = await progress.session.fetch("run_take", execution_id=run_id, now=progress.now)
    if not taken:
        return
    [row] = taken
    plan = await progress.plans.get(progress.session, row["job_id"], row["revision"])
    outer = _outer(row)
    nesting = 0 if outer is None else progress.runs[outer.run_id].state.nesting + 1
    time = row["nominal_time"] or progress.now
    overrides = None if row["input"] is None else Document(row["input"])
    try:
        state, tasks = born(plan, overrides=overrides, nesting=nesting, time=time)
    except InvalidInput as error:
        # Whoever asked for it did not look. There is nothing to run it with.
        await _end_unbegun(progress, row, error)
        return
    known = dict(enumerate(tasks))
    before = State(state, known, is_outer_held=progress.is_held(outer))
    changes = after(plan, before, [Started()], now=progress.now)
    assert isinstance(changes, Changes), "a run that begins has all its rows"
    run = _run(progress, row, changes.run)
    await _add(progress, run, known | dict(changes.tasks))
    await progress.begin(Step(run, plan, changes, is_new=True), known)


async def begin_at_once(
    database: Database, plans: Plans, memory: RunMemory, dag: Dag, asked: NewExecution, *, now: datetime
) -> Run | None:
    """Ask for a run and begin it, in one statement. None if it takes more, and then nothing has happened.

    Raises InvalidInput for a configuration that it cannot run with.
    """
    plan = await plans.get(database, dag.job.id, dag.job.revision)
    state, tasks = born(plan, overrides=asked.input, time=now)
    known = dict(enumerate(tasks))
    changes = after(plan, State(state, known), [Started()], now=now)
    assert isinstance(changes, Changes), "a run that begins has all its rows"
    run = VersionedRun(
        asked.id, dag.job.tenant_id, dag.job.id, dag.job.revision, changes.run, outer=None, nominal_time=None
    )
    step = Step(run, plan, changes, is_new=True)
    does_more = changes.has_ended or changes.does_more_than_release
    if does_more or not all(isinstance(plan.task(one.task).work, Execute) for one in changes.releases):
        return None
    after_it = known | dict(changes.tasks)
    rows = released(WriteSet(now, steps=[step]))
    found = await database.fetch(
        "run_begin",
        task_rows(run.id, after_it),
        released_rows(rows),
        **_columns(run, now=now),
        trigger=asked.trigger,
        input=document_text(asked.input),
    )
    if not found:
        return None
    memory.learn(run, after_it, since=None)
    memory.learn_begun(begun(rows))
    return _begun(run, dag, asked, tasks=len(tasks), now=now)


def _begun(run: VersionedRun, dag: Dag, asked: NewExecution, *, tasks: int, now: datetime) -> Run:
    return Run(
        RunId(run.id),
        run.tenant_id,
        run.dag_id,
        run.base,
        dag.revision,
        tasks,
        asked.trigger,
        run.state,
        outer=None,
        nominal_time=None,
        due=now,
        created_at=now,
        started_at=now,
        finished_at=None,
    )


async def give_up(progress: Progress, run_id: UUID, error: Exception) -> None:
    """End a run that cannot begin, so that it stands in nobody's way."""
    taken = await progress.session.fetch("run_take", execution_id=run_id, now=progress.now)
    if taken:
        await _end_unbegun(progress, taken[0], error)


async def _end_unbegun(progress: Progress, row: Row, error: Exception) -> None:
    failure, outer = _failure(error), _outer(row)
    await _add(progress, await _stillborn(progress, row), {})
    told = EndedRunRow(row["execution_id"], RunStatus.FAILED, None, failure.kind, failure.message)
    await progress.session.fetch("runs_end", ended_run_rows([told]), now=progress.now)
    progress.aftermath.ended.add(row["job_id"])
    if outer is not None and outer.run_id in progress.runs:
        note = NoteRow(*outer, row["tenant_id"], None, failure.kind, failure.message)
        await progress.session.fetch("task_notes_add", note_rows([note]), now=progress.now)
        await progress.take({outer.run_id: [Ended(outer.task, outer.round, TaskStatus.FAILED)]})


def _failure(error: Exception) -> Failure:
    if isinstance(error, UnreadablePlan):
        return Failure("unreadable_dag", f"It could not begin: {error}")
    if isinstance(error, InvalidInput):
        return Failure("invalid_config", f"It could not begin: {error}")
    return Failure("internal_error", "It could not begin: an internal error. The log has more.")


def _outer(row: Row) -> Outer | None:
    return Outer(row["dag_run_id"], row["task"], row["round"]) if row["dag_run_id"] else None


async def _stillborn(progress: Progress, row: Row) -> VersionedRun:
    known = await progress.session.fetch("dag_plan", dag_id=row["job_id"], base=row["revision"])
    config = Document("{}") if row["input"] is None else Document(row["input"])
    cancelled = known[0]["tasks"] if known else 0
    return _run(progress, row, RunState(RunStatus.FAILED, 0, cancelled=cancelled, config=config))


def _run(progress: Progress, row: Row, state: RunState) -> VersionedRun:
    outer = _outer(row)
    around = None if outer is None else progress.runs.get(outer.run_id)
    return VersionedRun(
        row["execution_id"],
        row["tenant_id"],
        row["job_id"],
        row["revision"],
        state,
        outer,
        row["nominal_time"],
        row["priority"] if around is None else around.priority,
    )


async def _add(progress: Progress, run: VersionedRun, tasks: Mapping[int, TaskState]) -> None:
    outer = run.outer
    await progress.session.fetch(
        "run_add",
        task_rows(run.id, tasks),
        **_columns(run, now=progress.now),
        outer_run_id=None if outer is None else outer.run_id,
        outer_task=None if outer is None else outer.task,
        outer_round=None if outer is None else outer.round,
        nominal_time=run.nominal_time,
        priority=run.priority,
        has_tasks=bool(tasks),
    )


def _columns(run: VersionedRun, *, now: datetime) -> dict[str, Any]:
    return {
        "id": run.id,
        "tenant_id": run.tenant_id,
        "dag_id": run.dag_id,
        "base": run.base,
        **run_columns(run.state, now=now),
        "config": run.state.config.text,
        "nesting": run.state.nesting,
        "now": now,
    }
