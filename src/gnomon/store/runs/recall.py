"""What ends of tasks mean, decided by the runs as this process remembers them.

Between two tasks of a chain, every round trip counts. Under the locks of the runs, the store asks for the
runs, the tasks and whatever else it needs. Here it asks nothing: the statement that writes looks whether each
run still has the version by which it was decided.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter
from typing import NamedTuple

from gnomon.core.executions.decisions import Decision, are_plain_endings
from gnomon.core.runs.decisions import after, touched
from gnomon.core.runs.events import Changes, Ended, State
from gnomon.core.runs.order import not_before
from gnomon.core.runs.write_set import Step, WorkerClaim, WriteSet
from gnomon.core.workflows.workflow import Execute, Plan
from gnomon.store.runs.memory import Remembered, RunMemory
from gnomon.store.workflows.plans import Plans

logger = logging.getLogger(__name__)

# Two transactions take longer than one that is a little slower.
WORTH_IT_MIN = 20
# In one go on the loop. What concerns more is decided under locks, which lets others have turns.
TASKS_MAX = 1000
_CLAIM = itemgetter(0)


class Recalled(NamedTuple):
    """`rest`: decisions that take the locks of their runs."""

    write_set: WriteSet
    rest: Sequence[Decision]


def recall(
    memory: RunMemory,
    plans: Plans,
    decisions: Sequence[Decision],
    claim: WorkerClaim | None,
    *,
    now: datetime,
) -> Recalled | None:
    """None if all of them take the locks of their runs."""
    if not are_plain_endings(decisions):
        return None
    remembered, rest = memory.parted(decisions)
    now = not_before(now, (memory[run_id].run.moved_at for run_id in remembered))
    taken, steps = list[Decision](), list[Step]()
    for run_id, ours in remembered.items():
        step = _try_step(memory[run_id], plans, [ended for _, ended in ours], now=now)
        if step is None:
            rest += [decision for decision, _ in ours]
        else:
            steps.append(step)
            taken += [decision for decision, _ in ours]
    if not taken or (rest and len(taken) < WORTH_IT_MIN):
        return None
    return Recalled(WriteSet(now, sorted(taken, key=_CLAIM), steps, claim), rest)


def _try_step(known: Remembered, plans: Plans, events: Sequence[Ended], *, now: datetime) -> Step | None:
    """None if it takes more than one statement or rows that are not remembered, or cannot be decided."""
    plan = plans.known(known.run.dag_id, known.run.base)
    if plan is None:
        return None
    try:
        changes = _after(plan, known, events, now=now)
    except Exception:  # Whatever it is about this run, the others need not wait for it.
        logger.exception("run %s cannot go on by what is remembered of it", known.run.id)
        return None
    return None if changes is None or _does_more(plan, changes) else Step(known.run, plan, changes)


def _after(plan: Plan, known: Remembered, events: Sequence[Ended], *, now: datetime) -> Changes | None:
    """Given as few rows as it takes: what an end costs does not grow with the run."""
    rows = touched(plan, known.run.state, events)
    if len(rows) > TASKS_MAX:
        return None
    tasks = {one: known.tasks[one] for one in rows if one in known.tasks}
    while True:
        answer = after(plan, State(known.run.state, tasks), events, now=now)
        if isinstance(answer, Changes):
            return answer
        if answer.results or not answer.tasks <= known.tasks.keys():
            return None
        tasks |= {one: known.tasks[one] for one in answer.tasks}


def _does_more(plan: Plan, changes: Changes) -> bool:
    """More than what the one statement does; or nothing, so that it would not look at the run."""
    return (
        changes.does_more_than_release
        or not changes.does_something
        or not all(isinstance(plan.task(one.task).work, Execute) for one in changes.releases)
    )
