"""The worker protocol over HTTP: claim, renew, complete, checkpoint, log. All in batches, all fenced.

A worker is spoken for by the key that registered it, within what it registered for. The pair of
`execution_id` and `claim` is its right to speak for an execution. Where nothing of what a call names is held
any more, it is answered 409 LEASE_LOST; where some of it is, the answer tells which.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Any

from litestar import post
from litestar.params import JSONBody

from gnomon.api.forms.lease_forms import (
    check_lost,
    claim_of,
    completed,
    kept_answer,
    lease_answer,
    line_of,
    token,
    uuid_of,
)
from gnomon.api.forms.outcome_forms import outcome_of
from gnomon.api.forms.reading import Body
from gnomon.api.forms.words import read_each
from gnomon.api.resources.workers import own_worker
from gnomon.api.serving.call import Call
from gnomon.api.serving.encoded import InParts, in_parts
from gnomon.api.serving.policy import WORKS
from gnomon.client.executions.leases import LeaseEnd
from gnomon.client.remote.worker_protocol import (
    CANCEL,
    CheckpointForm,
    CheckpointOne,
    Claimed,
    ClaimForm,
    CompleteAnswer,
    CompleteForm,
    Completion,
    KeptAnswer,
    LogForm,
    RenewAnswer,
    Renewed,
    RenewForm,
)
from gnomon.core.executions.execution import WorkerId
from gnomon.core.executions.lease import ClaimRequest
from gnomon.core.executions.records import Checkpoint
from gnomon.core.operations.workers import Registration
from gnomon.core.values.document import Document, check_name
from gnomon.core.values.instants import seconds_of
from gnomon.core.values.limits import CHECKPOINT_BYTES_MAX, check_batch
from gnomon.errors import InvalidInput, LeaseLost
from gnomon.store.protocols.changes import Applied

WAIT_SECONDS_MAX = 30
BATCH_MAX = 1000
LINES_MAX = 10_000


@post("/v1/leases/claim", policy=WORKS, dto=Body[ClaimForm], return_dto=None, status_code=200)
async def claim(data: JSONBody[ClaimForm], request: Call) -> InParts[Claimed]:
    """Executions that fit, or an empty list when `wait_seconds` are over."""
    if not 0 <= data.wait_seconds <= WAIT_SECONDS_MAX:
        raise InvalidInput("wait_seconds", f"must be from 0 to {WAIT_SECONDS_MAX}.")
    check_batch(data.limit, field="limit", size_max=BATCH_MAX)
    request_id = uuid_of(data.request_id, "request_id")
    own = await request.verbs.workers.own_present(_named(data.worker_id), request.caller.key.id)
    asked = ClaimRequest(
        request_id,
        own.id,
        own.offered("kinds", data.kinds),
        own.offered("queues", data.queues),
        own.offered("capabilities", data.capabilities),
        data.limit,
        data.is_repeat,
        is_counted=True,
    )
    wait = timedelta(seconds=data.wait_seconds)
    leases = request.verbs.leases
    handed = await leases.claim(asked, wait=wait, stop=request.closing, check=request.check_key)
    # Up to a thousand payloads, inputs and states: encoded in one go they would hold the loop.
    about = Claimed(leases=[], lease_seconds=seconds_of(leases.lease), server_time=request.now)
    return await in_parts(about, map(lease_answer, handed))


@post("/v1/leases/renew", policy=WORKS, dto=Body[RenewForm], return_dto=None, status_code=200)
async def renew(data: JSONBody[RenewForm], request: Call) -> RenewAnswer:
    """Hold on. What is missing from the answer is lost: stop working on it."""
    claims = read_each(_some(data.leases, "leases"), claim_of, field="leases")
    leases, own = request.verbs.leases, await _own(data.worker_id, request)
    kept = {one.claim: one for one in await leases.renew(own.id, claims)}
    check_lost(claims, kept)
    until = request.now + leases.lease
    renewed = [
        Renewed(
            execution_id=str(one.execution_id),
            claim=one.number,
            lease_until=until,
            command=CANCEL if kept[one].cancel_requested else None,
        )
        for one in claims
        if one in kept
    ]
    lost = [token(one) for one in claims if one not in kept]
    return RenewAnswer(renewed=renewed, lost=lost, server_time=request.now)


@post("/v1/leases/complete", policy=WORKS, dto=Body[CompleteForm], return_dto=None, status_code=200)
async def complete(data: JSONBody[CompleteForm], request: Call) -> CompleteAnswer:
    """Say how attempts ended. Each counts once, however often it is said."""
    endings = read_each(_some(data.completions, "completions"), _ending, field="completions")
    own = await _own(data.worker_id, request)
    written = await request.verbs.leases.complete(own.id, endings)
    results = [completed(one) for one in written]
    lost = [one for one in written if one.applied is Applied.LOST]
    request.refused(len(lost))
    request.metrics.finished(one.status for one in written if one.status and one.status.is_final)
    if len(lost) == len(written):
        current = await request.verbs.leases.current_claim(lost[0].claim.execution_id)
        first = lost[0].claim
        details = {"current_claim": current, "lost": len(lost)}
        raise LeaseLost(first.execution_id, claim=first.number, details=details)
    return CompleteAnswer(results=results)


@post("/v1/leases/checkpoint", policy=WORKS, dto=Body[CheckpointForm], return_dto=None, status_code=200)
async def checkpoint(data: JSONBody[CheckpointForm], request: Call) -> KeptAnswer:
    """Keep where the next attempt shall start from. The last one of an execution counts."""
    read = partial(_checkpoint, now=request.now)
    given = read_each(_some(data.checkpoints, "checkpoints"), read, field="checkpoints")
    own = await _own(data.worker_id, request)
    kept = await request.verbs.leases.checkpoint(own.id, given)
    return kept_answer([one.claim for one in given], kept)


@post("/v1/leases/logs", policy=WORKS, dto=Body[LogForm], return_dto=None, status_code=200)
async def log(data: JSONBody[LogForm], request: Call) -> KeptAnswer:
    """Keep lines of running attempts."""
    check_batch(len(data.lines), field="lines", size_max=LINES_MAX)
    lines = read_each(data.lines, partial(line_of, now=request.now), field="lines")
    own = await _own(data.worker_id, request)
    kept = await request.verbs.leases.log(own.id, lines)
    return kept_answer(list(dict.fromkeys(one.claim for one in lines)), kept)


async def _own(worker_id: str, request: Call) -> Registration:
    return await own_worker(_named(worker_id), request)


def _ending(one: Completion) -> LeaseEnd:
    return LeaseEnd(claim_of(one), outcome_of(one), one.wait_is_drawn and one.retry_after_seconds is not None)


def _checkpoint(one: CheckpointOne, *, now: datetime) -> Checkpoint:
    state = Document.of(one.state, field="state", bytes_max=CHECKPOINT_BYTES_MAX)
    return Checkpoint(claim_of(one), state, one.progress, now)


def _named(worker_id: str) -> WorkerId:
    check_name(worker_id, field="worker_id")
    return WorkerId(worker_id)


def _some(items: list[Any], field: str) -> list[Any]:
    check_batch(len(items), field=field, size_max=BATCH_MAX)
    if not items:
        raise InvalidInput(field, "is empty.")
    return items


ROUTES: list[Any] = [claim, renew, complete, checkpoint, log]
