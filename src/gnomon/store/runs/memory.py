"""Runs as this process saw them last, so that what an end means can be decided before anything is asked.

What is remembered may be old. Who writes by it says which versions of the runs it decided by, and if
somebody else has moved one of them since, nothing is written: see `recall.py`. So forgetting is always
right, and what is old costs a round trip.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from gnomon.core.executions.decisions import Decision
from gnomon.core.runs.events import Ended
from gnomon.core.runs.state import ENDS, TaskState
from gnomon.core.runs.write_set import Begun, VersionedRun

# Of tasks and of what they began: some tens of megabytes.
REMEMBERED_MAX = 100_000


Remembrance: TypeAlias = tuple[Decision, Ended]


@dataclass(slots=True)
class Remembered:
    """`is_shared`: somebody else moved it, too, when we looked last. Then it is no use to try."""

    run: VersionedRun
    tasks: dict[int, TaskState]
    is_shared: bool = False


class RunMemory:
    def __init__(self) -> None:
        self._runs: dict[UUID, Remembered] = {}
        self._begun: dict[UUID, Begun] = {}
        self._tasks = 0
        # A process that brings no ends, such as an API node, need not remember anything.
        self._is_used = False

    def __getitem__(self, run_id: UUID) -> Remembered:
        return self._runs[run_id]

    def parted(self, decisions: Iterable[Decision]) -> tuple[dict[UUID, list[Remembrance]], list[Decision]]:
        """Ends of tasks of runs that are remembered, by run in the order of ids, and the rest."""
        self._is_used = True
        known: dict[UUID, list[Remembrance]] = {}
        rest = []
        for decision in decisions:
            place = self._begun.get(decision.claim.execution_id)
            run = None if place is None else self._runs.get(place.run_id)
            if place is None or run is None or run.is_shared:
                rest.append(decision)
                continue
            change = decision.change
            ended = Ended(place.task, place.round, ENDS[change.status], change.result, place.item)
            known.setdefault(place.run_id, []).append((decision, ended))
        return {run_id: known[run_id] for run_id in sorted(known)}, rest

    def learn(self, run: VersionedRun, tasks: Mapping[int, TaskState], *, since: int | None) -> None:
        """What a transaction made of a run. `since` is the version that it found; None: it made the run."""
        if not self._is_used:
            return
        if run.state.status.is_final or run.state.ends_as is not None or run.outer is not None:
            # Of a run that is being stopped, tasks move that nobody has looked at.
            self.forget(run.id)
            return
        known = self._runs.get(run.id)
        if known is not None and known.run.version == since:
            self._tasks += len(tasks.keys() - known.tasks.keys())
            known.run, known.is_shared = run, False
            known.tasks.update(tasks)
        elif known is None or known.run.version < run.version:
            self.forget(run.id)
            self._runs[run.id] = Remembered(run, dict(tasks), is_shared=known is not None)
            self._tasks += len(tasks)
        if self._tasks + len(self._begun) > REMEMBERED_MAX:
            self.clear()

    def learn_begun(self, begun: Mapping[UUID, Begun]) -> None:
        if self._is_used:
            self._begun.update(begun)

    def share(self, run_id: UUID) -> None:
        """Somebody else has moved it."""
        if run_id in self._runs:
            self._runs[run_id].is_shared = True

    def forget(self, run_id: UUID) -> None:
        known = self._runs.pop(run_id, None)
        if known is not None:
            self._tasks -= len(known.tasks)

    def forget_ended(self, decisions: Sequence[Decision]) -> None:
        for claim, _, _ in decisions:
            self._begun.pop(claim.execution_id, None)

    def clear(self) -> None:
        """Seldom, so simply."""
        self._runs.clear()
        self._begun.clear()
        self._tasks = 0
