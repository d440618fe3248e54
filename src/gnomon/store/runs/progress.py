"""What happens to runs of workflows in one transaction: load, let the core decide, hand over to the writer.

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
    Changes,
    Ended,
    Event,
    Expired,
    GiveUp,
    Needs,
    State,
)
from gnomon.core.runs.order import not_before
from gnomon.core.runs.state import RunStatus, TaskState
from gnomon.core.runs.write_set import Begun, Outer, Step, VersionedRun, WriteSet
from gnomon.core.workflows.workflow import Plan
from gnomon.errors import GnomonError, StoreUnavailable
from gnomon.store.databases.database import Row, Session
from gnomon.store.queue.gates import wanted
from gnomon.store.runs.aftermath import Aftermath
from gnomon.store.runs.loading import Loaded, load
from gnomon.store.runs.rows import run_as_read
from gnomon.store.workflows.plans import Plans, UnreadablePlan
from gnomon.store.writes.turns import with_turns
from gnomon.store.writes.writer import Writer

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
    writer: Writer
    now: datetime
    runs: dict[UUID, VersionedRun] = field(default_factory=dict)
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
        self.runs |= {row["id"]: run_as_read(row) for row in rows if row["has_tasks"]}
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
            steps = [Step(self.runs[one], await self._plan(one), ours) for one, ours in changes.items()]
            happened = await self._write(steps, loaded)

    async def begin(self, step: Step, tasks: Mapping[int, TaskState]) -> None:
        """What follows from the first changes of a run whose rows are new, and have them already."""
        self.runs[step.run.id] = step.run
        await self.take(await self._write([step], {step.run.id: Loaded(dict(tasks))}))

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

    async def _write(self, steps: Sequence[Step], loaded: Mapping[UUID, Loaded]) -> Happened:
        """Returns what follows for these runs and others, whose locks are held by then."""
        if not steps:
            return {}
        write_set = WriteSet(self.now, steps=steps)
        written = await self.writer.write(write_set, self.session)
        for step in steps:
            self.runs[step.run.id] = step.run_after(self.now)
            self._note(step, loaded[step.run.id])
        for step in write_set.ended_runs:
            self.aftermath.note_end(step.run)
        self.aftermath.to_start += written.to_start
        self.aftermath.asked_to_stop |= written.asked_to_stop
        self.released |= written.begun
        self.has_let_go |= written.has_let_go
        # Runs inside of these.
        if unknown := written.follows.keys() - self.runs.keys():
            await self.lock(unknown)
        return {run_id: list(events) for run_id, events in written.follows.items() if run_id in self.runs}

    def _note(self, step: Step, loaded: Loaded) -> None:
        """For who remembers runs."""
        self.seen[step.run.id] = {**self.seen.get(step.run.id, {}), **loaded.tasks, **step.changes.tasks}


def _given_up(events: Sequence[Event]) -> list[Event]:
    """Its end, and the ends that were accepted, after which nothing begins any more."""
    after_these = [event.task for event in events if isinstance(event, Ended | Arrived | Expired)]
    return [GiveUp(frozenset(after_these)), *(event for event in events if isinstance(event, Ended))]
