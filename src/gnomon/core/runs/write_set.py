"""All that one moment writes, as one value: what becomes of executions and runs, and what is claimed with it.

The core decides it, and one writer in the store writes it: see `store/writes`. To see what is about to be
written, print it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import msgspec

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.decisions import Decision, are_plain_endings
from gnomon.core.executions.lease import ClaimRequest
from gnomon.core.jobs.job import JobId
from gnomon.core.runs.events import Changes, Release
from gnomon.core.runs.state import RunState
from gnomon.core.values.document import Document
from gnomon.core.workflows.workflow import Execute, Plan


class Outer(NamedTuple):
    """The task of another run that a run is."""

    run_id: UUID
    task: int
    round: int


class Begun(NamedTuple):
    """Which task of which run an execution is."""

    run_id: UUID
    task: int
    round: int
    item: int | None


class VersionedRun(msgspec.Struct, frozen=True):
    """A run as it was at a version. Each write makes a new version."""

    id: UUID
    tenant_id: TenantId
    dag_id: JobId
    base: int
    state: RunState
    outer: Outer | None
    nominal_time: datetime | None
    priority: int | None = None  # Of its tasks; None: as each of them says.
    version: int = 0
    moved_at: datetime | None = None  # None: not since it began.


class Step(NamedTuple):
    """What a run does. `is_new`: its rows have just been made, as they shall be."""

    run: VersionedRun  # As it was.
    plan: Plan
    changes: Changes
    is_new: bool = False

    @property
    def moves(self) -> bool:
        """Whether rows of the run and its tasks change."""
        return not self.is_new and self.changes.does_something

    @property
    def result(self) -> Document:
        """Of the execution that the run is."""
        return Document(f'{{"dag_run_id": "{self.run.id}"}}')

    def run_after(self, now: datetime) -> VersionedRun:
        run, state = self.run, self.changes.run
        if not self.moves:
            return msgspec.structs.replace(run, state=state)
        return msgspec.structs.replace(run, state=state, version=run.version + 1, moved_at=now)


class WorkerClaim(NamedTuple):
    """What a worker claims with its ends. `now` is when it asked, which may be before `WriteSet.now`."""

    request: ClaimRequest
    now: datetime
    lease_until: datetime


class WriteSet(msgspec.Struct, frozen=True):
    """`decisions` are about executions in workers' hands: all of them tasks of runs, or none of them.

    `steps` are what runs do, one for each run.
    """

    now: datetime
    decisions: Sequence[Decision] = ()
    steps: Sequence[Step] = ()
    claim: WorkerClaim | None = None

    @property
    def is_about_tasks(self) -> bool:
        return bool(self.decisions) and self.decisions[0].in_run

    @property
    def are_plain_endings(self) -> bool:
        return are_plain_endings(self.decisions)

    @property
    def retries(self) -> Sequence[Decision]:
        """What goes back to wait."""
        return [one for one in self.decisions if one.change.due is not None]

    @property
    def dead_letters(self) -> Sequence[Decision]:
        return [one for one in self.decisions if one.change.dead is not None]

    @property
    def releases(self) -> Iterator[tuple[Step, Release]]:
        """What tasks begin."""
        return ((step, release) for step in self.steps for release in step.changes.releases)

    @property
    def ended_runs(self) -> Sequence[Step]:
        """Those that end here; also one that had ended and was repaired, if nothing is left to do."""
        return [
            one
            for one in self.steps
            if one.changes.has_ended or (one.changes.is_repaired and one.changes.run.status.is_final)
        ]

    @property
    def is_step_of_chain(self) -> bool:
        """Whether one task ends, one execution begins, and nothing else happens."""
        if len(self.decisions) != 1 or len(self.steps) != 1 or self.claim is None:
            return False
        [(_, plan, changes, _)] = self.steps
        if len(changes.releases) != 1 or len(changes.tasks) != 2 or changes.has_ended:
            return False
        [release] = changes.releases
        is_one = release.items is None or len(release.items) == 1
        return is_one and isinstance(plan.task(release.task).work, Execute)

    def __str__(self) -> str:
        """For people: a plan is too long to be read."""
        return "\n".join([f"at {self.now.isoformat()}", *self._told()])

    def _told(self) -> Iterator[str]:
        for claim, change, in_run in self.decisions:
            kind = "task" if in_run else "execution"
            again = f", again at {change.due.isoformat()}" if change.due else ""
            dead = f", dead letter: {change.dead}" if change.dead else ""
            yield f"{kind} {claim.execution_id} (claim {claim.number}) becomes {change.status}{again}{dead}"
        for run, plan, changes, _ in self.steps:
            names = plan.graph.names
            yield f"run {run.id} (version {run.version}) becomes {changes.run.status}"
            yield from (
                f"  task {names[task]} becomes {state.status}" for task, state in changes.tasks.items()
            )
            for release in changes.releases:
                items = "" if release.items is None else f", {len(release.items)} items"
                yield f"  task {names[release.task]} begins round {release.round}{items}"
        if self.claim is not None:
            yield f"worker {self.claim.request.worker} claims up to {self.claim.request.limit}"
