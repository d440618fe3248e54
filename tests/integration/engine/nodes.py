"""A whole node in this process: scheduler, worker and what they run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

from gnomon.app.processes.engine import Engine, EngineOptions, open_engine
from gnomon.app.processes.worker_parts import WorkerOptions
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Execution, ExecutionId, NewExecution, WorkerId
from gnomon.core.executions.lease import LEASE
from gnomon.core.jobs.job import Definition, Job, JobId, NewJob
from gnomon.core.operations.workers import Registration
from gnomon.core.time.nominal import first_run, seed_of
from gnomon.core.values.document import JSON
from gnomon.engine.telemetry import Happening, What
from gnomon.handlers.base import Context
from gnomon.handlers.registry import Registry
from gnomon.store.databases.hints import Topic
from tests.integration.engine.rig import Body, Calls

PATIENCE = 20.0


@dataclass
class Running:
    engine: Engine
    happenings: asyncio.Queue[Happening]

    async def job(self, definition: Definition, name: str = "job") -> Job:
        now = self.engine.clock.now()
        next_run = first_run(definition.schedule, now=now, seed=seed_of(DEFAULT_TENANT, name))
        new = NewJob(JobId(self.engine.ids.next(now)), DEFAULT_TENANT, name, definition, next_run)
        [job] = await self.engine.store.jobs.create([new], now=now)
        self.engine.hints.announce(Topic.SCHEDULE)
        return job

    async def enqueue(self, job: Job) -> ExecutionId:
        now = self.engine.clock.now()
        asked = NewExecution(ExecutionId(self.engine.ids.next(now)), job.id)
        await self.engine.store.executions.enqueue(DEFAULT_TENANT, [asked], now=now)
        self.engine.hints.announce(Topic.WORK)
        return asked.id

    def now(self) -> datetime:
        return self.engine.clock.now()

    async def until(self, what: What) -> Happening:
        async with asyncio.timeout(PATIENCE):
            while (happening := await self.happenings.get()).what is not what:
                pass
        return happening

    async def get(self, run: ExecutionId) -> Execution:
        return await self.engine.store.executions.get(DEFAULT_TENANT, run, now=self.engine.clock.now())


@asynccontextmanager
async def running(
    url: str,
    body: Body,
    *,
    name: str = "ada",
    drain: timedelta = timedelta(seconds=5),
    lease: timedelta = LEASE,
) -> AsyncIterator[Running]:
    registration = Registration(WorkerId(name), uuid4(), "here", 4, frozenset({"test"}))
    worker = WorkerOptions(registration, Registry([Calls(body)]), drain=drain)
    async with open_engine(EngineOptions(url, seed=1, worker=worker, lease=lease)) as engine:
        happenings: asyncio.Queue[Happening] = asyncio.Queue()
        engine.telemetry.listeners.append(happenings.put_nowait)
        node = asyncio.create_task(engine.node.run())
        yield Running(engine, happenings)
        engine.node.drain()
        await asyncio.wait_for(node, PATIENCE)


async def done(context: Context) -> JSON:
    return "done"
