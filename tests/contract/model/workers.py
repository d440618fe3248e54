"""Workers and tenants as dictionaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from gnomon.core.access.tenants import Tenant, TenantId
from gnomon.core.executions.execution import WorkerId
from gnomon.core.operations.workers import Registered, Registration, Worker, WorkerStatus
from gnomon.errors import TenantAlreadyExists, TenantNotFound, WorkerNameTaken, WorkerNotFound
from tests.contract.model.state import State


@dataclass(frozen=True, slots=True)
class ModelTenants:
    state: State

    async def save(self, tenant: Tenant, *, now: datetime) -> None:
        if any(one.name == tenant.name and one.id != tenant.id for one in self.state.tenants.values()):
            raise TenantAlreadyExists(tenant.name)
        self.state.tenants[tenant.id] = tenant

    async def get(self, tenant_id: TenantId) -> Tenant:
        if tenant_id not in self.state.tenants:
            raise TenantNotFound(tenant_id)
        return self.state.tenants[tenant_id]


@dataclass(frozen=True, slots=True)
class ModelWorkers:
    state: State

    async def register(self, registration: Registration, *, now: datetime) -> None:
        known = self.state.workers.get(registration.id)
        if known is not None and registration.key_id is not None:
            self._check_free(await self.get(known.id), registration, now)
        self.state.workers[registration.id] = Worker(
            id=registration.id,
            boot=registration.boot,
            hostname=registration.hostname,
            slots=registration.slots,
            kinds=registration.kinds,
            queues=registration.queues,
            capabilities=registration.capabilities,
            status=WorkerStatus.ACTIVE,
            running=0,
            registered_at=now,
            last_seen_at=now,
            key_id=registration.key_id,
        )

    def _check_free(self, known: Worker, registration: Registration, now: datetime) -> None:
        is_own = known.key_id == registration.key_id
        is_unused = known.status_at(now) in (WorkerStatus.GONE, WorkerStatus.DEAD)
        if not (
            (is_own and known.boot <= registration.boot) or (is_unused and (is_own or not known.running))
        ):
            raise WorkerNameTaken(registration.id)

    async def registered(self, worker_id: WorkerId) -> Registered:
        one = await self.get(worker_id)
        registration = Registration(
            one.id, one.boot, one.hostname, one.slots, one.kinds, one.queues, one.capabilities, one.key_id
        )
        return Registered(registration, one.status)

    async def beat(
        self, worker_id: WorkerId, boot: UUID, *, now: datetime, slots: int | None = None
    ) -> Worker:
        worker = await self.get(worker_id)
        if worker.boot != boot or worker.status is WorkerStatus.GONE:
            raise WorkerNotFound(worker_id)
        self.state.workers[worker_id] = replace(worker, last_seen_at=now, slots=slots or worker.slots)
        return await self.get(worker_id)

    async def drain(self, worker_id: WorkerId) -> Worker:
        worker = await self.get(worker_id)
        if worker.status is WorkerStatus.ACTIVE:
            self.state.workers[worker_id] = replace(worker, status=WorkerStatus.DRAINING)
        return await self.get(worker_id)

    async def undrain(self, worker_id: WorkerId) -> Worker:
        worker = await self.get(worker_id)
        if worker.status is WorkerStatus.DRAINING:
            self.state.workers[worker_id] = replace(worker, status=WorkerStatus.ACTIVE)
        return await self.get(worker_id)

    async def leave(self, worker_id: WorkerId, boot: UUID, *, now: datetime) -> None:
        worker = self.state.workers.get(worker_id)
        if worker is not None and worker.boot == boot:
            self.state.workers[worker_id] = replace(worker, status=WorkerStatus.GONE, last_seen_at=now)

    async def get(self, worker_id: WorkerId) -> Worker:
        if worker_id not in self.state.workers:
            raise WorkerNotFound(worker_id)
        leases = [run.lease for run in self.state.runs.values() if run.lease is not None]
        running = sum(lease.request.worker == worker_id for lease in leases)
        return replace(self.state.workers[worker_id], running=running)

    async def list(self, *, limit: int, after: WorkerId | None = None) -> Sequence[Worker]:
        ids = sorted(one for one in self.state.workers if after is None or one > after)
        return [await self.get(one) for one in ids[:limit]]

    async def live_kinds(self, *, now: datetime) -> frozenset[str]:
        gone = (WorkerStatus.GONE, WorkerStatus.DEAD)
        live = [worker for worker in self.state.workers.values() if worker.status_at(now) not in gone]
        return frozenset().union(*(worker.kinds for worker in live))
