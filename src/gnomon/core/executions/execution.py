"""What an execution is: one run of a job, from fire to end, through all its attempts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import accumulate
from typing import NamedTuple, NewType
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.jobs.job import JobId, check_priority
from gnomon.core.values.choices import Choice
from gnomon.core.values.document import Document, check_name, keepable_text

ExecutionId = NewType("ExecutionId", UUID)
WorkerId = NewType("WorkerId", str)

FAILURE_KIND_LENGTH_MAX = 255
FAILURE_MESSAGE_LENGTH_MAX = 16 * 1024


class ExecutionStatus(Choice):
    PENDING = "PENDING"  # Waits for its time, a retry, a slot or its dependencies.
    QUEUED = "QUEUED"  # Claimable: due, and nothing holds it but the lack of a free worker.
    RUNNING = "RUNNING"  # Leased by a worker.
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    CANCELLED = "CANCELLED"
    SKIPPED = "SKIPPED"  # DAG only: a task whose trigger rule said no.

    @property
    def is_final(self) -> bool:
        return self not in LIVE


class WaitsFor(StrEnum):
    """What holds a waiting execution besides its time: a gate that somebody else's end opens."""

    JOBS = "jobs"  # A success of each job that its job depends on. After it, perhaps a slot.
    SLOT = "slot"  # A free slot among those that its job may fill at once.
    TASKS = "tasks"  # Its tasks: it is a run of a workflow that has begun.
    APPROVAL = "approval"  # A person: it is a task of a run that is paused.
    EMPTY_WORKER = "empty_worker"  # A worker that runs nothing else: it is a suspect. The last gate of all.


LIVE = frozenset({ExecutionStatus.PENDING, ExecutionStatus.QUEUED, ExecutionStatus.RUNNING})


class Trigger(StrEnum):
    """Why an execution exists."""

    SCHEDULE = "schedule"
    MANUAL = "manual"
    REDRIVE = "redrive"
    DAG = "dag"


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, in two words a machine can compare and a sentence for a person."""

    kind: str
    message: str

    def __post_init__(self) -> None:
        assert self.kind, "a failure has a kind"
        # User code wrote both, and a failure that no store can keep would be a worse one.
        object.__setattr__(self, "kind", keepable_text(self.kind, length_max=FAILURE_KIND_LENGTH_MAX))
        object.__setattr__(
            self, "message", keepable_text(self.message, length_max=FAILURE_MESSAGE_LENGTH_MAX)
        )


@dataclass(frozen=True, slots=True)
class NewExecution:
    """A run that somebody asks for. None means: as the job's current revision says, or now."""

    id: ExecutionId
    job_id: JobId
    input: Document | None = None
    due: datetime | None = None
    priority: int | None = None
    unique_key: str | None = None
    trigger: Trigger = Trigger.MANUAL

    def __post_init__(self) -> None:
        if self.priority is not None:
            check_priority(self.priority)
        if self.unique_key is not None:
            check_name(self.unique_key, field="unique_key")


class Enqueued(NamedTuple):
    """Where an ask ended up. `is_new` is False if a live execution holds the same unique key."""

    id: ExecutionId
    is_new: bool


@dataclass(frozen=True, slots=True)
class Execution:
    """An execution as a reader sees it. `status` is derived from where it is, never stored while live."""

    id: ExecutionId
    tenant_id: TenantId
    job_id: JobId
    revision: int
    status: ExecutionStatus
    trigger: Trigger
    nominal_time: datetime | None
    due: datetime
    priority: int
    claim: int  # Times handed to a worker: the fence.
    attempts: int  # Times charged against the retry budget.
    worker: WorkerId | None
    input: Document | None
    result: Document | None
    failure: Failure | None
    unique_key: str | None
    cancel_requested: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    waits_for: WaitsFor | None = None

    @property
    def attempt(self) -> int:
        """The number of the one that runs or comes next; after the end, of the last. 0: none began."""
        if not self.status.is_final:
            return self.attempts + 1
        return max(self.attempts, 1 if self.claim else 0)


@dataclass(frozen=True, slots=True)
class RecentRun:
    """An execution in few words. `status` is RUNNING, how it ended, or None while it waits until `due`."""

    id: ExecutionId
    status: ExecutionStatus | None
    worker: WorkerId | None
    attempts: int
    started_at: datetime | None
    finished_at: datetime | None
    due: datetime | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of an execution on one worker, and how it ended."""

    execution_id: ExecutionId
    claim: int
    worker: WorkerId
    outcome: AttemptOutcome
    failure: Failure | None
    started_at: datetime
    finished_at: datetime

    @property
    def was_turned_away(self) -> bool:
        """The worker lacked what it needs, as `failure` says, and called nothing."""
        return self.outcome is AttemptOutcome.SNOOZED and self.failure is not None


class AttemptOutcome(StrEnum):
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"  # The worker stopped renewing.
    RELEASED = "RELEASED"  # Given back without charge: drain, capacity.
    # The handler asked to be called again later, without charge; or the worker had none, as the failure says.
    SNOOZED = "SNOOZED"


_NOT_CHARGED = frozenset({AttemptOutcome.RELEASED, AttemptOutcome.SNOOZED})


def attempt_numbers(attempts: Sequence[Attempt]) -> Sequence[int]:
    """As handlers and the execution itself count: one that was given back has the number of the next."""
    charged = accumulate((one.outcome not in _NOT_CHARGED for one in attempts), initial=0)
    return [1 + before for _, before in zip(attempts, charged, strict=False)]
