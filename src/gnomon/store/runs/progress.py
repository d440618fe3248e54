"""What happens to runs of workflows in one transaction: load, let the core decide, write.

Whoever comes here holds the rows of the runs, and of those around them: see `core/runs/decisions.py`. All
runs that a batch of ends concerns go through each statement together.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from msgspec.structs import replace as with_

from gnomon.core.runs.decisions import RUN_ACTIONS, after
from gnomon.core.runs.events import (
    Arrived,
    Cancel,
    Changes,
    Ended,
    Event,
    Expired,
    Gate,
    GiveUp,
    Needs,
    OuterTurned,
    Reopen,
    State,
)
from gnomon.core.runs.order import not_before
from gnomon.core.runs.state import ENDS, RunStatus, TaskState, TaskStatus
from gnomon.core.workflows.workflow import Plan
from gnomon.errors import GnomonError, IllegalTransition, StoreUnavailable
from gnomon.store.databases.database import Row, Rows, Session
from gnomon.store.queue.gates import wanted
from gnomon.store.runs.aftermath import Aftermath, ended_row, result_of
from gnomon.store.runs.loading import Loaded, load
from gnomon.store.runs.memory import Begun
from gnomon.store.runs.releases import Releases
from gnomon.store.runs.repairs import is_repaired, settle_dead_letters
from gnomon.store.runs.rows import (
    LockedRun,
    Outer,
    ended_run_rows,
    locked_run,
    note_rows,
    notes_of,
    run_rows,
    task_rows,
    wanted_tasks,
)
from gnomon.store.runs.stops import stop_tasks
from gnomon.store.runs.turns import tasks_of, with_turns
from gnomon.store.workflows.plans import Plans, UnreadablePlan

logger = logging.getLogger(__name__)

Happened: TypeAlias = dict[UUID, list[Event]]
# Rows of tasks that will be needed soon, for who remembers them.
AHEAD = 32


@dataclass(slots=True)
class Progress:
    """For whoever commits: `released`, executions that can be claimed, and `has_let_go`, that there may be
    more of them.

    `seen`: rows of tasks as they are now, as far as somebody looked; `found`: versions of runs before that.
    `unreadable`: runs to which nothing happened, since nobody here can read what they run. `gives_up`: runs
    come to their end, since what would follow cannot be written.
    """

    session: Session
    plans: Plans
    now: datetime
    runs: dict[UUID, LockedRun] = field(default_factory=dict)
    aftermath: Aftermath = field(default_factory=Aftermath)
    unreadable: set[UUID] = field(default_factory=set)
    released: dict[UUID, Begun] = field(default_factory=dict)
    seen: dict[UUID, dict[int, TaskState]] = field(default_factory=dict)
    found: dict[UUID, int] = field(default_factory=dict)
    has_let_go: bool = False
    gives_up: bool = False
    looks_ahead: bool = False

    async def lock(self, run_ids: Iterable[UUID]) -> None:
        self.hold(await self.session.fetch("runs_lock", wanted(set(run_ids))))

    def hold(self, rows: Sequence[Row]) -> None:
        # What this transaction has changed is in its own rows, too.
        self.runs |= {row["id"]: locked_run(row) for row in rows if row["has_tasks"]}
        self.now = not_before(self.now, (row["moved_at"] for row in rows))
        self.found = {row["id"]: row["version"] for row in rows} | self.found

    def is_held(self, outer: Outer | None) -> bool:
        """Whether a run with this one around it must not begin anything."""
        return (
            outer is not None
            and outer.run_id in self.runs
            and self.runs[outer.run_id].state.status is RunStatus.PAUSED
        )

    async def take(self, happened: Happened) -> None:
        """All that follows from these events, and from what follows."""
        while happened:
            changes, loaded = await self._decide(happened)
            happened = await self._write(changes, loaded)

    async def begin(self, run: LockedRun, changes: Changes, tasks: Mapping[int, TaskState]) -> None:
        """What follows from the first changes of a run whose rows are new, and have them already."""
        self.runs[run.id] = run
        await self.take(await self._write({run.id: changes}, {run.id: Loaded(dict(tasks))}, is_new=True))

    # Deciding ----------------------------------------------------------------------------------------

    async def _decide(self, happened: Happened) -> tuple[dict[UUID, Changes], dict[UUID, Loaded]]:
        loaded = {run_id: Loaded() for run_id in happened}
        changes: dict[UUID, Changes] = {}
        undecided: Happened = {
            run_id: _given_up(events) if self.gives_up else events for run_id, events in happened.items()
        }
        while undecided:
            needs: dict[UUID, Needs] = {}
            left: Happened = {}
            for run_id, events in undecided.items():
                answer = await self._try_after(run_id, loaded[run_id], events)
                if isinstance(answer, Changes):
                    changes[run_id] = answer
                elif isinstance(answer, Needs):
                    needs[run_id] = await self._with_more_ahead(run_id, answer, loaded[run_id])
                    left[run_id] = events
                elif run_id not in self.unreadable:
                    left[run_id] = _given_up(events)
            await load(self.session, needs, loaded)
            undecided = left
        return changes, loaded

    async def _try_after(
        self, run_id: UUID, known: Loaded, events: Sequence[Event]
    ) -> Changes | Needs | None:
        """None if nothing can be decided: whatever it is about this run, the others must not wait for it."""
        try:
            return await self._after(run_id, known, events)
        except StoreUnavailable:
            raise
        except Exception as error:
            if isinstance(error, GnomonError) and type(events[0]) in RUN_ACTIONS:
                raise  # A person asked for what cannot be: they are told, and nothing has happened.
            logger.exception("run %s cannot go on", run_id)
            if isinstance(error, UnreadablePlan) or isinstance(events[0], GiveUp):
                self.unreadable.add(run_id)  # A sweep tells it what it missed once it can be read.
            return None

    async def _after(self, run_id: UUID, known: Loaded, events: Sequence[Event]) -> Changes | Needs:
        run = self.runs[run_id]
        state = State(
            run.state, known.tasks, known.results, frozenset(known.too_large), self.is_held(run.outer)
        )
        plan = await self._plan(run_id)
        return await with_turns(len(known.tasks), after, plan, state, events, now=self.now)

    async def _with_more_ahead(self, run_id: UUID, needs: Needs, known: Loaded) -> Needs:
        if not self.looks_ahead:
            return needs
        graph = (await self._plan(run_id)).graph
        return with_(needs, ahead=needs.ahead | graph.ahead(needs.tasks, known.tasks.keys(), limit=AHEAD))

    async def _plan(self, run_id: UUID) -> Plan:
        run = self.runs[run_id]
        return await self.plans.get(self.session, run.dag_id, run.base)

    # Writing -----------------------------------------------------------------------------------------

    async def _write(
        self, changes: Mapping[UUID, Changes], loaded: Mapping[UUID, Loaded], *, is_new: bool = False
    ) -> Happened:
        """Returns what follows for these runs and others."""
        follows: Happened = {}
        releases = Releases(self.session, self.now)
        for run_id, change in changes.items():
            self.runs[run_id] = with_(self.runs[run_id], state=change.run)
            plan = await self._plan(run_id)
            await with_turns(tasks_of(change), releases.add, self.runs[run_id], plan, change)
        await self._write_notes(changes)
        await self._clear_holds(changes, loaded)
        await settle_dead_letters(self.session, changes, now=self.now)
        moved = [] if is_new else [one for one, change in changes.items() if change.does_something]
        rows = await with_turns(sum(map(tasks_of, changes.values())), self._rows, changes, moved)
        for run_id, event in await releases.write(*rows):
            follows.setdefault(run_id, []).append(event)
        self._note(changes, loaded, moved)
        self.aftermath.to_start += releases.inner
        self.released |= releases.executions
        for run_id, change in changes.items():
            for outer, event in await self._revive(run_id, change):
                follows.setdefault(outer, []).append(event)
            if change.gate is not None:
                await self.session.fetch(
                    "run_hold" if change.gate is Gate.HOLD else "run_let_go", run_id=run_id
                )
                self.has_let_go |= change.gate is Gate.LET_GO
                for inner in await self._lock_inside(run_id):
                    follows.setdefault(inner, []).append(OuterTurned())
            if change.sweep:
                for stopped, events in (await self._sweep(run_id)).items():
                    follows.setdefault(stopped, []).extend(events)
        for outer, told in (await self._end(changes)).items():
            follows.setdefault(outer, []).extend(told)
        return follows

    def _rows(self, changes: Mapping[UUID, Changes], moved: Sequence[UUID]) -> tuple[Rows, Rows]:
        """Of tasks and of runs, as they shall be."""
        tasks = ((run_id, task, state) for run_id in moved for task, state in changes[run_id].tasks.items())
        return task_rows(tasks), run_rows((self.runs[one] for one in moved), now=self.now)

    def _note(
        self, changes: Mapping[UUID, Changes], loaded: Mapping[UUID, Loaded], moved: Sequence[UUID]
    ) -> None:
        """For who remembers runs."""
        for run in [self.runs[run_id] for run_id in moved]:
            self.runs[run.id] = with_(run, version=run.version + 1, moved_at=self.now)
        for run_id, change in changes.items():
            self.seen[run_id] = {**self.seen.get(run_id, {}), **loaded[run_id].tasks, **change.tasks}

    async def _write_notes(self, changes: Mapping[UUID, Changes]) -> None:
        notes = [
            note
            for run_id, change in changes.items()
            for note in notes_of(change, run_id, self.runs[run_id].tenant_id)
        ]
        if notes:
            await self.session.fetch("task_notes_add", note_rows(notes), now=self.now)

    async def _clear_holds(self, changes: Mapping[UUID, Changes], loaded: Mapping[UUID, Loaded]) -> None:
        left = [
            (run_id, task)
            for run_id, change in changes.items()
            for task, state in change.tasks.items()
            # One that began early is still held when another of its parents ends.
            if state.status is not TaskStatus.HELD and _was_held(loaded[run_id], task)
        ]
        if left:
            await self.session.fetch("task_holds_clear", wanted_tasks(left))

    async def _revive(self, run_id: UUID, change: Changes) -> list[tuple[UUID, Event]]:
        """A run that had ended goes on. What follows for the one around it, which took it for ended."""
        if not is_repaired(change):
            return []
        if not await self.session.fetch("run_revive", run_id=run_id):
            # Retention has dropped its execution, and perhaps what its tasks brought.
            raise IllegalTransition("run", status="forgotten", action="rerun")
        outer = self.runs[run_id].outer
        if outer is None or outer.run_id not in self.runs:
            return []
        return [(outer.run_id, Reopen(outer.task, outer.round))]

    async def _sweep(self, run_id: UUID) -> Happened:
        ended, asked = await stop_tasks(self.session, run_id, now=self.now)
        self.aftermath.asked_to_stop |= asked
        follows: Happened = {inner: [Cancel()] for inner in await self._lock_inside(run_id)}
        return follows | {run_id: ended} if ended else follows

    async def _lock_inside(self, run_id: UUID) -> list[UUID]:
        inside = [row["id"] for row in await self.session.fetch("runs_inside", run_id=run_id)]
        if inside:
            await self.lock(inside)
        return inside

    async def _end(self, changes: Mapping[UUID, Changes]) -> Happened:
        ended = [
            run_id
            for run_id, change in changes.items()
            if change.has_ended or (is_repaired(change) and change.run.status.is_final)
        ]
        if not ended:
            return {}
        follows: Happened = {}
        rows = []
        for run_id in ended:
            run = self.runs[run_id]
            rows.append(ended_row(run, await self._plan(run_id)))
            self.aftermath.note_end(run)
            if run.outer is not None:
                told = Ended(run.outer.task, run.outer.round, ENDS[run.state.status], result_of(run))
                follows.setdefault(run.outer.run_id, []).append(told)
        await self.session.fetch("runs_end", ended_run_rows(rows), now=self.now)
        return follows


def _given_up(events: Sequence[Event]) -> list[Event]:
    """Its end, and the ends that were accepted, after which nothing begins any more."""
    after_these = [event.task for event in events if isinstance(event, Ended | Arrived | Expired)]
    return [GiveUp(frozenset(after_these)), *(event for event in events if isinstance(event, Ended))]


def _was_held(known: Loaded, task: int) -> bool:
    return task in known.tasks and known.tasks[task].status is TaskStatus.HELD
