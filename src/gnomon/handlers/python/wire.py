"""What the worker and the child process of a function say to each other: one JSON message a line."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypeAlias
from uuid import UUID

import msgspec

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId, WorkerId
from gnomon.core.executions.lease import Claim, Leased
from gnomon.core.jobs.job import PRIORITY_DEFAULT, Definition, JobId, Revision
from gnomon.core.values.document import Document
from gnomon.handlers.base import Attendant, Context

# A checkpoint or a result as JSON inside JSON: every character may need an escape.
MESSAGE_BYTES_MAX = 16 * 1024 * 1024


class Snapshot(msgspec.Struct, frozen=True):
    """A Context as it can be sent. Documents travel as text, so that every number arrives as it was."""

    execution_id: UUID
    claim: int
    tenant_id: UUID
    job_id: UUID
    attempt: int
    nominal_time: datetime | None
    due: datetime
    timeout: timedelta | None
    input: str | None
    state: str | None

    @classmethod
    def of(cls, context: Context) -> Snapshot:
        state = context.state
        return cls(
            execution_id=context.execution_id,
            claim=context.claim,
            tenant_id=context.tenant_id,
            job_id=context.job_id,
            attempt=context.attempt,
            nominal_time=context.nominal_time,
            due=context.due,
            timeout=context.timeout,
            input=None if context.given is None else context.given.text,
            state=None if state is None else msgspec.json.encode(state).decode(),
        )

    def context(self, attendant: Attendant) -> Context:
        """The context on the other side. What no context shows is filled with something harmless."""
        tenant, job = TenantId(self.tenant_id), JobId(self.job_id)
        leased = Leased(
            claim=Claim(ExecutionId(self.execution_id), self.claim),
            tenant_id=tenant,
            job_id=job,
            revision=Revision(tenant, job, 1, Definition("python", timeout=self.timeout)),
            worker=WorkerId("child"),
            priority=PRIORITY_DEFAULT,
            nominal_time=self.nominal_time,
            due=self.due,
            input=None if self.input is None else Document(self.input),
            attempts=self.attempt - 1,
            crashes=0,
            started_at=self.due,
            lease_until=self.due,
        )
        return Context(leased, attendant, None if self.state is None else Document(self.state))


class StartBody(msgspec.Struct, frozen=True, tag=True):
    home: str
    name: str
    values: str  # JSON.
    path: list[str]  # Where the worker imports from.
    log_level: int
    context: Snapshot


class StopBody(msgspec.Struct, frozen=True, tag=True):
    """Come to an end soon: from now on `context.cancelled` is true."""


class Saved(msgspec.Struct, frozen=True, tag=True):
    """What became of a checkpoint."""

    number: int
    error: str | None = None
    is_lease_lost: bool = False


class Log(msgspec.Struct, frozen=True, tag=True):
    level: int
    text: str


class CheckpointSaved(msgspec.Struct, frozen=True, tag=True):
    number: int
    state: str  # JSON.
    progress: float | None


class Returned(msgspec.Struct, frozen=True, tag=True):
    result: str  # JSON.


class BodyFailed(msgspec.Struct, frozen=True, tag=True):
    message: str
    kind: str
    permanent: bool = False
    retry_after: timedelta | None = None


class BodySnoozed(msgspec.Struct, frozen=True, tag=True):
    delay: timedelta


class Absent(msgspec.Struct, frozen=True, tag=True):
    """The function is not here, and may be elsewhere."""

    message: str


class BodyEnded(msgspec.Struct, frozen=True, tag=True):
    """The function came to an end because it was asked to."""


Outcome: TypeAlias = Returned | BodyFailed | BodySnoozed | Absent | BodyEnded
ToChild: TypeAlias = StartBody | StopBody | Saved
FromChild: TypeAlias = Log | CheckpointSaved | Returned | BodyFailed | BodySnoozed | Absent | BodyEnded

to_child: msgspec.json.Decoder[ToChild] = msgspec.json.Decoder(ToChild)
from_child: msgspec.json.Decoder[FromChild] = msgspec.json.Decoder(FromChild)


def line(message: ToChild | FromChild) -> bytes:
    return msgspec.json.encode(message) + b"\n"
