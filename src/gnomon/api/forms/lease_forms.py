"""The worker protocol on the wire: what is sent, what is answered, and the way to values and back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import UNSET

from gnomon.api.forms.execution_answers import raw
from gnomon.api.forms.reading import Answer, Form
from gnomon.api.forms.retry_forms import shown_retry
from gnomon.client.executions.leases import Handed, Written
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.lease import Claim
from gnomon.core.executions.records import LogLevel, LogLine
from gnomon.core.time.schedule_document import to_document
from gnomon.core.values.choices import Choice, choice
from gnomon.core.values.document import Document
from gnomon.core.values.instants import parse_instant, seconds_of
from gnomon.core.values.limits import cut_line
from gnomon.errors import InvalidInput, LeaseLost
from gnomon.store.protocols.changes import Applied

NUMBER_MAX = 2**31 - 1


class ClaimForm(Form):
    """Sent again with its `request_id`, say that it `is_repeat`. What it does not name is as registered."""

    worker_id: str
    request_id: str
    kinds: list[str] | None = None
    queues: list[str] | None = None
    capabilities: list[str] | None = None
    limit: int = 1
    wait_seconds: int | float = 0
    is_repeat: bool = False


class Held(Form):
    execution_id: str
    claim: int


class RenewForm(Form):
    worker_id: str
    leases: list[Held]


class OutcomeWord(Choice):
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    SNOOZED = "snoozed"
    RELEASED = "released"


class Completion(Held):
    """`outcome` decides which of the other fields count.

    `wait_is_drawn` says that `retry_after_seconds` comes from the retry policy with chance in it already: the
    server adds none of its own.
    """

    outcome: OutcomeWord
    result: Any = UNSET
    error_kind: str | None = None
    error_message: str | None = None
    permanent: bool = False
    retry_after_seconds: int | float | None = None
    wait_is_drawn: bool = False
    delay_seconds: int | float | None = None
    has_started: bool = True


class CompleteForm(Form):
    worker_id: str
    completions: list[Completion]


class CheckpointOne(Held):
    state: Any
    progress: int | float | None = None


class CheckpointForm(Form):
    worker_id: str
    checkpoints: list[CheckpointOne]


class LineOne(Held):
    """`number` counts within the attempt, from 1, so that a line that is sent twice is one line."""

    number: int
    message: str
    level: str = LogLevel.INFO
    at: str | None = None
    context: Any = UNSET


class LogForm(Form):
    worker_id: str
    lines: list[LineOne]


class Lease(Answer):
    """An execution in a worker's hands. `claim` is the fencing token: hand it on to what you write to.

    `has_input` and `has_checkpoint` tell what is `null` from what is not there.
    """

    execution_id: str
    claim: int
    tenant_id: str
    job_id: str
    revision: int
    attempt_number: int
    attempts: int
    crashes: int
    max_attempts: int
    kind: str
    payload: Any
    input: Any
    has_input: bool
    checkpoint: Any
    has_checkpoint: bool
    queue: str
    capabilities: list[str]
    priority: int
    timeout_seconds: int | float | None
    max_concurrent: int | None
    delivery: str
    retry_policy: dict[str, Any]
    schedule: dict[str, Any]
    scheduled_time: datetime
    nominal_time: datetime | None
    due: datetime
    started_at: datetime
    lease_until: datetime
    cancel_requested: bool
    is_task: bool


class Claimed(Answer):
    """Renew each lease within a third of `lease_seconds`."""

    leases: list[Lease]
    lease_seconds: int | float
    server_time: datetime


class Token(Answer):
    execution_id: str
    claim: int


class Renewed(Token):
    """`command` is `cancel` when somebody wants the execution to stop."""

    lease_until: datetime
    command: str | None


class RenewAnswer(Answer):
    renewed: list[Renewed]
    lost: list[Token]
    server_time: datetime


class Completed(Token):
    """`applied`, `replayed` (this was said before, and counted once) or `lost`. `status` if applied now."""

    answer: str
    replayed: bool
    status: str | None


class CompleteAnswer(Answer):
    results: list[Completed]


class KeptAnswer(Answer):
    kept: list[Token]
    lost: list[Token]


# From the wire ---------------------------------------------------------------------------------------


def claim_of(one: Held) -> Claim:
    """A number that no claim can have is nobody's claim, and is answered as such."""
    number = one.claim if 0 <= one.claim <= NUMBER_MAX else 0
    return Claim(ExecutionId(uuid_of(one.execution_id, "execution_id")), number)


def uuid_of(text: str, field: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise InvalidInput(field, f"{text[:40]!r} is not a UUID.") from None


def line_of(one: LineOne, now: datetime) -> LogLine:
    if not 1 <= one.number <= NUMBER_MAX:
        raise InvalidInput("number", f"must be from 1 to {NUMBER_MAX}.")
    return LogLine(
        claim_of(one),
        one.number,
        now if one.at is None else parse_instant(one.at, field="at"),
        choice(LogLevel, one.level, field="level"),
        cut_line(one.message),
        None if one.context is UNSET else Document.of(one.context, field="context"),
    )


# To the wire -----------------------------------------------------------------------------------------


def lease_answer(handed: Handed) -> Lease:
    one, definition = handed.leased, handed.leased.revision.definition
    return Lease(
        execution_id=str(one.claim.execution_id),
        claim=one.claim.number,
        tenant_id=str(one.tenant_id),
        job_id=str(one.job_id),
        revision=one.revision.number,
        attempt_number=one.attempt,
        attempts=one.attempts,
        crashes=one.crashes,
        max_attempts=definition.retry.max_attempts,
        kind=definition.kind,
        payload=raw(one.payload),
        input=raw(None if one.revision.is_task else one.input),
        has_input=one.input is not None and not one.revision.is_task,
        checkpoint=raw(handed.state),
        has_checkpoint=handed.state is not None,
        queue=definition.queue,
        capabilities=sorted(definition.capabilities),
        priority=one.priority,
        timeout_seconds=None if definition.timeout is None else seconds_of(definition.timeout),
        max_concurrent=definition.max_concurrent,
        delivery=definition.delivery,
        retry_policy=shown_retry(definition.retry),
        schedule=dict(to_document(definition.schedule)),
        scheduled_time=one.nominal_time or one.due,
        nominal_time=one.nominal_time,
        due=one.due,
        started_at=one.started_at,
        lease_until=one.lease_until,
        cancel_requested=one.cancel_requested,
        is_task=one.revision.is_task,
    )


def token(claim: Claim) -> Token:
    return Token(execution_id=str(claim.execution_id), claim=claim.number)


def completed(one: Written) -> Completed:
    return Completed(
        execution_id=str(one.claim.execution_id),
        claim=one.claim.number,
        answer=one.applied,
        replayed=one.applied is Applied.REPLAYED,
        status=one.status,
    )


def kept_answer(claims: Sequence[Claim], kept: Collection[Claim]) -> KeptAnswer:
    check_lost(claims, kept)
    held = [token(one) for one in claims if one in kept]
    return KeptAnswer(kept=held, lost=[token(one) for one in claims if one not in kept])


def check_lost(claims: Sequence[Claim], kept: Collection[Claim]) -> None:
    """Raises LeaseLost if none of it is held any more."""
    if claims and not kept:
        raise LeaseLost(claims[0].execution_id, claim=claims[0].number, details={"lost": len(claims)})
