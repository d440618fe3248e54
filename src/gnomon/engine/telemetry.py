"""What the engine counts, and whom it tells what happens while it runs."""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, NamedTuple

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import ExecutionId, Failure
from gnomon.core.executions.lease import Leased
from gnomon.core.jobs.job import JobId

logger = logging.getLogger(__name__)


class What(StrEnum):
    FIRED = "fired"
    SKIPPED = "skipped"
    STARTED = "started"
    PROGRESSED = "progressed"  # A checkpoint with progress.
    COMPLETED = "completed"
    RETRIED = "retried"  # Failed or ran too long, and will be tried again.
    FAILED = "failed"  # Ended without success: now a dead letter.
    CANCELLED = "cancelled"
    RELEASED = "released"  # Given back without charge: drain, snooze.
    REAPED = "reaped"  # Taken back from a worker that stopped renewing.
    REFUSED = "refused"  # A late write that the fence turned away.
    LOST = "lost"  # A running attempt was stopped, because somebody else owns its execution.
    PASSED_OVER = "passed_over"  # A job whose due times cannot be fired, for a while. Only counted.


class Happening(NamedTuple):
    what: What
    at: datetime
    tenant_id: TenantId
    job_id: JobId
    execution_id: ExecutionId | None = None
    attempt: int = 0
    note: str = ""  # A reason, a failure, or how far it has come.
    task_revision: int | None = None  # Of a task of a workflow: the revision of the job that it runs.


class Spans:
    """How long something took, so many times: counted by buckets, as Prometheus wants it."""

    # In seconds, upper bounds; the last bucket has none.
    BOUNDS: ClassVar[Sequence[float]] = (
        0.005,
        0.01,
        0.025,
        0.05,
        0.1,
        0.25,
        0.5,
        1.0,
        2.5,
        5.0,
        10.0,
        30.0,
        60.0,
        300.0,
        1800.0,
    )

    def __init__(self) -> None:
        self.counts = [0] * (len(self.BOUNDS) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(self.BOUNDS, seconds)] += 1
        self.seconds += seconds


Listener = Callable[[Happening], None]
DecisionListener = Callable[[Sequence[Decision], datetime], None]


class Telemetry:
    """Counters, and listeners for those who want to know more. Without listeners, it only counts."""

    def __init__(self) -> None:
        self.counts: Counter[What] = Counter()
        self.queued = Spans()  # From due to started.
        self.ran = Spans()  # From started to ended, each attempt.
        self.late = Spans()  # From nominal time to fired.
        self.polled = Spans()  # How long the store took to say what is due.
        self.listeners: list[Listener] = []
        # Called with what a worker has decided about attempts, before it is written; for those who judge.
        self.on_decisions: list[DecisionListener] = []

    def tell(self, what: What, leased: Leased, *, at: datetime, failure: Failure | None = None) -> None:
        self.counts[what] += 1
        if self.listeners:
            note = f"{failure.kind}: {failure.message}" if failure else ""
            run = leased.claim.execution_id
            task = leased.revision.number if leased.revision.is_task else None
            self._happened(
                Happening(what, at, leased.tenant_id, leased.job_id, run, leased.attempt, note, task)
            )

    def tell_started(self, many: Sequence[Leased], *, at: datetime) -> None:
        for leased in many:
            self.queued.add((at - leased.due).total_seconds())
        self.tell_all(What.STARTED, many, at=at)

    def tell_all(self, what: What, many: Sequence[Leased], *, at: datetime) -> None:
        if self.listeners:
            for leased in many:
                self.tell(what, leased, at=at)
        else:
            self.counts[what] += len(many)

    def count(self, what: Iterable[What]) -> None:
        """For who tells many at once, when nobody listens."""
        for one in what:
            self.counts[one] += 1

    def tell_of_job(
        self,
        what: What,
        tenant_id: TenantId,
        job_id: JobId,
        *,
        at: datetime,
        count: int = 1,
        execution_id: ExecutionId | None = None,
        note: str = "",
    ) -> None:
        self.counts[what] += count
        if self.listeners:
            self._happened(Happening(what, at, tenant_id, job_id, execution_id, note=note))

    def _happened(self, happening: Happening) -> None:
        for listener in self.listeners:
            try:
                listener(happening)
            except Exception:  # Who only watches must not stop what is watched.
                logger.exception("a listener failed")
