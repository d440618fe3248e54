"""From just before the call that enqueues to the first line of the handler, on an idle system at 20 jobs/s.

On PostgreSQL next to pgqueuer, on the same server, each in a database of its own, with default settings. Both
have two processes: a producer, and a worker that schedules, too (`gnomon up`, and what `pgq run` runs). They
take turns of one second, so a noisy machine disturbs both alike. The clock is time.monotonic(), which all
processes of a machine share.

On SQLite there is one process, since a file belongs to one.

Then the same of Gnomon alone for what is due later: from the due time of a delayed run, and from the end of
the backoff of a retry, to the first line of the handler.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from uuid import uuid4

from rich.progress import Progress

from benchmarks import Report, _latency_gnomon
from benchmarks._latency_gnomon import functions, ways
from benchmarks._turns import EVERY_SECONDS, STARTS, take_turn
from gnomon.app import open_database
from gnomon.app.processes.engine import EngineOptions, open_engine
from gnomon.app.processes.worker_parts import WorkerOptions
from gnomon.core.executions.execution import WorkerId
from gnomon.core.operations.workers import Registration
from gnomon.handlers.python.handler import FunctionHandler
from gnomon.handlers.registry import Registry
from gnomon.settings import HandlerSettings
from gnomon.store.schema.migrations import migrate
from tests.postgres import PostgresServer, bundled_server

ROOT = Path(__file__).parents[1]
PEER = "pgqueuer[asyncpg]==1.6.0"
PEER_HOME = ROOT / ".bench" / "pgqueuer-1.6.0"
PER_TURN = 20
TURNS = 20
# Not counted: connections are made and statements prepared.
WARM_UP_TURNS = 2
PATIENCE_SECONDS = 30.0
AT_ONCE = "at_once"
LATER = ("delayed", "retried")
STOP_SECONDS_MAX = 20.0
LATE_MS_MAX = 50.0


@dataclass
class System:
    """A producer that waits for its turn, and the file that its worker writes to."""

    producer: subprocess.Popen[str]
    starts: Path
    turns: int = 0

    def take_turn(self, way: str = AT_ONCE) -> list[float]:
        """Seconds between enqueue or due time and start, of each job of one turn."""
        assert self.producer.stdin is not None
        assert self.producer.stdout is not None
        self.producer.stdin.write(f"{way} {self.turns * PER_TURN} {PER_TURN}\n")
        self.producer.stdin.flush()
        self.turns += 1
        answer = self.producer.stdout.readline()
        return waits(self.starts, {int(n): at for n, at in json.loads(answer).items()})


def waits(starts: Path, asked: Mapping[int, float]) -> list[float]:
    """Wait until all that was asked for has started, and tell how long each of them took."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        started = {int(n): float(at) for n, at in map(str.split, starts.read_text().splitlines())}
        if asked.keys() <= started.keys():
            return [started[n] - at for n, at in asked.items()]
        time.sleep(EVERY_SECONDS)
    raise TimeoutError(f"{len(asked.keys() - started.keys())} jobs have not started; see {starts.parent}")


def peer_python() -> Path:
    """pgqueuer in a virtual environment of its own, which is made on first use."""
    python = PEER_HOME / "bin" / "python"
    ready = PEER_HOME / ".ready"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", PEER_HOME], check=True)
        install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", PEER)
        subprocess.run([python, *install], check=True)
        ready.touch()
    return python


