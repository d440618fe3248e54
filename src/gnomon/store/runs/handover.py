"""One task ends and the one that follows it begins with the same worker: the step that a chain is made of.

`tasks_end` does that, too, as a batch of one. But then forty arrays with a value each go over the wire, and
the queue is searched although it is known that nobody waits. Plain values cost much less.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gnomon.core.runs.events import Changes
from gnomon.core.workflows.workflow import Execute, Plan
from gnomon.store.databases.database import Database
from gnomon.store.executions.changes import ending_rows
from gnomon.store.protocols.changes import Decision
from gnomon.store.queue.claims_with_ends import ClaimWithEnds
from gnomon.store.runs.ends import WentOn
from gnomon.store.runs.releases import Releases
from gnomon.store.runs.rows import TASK_ROW, LockedRun, task_rows

_END = ("execution_id", "claim", "outcome", "last_attempt", "attempts", "result")
_ENDED = tuple(f"ended_{column}" for column in TASK_ROW[1:])
_NEXT = tuple(f"next_{column}" for column in TASK_ROW[1:])


class Step(NamedTuple):
    """What ends of its tasks mean for a run."""

    run: LockedRun  # As it was.
    plan: Plan
    changes: Changes


class TaskHandover(NamedTuple):
    """The values of the statement, and what its worker claims by it: a row as `claim` has them."""

    values: dict[str, Any]
    claimed: Any

    async def write(self, database: Database) -> WentOn | None:
        """None: the run or the lease is not what it was, and nothing has happened."""
        accepted = await database.fetch("task_handover", **self.values)
        return WentOn((), [self.claimed], has_more=False) if accepted else None


def handover_of(
    decisions: Sequence[Decision], steps: Sequence[Step], releases: Releases, claim: ClaimWithEnds | None
) -> TaskHandover | None:
    """None if it is more than this, or if others may come first."""
    if claim is None or len(decisions) != 1 or len(releases.tasks.rows) != 1:
        return None
    [(run, plan, changes)] = steps
    [(next_id, _, job_id, revision, _, place, _, item, payload, nominal_time, _, priority)] = (
        releases.tasks.rows
    )
    if changes.has_ended or len(changes.tasks) != 2:
        return None
    work = plan.task(place).work
    assert isinstance(work, Execute)
    lane_id = claim.lane_without_a_look(run.tenant_id, work.definition)
    if lane_id is None:
        return None
    if priority is None:
        priority = work.definition.priority
    values = {
        "job_id": job_id,
        "nominal_time": nominal_time,
        "next_id": next_id,
        "next_revision": revision,
        "next_lane_id": lane_id,
        "next_priority": priority,
        "next_input": payload,
        "next_item": item,
        "worker": claim.request.worker,
        "request_id": claim.request.id,
        "lease_until": claim.lease_until,
        "now": releases.now,
    }
    values |= zip(_END, ending_rows(decisions).rows[0], strict=True)
    values |= _run_values(run, changes)
    for row in task_rows((run.id, *one) for one in changes.tasks.items()).rows:
        values |= zip(_NEXT if row[1] == place else _ENDED, row[1:], strict=True)
    claimed = (next_id, job_id, revision, priority, releases.now, nominal_time, 1, 0, 0, payload)
    return TaskHandover(values, claimed)


def _run_values(run: LockedRun, changes: Changes) -> dict[str, Any]:
    state = changes.run
    return {
        "run_id": run.id,
        "run_version": run.version,
        "run_status": state.status,
        "unended": state.left,
        "live": state.live,
        "completed": state.completed,
        "failed": state.failed,
        "cancelled": state.cancelled,
    }
