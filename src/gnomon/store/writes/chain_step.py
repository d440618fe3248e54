"""One task ends and the one that follows it begins with the same worker: the step that a chain is made of.

`tasks_end` does that, too, as a batch of one. But then forty arrays with a value each go over the wire, and
the queue is searched although it is known to be empty. Plain values cost much less.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from gnomon.core.runs.write_set import VersionedRun, WriteSet
from gnomon.core.workflows.workflow import Execute
from gnomon.store.queue.claimed import ClaimedRow
from gnomon.store.writes import batches
from gnomon.store.writes.batches import ReleasedRow, task_rows
from gnomon.store.writes.changes import ending_rows


class ChainStep(NamedTuple):
    """The values of `task_handover`, and what its worker claims by it."""

    values: dict[str, Any]
    released: ReleasedRow
    claimed: ClaimedRow


def chain_step(write_set: WriteSet, lane_id: int) -> ChainStep:
    assert write_set.claim is not None
    [(run, plan, changes, _)] = write_set.steps
    [released] = batches.released(write_set)
    work = plan.task(released.task).work
    assert isinstance(work, Execute)
    priority = work.definition.priority if released.priority is None else released.priority
    values: dict[str, Any] = {
        "job_id": released.job_id,
        "nominal_time": released.nominal_time,
        "next_id": released.execution_id,
        "next_revision": released.revision,
        "next_lane_id": lane_id,
        "next_priority": priority,
        "next_input": released.input,
        "next_item": released.item,
        "worker": write_set.claim.request.worker,
        "request_id": write_set.claim.request.id,
        "lease_until": write_set.claim.lease_until,
        "now": write_set.now,
        **_run_values(run, write_set),
    }
    ending = ending_rows(write_set.decisions)
    values |= zip(ending.columns, ending.rows[0], strict=True)
    tasks = task_rows(run.id, changes.tasks)
    for task, row in zip(changes.tasks, tasks.rows, strict=True):
        names = _prefixed("next_" if task == released.task else "ended_", tasks.columns)
        values |= zip(names, row, strict=True)
    return ChainStep(values, released, _claimed(write_set, released, priority))


@cache
def _prefixed(prefix: str, columns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(prefix + column for column in columns)


def _run_values(run: VersionedRun, write_set: WriteSet) -> dict[str, Any]:
    state = write_set.steps[0].changes.run
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


def _claimed(write_set: WriteSet, released: ReleasedRow, priority: int) -> ClaimedRow:
    """As `claim` answers with it."""
    return ClaimedRow(
        execution_id=released.execution_id,
        job_id=released.job_id,
        revision=released.revision,
        priority=priority,
        due=write_set.now,
        nominal_time=released.nominal_time,
        claim=1,
        attempts=0,
        crashes=0,
        input=released.input,
    )
