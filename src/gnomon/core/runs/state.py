"""A run of a workflow in numbers: what a store keeps of it, so that no step has to look at the whole run.

The store keeps two kinds of rows, with one column for each field of the two structs here.

`TaskState`, one for each task of the run, found by (run, place). `left`, `failed` and `skipped` count its
parents; how many succeeded follows from them. A parent's end moves one of its numbers, and nothing else
about the parent is remembered. `items_*` count the executions of a fan-out in the same way. `round` is how
often the task has begun: an execution, a sub-run or a hold carries the round that it was begun in, and a
report from an earlier round changes nothing.

`RunState`, one for each run. `left` counts its tasks that have not ended: the run ends when that is 0.
`live` counts those of them that are RELEASED, `halted` those that a person is asked about. `completed`,
`failed` and `cancelled` say what became of the others.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.values.choices import Choice
from gnomon.core.values.document import Document
from gnomon.core.workflows.trigger_rules import Ending, Verdict, verdict
from gnomon.core.workflows.workflow import Plan, Workflow
from gnomon.errors import InvalidInput


class TaskStatus(Choice):
    WAITING = "WAITING"  # Its parents have not ended, or the run has not begun.
    RELEASED = "RELEASED"  # Its execution, executions or sub-run exist; their status says more.
    HELD = "HELD"  # Waits for a person's approval or for an event.
    HALTED = "HALTED"  # Failed under PAUSE. A person decides: retry, skip, succeed or fail.
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    SKIPPED = "SKIPPED"  # Its branch was not taken, or a person skipped it.
    UPSTREAM_FAILED = "UPSTREAM_FAILED"  # It could not run because of a failure before it.

    @property
    def ending(self) -> Ending | None:
        """How it counts for those that wait for it; None if it has not ended."""
        return _ENDINGS.get(self)


_T = TaskStatus
_ENDINGS = {
    _T.COMPLETED: Ending.SUCCESS,
    _T.FAILED: Ending.FAILURE,
    _T.CANCELLED: Ending.FAILURE,
    _T.UPSTREAM_FAILED: Ending.FAILURE,
    _T.SKIPPED: Ending.SKIP,
}
# What a stop of the whole run ends at once; what is released is asked to stop.
SWEPT = frozenset({_T.WAITING, _T.HELD, _T.HALTED})

_ENDED_BY_ITSELF = frozenset({_T.COMPLETED, _T.FAILED, _T.CANCELLED, _T.SKIPPED, _T.UPSTREAM_FAILED})
# A task that has ended goes back only when somebody repairs the run: see `core/runs/repairs.py`.
TASK_TRANSITIONS: dict[TaskStatus, frozenset[TaskStatus]] = {
    _T.WAITING: frozenset({_T.RELEASED, _T.HELD, _T.HALTED}) | _ENDED_BY_ITSELF,
    _T.RELEASED: frozenset({_T.COMPLETED, _T.FAILED, _T.CANCELLED, _T.HALTED}),
    _T.HELD: frozenset({_T.COMPLETED, _T.FAILED, _T.CANCELLED, _T.SKIPPED, _T.HALTED}),
    _T.HALTED: frozenset({_T.RELEASED, _T.HELD, _T.WAITING}) | _ENDED_BY_ITSELF - {_T.UPSTREAM_FAILED},
    _T.COMPLETED: frozenset({_T.WAITING}),
    _T.FAILED: frozenset({_T.WAITING}),
    _T.CANCELLED: frozenset({_T.WAITING}),
    _T.SKIPPED: frozenset({_T.WAITING}),
    _T.UPSTREAM_FAILED: frozenset({_T.WAITING}),
}


class RunStatus(Choice):
    PENDING = "PENDING"  # Not begun: it waits for its turn.
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"  # Nothing new begins: a person paused it, or is asked about a failed task.
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def is_final(self) -> bool:
        return self in (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED)


# How the end of what a task began is the end of the task.
ENDS: dict[ExecutionStatus | RunStatus, TaskStatus] = {
    ExecutionStatus.COMPLETED: _T.COMPLETED,
    ExecutionStatus.FAILED: _T.FAILED,
    ExecutionStatus.TIMEOUT: _T.FAILED,
    ExecutionStatus.CANCELLED: _T.CANCELLED,
    RunStatus.COMPLETED: _T.COMPLETED,
    RunStatus.FAILED: _T.FAILED,
    RunStatus.CANCELLED: _T.CANCELLED,
}


class TaskState(msgspec.Struct, frozen=True, gc=False):
    """A row of the store about one task of one run."""

    status: TaskStatus
    left: int
    failed: int = 0
    skipped: int = 0
    round: int = 0
    items_left: int = 0
    items_failed: int = 0
    items_cancelled: int = 0

    def told(self, ending: Ending) -> TaskState:
        """One parent has ended."""
        return TaskState(
            self.status,
            self.left - 1,
            self.failed + (ending is Ending.FAILURE),
            self.skipped + (ending is Ending.SKIP),
            self.round,
            self.items_left,
            self.items_failed,
            self.items_cancelled,
        )

    def in_round(self, round_: int, *, items: int) -> TaskState:
        return TaskState(self.status, self.left, self.failed, self.skipped, round_, items)

    def become(self, status: TaskStatus) -> TaskState:
        assert status in TASK_TRANSITIONS[self.status], f"{self.status} cannot become {status}"
        return msgspec.structs.replace(self, status=status)

    def verdict(self, plan: Plan, place: int) -> Verdict:
        parents = len(plan.graph.parents[place])
        rule = plan.task(place).rule
        return verdict(rule, parents=parents, left=self.left, failed=self.failed, skipped=self.skipped)


class RunState(msgspec.Struct, frozen=True):
    """A row of the store about one run."""

    status: RunStatus
    left: int
    live: int = 0
    halted: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    is_paused: bool = False  # By a person.
    ends_as: RunStatus | None = None  # It is being stopped: nothing begins any more.
    config: Document = Document("{}")
    nesting: int = 0  # How many runs it is inside of.
    time: datetime | None = None  # What it is for: its nominal time, or when it began.

    def counted(self, status: TaskStatus, by: int) -> RunState:
        """With `by` more tasks (or fewer) that have ended with this status."""
        return msgspec.structs.replace(
            self,
            left=self.left - by,
            completed=self.completed + by * (status is TaskStatus.COMPLETED),
            failed=self.failed + by * (status is TaskStatus.FAILED),
            cancelled=self.cancelled + by * (status is TaskStatus.CANCELLED),
        )


def born(
    plan: Plan, *, overrides: Document | None = None, nesting: int = 0, time: datetime | None = None
) -> tuple[RunState, list[TaskState]]:
    """The rows of a run that has not begun. `overrides` go over the workflow's configuration, key by key.

    The configuration is settled here, once: a run never looks at it anywhere else.
    """
    config = configured(plan.workflow, overrides)
    tasks = [TaskState(TaskStatus.WAITING, len(parents)) for parents in plan.graph.parents]
    return RunState(RunStatus.PENDING, len(tasks), config=config, nesting=nesting, time=time), tasks


def configured(workflow: Workflow, overrides: Document | None) -> Document:
    """The configuration of a run. Raises InvalidInput, or PayloadTooLarge for what is too large together."""
    if overrides is None:
        return workflow.config
    given, ours = overrides.value, workflow.config.value
    if not isinstance(given, dict):
        raise InvalidInput("config", f"must be an object, not {type(given).__name__}.")
    assert isinstance(ours, dict)
    return Document.of(ours | given, field="config")
