"""What a worker needs of a store, over HTTP: the same promises, kept by a server that has one.

The server decides how long a lease lasts and what an outcome comes to. Times that a worker passes in are not
sent, except that of a log line.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar
from urllib.parse import quote
from uuid import UUID

import msgspec

from gnomon.client.remote.line import PATIENCE, ServerLine, batches
from gnomon.client.remote.wire import ServerAddress
from gnomon.client.remote.work_forms import (
    ClaimedRead,
    WorkerRead,
    checkpoint_form,
    claim_form,
    claim_of,
    completion_form,
    document_of,
    held,
    leased_of,
    line_form,
    registration_form,
    revision_of,
    worker_of,
)
from gnomon.client.remote.worker_protocol import (
    CANCEL,
    Beat,
    CompleteAnswer,
    Held,
    KeptAnswer,
    Lease,
    RenewAnswer,
    WorkerAnswer,
)
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import ExecutionId, WorkerId
from gnomon.core.executions.lease import Claim, ClaimRequest, Leased, Renewed
from gnomon.core.executions.records import Checkpoint, LogLine
from gnomon.core.jobs.job import Revision
from gnomon.core.operations.workers import Registration, Worker
from gnomon.errors import (
    LeaseLost,
    ServerRefused,
    StoreUnavailable,
    WorkerNameTaken,
    WorkerNotFound,
    WorkerOfAnotherKey,
)
from gnomon.store.protocols.changes import Applied, Handover

# A claim that finds nothing waits for so long at the server. A drain waits for it, so it is not longer.
WAIT = timedelta(seconds=3)
REVISIONS_MAX = 1000
# The server forgot this worker, or another one took its name.
NOT_OURS = frozenset({WorkerNotFound.code, WorkerOfAnotherKey.code})

Item = TypeVar("Item")


def tell_nobody() -> None:
    """For who does not claim."""


class RemoteStore:
    """`answered` is called after each claim: the next one need not pause, for the server does the waiting."""

    def __init__(
        self, address: ServerAddress, worker: WorkerId, *, answered: Callable[[], None] = tell_nobody
    ) -> None:
        line = ServerLine(address)
        self._line = line
        self.workers = RemotePresence(line, worker)
        self.checkpoints = RemoteCheckpoints(line, worker)
        self.logs = RemoteLogs(line, worker)
        self.executions = RemoteLeases(line, worker, self.checkpoints, lambda: answered())

    async def close(self) -> None:
        await self._line.close()


class RemotePresence:
    def __init__(self, line: ServerLine, worker: WorkerId) -> None:
        self._line = line
        self._path = f"/v1/workers/{quote(worker, safe='')}"

    async def introduce(self, registration: Registration) -> timedelta:
        """Register, and learn how long a lease of this server lasts."""
        answer = await self._line.post("/v1/workers", _encoded(registration_form(registration)))
        return timedelta(seconds=msgspec.json.decode(answer, type=WorkerRead).lease_seconds)

    async def register(self, registration: Registration, *, now: datetime) -> None:
        try:
            await self.introduce(registration)
        except ServerRefused as error:
            if error.code == WorkerNameTaken.code:
                raise WorkerNameTaken(registration.id) from error
            raise

    async def beat(self, worker_id: WorkerId, boot: UUID, *, now: datetime) -> Worker:
        return worker_of(await self._told(worker_id, "heartbeat", Beat(boot=str(boot))))

    async def leave(self, worker_id: WorkerId, boot: UUID, *, now: datetime) -> None:
        await self._told(worker_id, "leave", Beat(boot=str(boot)))

    async def get(self, worker_id: WorkerId) -> Worker:
        try:
            answer = await self._line.get(self._path)
        except ServerRefused as error:
            if error.code == WorkerNotFound.code:
                raise WorkerNotFound(worker_id) from error
            raise
        return worker_of(msgspec.json.decode(answer, type=WorkerRead))

    async def clock(self, boot: UUID) -> datetime:
        """What time it is for the server."""
        try:
            answer = await self._line.post(f"{self._path}/heartbeat", _encoded(Beat(boot=str(boot))))
        except ServerRefused as error:  # Forgotten, or a namesake took over: the heartbeat sees to it.
            raise StoreUnavailable(str(error)) from error
        return msgspec.json.decode(answer, type=WorkerRead).server_time

    async def _told(self, worker_id: WorkerId, verb: str, form: Beat) -> WorkerAnswer:
        try:
            answer = await self._line.post(f"{self._path}/{verb}", _encoded(form))
        except ServerRefused as error:
            if error.code in NOT_OURS:
                raise WorkerNotFound(worker_id) from error
            raise
        return msgspec.json.decode(answer, type=WorkerRead)


class RemoteCheckpoints:
    """What earlier attempts have kept comes with the claim, so that nobody has to ask for it."""

    def __init__(self, line: ServerLine, worker: WorkerId) -> None:
        self._line = line
        self._worker = worker
        self.came_along: Mapping[ExecutionId, Checkpoint] = {}

    async def save(self, checkpoints: Sequence[Checkpoint]) -> Sequence[Claim]:
        return await _kept(
            self._line, self._worker, "checkpoint", "checkpoints", checkpoints, checkpoint_form
        )

    async def load(self, execution_ids: Sequence[ExecutionId]) -> Mapping[ExecutionId, Checkpoint]:
        """Of executions of the latest claim."""
        return {id: self.came_along[id] for id in execution_ids if id in self.came_along}


class RemoteLogs:
    def __init__(self, line: ServerLine, worker: WorkerId) -> None:
        self._line = line
        self._worker = worker

    async def append(self, lines: Sequence[LogLine]) -> Sequence[Claim]:
        return await _kept(self._line, self._worker, "logs", "lines", lines, line_form)


class RemoteLeases:
    def __init__(
        self, line: ServerLine, worker: WorkerId, checkpoints: RemoteCheckpoints, answered: Callable[[], None]
    ) -> None:
        self._line = line
        self._worker = worker
        self._checkpoints = checkpoints
        self._answered = answered
        self._revisions: OrderedDict[tuple[str, int], Revision] = OrderedDict()

    async def claim(self, request: ClaimRequest, *, now: datetime, lease_until: datetime) -> Sequence[Leased]:
        form = claim_form(request, wait=WAIT)
        try:
            answer = await self._line.post("/v1/leases/claim", _encoded(form), patience=WAIT + PATIENCE)
        except ServerRefused as error:
            if error.code in NOT_OURS:  # The heartbeat sees to it.
                raise StoreUnavailable(str(error)) from error
            raise
        leases = msgspec.json.decode(answer, type=ClaimedRead).leases
        self._checkpoints.came_along = {
            claim.execution_id: Checkpoint(claim, document_of(one.checkpoint), None, one.started_at)
            for one in leases
            if one.has_checkpoint
            for claim in [claim_of(one)]
        }
        self._answered()
        return [leased_of(one, self._worker, self._revision(one)) for one in leases]

    async def renew(self, claims: Sequence[Claim], *, lease_until: datetime) -> Sequence[Renewed]:
        found: list[Renewed] = []
        for batch in batches([_encoded(held(claim)) for claim in claims]):
            answer = await _unless_lost(self._line, "renew", _batch(self._worker, "leases", batch))
            if answer is not None:
                renewed = msgspec.json.decode(answer, type=RenewAnswer).renewed
                found += [Renewed(claim_of(one), one.command == CANCEL) for one in renewed]
        return found

    async def apply(self, decisions: Sequence[Decision], *, now: datetime) -> Sequence[Applied]:
        found: list[Applied] = []
        for batch in batches([_encoded(completion_form(one, now=now)) for one in decisions]):
            answer = await _unless_lost(self._line, "complete", _batch(self._worker, "completions", batch))
            if answer is None:
                found += [Applied.LOST] * len(batch)
            else:
                results = msgspec.json.decode(answer, type=CompleteAnswer).results
                found += [Applied(one.answer) for one in results]
        return found

    async def apply_and_claim(
        self, decisions: Sequence[Decision], request: ClaimRequest, *, now: datetime, lease_until: datetime
    ) -> Handover:
        """The protocol knows no such thing: the worker claims as always."""
        return Handover(await self.apply(decisions, now=now), None, more=True)

    def _revision(self, one: Lease) -> Revision:
        """Read once: a revision never changes."""
        key = (one.job_id, one.revision)
        known = self._revisions.get(key)
        if known is None:
            known = self._revisions[key] = revision_of(one)
            if len(self._revisions) > REVISIONS_MAX:
                self._revisions.popitem(last=False)
        return known


async def _kept(
    line: ServerLine,
    worker: WorkerId,
    verb: str,
    noun: str,
    items: Sequence[Item],
    form_of: Callable[[Item], Held],
) -> Sequence[Claim]:
    found: dict[Claim, None] = {}
    for batch in batches([_encoded(form_of(one)) for one in items]):
        answer = await _unless_lost(line, verb, _batch(worker, noun, batch))
        if answer is not None:
            found |= {claim_of(one): None for one in msgspec.json.decode(answer, type=KeptAnswer).kept}
    return list(found)


async def _unless_lost(line: ServerLine, verb: str, content: bytes) -> bytes | None:
    """None if nothing of it is held any more."""
    try:
        return await line.post(f"/v1/leases/{verb}", content)
    except ServerRefused as error:
        if error.code == LeaseLost.code or error.code in NOT_OURS:
            return None
        raise


def _batch(worker: WorkerId, noun: str, items: Sequence[bytes]) -> bytes:
    return b'{"worker_id":%b,"%b":[%b]}' % (_encoded(worker), noun.encode(), b",".join(items))


def _encoded(form: object) -> bytes:
    return msgspec.json.encode(form)
