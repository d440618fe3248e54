"""The API on one process with 32 connections, next to the same framework alone and to the store alone.

get_ratio        GET of a thousand jobs in turn, against the same framework answering a constant
get_first_ratio  the same of two hundred thousand jobs, each of them once
batch_ratio      executions asked for by the thousand a call, against the same store verb called directly
list_ratio       p99 of a list of 50 out of a million jobs, against one out of a thousand
post_per_s       POST of jobs, each durable before it is answered
get_per_s, batch_per_s, list_p99_ms and the others are the figures themselves

Measured in turns on an SQLite file; the median of the rounds counts.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from operator import add
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, sleep
from uuid import UUID

import uvloop
from rich.progress import Progress

from benchmarks import Report
from benchmarks._load import Load, call, load
from gnomon.app.connection import AppConnection, open_connection
from gnomon.client import Draft
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, NewExecution
from gnomon.core.jobs.job import Definition, Job
from gnomon.core.time.schedule_document import from_document
from gnomon.core.values.document import Document
from tests.postgres import free_port

ROUNDS = 5
SECONDS = 2.0
BATCH = 1000
DIRECT_BATCHES = 10
FEW, SPREAD, MANY = 1000, 200_000, 1_000_000
GOALS = {"get_ratio": 0.5, "batch_ratio": 0.7, "list_ratio": 2.0}
UNLIMITED = {f"GNOMON_API_{name}_PER_MINUTE": "off" for name in ("SUBMISSIONS", "QUERIES", "HEARTBEATS")}
INPUT = {"n": 1, "text": "some input"}

Measure = Callable[[], Awaitable[float]]


@contextmanager
def process(*arguments: str, port: int) -> Iterator[int]:
    """A process that listens at the port, until the end of the block."""
    environment = {**os.environ, **UNLIMITED, "GNOMON_LOG_LEVEL": "error"}
    running = subprocess.Popen([sys.executable, "-m", *arguments], env=environment)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            sleep(0.05)
        yield port
    finally:
        running.terminate()
        running.wait(30)


class Bench:
    def __init__(self, connection: AppConnection, job: Job, key: str, ports: dict[str, int]) -> None:
        self.connection = connection
        self.job = job
        self.key = key
        self.ports = ports
        body = json.dumps({"executions": [{"input": INPUT}] * BATCH}).encode()
        self._batch = call("POST", f"/v1/jobs/{job.id}/executions/batch", key, body)
        self._unread: list[bytes] = []
        self.names = 0

    async def constant(self) -> float:
        request = call("GET", "/constant", self.key)
        return (await load(self.ports["constant"], lambda _: request, seconds=SECONDS)).rate

    async def get_first(self) -> float:
        """Each call another job, in no order: nobody has read it before, so no memory of ours helps."""
        if not self._unread:
            self._unread = _gets(self.job, SPREAD, self.key)
            Random(SPREAD).shuffle(self._unread)
        return (await load(self.ports["spread"], lambda _: self._unread.pop(), seconds=SECONDS)).rate

    async def get(self) -> float:
        """Of a thousand jobs in turn, so that no two callers share an answer."""
        requests = _gets(self.job, FEW, self.key)
        return (await load(self.ports["few"], lambda n: requests[n % FEW], seconds=SECONDS)).rate

    async def batch(self) -> float:
        done = await load(self.ports["few"], lambda _: self._batch, seconds=SECONDS)
        return done.rate * BATCH

    async def direct(self) -> float:
        """The store verb that the batch comes to, on what it is given."""
        store, clock, ids = self.connection.store, self.connection.clock, self.connection.ids
        document = Document.of(INPUT, field="input")
        began = perf_counter()
        for _ in range(DIRECT_BATCHES):
            now = clock.now()
            asked = [NewExecution(ExecutionId(ids.next(now)), self.job.id, document) for _ in range(BATCH)]
            await store.executions.enqueue(DEFAULT_TENANT, asked, now=now)
        return DIRECT_BATCHES * BATCH / (perf_counter() - began)

    async def post(self) -> float:
        def request(_: int) -> bytes:
            self.names += 1
            body = json.dumps({"name": f"posted {self.names}", "kind": "dummy", "cron": "0 9 * * *"})
            return call("POST", "/v1/jobs", self.key, body.encode())

        return (await load(self.ports["few"], request, seconds=SECONDS)).rate

    async def list_few(self) -> float:
        return (await self._list("few")).p99_ms

    async def list_many(self) -> float:
        return (await self._list("many")).p99_ms

    async def _list(self, which: str) -> Load:
        request = call("GET", "/v1/jobs?limit=50", self.key)
        return await load(self.ports[which], lambda _: request, seconds=SECONDS)


async def _prepare(path: Path, count: int) -> tuple[AppConnection, Job, str]:
    """A store with so many jobs, its first one, and a key that opens it."""
    connection = await open_connection(f"sqlite://{path}", lambda _: None)
    schedule = from_document({"type": "cron", "cron": "0 0 1 * *"})
    job = await connection.client.jobs.create(Draft("the first", Definition("bench", schedule=schedule)))
    new = await connection.client.keys.create("bench", ["admin"])
    _copy_job(path, job, count)
    return connection, job, new.text


def _copy_job(path: Path, job: Job, count: int) -> None:
    """No two alike: a name, a time, a payload and a schedule of its own for each."""
    connection = sqlite3.connect(path, isolation_level=None)
    first = _first(job, count)
    connection.execute("BEGIN IMMEDIATE")
    for table, key, change in (
        ("jobs", "id", {"name": lambda _, n: f"job {n}", "created_at": add, "updated_at": add}),
        ("job_revisions", "job_id", {"payload": lambda _, n: json.dumps(INPUT | {"n": n}), "schedule": _at}),
    ):
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        kept = connection.execute(f"SELECT * FROM {table} WHERE {key} = ?", (job.id.bytes,)).fetchone()
        like = dict(zip(columns, kept, strict=True))
        change[key] = lambda _, n: (first + n).to_bytes(16, "big")
        connection.executemany(
            f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})",
            (
                tuple(change[name](value, n) if name in change else value for name, value in like.items())
                for n in range(count)
            ),
        )
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _at(schedule: str, n: int) -> str:
    """The schedule at another minute of the month."""
    return schedule.replace("0 0 1 * *", f"{n % 60} {n // 60 % 24} {n // 1440 % 28 + 1} * *")


def _first(job: Job, count: int) -> int:
    """The id of the first of so many copies: they come before the job itself."""
    return job.id.int - count - 1


def _gets(job: Job, count: int, key: str) -> list[bytes]:
    return [call("GET", f"/v1/jobs/{UUID(int=_first(job, count) + n)}", key) for n in range(count)]


async def _measure(folder: Path, progress: Progress) -> dict[str, float]:
    task = progress.add_task("filling the stores", total=ROUNDS * 8)
    few, job, key = await _prepare(folder / "few.db", FEW)
    spread, spread_job, spread_key = await _prepare(folder / "spread.db", SPREAD)
    await spread.close()
    many, many_job, many_key = await _prepare(folder / "many.db", MANY)
    await many.close()
    with ExitStack() as stack:
        ports = {name: free_port() for name in ("constant", "few", "spread", "many")}
        stack.enter_context(
            process("benchmarks._api_constant", str(ports["constant"]), port=ports["constant"])
        )
        for name in ("few", "spread", "many"):
            arguments = ("gnomon.cli", "api", "--database", str(folder / f"{name}.db"))
            port = ports[name]
            stack.enter_context(process(*arguments, "--port", str(port), port=port))
        bench = Bench(few, job, key, ports)
        measures: dict[str, Measure] = {
            "constant_per_s": bench.constant,
            "get_per_s": bench.get,
            "get_first_per_s": Bench(few, spread_job, spread_key, ports).get_first,
            "list_few_p99_ms": bench.list_few,
            "list_p99_ms": Bench(few, many_job, many_key, ports).list_many,
            "post_per_s": bench.post,
            "batch_per_s": bench.batch,
            "direct_per_s": bench.direct,
        }
        found: dict[str, list[float]] = {name: [] for name in measures}
        for _ in range(ROUNDS):
            for name, measure in measures.items():
                progress.update(task, description=name)
                found[name].append(await measure())
                progress.advance(task)
    await few.close()
    numbers = {name: round(median(figures), 2) for name, figures in found.items()}
    numbers["get_ratio"] = _ratio(found["get_per_s"], found["constant_per_s"])
    numbers["get_first_ratio"] = _ratio(found["get_first_per_s"], found["constant_per_s"])
    numbers["batch_ratio"] = _ratio(found["batch_per_s"], found["direct_per_s"])
    numbers["list_ratio"] = _ratio(found["list_p99_ms"], found["list_few_p99_ms"])
    return numbers


def _ratio(ours: list[float], theirs: list[float]) -> float:
    return round(median(one / other for one, other in zip(ours, theirs, strict=True)), 3)


def run() -> Report:
    with tempfile.TemporaryDirectory(prefix="gnomon-bench-") as folder, Progress(transient=True) as progress:
        numbers = uvloop.run(_measure(Path(folder), progress))
    lines = [f"{name:<18}{value:>12}{GOALS.get(name, ''):>8}" for name, value in numbers.items()]
    return Report("\n".join([f"{'':<18}{'found':>12}{'goal':>8}", *lines]), numbers)
