"""What runs do, in the transaction that holds their locks. It takes several statements, most of them rare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias
from uuid import UUID

from gnomon.core.runs.events import Cancel, Ended, Event, Gate, OuterTurned, Reopen
from gnomon.core.runs.state import ENDS
from gnomon.core.runs.write_set import Begun, Step, WriteSet
from gnomon.errors import IllegalTransition
from gnomon.store.databases.database import Rows, Session
from gnomon.store.writes import batches
from gnomon.store.writes.inner_runs import begin_inner_runs
from gnomon.store.writes.stops import stop_tasks
from gnomon.store.writes.turns import tasks_of, with_turns
from gnomon.store.writes.written import Written

Follows: TypeAlias = dict[UUID, list[Event]]


async def write_steps(session: Session, write_set: WriteSet) -> Written:
    """Rows first, then what concerns all tasks of a run, then the ends of runs."""
    begun = await _write_rows(session, write_set)
    to_start, follows = await begin_inner_runs(session, write_set)
    asked_to_stop = False
    for step in write_set.steps:
        if step.changes.is_repaired:
            _tell(follows, await _revive(session, step))
        if step.changes.gate is not None:
            _tell(follows, await _turn_gate(session, step.run.id, step.changes.gate))
        if step.changes.sweep:
            swept, asked = await _sweep(session, step.run.id, write_set)
            _tell(follows, swept)
            asked_to_stop |= asked
    _tell(follows, await _end(session, write_set))
    has_let_go = any(one.changes.gate is Gate.LET_GO for one in write_set.steps)
    return Written(
        begun=begun, has_let_go=has_let_go, follows=follows, to_start=to_start, asked_to_stop=asked_to_stop
    )


def _tell(follows: Follows, more: Follows) -> None:
    for run_id, events in more.items():
        follows.setdefault(run_id, []).extend(events)


class _Batches(NamedTuple):
    notes: Rows
    unheld: Rows
    repaired: Rows
    tasks: Rows
    runs: Rows
    released: Rows
    holds: Rows
    begun: Mapping[UUID, Begun]


def _batches_of(write_set: WriteSet) -> _Batches:
    steps, released = write_set.steps, batches.released(write_set)
    return _Batches(
        batches.notes(steps),
        batches.unheld_tasks(steps),
        batches.repaired_tasks(steps),
        batches.moved_tasks(steps),
        batches.moved_runs(steps, now=write_set.now),
        batches.released_rows(released),
        batches.holds(write_set),
        batches.begun(released),
    )


async def _write_rows(session: Session, write_set: WriteSet) -> Mapping[UUID, Begun]:
    """Returns the executions that begin."""
    size, now = sum(tasks_of(one.changes) for one in write_set.steps), write_set.now
    given = await with_turns(size, _batches_of, write_set)
    if given.notes.rows:
        await session.fetch("task_notes_add", given.notes, now=now)
    if given.unheld.rows:
        await session.fetch("task_holds_clear", given.unheld)
    if given.repaired.rows:
        await session.fetch("dead_letters_settle", given.repaired, now=now)
    if given.tasks.rows or given.runs.rows or given.released.rows:
        await session.fetch("runs_go_on", given.tasks, given.runs, given.released, now=now)
    if given.holds.rows:
        await session.fetch("task_holds_add", given.holds)
    return given.begun


async def _revive(session: Session, step: Step) -> Follows:
    """A run that had ended goes on. The one around it took it for ended."""
    if not await session.fetch("run_revive", run_id=step.run.id):
        # Retention has dropped its execution, and perhaps what its tasks brought.
        raise IllegalTransition("run", status="forgotten", action="rerun")
    outer = step.run.outer
    return {} if outer is None else {outer.run_id: [Reopen(outer.task, outer.round)]}


async def _turn_gate(session: Session, run_id: UUID, gate: Gate) -> Follows:
    await session.fetch("run_hold" if gate is Gate.HOLD else "run_let_go", run_id=run_id)
    return {inner: [OuterTurned()] for inner in await _inside(session, run_id)}


async def _sweep(session: Session, run_id: UUID, write_set: WriteSet) -> tuple[Follows, bool]:
    """And whether a worker must hear that it shall stop."""
    ended, asked = await stop_tasks(session, run_id, now=write_set.now)
    follows: Follows = {inner: [Cancel()] for inner in await _inside(session, run_id)}
    return follows | {run_id: ended} if ended else follows, asked


async def _inside(session: Session, run_id: UUID) -> list[UUID]:
    return [row["id"] for row in await session.fetch("runs_inside", run_id=run_id)]


async def _end(session: Session, write_set: WriteSet) -> Follows:
    ended = write_set.ended_runs
    if not ended:
        return {}
    follows: Follows = {}
    for step in ended:
        if (outer := step.run.outer) is not None:
            told = Ended(outer.task, outer.round, ENDS[step.changes.run.status], step.result)
            follows.setdefault(outer.run_id, []).append(told)
    await session.fetch("runs_end", batches.ended_runs(ended), now=write_set.now)
    return follows
