"""How many no-op Python jobs a second one worker process finishes, next to the raw limit in the same run.

gnomon    a worker with 500 slots, from its start until the last execution is recorded as completed, with
          history, results, attempts and fencing; each job calls an async function with a typed argument
limit     the raw script of `BENCH=store` (see _raw.py): claim and complete by the hundred, nothing between

Measured in turns; the median of the rounds counts.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import perf_counter
from uuid import uuid4

from rich.progress import Progress

from benchmarks import Report
from benchmarks._raw import INPUT, RawPostgres, RawSqlite
from benchmarks.store import RawLife, in_turns, now
from gnomon.app import open_database
from gnomon.app.processes.engine import Engine, EngineOptions, open_engine
from gnomon.app.processes.garbage import collect_seldom
from gnomon.app.processes.worker_parts import WorkerOptions
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, NewExecution, WorkerId
from gnomon.core.jobs.job import Definition, Job, JobId, NewJob
from gnomon.core.operations.workers import Registration
from gnomon.core.values.document import Document
from gnomon.engine.node import Node
from gnomon.engine.telemetry import Telemetry, What
from gnomon.handlers.python.functions import Functions
from gnomon.handlers.python.handler import FunctionHandler
from gnomon.handlers.registry import Registry
from gnomon.settings import HandlerSettings
from gnomon.store.schema.migrations import migrate
from tests.postgres import PostgresServer, bundled_server

ROUNDS = 7
ROUND = 20_000
SLOTS = 500
LOOK = 0.002
GOAL = 0.5


async def noop(n: int) -> dict[str, bool]:
    return {"ok": True}


def noop_worker() -> WorkerOptions:
    functions = Functions()
    functions.add("noop", noop)
    handlers = Registry([FunctionHandler(HandlerSettings(), functions)])
    registration = Registration(WorkerId(f"bench-{uuid4()}"), uuid4(), "bench", SLOTS, handlers.kinds)
    return WorkerOptions(registration, handlers)


async def rate_of(node: Node, telemetry: Telemetry) -> float:
    """Runs a node until it has emptied the queue."""
    started = perf_counter()
    running = asyncio.create_task(node.run())
    while telemetry.counts[What.COMPLETED] < ROUND:  # noqa: ASYNC110 - counted, not told.
        await asyncio.sleep(LOOK)
    seconds = perf_counter() - started
    node.drain()
    await running
    return ROUND / seconds


@dataclass(frozen=True, slots=True)
class Drained:
    """A store full of waiting work, and a worker that empties it."""

    url: str

    async def rate(self) -> float:
        async with open_engine(self._options(noop_worker())) as engine:
            await self.fill(engine)
            return await rate_of(engine.node, engine.telemetry)

    def _options(self, worker: WorkerOptions | None) -> EngineOptions:
        return EngineOptions(self.url, seed=Random().getrandbits(64), schedules=False, worker=worker)

    async def fill(self, engine: Engine) -> None:
        await self._fill(engine, await self._job(engine))

    async def _job(self, engine: Engine) -> Job:
        payload = Document('{"function":"noop"}')
        job_id = JobId(engine.ids.next(now()))
        new = NewJob(job_id, DEFAULT_TENANT, str(job_id), Definition(kind="python", payload=payload), None)
        [job] = await engine.store.jobs.create([new], now=now())
        return job

    async def _fill(self, engine: Engine, job: Job) -> None:
        asked = [
            NewExecution(ExecutionId(engine.ids.next(now())), job.id, input=Document(INPUT))
            for _ in range(ROUND)
        ]
        for first in range(0, ROUND, 10_000):
            await engine.store.executions.enqueue(DEFAULT_TENANT, asked[first : first + 10_000], now=now())


async def migrated(url: str) -> None:
    database = await open_database(url)
    await migrate(database, now=now())
    await database.close()


async def measure(url: str, raw: RawPostgres | RawSqlite) -> dict[str, float]:
    await migrated(url)
    life, ours = RawLife(raw), Drained(url)
    collect_seldom()  # As a process of ours does when it is ready.
    limit, gnomon, ratio = await in_turns(lambda: life.life(ROUND), ours.rate, rounds=ROUNDS)
    await raw.close()
    return {"limit": round(limit), "gnomon": round(gnomon), "ratio": round(ratio, 3)}


async def measure_all(step: Callable[[str], None]) -> dict[str, dict[str, float]]:
    step("PostgreSQL")
    with PostgresServer(bundled_server(), {"shared_buffers": "256MB", "max_wal_size": "4GB"}) as server:
        for name in ("raw_db", "ours_db"):
            await server.create_database(name)
        postgres = await measure(server.dsn("ours_db"), await RawPostgres.open(server.dsn("raw_db")))
    step("SQLite")
    with tempfile.TemporaryDirectory() as folder:
        sqlite = await measure(f"sqlite://{folder}/ours.db", RawSqlite(Path(folder) / "raw.db"))
    return {"postgres": postgres, "sqlite": sqlite}


def run() -> Report:
    with Progress(transient=True) as progress:
        task = progress.add_task("starting", total=3)

        def step(what: str) -> None:
            progress.update(task, description=what, advance=1)

        numbers = asyncio.run(measure_all(step))
    lines = [f"{'':10}{'limit':>12}{'gnomon':>12}{'ratio':>8}   (goal {GOAL})"]
    for store, figures in numbers.items():
        lines.append(
            f"{store:10}{figures['limit']:>10,.0f}/s{figures['gnomon']:>10,.0f}/s{figures['ratio']:>8.2f}"
        )
    return Report("\n".join(lines), numbers)
