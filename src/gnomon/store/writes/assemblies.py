"""Which statement writes a write set."""

from __future__ import annotations

from enum import StrEnum

from gnomon.core.runs.write_set import WriteSet


class Assembly(StrEnum):
    """Each but the last is one statement of this name, put together from the fragments of ADR 0034."""

    CLAIM = "claim"
    PLAIN_ENDINGS = "apply_endings"  # Ends of executions that tell of no failure: nearly every batch.
    CHANGES = "apply"  # Any changes of running executions.
    CHAIN_STEP = "task_handover"  # One task ends, and its worker goes on with the one that follows it.
    # Ends of tasks, what their runs do, and a claim. If a run ends by that, `runs_end` follows in the same
    # transaction.
    TASK_ENDS = "tasks_end"
    RUN_STEPS = "run_steps"  # What runs do, by several statements: see `run_steps.py`.


def assembly_of(write_set: WriteSet, *, holds_locks: bool, lane_id: int | None) -> Assembly:
    """`holds_locks`: the transaction holds the locks of the runs, so what was decided about them still holds.

    Without them, the statement itself looks whether each run still has its version. `lane_id`: the write set
    is a step of a chain, and its worker may have what follows in this lane without a look at the queue.
    """
    if not write_set.steps:
        if not write_set.decisions:
            return Assembly.CLAIM
        return Assembly.PLAIN_ENDINGS if write_set.are_plain_endings else Assembly.CHANGES
    if holds_locks:
        assert not write_set.decisions, "under locks, ends are accepted before it is decided what follows"
        return Assembly.RUN_STEPS
    return Assembly.TASK_ENDS if lane_id is None else Assembly.CHAIN_STEP
