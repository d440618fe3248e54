"""What a job is: a name, a status, and an immutable revision of what to run, when, and how to retry."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import NewType
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.time.schedule import Schedule
from gnomon.core.values.choices import Choice
from gnomon.core.values.document import Document, check_name
from gnomon.core.values.limits import MAX_CONCURRENT_MAX
from gnomon.errors import InvalidInput

JobId = NewType("JobId", UUID)

SHARDS = 64
DAG_KIND = "gnomon.dag"  # Of jobs that are workflows. No worker runs it: its tasks are run.
PRIORITY_MIN, PRIORITY_DEFAULT, PRIORITY_MAX = 0, 5, 9
PRIORITIES = list(range(PRIORITY_MAX, PRIORITY_MIN - 1, -1))  # In the order in which they are served.
TIMEOUT_MAX = timedelta(days=30)
TAGS_MAX = 64
DEPENDENCIES_MAX = 256
CAPABILITIES_MAX = 32


class JobStatus(Choice):
    ACTIVE = "ACTIVE"  # Fires when its schedule says so.
    PAUSED = "PAUSED"  # Known, but its due times are skipped until somebody resumes it.
    COMPLETED = "COMPLETED"  # Nothing is left to fire.
    CANCELLED = "CANCELLED"  # Stopped for good by a person; waiting executions ended with it.
    DELETED = "DELETED"  # Soft: the name is free again, the history stays until retention.


class Delivery(Choice):
    AT_LEAST_ONCE = "at_least_once"
    AT_MOST_ONCE = "at_most_once"  # An attempt that started is never repeated, whatever became of it.


@dataclass(frozen=True, slots=True)
class Definition:
    """What a revision of a job says. Immutable: a change is a new revision. A kind is kept in lower case."""

    kind: str
    payload: Document = field(default_factory=lambda: Document("{}"))
    schedule: Schedule = field(default_factory=Schedule)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    queue: str = "default"
    capabilities: frozenset[str] = frozenset()
    priority: int = PRIORITY_DEFAULT
    timeout: timedelta | None = None
    max_concurrent: int | None = None
    delivery: Delivery = Delivery.AT_LEAST_ONCE

    def __post_init__(self) -> None:
        check_name(self.kind, field="kind")
        if not self.kind.islower():
            object.__setattr__(self, "kind", self.kind.lower())
            check_name(self.kind, field="kind")  # Some letters are longer in lower case.
        check_name(self.queue, field="queue")
        check_priority(self.priority)
        if len(self.capabilities) > CAPABILITIES_MAX:
            raise InvalidInput("capabilities", f"more than {CAPABILITIES_MAX}.")
        for capability in self.capabilities:
            check_name(capability, field="capabilities")
        if self.timeout is not None and not timedelta(0) < self.timeout <= TIMEOUT_MAX:
            raise InvalidInput("timeout_seconds", f"must be more than 0 and at most {TIMEOUT_MAX.days} days.")
        if not isinstance(self.delivery, Delivery):
            raise InvalidInput("delivery", f"{self.delivery!r} is not one of {', '.join(Delivery)}.")
        if self.max_concurrent is not None and (
            type(self.max_concurrent) is not int or not 1 <= self.max_concurrent <= MAX_CONCURRENT_MAX
        ):
            raise InvalidInput("max_concurrent", f"must be a whole number from 1 to {MAX_CONCURRENT_MAX}.")


@dataclass(frozen=True, slots=True)
class Revision:
    """A definition with its place in the job's history. Safe to cache for ever."""

    tenant_id: TenantId
    job_id: JobId
    number: int
    definition: Definition
    is_task: bool = False  # Of a workflow: its job is the workflow.


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to be created. `next_run_time` is decided by the schedule, not by the store."""

    id: JobId
    tenant_id: TenantId
    name: str
    definition: Definition
    next_run_time: datetime | None
    tags: frozenset[str] = frozenset()
    dependencies: frozenset[JobId] = frozenset()

    def __post_init__(self) -> None:
        check_job(self.name, self.tags, self.dependencies)


@dataclass(frozen=True, slots=True)
class Job:
    id: JobId
    tenant_id: TenantId
    name: str
    status: JobStatus
    version: int  # Grows with every change by a person; the guard of optimistic locking.
    revision: int  # Grows when the definition changes.
    definition: Definition
    next_run_time: datetime | None
    last_run_time: datetime | None
    fires: int  # Occurrences fired so far; what max_runs counts.
    anchor: datetime | None  # Where an interval counts from, once a misfire has moved it.
    tags: frozenset[str]
    dependencies: frozenset[JobId]
    created_at: datetime
    updated_at: datetime


def check_job(name: str, tags: frozenset[str], dependencies: frozenset[JobId]) -> None:
    check_name(name, field="name")
    if len(tags) > TAGS_MAX:
        raise InvalidInput("tags", f"more than {TAGS_MAX}.")
    for tag in tags:
        check_name(tag, field="tags")
    if len(dependencies) > DEPENDENCIES_MAX:
        raise InvalidInput("dependencies", f"more than {DEPENDENCIES_MAX}.")


def check_priority(priority: object) -> None:
    if type(priority) is not int or not PRIORITY_MIN <= priority <= PRIORITY_MAX:
        raise InvalidInput(
            "priority", f"{priority!r} is not a whole number from {PRIORITY_MIN} to {PRIORITY_MAX}."
        )


def shard_of(job_id: JobId) -> int:
    """Which slice of the schedulers' work a job belongs to. Stable for ever: it is stored."""
    return int.from_bytes(blake2b(job_id.bytes, digest_size=2).digest(), "big") % SHARDS
