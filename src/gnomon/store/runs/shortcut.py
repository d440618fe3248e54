"""The short way from the end of a task to what follows it: decided by what is remembered, written in one go.

Between two tasks of a chain, every round trip counts. The long way (`run_ends.py`) asks for the runs, the
tasks and whatever else it needs. Here nothing is asked; the statement looks whether all is still as it was
when it was decided about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter

from msgspec.structs import replace as with_

from gnomon.core.runs.decisions import after, touched
from gnomon.core.runs.events import Changes, Ended, State
from gnomon.core.runs.order import not_before
from gnomon.core.runs.state import TaskStatus
from gnomon.core.workflows.workflow import Execute, Plan
from gnomon.store.databases.database import Database, Row, Rows, again_after_deadlock
from gnomon.store.executions.changes import are_plain_endings, ending_rows
from gnomon.store.protocols.changes import Decision
from gnomon.store.queue.claims_with_ends import ClaimWithEnds, nothing_scanned
from gnomon.store.runs.aftermath import Aftermath, ended_row
from gnomon.store.runs.ends import WentOn
from gnomon.store.runs.handover import Step, handover_of
from gnomon.store.runs.memory import Remembered, RunMemory
from gnomon.store.runs.releases import Releases
from gnomon.store.runs.rows import ended_run_rows, run_rows, task_rows
from gnomon.store.workflows.plans import Plans

# Two transactions take longer than one that is a little slower.
WORTH_IT_MIN = 20
# In one go on the loop. What concerns more takes the long way, which lets others have turns.
TASKS_MAX = 1000
# The columns of a claim; behind them, whether it has just been released, and whether the ends were accepted.
_CLAIM = slice(0, 10)
_IS_NEW, _IS_ACCEPTED = 10, 11
_CLAIM_OF = itemgetter(0)


@dataclass(slots=True)
class Shortcut:
    """For one batch. Once `end` was called, `rest` are those whose end takes the long way."""

    database: Database
    plans: Plans
    memory: RunMemory
    now: datetime
    rest: Sequence[Decision] = ()
    aftermath: Aftermath = field(default_factory=Aftermath)

    async def end(self, decisions: Sequence[Decision], claim: ClaimWithEnds | None) -> WentOn | None:
        """None if nothing can be written this way: then nothing has happened, and all take the long one."""
        self.rest, taken, steps = list(decisions), list[Decision](), list[Step]()
        if not are_plain_endings(decisions):
            return None
        remembered, rest = self.memory.parted(decisions)
        self.now = not_before(self.now, (self.memory[run_id].run.moved_at for run_id in remembered))
        releases = Releases(self.database, self.now)
        for run_id, ours in remembered.items():
            known = self.memory[run_id]
            plan = self.plans.known(known.run.dag_id, known.run.base)
            changes = None if plan is None else self._after(plan, known, [ended for _, ended in ours])
            if plan is None or changes is None:
                rest += [decision for decision, _ in ours]
                continue
            steps.append(Step(known.run, plan, changes))
            taken += [decision for decision, _ in ours]
            releases.add(known.run, plan, changes)
        if not taken or (rest and len(taken) < WORTH_IT_MIN):
            return None
        went_on = await self._write(sorted(taken, key=_CLAIM_OF), steps, releases, claim)
        if went_on is not None:
            self.rest = rest
        return went_on

    def _after(self, plan: Plan, known: Remembered, events: Sequence[Ended]) -> Changes | None:
        """Given as few rows as it takes: what an end costs does not grow with the run."""
        rows = touched(plan, known.run.state, events)
        if len(rows) > TASKS_MAX:
            return None
        tasks = {one: known.tasks[one] for one in rows if one in known.tasks}
        while True:
            answer = after(plan, State(known.run.state, tasks), events, now=self.now)
            if isinstance(answer, Changes):
                was_held = any(tasks[one].status is TaskStatus.HELD for one in answer.tasks)
                return None if was_held or _does_more(plan, answer) else answer
            if answer.results or not answer.tasks <= known.tasks.keys():
                return None
            tasks |= {one: known.tasks[one] for one in answer.tasks}

    async def _write(
        self,
        decisions: Sequence[Decision],
        steps: Sequence[Step],
        releases: Releases,
        claim: ClaimWithEnds | None,
    ) -> WentOn | None:
        handover = handover_of(decisions, steps, releases, claim)
        if handover is not None:
            went_on = await handover.write(self.database)
        else:
            went_on = await self._write_batch(decisions, steps, releases, claim)
        if went_on is None:
            for one in steps:
                self.memory.share(one.run.id)
            return None
        for run, _, changes in steps:
            moved = with_(run, state=changes.run, version=run.version + 1, moved_at=self.now)
            self.memory.learn(moved, changes.tasks, since=run.version)
            if changes.has_ended:
                self.aftermath.note_end(run)
        self.memory.forget_ended(decisions)
        self.memory.learn_begun(releases.executions)
        return went_on

    async def _write_batch(
        self,
        decisions: Sequence[Decision],
        steps: Sequence[Step],
        releases: Releases,
        claim: ClaimWithEnds | None,
    ) -> WentOn | None:
        where, values = nothing_scanned(self.database, now=self.now) if claim is None else claim.scanned
        batches = (
            ending_rows(decisions),
            task_rows((run.id, *one) for run, _, changes in steps for one in changes.tasks.items()),
            run_rows((with_(run, state=changes.run) for run, _, changes in steps), now=self.now),
            releases.tasks,
            *where,
        )
        ended = [one for one in steps if one.changes.has_ended]
        rows = await self._fetch(batches, values | {"now": self.now}, ended)
        if not rows[0][_IS_ACCEPTED]:
            return None
        claimed = [row for row in rows if row[0] is not None]
        waited = [row for row in claimed if not row[_IS_NEW]]
        if claim is not None:
            claim.took(waited, beside=len(claimed) - len(waited))
        left = releases.executions.keys() - {row[0] for row in claimed}
        has_seen_all = claim is not None and claim.sees_all_of(one.run.tenant_id for one in steps)
        return WentOn((), [row[_CLAIM] for row in claimed], has_more=bool(left) or not has_seen_all)

    async def _fetch(
        self, batches: Sequence[Rows], values: dict[str, object], ended: Sequence[Step]
    ) -> Sequence[Row]:
        if not ended:
            return await self.database.fetch("tasks_end", *batches, **values)
        told = [ended_row(with_(run, state=changes.run), plan) for run, plan, changes in ended]
        return await self._fetch_with_ends(batches, values, ended_run_rows(told))

    @again_after_deadlock
    async def _fetch_with_ends(
        self, batches: Sequence[Rows], values: dict[str, object], ended: Rows
    ) -> Sequence[Row]:
        async with self.database.transaction() as session:
            rows = await session.fetch("tasks_end", *batches, **values)
            if rows[0][_IS_ACCEPTED]:
                await session.fetch("runs_end", ended, now=self.now)
            return rows


def _does_more(plan: Plan, changes: Changes) -> bool:
    """More than what the one statement does."""
    return changes.does_more_than_release or not all(
        isinstance(plan.task(one.task).work, Execute) for one in changes.releases
    )
