"""What can happen to a run of a workflow, and what a store must do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum, auto
from typing import TypeAlias

import msgspec

from gnomon.core.executions.execution import Failure
from gnomon.core.runs.state import RunState, RunStatus, TaskState, TaskStatus
from gnomon.core.values.document import Document

# What comes in from the engine -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Started:
    """The run's turn has come."""


# Ended and Release are made for each task of each run: a struct is built several times faster.


class Ended(msgspec.Struct, frozen=True, gc=False):
    """An execution or a sub-run of a task has ended for good. `item` is its place in a fan-out."""

    task: int
    round: int
    status: TaskStatus
    result: Document | None = None
    item: int | None = None

    def __post_init__(self) -> None:
        assert self.status in (TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED)


@dataclass(frozen=True, slots=True)
class Arrived:
    """The event that a task waits for."""

    task: int
    round: int
    data: Document


@dataclass(frozen=True, slots=True)
class Expired:
    """A task was held for as long as it may be."""

    task: int
    round: int


@dataclass(frozen=True, slots=True)
class GiveUp:
    """A mistake of ours keeps it from going on after these tasks. Better an end than a wait for ever."""

    after: frozenset[int]


@dataclass(frozen=True, slots=True)
class OuterTurned:
    """The run around it was paused, or goes on again. `State.is_outer_held` says which."""


# What comes in from a person --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Approve:
    """The result of the task says who, when and why."""

    task: int
    by: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Reject:
    task: int
    by: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Cancel:
    pass


@dataclass(frozen=True, slots=True)
class Pause:
    pass


@dataclass(frozen=True, slots=True)
class Resume:
    pass


@dataclass(frozen=True, slots=True)
class Rerun:
    """These tasks and all that follows them, anew."""

    tasks: frozenset[int]


@dataclass(frozen=True, slots=True)
class RerunFailed:
    """All that failed or was cancelled, and all that follows it, anew."""


@dataclass(frozen=True, slots=True)
class Retry:
    """A failed task, and all that follows it, anew."""

    task: int


@dataclass(frozen=True, slots=True)
class Skip:
    """Go on as if its branch had not been taken."""

    task: int


@dataclass(frozen=True, slots=True)
class Succeed:
    """Go on as if it had succeeded, with this result."""

    task: int
    result: Document = field(default_factory=lambda: Document("null"))


@dataclass(frozen=True, slots=True)
class Fail:
    """It has failed, and the rest shall go on without it. For a task that was halted."""

    task: int


@dataclass(frozen=True, slots=True)
class Redrive:
    """Executions of these tasks, in these rounds, ended badly: what of that still stands is done anew.

    A round of None is whichever the task is in: for an end that has not been made up for.
    """

    ends: frozenset[tuple[int, int | None]]


@dataclass(frozen=True, slots=True)
class Reopen:
    """The run inside of this task had ended, and a person repaired it: the task has not ended after all."""

    task: int
    round: int


Repair: TypeAlias = "Rerun | RerunFailed | Retry | Redrive | Skip | Succeed | Fail | Reopen"
Decision: TypeAlias = "Approve | Reject"
Report: TypeAlias = "Ended | Arrived | Expired"
Event: TypeAlias = "Started | Report | GiveUp | OuterTurned | Decision | Cancel | Pause | Resume | Repair"


def name_of(event: Event) -> str:
    """`RerunFailed` is `rerun_failed`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()


# What goes out -----------------------------------------------------------------------------------------


class Release(msgspec.Struct, frozen=True):
    """A task begins. What it does is in the plan; this is what the run adds to it.

    An `Execute` gets an execution with `payload`, or one for each of `items`; a `SubDag` a run with the
    configuration `payload`; an `Approval` nothing; an `AwaitEvent` waits for `correlation`. None as `payload`
    means: there are no references, so it is as the plan says. What is held expires at `until`.
    """

    task: int
    round: int
    payload: Document | None = None
    items: tuple[Document, ...] | None = None
    correlation: str | None = None
    until: datetime | None = None


class Gate(StrEnum):
    HOLD = auto()  # What waits in the queue for this run waits from now on at the run's gate.
    LET_GO = auto()  # And back.


class Needs(msgspec.Struct, frozen=True):
    """Nothing is decided yet: load these rows and results, in addition, and ask again.

    `ahead` are rows that may be needed soon: to load them, too, spares questions.

    A result belongs to the round in the row of its task. If one of `Changes.results` was kept for this round,
    that is it; else it is that of the execution or inner run of this round; of a fan-out, the list of those
    of its items, with the ends that are being accepted.
    """

    tasks: frozenset[int] = frozenset()
    results: frozenset[int] = frozenset()
    ahead: frozenset[int] = frozenset()


class State(msgspec.Struct, frozen=True):
    """What a store has loaded of a run. The result of a task that is not COMPLETED is None.

    `too_large` are tasks whose results were asked for and left where they are: those of the items of a
    fan-out, if they are together larger than one result may be. `is_outer_held`: it is a task of a run that
    is PAUSED, so nothing of it begins either.
    """

    run: RunState
    tasks: Mapping[int, TaskState] = msgspec.field(default_factory=dict)
    results: Mapping[int, Document | None] = msgspec.field(default_factory=dict)
    too_large: frozenset[int] = frozenset()
    is_outer_held: bool = False


class Changes(msgspec.Struct, frozen=True):
    """What to write, all in the transaction that accepted the events. Everything is as it shall be after.

    `sweep`: after the rows are written, every other task of the run in one of the statuses `SWEPT` becomes
    CANCELLED, and every execution and sub-run of the run is asked to stop. Those that end at once, because
    no worker has them yet, are reported by `Ended` in the same transaction.

    `repaired`: tasks whose bad ends a person has made up for. The dead letters of their executions, and of
    the runs inside of them, are settled.

    `unheld`: tasks that were HELD and are no longer. What they waited for is forgotten.
    """

    before: RunState
    run: RunState
    tasks: Mapping[int, TaskState]
    releases: tuple[Release, ...] = ()
    # Of tasks that no execution ended. Kept with the round of the task's row: a later round has its own.
    results: Mapping[int, Document] = msgspec.field(default_factory=dict)
    failures: Mapping[int, Failure] = msgspec.field(default_factory=dict)
    sweep: bool = False
    repaired: frozenset[int] = frozenset()
    unheld: frozenset[int] = frozenset()

    @property
    def is_held(self) -> bool:
        """Whether what is released here waits at the run's gate."""
        return self.run.status is RunStatus.PAUSED

    @property
    def gate(self) -> Gate | None:
        was_held = self.before.status is RunStatus.PAUSED
        if self.is_held == was_held or self.sweep:
            return None
        return Gate.HOLD if self.is_held else Gate.LET_GO

    @property
    def does_something(self) -> bool:
        return self.run != self.before or bool(self.tasks)

    @property
    def does_more_than_release(self) -> bool:
        """More than rows of its tasks and releases, and perhaps its end."""
        is_moved = self.gate is not None or self.is_held
        return bool(is_moved or self.sweep or self.results or self.failures or self.unheld)

    @property
    def is_repaired(self) -> bool:
        """A run that had ended goes on. With nothing left to do, it ends anew, perhaps in another way."""
        return self.before.status.is_final and bool(self.tasks)

    @property
    def has_ended(self) -> bool:
        return self.run.status.is_final and not self.before.status.is_final
