"""A whole engine, driven by the loop with the real clock, on a file and on PostgreSQL."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from gnomon.app import open_database
from gnomon.app.processes.engine import Engine, EngineOptions, open_engine
from gnomon.app.processes.worker_parts import WorkerOptions
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Execution, ExecutionId, ExecutionStatus, NewExecution, WorkerId
from gnomon.core.executions.lease import LEASE, RENEW_EVERY
from gnomon.core.jobs.job import Definition, Job, JobId, NewJob
from gnomon.core.operations.workers import Registration, WorkerStatus
from gnomon.core.time.nominal import first_run, seed_of
from gnomon.core.time.schedule import Interval, Overlap, Schedule
from gnomon.core.values.document import JSON, Document
from gnomon.engine.telemetry import Happening, What
from gnomon.handlers.base import Context, JobFailed
from gnomon.handlers.registry import Registry
from gnomon.store.databases.hints import Topic
from gnomon.store.schema.migrations import migrate
from tests.conftest import MakeDatabase
from tests.contract.flows import create_dag
from tests.integration.engine.rig import Body, Calls

STORES = ["sqlite", "postgres"]
PATIENCE = 20.0


@pytest.fixture(params=STORES)
async def url(request: pytest.FixtureRequest, tmp_path: Path, migrated_database: MakeDatabase) -> str:
    if request.param == "postgres":
        return await migrated_database()
    address = f"sqlite://{tmp_path / 'gnomon.db'}"
    database = await open_database(address)
    await migrate(database, now=datetime.now(UTC))
    await database.close()
    return address


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


async def test_what_is_enqueued_is_run(url: str) -> None:
    async with running(url, done) as system:
        run = await system.enqueue(await system.job(Definition(kind="test")))

        await system.until(What.COMPLETED)

        assert (await system.get(run)).result == Document('"done"')


async def test_what_is_due_is_fired_and_run(url: str) -> None:
    schedule = Schedule(Interval(timedelta(seconds=1)))
    async with running(url, done) as system:
        job = await system.job(Definition(kind="test", schedule=schedule))

        fired = await system.until(What.FIRED)
        completed = await system.until(What.COMPLETED)

        assert fired.job_id == completed.job_id == job.id


async def test_a_run_that_is_replaced_is_stopped_at_once(url: str) -> None:
    async def for_ever(context: Context) -> JSON:
        await asyncio.Event().wait()
        return None

    schedule = Schedule(Interval(timedelta(seconds=1)), overlap=Overlap.REPLACE)
    async with running(url, for_ever) as system:
        await system.job(Definition(kind="test", schedule=schedule))
        started = await system.until(What.STARTED)

        cancelled = await system.until(What.CANCELLED)

        assert cancelled.execution_id == started.execution_id
        # Long before its worker would have asked by itself.
        assert cancelled.at - started.at < RENEW_EVERY / 2
        system.engine.node.hurry()


async def test_what_a_failed_run_stops_is_stopped_without_a_wait_for_the_next_renewal(url: str) -> None:
    started: list[Context] = []
    both = asyncio.Event()

    async def first_fails(context: Context) -> JSON:
        started.append(context)
        if len(started) == 2:
            both.set()
        await both.wait()
        if context is started[0]:
            raise JobFailed("broken", permanent=True)
        await asyncio.Event().wait()
        return None

    # Renewals come every twenty minutes: only a hint can bring the stop in time.
    async with running(url, first_fails, lease=timedelta(hours=1)) as system:
        tasks: list[JSON] = [{"name": name, "kind": "test"} for name in ("a", "b")]
        dag = await create_dag(system.engine.store, tasks, failure_strategy="FAIL_FAST", now=system.now())
        await system.enqueue(dag.job)

        await system.until(What.FAILED)
        await system.until(What.CANCELLED)


async def test_a_worker_is_known_while_it_runs_and_says_good_bye(url: str) -> None:
    async with running(url, done) as system:
        workers = system.engine.store.workers
        async with asyncio.timeout(PATIENCE):
            while not (known := await workers.list(limit=10)):  # noqa: ASYNC110 - a thread registers it.
                await asyncio.sleep(0.01)
        [worker] = known
        assert (worker.id, worker.status) == ("ada", WorkerStatus.ACTIVE)

    async with running(url, done, name="bob") as system:
        gone = await system.engine.store.workers.get(WorkerId("ada"))
        assert gone.status is WorkerStatus.GONE


async def test_a_cancel_is_told_to_a_running_attempt(url: str) -> None:
    async def for_ever(context: Context) -> JSON:
        await asyncio.Event().wait()
        return None

    async with running(url, for_ever) as system:
        run = await system.enqueue(await system.job(Definition(kind="test")))
        await system.until(What.STARTED)

        now = system.engine.clock.now()
        await system.engine.store.executions.cancel(DEFAULT_TENANT, [run], now=now)
        system.engine.hints.announce(Topic.CANCEL)
        await system.until(What.CANCELLED)

        assert (await system.get(run)).status is ExecutionStatus.CANCELLED


async def test_a_drain_lets_what_runs_finish(url: str) -> None:
    gate = asyncio.Event()

    async def waits(context: Context) -> JSON:
        await gate.wait()
        return "finished"

    async with running(url, waits) as system:
        run = await system.enqueue(await system.job(Definition(kind="test")))
        await system.until(What.STARTED)
        system.engine.node.drain()
        gate.set()
        await system.until(What.COMPLETED)
        assert (await system.get(run)).status is ExecutionStatus.COMPLETED


async def test_a_drain_that_is_hurried_gives_back_what_runs(url: str) -> None:
    async def for_ever(context: Context) -> JSON:
        await asyncio.Event().wait()
        return None

    async with running(url, for_ever, drain=timedelta(hours=1)) as system:
        run = await system.enqueue(await system.job(Definition(kind="test")))
        await system.until(What.STARTED)
        system.engine.node.drain()
        system.engine.node.hurry()
        await system.until(What.RELEASED)
        given_back = await system.get(run)
        assert (given_back.status, given_back.attempts) == (ExecutionStatus.QUEUED, 0)


async def test_without_any_hint_polling_finds_the_work(url: str) -> None:
    async with running(url, done) as system:
        await asyncio.sleep(0)
        job = await system.job(Definition(kind="test"))
        now = system.engine.clock.now()
        asked = NewExecution(ExecutionId(system.engine.ids.next(now)), job.id)
        await system.engine.store.executions.enqueue(DEFAULT_TENANT, [asked], now=now)

        await system.until(What.COMPLETED)

        ended = await system.get(asked.id)
        assert ended.started_at is not None
        assert ended.started_at - now < timedelta(seconds=5)


async def test_a_worker_that_has_said_good_bye_does_not_beat_again(url: str) -> None:
    async with running(url, done) as system:
        workers = system.engine.store.workers
        async with asyncio.timeout(PATIENCE):
            while not await workers.list(limit=10):  # noqa: ASYNC110 - a thread registers it.
                await asyncio.sleep(0.01)
        system.engine.node.drain()
        async with asyncio.timeout(PATIENCE):
            while (await workers.get(WorkerId("ada"))).status is not WorkerStatus.GONE:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

        assert not [thread for thread in threading.enumerate() if thread.name == "gnomon-heartbeat"]
