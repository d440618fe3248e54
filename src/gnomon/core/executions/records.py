"""What else is kept about executions: log lines, checkpoints, dead letters; and how lists are read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, Failure
from gnomon.core.executions.lease import Claim
from gnomon.core.executions.lifecycle import DeadReason
from gnomon.core.jobs.job import JobId, JobStatus
from gnomon.core.values.choices import Choice
from gnomon.core.values.document import NAME_LENGTH_MAX, Document, check_name, check_text
from gnomon.core.values.limits import LOG_LINE_BYTES_MAX
from gnomon.errors import InvalidInput

Item = TypeVar("Item")
_LAST = "\U0010ffff"
_SURROGATES = range(0xD800, 0xE000)  # Which are not text.


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some of a list, newest first. `next` asks for the rest; None means that there is none."""

    items: tuple[Item, ...]
    next: UUID | None


@dataclass(frozen=True, slots=True)
class JobFilter:
    status: JobStatus | None = None  # None: all but DELETED.
    kind: str | None = None
    tag: str | None = None
    name: str | None = None
    next_run_before: datetime | None = None
    next_run_after: datetime | None = None
    type: str | None = None  # Of its schedule, as core/time/schedule_document.py calls it.
    name_prefix: str | None = None
    name_contains: str | None = None  # In the same case.

    def __post_init__(self) -> None:
        for field in ("kind", "tag", "name", "type", "name_prefix", "name_contains"):
            if getattr(self, field) is not None:
                check_name(getattr(self, field), field=field)
        if self.kind is not None:
            object.__setattr__(self, "kind", self.kind.lower())
        if self.name is not None and self.name_prefix is not None:
            raise InvalidInput("name_prefix", "goes without `name`, which is the whole of it.")

    @property
    def name_range(self) -> tuple[str, str] | None:
        """From where on and up to where its name is, in the order of code points. None: anywhere."""
        if self.name is not None:
            return self.name, f"{self.name}\1"  # The next text: a NUL is in no name.
        return None if self.name_prefix is None else (self.name_prefix, after_prefix(self.name_prefix))


def after_prefix(prefix: str) -> str:
    """The first text, in the order of code points, behind all that begin with this."""
    kept = prefix.rstrip(_LAST)
    if not kept:
        return prefix + _LAST * NAME_LENGTH_MAX
    following = ord(kept[-1]) + 1
    return kept[:-1] + chr(_SURROGATES.stop if following in _SURROGATES else following)


@dataclass(frozen=True, slots=True)
class ExecutionFilter:
    """`since` and `until` (exclusive) are of when it was made, to the millisecond, which its id holds."""

    job_id: JobId | None = None
    status: ExecutionStatus | None = None
    since: datetime | None = None
    until: datetime | None = None


class LogLevel(Choice):
    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"  # `WARN` is read as well.
    ERROR = "ERROR"

    @classmethod
    def _missing_(cls, value: object) -> LogLevel | None:
        is_short = isinstance(value, str) and value.upper() == "WARN"
        return cls.WARNING if is_short else super()._missing_(value)


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of an attempt. `number` counts within the attempt, so a repeated write is the same line."""

    claim: Claim
    number: int
    at: datetime
    level: LogLevel
    message: str
    context: Document | None = None

    def __post_init__(self) -> None:
        assert self.number >= 1
        check_text(self.message, field="message")
        if len(self.message.encode()) > LOG_LINE_BYTES_MAX:
            raise InvalidInput("message", f"longer than {LOG_LINE_BYTES_MAX} bytes; see limits.cut_line.")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where the next attempt starts from, and how far the work has come (0 to 1)."""

    claim: Claim
    state: Document
    progress: float | None
    saved_at: datetime

    def __post_init__(self) -> None:
        if self.progress is None:
            return
        if not 0.0 <= self.progress <= 1.0:
            raise InvalidInput("progress", f"{self.progress} is not between 0 and 1.")
        object.__setattr__(self, "progress", float(self.progress))  # User code has other numbers, too.


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An execution that ended for good without success, kept for inspection and redrive.

    `redriven_as` is the execution that it became. Of a task of a workflow, it is the run, once that was
    repaired.
    """

    execution_id: ExecutionId
    tenant_id: TenantId
    job_id: JobId
    reason: DeadReason
    failure: Failure | None
    attempts: int
    died_at: datetime
    redriven_as: ExecutionId | None
    redriven_at: datetime | None


@dataclass(frozen=True, slots=True)
class Redrive:
    """Run a dead execution again, as a new execution: an ended one never comes back to life."""

    execution_id: ExecutionId
    new_id: ExecutionId


class AtRevision(Choice):
    """Which revision of its job an execution runs when it is run again.

    A task of a workflow always runs the revision that its run is pinned to.
    """

    NEWEST = "newest"
    ORIGINAL = "original"


class Redriven(NamedTuple):
    """What an execution became: a new one, or, if it is a task of a workflow, its run, which goes on.

    `is_new` is False if it was redriven before. `revision` is that of the job or the workflow; None if
    retention has dropped what it became.
    """

    id: ExecutionId
    is_new: bool
    revision: int | None
    dag_run_id: UUID | None = None
