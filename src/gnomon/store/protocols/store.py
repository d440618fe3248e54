"""All durable state, by noun."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from gnomon.store.protocols.access import KeyStore, TenantStore
from gnomon.store.protocols.executions import CheckpointStore, DeadLetterStore, ExecutionStore, LogStore
from gnomon.store.protocols.jobs import CalendarStore, JobStore, ScheduleStore
from gnomon.store.protocols.operations import ShardStore, UpkeepStore, WorkerStore


class Store(Protocol):
    """All durable state, by noun."""

    @property
    def tenants(self) -> TenantStore: ...
    @property
    def jobs(self) -> JobStore: ...
    @property
    def schedules(self) -> ScheduleStore: ...
    @property
    def calendars(self) -> CalendarStore: ...
    @property
    def executions(self) -> ExecutionStore: ...
    @property
    def checkpoints(self) -> CheckpointStore: ...
    @property
    def logs(self) -> LogStore: ...
    @property
    def dead_letters(self) -> DeadLetterStore: ...
    @property
    def workers(self) -> WorkerStore: ...
    @property
    def keys(self) -> KeyStore: ...
    @property
    def shards(self) -> ShardStore: ...
    @property
    def upkeep(self) -> UpkeepStore: ...

    async def clock(self) -> datetime:
        """What time it is for the database. For the engine's clock alone, which hands it on as a value."""

    async def close(self) -> None: ...