@contextmanager
def process(*command: object, env: Mapping[str, str], log: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that reads lines and writes lines, until the end of the block."""
    with log.open("a") as errors:
        running = subprocess.Popen(
            [str(word) for word in command],
            cwd=ROOT,
            env=os.environ | env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    with running:
        try:
            yield running
        finally:
            running.terminate()
            try:
                running.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                running.kill()


def open_gnomon(dsn: str, folder: Path, stack: ExitStack) -> System:
    starts, log = folder / "gnomon.starts", folder / "gnomon.log"
    starts.touch()
    gnomon = Path(sys.executable).with_name("gnomon")
    app = ("--app", f"{_latency_gnomon.__name__}:functions")
    stack.enter_context(process(gnomon, "up", *app, "--database", dsn, env={STARTS: str(starts)}, log=log))
    producer = (sys.executable, "-m", _latency_gnomon.__name__, dsn)
    return System(stack.enter_context(process(*producer, env={}, log=log)), starts)


def open_pgqueuer(dsn: str, folder: Path, stack: ExitStack) -> System:
    starts, log = folder / "pgqueuer.starts", folder / "pgqueuer.log"
    starts.touch()
    env = {"PGDSN": dsn, STARTS: str(starts)}
    python = peer_python()
    install: list[str] = [str(python), "-m", "pgqueuer", "install"]
    subprocess.run(install, check=True, env=os.environ | env, capture_output=True)
    peer = (python, "-m", "benchmarks._latency_pgqueuer")
    stack.enter_context(process(*peer, "work", env=env, log=log))
    return System(stack.enter_context(process(*peer, "produce", env=env, log=log)), starts)


def measure_postgres(progress: Progress) -> dict[str, list[float]]:
    task = progress.add_task("PostgreSQL", total=TURNS)
    took: dict[str, list[float]] = {"gnomon": [], "pgqueuer": []}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(PostgresServer(bundled_server()))
        for name in took:
            asyncio.run(server.create_database(name))
        asyncio.run(_migrate(server.dsn("gnomon")))
        systems = {
            "gnomon": open_gnomon(server.dsn("gnomon"), folder, stack),
            "pgqueuer": open_pgqueuer(server.dsn("pgqueuer"), folder, stack),
        }
        for turn in range(WARM_UP_TURNS + TURNS):
            for name, system in systems.items():
                seconds = system.take_turn()
                if turn >= WARM_UP_TURNS:
                    took[name] += seconds
            progress.update(task, completed=turn + 1 - WARM_UP_TURNS)
        for way in LATER:
            took[way] = [late for _ in range(TURNS) for late in systems["gnomon"].take_turn(way)]
    return took


async def measure_sqlite() -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite://{folder}/gnomon.db"
        starts = Path(folder) / "starts"
        starts.touch()
        os.environ[STARTS] = str(starts)
        await _migrate(url)
        handlers = Registry([FunctionHandler(HandlerSettings(), functions)])
        worker = WorkerOptions(Registration(WorkerId("bench"), uuid4(), "here", 10, handlers.kinds), handlers)
        async with open_engine(EngineOptions(url, seed=1, worker=worker)) as engine:
            node = asyncio.create_task(engine.node.run())
            enqueue = await ways(engine.store, engine.hints, engine.clock, engine.ids)
            await take_turn(enqueue[AT_ONCE], 0, WARM_UP_TURNS * PER_TURN)
            took, first = {}, WARM_UP_TURNS * PER_TURN
            for way in (AT_ONCE, *LATER):
                asked = await take_turn(enqueue[way], first, TURNS * PER_TURN)
                took[way] = await asyncio.to_thread(waits, starts, asked)
                first += TURNS * PER_TURN
            engine.node.drain()
            await node
        await handlers.aclose()
    return took


async def _migrate(url: str) -> None:
    database = await open_database(url)
    await migrate(database, now=datetime.now(UTC))
    await database.close()


def percentiles(seconds: list[float]) -> tuple[float, float]:
    """The 50th and the 99th, in milliseconds."""
    return round(median(seconds) * 1000, 2), round(
        quantiles(seconds, n=100, method="inclusive")[98] * 1000, 2
    )


def run() -> Report:
    peer_python()
    with Progress(transient=True) as progress:
        took = measure_postgres(progress)
        progress.add_task("SQLite", total=None)
        sqlite = asyncio.run(measure_sqlite())
        took["sqlite"] = sqlite[AT_ONCE]
    sqlite_later = {way: percentiles(sqlite[way]) for way in LATER}
    found = {name: percentiles(seconds) for name, seconds in took.items()}
    (p50, p99), (peer_p50, peer_p99), (sqlite_p50, sqlite_p99) = (
        found[name] for name in ("gnomon", "pgqueuer", "sqlite")
    )
    later = {"postgres": {way: found[way] for way in LATER}, "sqlite": sqlite_later}
    lines = [
        f"{'':14}{'p50 ms':>10}{'p99 ms':>10}",
        f"{'PostgreSQL':14}{p50:>10}{p99:>10}   goal: p50 no worse than pgqueuer's",
        f"{'  pgqueuer':14}{peer_p50:>10}{peer_p99:>10}",
        f"{'SQLite':14}{sqlite_p50:>10}{sqlite_p99:>10}",
    ]
    numbers = {
        "postgres": {"p50_ms": p50, "p99_ms": p99, "pgqueuer_p50_ms": peer_p50, **_late(later["postgres"])},
        "sqlite": {"p50_ms": sqlite_p50, "p99_ms": sqlite_p99, **_late(later["sqlite"])},
    }
    lines += [
        f"{f'{name}, {way}':22}{one[way][0]:>6}{one[way][1]:>10}   goal: p99 below {LATE_MS_MAX:g}"
        for name, one in later.items()
        for way in LATER
    ]
    return Report("\n".join(lines), numbers)


def _late(later: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    (delayed_p50, delayed_p99), (_, retry_p99) = later["delayed"], later["retried"]
    return {"delayed_p50_ms": delayed_p50, "delayed_p99_ms": delayed_p99, "retry_p99_ms": retry_p99}
