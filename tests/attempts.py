"""An attempt without a worker: the context that a handler is given, and who attends to it."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, WorkerId
from gnomon.core.executions.lease import Claim, Leased
from gnomon.core.jobs.job import Definition, JobId, Revision
from gnomon.core.values.document import JSON, Document
from gnomon.errors import LeaseLost
from gnomon.handlers.base import Context

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
JOB_ID = JobId(UUID("01890000-0000-7000-8000-000000000001"))
EXECUTION_ID = ExecutionId(UUID("01890000-0000-7000-8000-000000000007"))


@dataclass
class FakeAttendant:
    """Keeps checkpoints in a list, and stops when the story says so."""

    stopping: bool = False
    lease_is_lost: bool = False
    kept: list[tuple[JSON, float | None]] = field(default_factory=list)

    def checkpoint(self, leased: Leased, state: Document, progress: float | None) -> Future[None]:
        future: Future[None] = Future()
        if self.lease_is_lost:
            future.set_exception(LeaseLost(leased.claim.execution_id, claim=leased.claim.number))
        else:
            self.kept.append((state.value, progress))
            future.set_result(None)
        return future

    def is_stopping(self, leased: Leased) -> bool:
        return self.stopping


def an_attempt(
    attendant: FakeAttendant | None = None,
    *,
    input: JSON = None,  # noqa: A002 - the word that executions use.
    state: JSON = None,
    attempt: int = 1,
    timeout: timedelta | None = None,
) -> Context:
    leased = Leased(
        claim=Claim(EXECUTION_ID, 3),
        tenant_id=DEFAULT_TENANT,
        job_id=JOB_ID,
        revision=Revision(DEFAULT_TENANT, JOB_ID, 1, Definition("test", timeout=timeout)),
        worker=WorkerId("ada"),
        priority=5,
        nominal_time=NOON,
        due=NOON,
        input=None if input is None else Document.of(input, field="input"),
        attempts=attempt - 1,
        crashes=0,
        started_at=NOON,
        lease_until=NOON + timedelta(seconds=20),
    )
    return Context(
        leased, attendant or FakeAttendant(), None if state is None else Document.of(state, field="state")
    )


def a_payload(value: JSON) -> JSON:
    """As a handler is given it: it was kept, and read back."""
    return Document.of(value, field="payload").value
