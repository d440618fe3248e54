"""What Gnomon tells the outside: named facts in a CloudEvents envelope, after they have become true."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from gnomon.core.values.choices import Choice
from gnomon.core.values.document import Document


class EventType(Choice):
    """The noun, a dot, and what happened to it."""

    JOB_CREATED = "job.created"
    JOB_UPDATED = "job.updated"
    JOB_PAUSED = "job.paused"
    JOB_RESUMED = "job.resumed"
    JOB_COMPLETED = "job.completed"
    JOB_CANCELLED = "job.cancelled"
    JOB_DELETED = "job.deleted"

    OCCURRENCE_FIRED = "occurrence.fired"
    OCCURRENCE_SKIPPED = "occurrence.skipped"

    EXECUTION_CREATED = "execution.created"
    EXECUTION_STARTED = "execution.started"
    EXECUTION_RETRIED = "execution.retried"
    EXECUTION_COMPLETED = "execution.completed"
    EXECUTION_FAILED = "execution.failed"
    EXECUTION_TIMED_OUT = "execution.timed_out"
    EXECUTION_CANCELLED = "execution.cancelled"
    EXECUTION_SKIPPED = "execution.skipped"
    EXECUTION_DEAD_LETTERED = "execution.dead_lettered"
    EXECUTION_REDRIVEN = "execution.redriven"

    KEY_CREATED = "key.created"
    KEY_REVOKED = "key.revoked"

    WORKER_REGISTERED = "worker.registered"
    WORKER_DRAINED = "worker.drained"
    WORKER_LOST = "worker.lost"


@dataclass(frozen=True, slots=True)
class Event:
    """A CloudEvents 1.0 event. `source` names the tenant, `subject` the object, such as jobs/<id>."""

    id: UUID
    source: str
    type: EventType
    time: datetime
    subject: str
    data: Document = field(default_factory=lambda: Document("{}"))
    specversion: str = field(init=False, default="1.0")
    datacontenttype: str = field(init=False, default="application/json")
