"""The worker protocol as its server reads and writes it: from forms to values, and from values to answers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from msgspec import UNSET

from gnomon.api.forms.execution_answers import raw
from gnomon.api.forms.retry_forms import shown_retry
from gnomon.client.executions.leases import Handed, Written
from gnomon.client.remote.worker_protocol import Completed, Held, KeptAnswer, Lease, LineOne, Token
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.lease import Claim
from gnomon.core.executions.records import LogLevel, LogLine
from gnomon.core.time.schedule_document import to_document
from gnomon.core.values.choices import choice
from gnomon.core.values.document import Document
from gnomon.core.values.instants import parse_instant, seconds_of
from gnomon.core.values.limits import cut_line
from gnomon.errors import InvalidInput, LeaseLost
from gnomon.store.protocols.changes import Applied

NUMBER_MAX = 2**31 - 1


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
