"""Workers and tenants over any SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from gnomon.core.access.tenants import DEFAULT_TENANT, Tenant, TenantId
from gnomon.core.executions.execution import WorkerId
from gnomon.core.jobs.kinds import kinds_of
from gnomon.core.operations.workers import SILENT, Registered, Registration, Worker, WorkerStatus
from gnomon.core.values.limits import check_limit
from gnomon.errors import TenantAlreadyExists, TenantNotFound, WorkerNameTaken, WorkerNotFound
from gnomon.store.databases.database import Database, Row, UniqueViolation
from gnomon.store.databases.rows import names_of, names_text


class SqlWorkers:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def register(self, registration: Registration, *, now: datetime) -> None:
        rows = await self._database.fetch(
            "worker_register",
            worker_id=registration.id,
            tenant_id=DEFAULT_TENANT,  # A worker serves all tenants.
            boot=registration.boot,
            hostname=registration.hostname,
            slots=registration.slots,
            kinds=names_text(registration.kinds),
            queues=names_text(registration.queues),
            capabilities=names_text(registration.capabilities),
            key_id=registration.key_id,
            now=now,
            silent_since=now - SILENT,
        )
        if not rows:
            raise WorkerNameTaken(registration.id)

    async def beat(
        self, worker_id: WorkerId, boot: UUID, *, now: datetime, slots: int | None = None
    ) -> Worker:
        rows = await self._database.fetch("worker_beat", worker_id=worker_id, boot=boot, now=now, slots=slots)
        if not rows:
            raise WorkerNotFound(worker_id)
        return _worker_of(rows[0])

    async def drain(self, worker_id: WorkerId) -> Worker:
        await self._database.fetch("worker_drain", worker_id=worker_id)
        return await self.get(worker_id)

    async def undrain(self, worker_id: WorkerId) -> Worker:
        await self._database.fetch("worker_undrain", worker_id=worker_id)
        return await self.get(worker_id)

    async def leave(self, worker_id: WorkerId, boot: UUID, *, now: datetime) -> None:
        await self._database.fetch("worker_leave", worker_id=worker_id, boot=boot, now=now)

    async def get(self, worker_id: WorkerId) -> Worker:
        rows = await self._database.read("worker_get", worker_id=worker_id)
        if not rows:
            raise WorkerNotFound(worker_id)
        return _worker_of(rows[0])

    async def registered(self, worker_id: WorkerId) -> Registered:
        rows = await self._database.read("worker_registered", worker_id=worker_id)
        if not rows:
            raise WorkerNotFound(worker_id)
        [row] = rows
        registration = Registration(
            WorkerId(row["worker_id"]),
            row["boot"],
            row["hostname"],
            row["slots"],
            names_of(row["kinds"]),
            names_of(row["queues"]),
            names_of(row["capabilities"]),
            row["key_id"],
        )
        return Registered(registration, WorkerStatus(row["status"]))

    async def list(self, *, limit: int, after: WorkerId | None = None) -> Sequence[Worker]:
        rows = await self._database.read("workers_page", after=after or "", limit=check_limit(limit))
        return [_worker_of(row) for row in rows]

    async def live_kinds(self, *, now: datetime) -> frozenset[str]:
        rows = await self._database.read("workers_live_kinds", silent_since=now - SILENT)
        return kinds_of(kind for row in rows for kind in names_of(row["kinds"]))


class SqlTenants:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, tenant: Tenant, *, now: datetime) -> None:
        try:
            await self._database.fetch(
                "tenant_save",
                id=tenant.id,
                name=tenant.name,
                weight=tenant.weight,
                max_concurrent=tenant.max_concurrent,
                now=now,
            )
        except UniqueViolation:
            raise TenantAlreadyExists(tenant.name) from None

    async def get(self, tenant_id: TenantId) -> Tenant:
        rows = await self._database.read("tenant_get", tenant_id=tenant_id)
        if not rows:
            raise TenantNotFound(tenant_id)
        [row] = rows
        return Tenant(TenantId(row["id"]), row["name"], row["weight"], row["max_concurrent"])


def _worker_of(row: Row) -> Worker:
    return Worker(
        id=WorkerId(row["worker_id"]),
        boot=row["boot"],
        hostname=row["hostname"],
        slots=row["slots"],
        kinds=names_of(row["kinds"]),
        queues=names_of(row["queues"]),
        capabilities=names_of(row["capabilities"]),
        status=WorkerStatus(row["status"]),
        running=row["running"],
        registered_at=row["registered_at"],
        last_seen_at=row["last_seen_at"],
        key_id=row["key_id"],
    )
