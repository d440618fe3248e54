"""How late due times fire: 10,000 due at one instant, then 1,000 at every full second for 20 seconds.

The lateness of a fire is the moment at which the transaction that records it has returned in the scheduler
(what the engine's telemetry tells), minus the nominal time. A scheduler is an engine without a worker in a
process of its own. Jobs are made beforehand; each has an interval, and no two are alike.

On PostgreSQL the burst is repeated with three schedulers. Afterwards the ledger is read: no nominal time may
have two executions, and none may be missing.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from multiprocessing.connection import Connection
from random import Random
from statistics import quantiles
from typing import Any
from uuid import UUID

import asyncpg
from rich.progress import Progress

from benchmarks import Report
from gnomon.app.processes.engine import EngineOptions, open_engine
from gnomon.app.processes.opening import open_database, open_store
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.jobs.job import Definition, JobId, NewJob
from gnomon.core.time.schedule import Interval, Schedule
from gnomon.core.values.document import Document
from gnomon.core.values.ids import IdSource
from gnomon.engine.telemetry import Happening, What
from gnomon.store.databases.sqlite_values import from_micros
from gnomon.store.schema.migrations import migrate
from gnomon.store.sql_store import SqlStore
from tests.postgres import PostgresServer, bundled_server

BURST_JOBS = 10_000
STEADY_JOBS = 1_000
STEADY_SECONDS = 20
SCHEDULERS = 3
MANY = 1_000  # Jobs that are made at once.
# To make the jobs and to start the schedulers before the first of them is due.
LEAD_BURST = timedelta(seconds=40)
LEAD_STEADY = timedelta(seconds=15)
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
LOOK = 0.25
GOALS = {"burst_max_s": 5.0, "steady_p99_ms": 100.0}

NominalTime = tuple[UUID, datetime]


@dataclass(frozen=True, slots=True)
class Load:
    """Jobs that are all due at `first`, and `every` so often from then on, `times` times."""

    jobs: int
    first: datetime
    every: timedelta
    times: int

    @classmethod
    def burst(cls, now: datetime) -> Load:
        return cls(BURST_JOBS, _full_second(now + LEAD_BURST), HOUR, 1)

    @classmethod
    def steady(cls, now: datetime) -> Load:
        return cls(STEADY_JOBS, _full_second(now + LEAD_STEADY), SECOND, STEADY_SECONDS)

    def definition(self, number: int) -> Definition:
        """No two are alike: what was read for one job helps with no other."""
        anchor = self.first - number * self.every
        schedule = Schedule(Interval(self.every, anchor=anchor), max_runs=self.times)
        return Definition(kind="noop", payload=Document(f'{{"number":{number}}}'), schedule=schedule)

    def nominal_times(self, jobs: Iterable[UUID]) -> set[NominalTime]:
        return {(job, self.first + number * self.every) for job in jobs for number in range(self.times)}

    async def make(self, store: SqlStore) -> list[UUID]:
        now, ids = datetime.now(UTC), IdSource(Random())
        jobs = [
            NewJob(job_id, DEFAULT_TENANT, str(job_id), self.definition(number), self.first)
            for number in range(self.jobs)
            for job_id in [JobId(ids.next(now))]
        ]
        for start in range(0, self.jobs, MANY):
            await store.jobs.create(jobs[start : start + MANY], now=now)
        return [job.id for job in jobs]


@dataclass(frozen=True, slots=True)
class Ledger:
    """Nominal times by the execution that came of each."""

    nominal: dict[UUID, NominalTime]

    @classmethod
    async def read(cls, url: str) -> Ledger:
        text = "SELECT id, job_id, nominal_time FROM executions WHERE nominal_time IS NOT NULL"
        if url.startswith("sqlite://"):
            with closing(sqlite3.connect(url.removeprefix("sqlite://"))) as connection:
                rows = connection.execute(text).fetchall()
            return cls({UUID(bytes=one): (UUID(bytes=job), from_micros(at)) for one, job, at in rows})
        connection = await asyncpg.connect(url)
        try:
            found = await connection.fetch(text)
        finally:
            await connection.close()
        return cls({UUID(int=one.int): (UUID(int=job.int), at) for one, job, at in found})


@dataclass(frozen=True, slots=True)
class Fires:
    lateness: Sequence[float]  # In seconds.
    twice: int
    missing: int

    @property
    def p99(self) -> float:
        return quantiles(self.lateness, n=100, method="inclusive")[98]


def scheduler(url: str, pipe: Connection) -> None:
    """A process of its own: says when it is ready, is told when to end, and tells what it fired and when."""
    asyncio.run(_schedule(url, pipe))


async def _schedule(url: str, pipe: Connection) -> None:
    fired: list[tuple[UUID | None, datetime]] = []

    def note(happening: Happening) -> None:
        if happening.what is What.FIRED:
            fired.append((happening.execution_id, happening.at))

    async with open_engine(EngineOptions(url, seed=Random().getrandbits(64))) as engine:
        engine.telemetry.listeners.append(note)
        asyncio.get_running_loop().add_reader(pipe.fileno(), engine.node.drain)
        pipe.send("ready")
        await engine.node.run()
    pipe.send([(UUID(int=one.int), at) for one, at in fired if one is not None])


@asynccontextmanager
async def _schedulers(url: str, count: int) -> AsyncIterator[list[Connection]]:
    context = get_context("spawn")
    pipes, processes = [], []
    for _ in range(count):
        ours, theirs = context.Pipe()
        child = context.Process(target=scheduler, args=(url, theirs), daemon=True)
        child.start()
        pipes.append(ours)
        processes.append(child)
    for pipe in pipes:
        await asyncio.to_thread(pipe.recv)
    try:
        yield pipes
    finally:
        for child in processes:
            await asyncio.to_thread(child.join, 10)
            child.kill()


async def _until_fired(store: SqlStore, load: Load) -> None:
    while (  # noqa: ASYNC110 - other processes do it.
        due := await store.schedules.next_due()
    ) is not None and due < load.first + HOUR:
        await asyncio.sleep(LOOK)


async def measure(url: str, load: Load, *, schedulers: int = 1) -> Fires:
    store = await open_store(url)
    jobs = await load.make(store)
    fired: dict[UUID, datetime] = {}
    async with _schedulers(url, schedulers) as pipes:
        if datetime.now(UTC) > load.first - SECOND:
            raise TimeoutError("The machine is too busy: the jobs were due before the schedulers were ready.")
        await _until_fired(store, load)
        for pipe in pipes:
            pipe.send("end")
        for pipe in pipes:
            fired |= dict(await asyncio.to_thread(pipe.recv))
    await store.close()
    ledger, wanted = await Ledger.read(url), load.nominal_times(jobs)
    own = {one: nominal for one, nominal in ledger.nominal.items() if nominal in wanted}
    lateness = [(fired[one] - at).total_seconds() for one, (_, at) in own.items() if one in fired]
    distinct = set(own.values())
    return Fires(lateness, twice=len(own) - len(distinct), missing=len(wanted - distinct))


async def measure_store(url: str, step: Any) -> dict[str, Fires]:
    await _migrate(url)
    name = url.partition(":")[0]
    step(f"{name}: {BURST_JOBS:,} at one instant")
    burst = await measure(url, Load.burst(datetime.now(UTC)))
    step(f"{name}: {STEADY_JOBS:,} at every second")
    return {"burst": burst, "steady": await measure(url, Load.steady(datetime.now(UTC)))}


async def measure_all(step: Any) -> dict[str, dict[str, Fires]]:
    async with AsyncExitStack() as stack:
        server = stack.enter_context(PostgresServer(bundled_server(), {"shared_buffers": "256MB"}))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        postgres = await measure_store(await server.create_database("alone"), step)
        step(f"postgresql: {BURST_JOBS:,} at one instant, {SCHEDULERS} schedulers")
        many = await server.create_database("many")
        await _migrate(many)
        postgres["three"] = await measure(many, Load.burst(datetime.now(UTC)), schedulers=SCHEDULERS)
        return {"postgres": postgres, "sqlite": await measure_store(f"sqlite://{folder}/gnomon.db", step)}


async def _migrate(url: str) -> None:
    database = await open_database(url)
    await migrate(database, now=datetime.now(UTC))
    await database.close()


def _full_second(instant: datetime) -> datetime:
    return instant.replace(microsecond=0)


def _numbers(found: dict[str, Fires]) -> dict[str, float]:
    burst, steady = found["burst"], found["steady"]
    numbers: dict[str, float] = {
        "burst_p99_s": round(burst.p99, 3),
        "burst_max_s": round(max(burst.lateness), 3),
        "steady_p99_ms": round(steady.p99 * 1000, 1),
    }
    if "three" in found:
        numbers["three_burst_max_s"] = round(max(found["three"].lateness), 3)
    return numbers | {
        "twice": sum(fires.twice for fires in found.values()),
        "missing": sum(fires.missing for fires in found.values()),
    }


def run() -> Report:
    with Progress(transient=True) as progress:
        task = progress.add_task("starting", total=5)

        def step(what: str) -> None:
            progress.update(task, description=what, advance=1)

        found = asyncio.run(measure_all(step))
    numbers = {store: _numbers(fires) for store, fires in found.items()}
    lines = [f"{'':20}{'PostgreSQL':>12}{'SQLite':>12}{'goal':>8}"]
    for name in numbers["postgres"]:
        cells = "".join(f"{figures.get(name, '-'):>12}" for figures in numbers.values())
        lines.append(f"{name:20}{cells}{GOALS.get(name, ''):>8}")
    return Report("\n".join(lines), numbers)
