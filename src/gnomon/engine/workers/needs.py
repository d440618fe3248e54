"""What a worker needs of a store, and no more: a store has all of it, and so has a server over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import WorkerId
from gnomon.core.executions.lease import Claim, ClaimRequest, Leased, Offer, Renewed
from gnomon.core.executions.records import LogLine
from gnomon.core.operations.workers import Registration, Worker
from gnomon.store.protocols.changes import Applied, Handover
from gnomon.store.protocols.executions import CheckpointStore


class Leases(Protocol):
    """See ExecutionStore."""

    async def claim(
        self, request: ClaimRequest, *, now: datetime, lease_until: datetime
    ) -> Sequence[Leased]: ...

    async def renew(self, claims: Sequence[Claim], *, lease_until: datetime) -> Sequence[Renewed]: ...

    async def apply(self, decisions: Sequence[Decision], *, now: datetime) -> Sequence[Applied]: ...

    async def apply_and_claim(
        self, decisions: Sequence[Decision], request: ClaimRequest, *, now: datetime, lease_until: datetime
    ) -> Handover: ...


class Forecast(Protocol):
    """See ExecutionStore."""

    async def hold_back(self, worker: WorkerId, offer: Offer, *, now: datetime) -> bool: ...

    async def next_due(self, offer: Offer, *, after: datetime) -> datetime | None: ...


class Lines(Protocol):
    """See LogStore."""

    async def append(self, lines: Sequence[LogLine]) -> Sequence[Claim]: ...


class Presence(Protocol):
    """See WorkerStore."""

    async def register(self, registration: Registration, *, now: datetime) -> None: ...

    async def beat(self, worker_id: WorkerId, boot: UUID, *, now: datetime) -> Worker: ...

    async def leave(self, worker_id: WorkerId, boot: UUID, *, now: datetime) -> None: ...

    async def get(self, worker_id: WorkerId) -> Worker: ...


class WorkStore(Protocol):
    """All of it, by noun."""

    @property
    def executions(self) -> Leases: ...
    @property
    def checkpoints(self) -> CheckpointStore: ...
    @property
    def logs(self) -> Lines: ...
    @property
    def workers(self) -> Presence: ...
