"""A whole engine on a store in memory, stepped by hand with a manual clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from uuid import UUID

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Execution, ExecutionId, NewExecution, WorkerId
from gnomon.core.executions.lease import LEASE
from gnomon.core.jobs.job import Definition, Job, JobId, NewJob
from gnomon.core.operations.workers import Registration
from gnomon.core.time.nominal import first_run, seed_of
from gnomon.core.values.document import JSON, Document
from gnomon.core.values.ids import IdSource
from gnomon.engine.clock import Clock
from gnomon.engine.schedulers.reaper import INTERVAL, Reaper
from gnomon.engine.schedulers.scheduler import BATCH, Scheduler
from gnomon.engine.telemetry import Telemetry
from gnomon.engine.workers.completer import Completer
from gnomon.engine.workers.heartbeat import Heartbeat
from gnomon.engine.workers.notebook import Notebook
from gnomon.engine.workers.slots import Slots
from gnomon.engine.workers.worker import Worker
from gnomon.handlers.base import Context
from gnomon.handlers.registry import Registry
from gnomon.store.databases.sqlite import SqliteDatabase
from gnomon.store.databases.sqlite_connection import MEMORY
from gnomon.store.schema.migrations import migrate
from gnomon.store.sql_store import SqlStore
from gnomon.testing import ManualClock

Body = Callable[[Context], Awaitable[JSON]]


@dataclass
class Calls:
    """A handler that runs the body that a test gives it."""

    body: Body
    kind: str = "test"

    def check(self, payload: JSON) -> None: ...

    async def run(self, payload: JSON, context: Context) -> JSON:
        return await self.body(context)


@dataclass
class WorkerRig:
    """One worker with everything that belongs to it."""

    worker: Worker
    completer: Completer
    notebook: Notebook
    heartbeat: Heartbeat
    telemetry: Telemetry

    async def work(self) -> None:
        """Claim, run, and write down, until nothing moves any more."""
        await self.worker.step()
        await self.settle()

    async def settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        await self.notebook.step()
        await self.completer.step()


@dataclass
class Rig:
    store: SqlStore
    clock: ManualClock = field(default_factory=ManualClock)
    telemetry: Telemetry = field(default_factory=Telemetry)
    ids: IdSource = field(default_factory=lambda: IdSource(Random(1)))
    fired: int = 0

    def worker(
        self,
        body: Body,
        *,
        name: str = "ada",
        slots: int = 4,
        kind: str = "test",
        clock: Clock | None = None,
        put_off: Callable[[], None] = lambda: None,
    ) -> WorkerRig:
        clock = clock or self.clock
        telemetry = Telemetry()
        handlers = Registry([Calls(body, kind)])
        registration = Registration(
            WorkerId(name), UUID(int=self.ids.next(self.clock.now()).int), "here", slots, handlers.kinds
        )
        notebook = Notebook(
            logs=self.store.logs,
            checkpoints=self.store.checkpoints,
            clock=clock,
            telemetry=telemetry,
        )
        between = Slots(slots)
        completer = Completer(
            between,
            executions=self.store.executions,
            clock=clock,
            random=Random(2),
            notebook=notebook,
            telemetry=telemetry,
            put_off=put_off,
        )
        worker = Worker(
            registration,
            between,
            executions=self.store.executions,
            checkpoints=self.store.checkpoints,
            clock=clock,
            ids=self.ids,
            handlers=handlers,
            notebook=notebook,
            telemetry=telemetry,
            forecast=self.store.executions,
        )
        heartbeat = Heartbeat(
            worker,
            registration,
            executions=self.store.executions,
            workers=self.store.workers,
            clock=clock,
            tell=lambda call: call(),
        )
        return WorkerRig(worker, completer, notebook, heartbeat, telemetry)

    def scheduler(self, *, batch: int = BATCH) -> Scheduler:
        def fired() -> None:
            self.fired += 1

        return Scheduler(
            schedules=self.store.schedules,
            clock=self.clock,
            ids=self.ids,
            telemetry=self.telemetry,
            fired=fired,
            batch=batch,
        )

    def reaper(self) -> Reaper:
        return Reaper(
            executions=self.store.executions, clock=self.clock, random=Random(3), telemetry=self.telemetry
        )

    async def reap(self) -> None:
        """One step of a reaper that the store has answered for long enough to be sure of it."""
        watch = ManualClock(self.clock.now() - LEASE)
        watch.is_settled = self.clock.is_settled
        reaper = Reaper(
            executions=self.store.executions, clock=watch, random=Random(3), telemetry=self.telemetry
        )
        while (left := self.clock.now() - watch.now()) > timedelta(0):
            await reaper.step()
            watch.advance(min(left, INTERVAL))
        await reaper.step()

    async def job(self, definition: Definition, *, name: str = "job") -> Job:
        now = self.clock.now()
        next_run = first_run(definition.schedule, now=now, seed=seed_of(DEFAULT_TENANT, name))
        new = NewJob(JobId(self.ids.next(now)), DEFAULT_TENANT, name, definition, next_run)
        [job] = await self.store.jobs.create([new], now=now)
        return job

    async def enqueue(self, job: Job, *, value: object = None, delay: timedelta | None = None) -> ExecutionId:
        now = self.clock.now()
        given = None if value is None else Document.of(value, field="input")
        due = None if delay is None else now + delay
        asked = NewExecution(ExecutionId(self.ids.next(now)), job.id, input=given, due=due)
        [enqueued] = await self.store.executions.enqueue(DEFAULT_TENANT, [asked], now=now)
        return enqueued.id

    async def get(self, execution_id: ExecutionId) -> Execution:
        return await self.store.executions.get(DEFAULT_TENANT, execution_id, now=self.clock.now())


@asynccontextmanager
async def open_rig() -> AsyncIterator[Rig]:
    database = SqliteDatabase(MEMORY)
    clock = ManualClock()
    await migrate(database, now=clock.now())
    rig = Rig(SqlStore(database, rescan=timedelta(0)), clock)
    try:
        yield rig
    finally:
        await rig.store.close()
