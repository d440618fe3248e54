"""What tasks begin: executions, runs of other workflows, or a wait for a person or an event."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, assert_never
from uuid import UUID

from gnomon.core.executions.execution import WaitsFor
from gnomon.core.runs.events import Changes, Ended, Event, Release
from gnomon.core.runs.state import TaskStatus
from gnomon.core.values.ids import PLACE_MAX, derived_id
from gnomon.core.workflows.dag import task_revision
from gnomon.core.workflows.workflow import Approval, AwaitEvent, Execute, Plan, SubDag
from gnomon.store.databases.database import Rows, Session
from gnomon.store.databases.rows import document_text
from gnomon.store.runs.memory import Begun
from gnomon.store.runs.rows import LockedRun, note_rows

_RELEASED = (
    "execution_id", "tenant_id", "job_id", "revision", "dag_run_id", "task", "round", "item", "input",
    "nominal_time", "waits_for", "priority",
)  # fmt: skip
_WAITS_FOR = _RELEASED.index("waits_for")
_PLACE = slice(_RELEASED.index("dag_run_id"), _RELEASED.index("item") + 1)
_UNIFORM = frozenset({"job_id", "dag_run_id", "round"})
_HOLD = ("dag_run_id", "task", "tenant_id", "round", "event", "correlation", "until")


@dataclass(slots=True)
class Releases:
    """Of many runs, each kind in one statement. `inner`: runs to begin, with those around them."""

    session: Session
    now: datetime
    inner: list[tuple[UUID, UUID]] = field(default_factory=list)
    _tasks: list[tuple[Any, ...]] = field(default_factory=list)
    _holds: list[tuple[object, ...]] = field(default_factory=list)
    _runs: list[tuple[LockedRun, Release, SubDag]] = field(default_factory=list)

    def add(self, run: LockedRun, plan: Plan, changes: Changes) -> None:
        waits_for = WaitsFor.APPROVAL if changes.is_held else None
        for release in changes.releases:
            match plan.task(release.task).work:
                case Execute():
                    self._add_executions(run, release, waits_for)
                case SubDag() as inner:
                    self._runs.append((run, release, inner))
                case Approval():
                    self._add_hold(run, release, None)
                case AwaitEvent(event=event):
                    self._add_hold(run, release, event)
                case _ as other:
                    assert_never(other)

    @property
    def executions(self) -> dict[UUID, Begun]:
        """Those that begin now."""
        return {row[0]: Begun(*row[_PLACE]) for row in self._tasks if row[_WAITS_FOR] is None}

    @property
    def tasks(self) -> Rows:
        return Rows("released", _RELEASED, self._tasks, _UNIFORM)

    @property
    def do_more_than_execute(self) -> bool:
        return bool(self._holds or self._runs)

    async def write(self, tasks: Rows, runs: Rows) -> list[tuple[UUID, Event]]:
        """With rows as they shall be. Returns the ends of what could not begin."""
        if self._tasks or tasks.rows or runs.rows:
            await self.session.fetch("runs_go_on", tasks, runs, self.tasks, now=self.now)
        if self._holds:
            await self.session.fetch("task_holds_add", Rows("hold", _HOLD, self._holds))
        return await self._begin_inner_runs() if self._runs else []

    def _add_executions(self, run: LockedRun, release: Release, waits_for: WaitsFor | None) -> None:
        items = [(None, release.payload)] if release.items is None else list(enumerate(release.items))
        for item, payload in items:
            self._tasks.append(
                (
                    _id(run, release, item, now=self.now),
                    run.tenant_id,
                    run.dag_id,
                    task_revision(run.base, release.task),
                    run.id,
                    release.task,
                    release.round,
                    item,
                    document_text(payload),
                    run.nominal_time,
                    waits_for,
                    run.priority,
                )
            )

    def _add_hold(self, run: LockedRun, release: Release, event: str | None) -> None:
        self._holds.append(
            (
                run.id,
                release.task,
                run.tenant_id,
                release.round,
                event,
                release.correlation,
                release.until,
            )
        )

    async def _begin_inner_runs(self) -> list[tuple[UUID, Event]]:
        rows, lost, notes = [], list[tuple[UUID, Event]](), []
        for run, release, inner in self._runs:
            found = await self.session.fetch("dag_named", tenant_id=run.tenant_id, name=inner.dag)
            if not found:
                lost.append((run.id, Ended(release.task, release.round, TaskStatus.FAILED)))
                told = f"There is no workflow {inner.dag!r}."
                notes.append((run.id, release.task, release.round, run.tenant_id, None, "unknown_dag", told))
                continue
            [dag] = found
            new = _id(run, release, None, now=self.now)
            config = release.payload if release.payload is not None else inner.config
            place = (new, run.tenant_id, dag["dag_id"], dag["base"], run.id, release.task, release.round)
            rows.append((*place, None, config.text, run.nominal_time, None, run.priority))
            self.inner.append((new, run.id))
        if rows:
            await self.session.fetch("inner_runs_release", Rows("released", _RELEASED, rows), now=self.now)
        if notes:
            await self.session.fetch("task_notes_add", note_rows(notes), now=self.now)
        return lost


def _id(run: LockedRun, release: Release, item: int | None, *, now: datetime) -> UUID:
    """In the order of the definition, or of the items: that is the order in which they are claimed."""
    place = min(release.task + (item or 0), PLACE_MAX)
    return derived_id(now, run.id, release.task, release.round, -1 if item is None else item, place=place)
