"""What Gnomon costs while it has nothing to do.

up          `gnomon up` on a fresh SQLite file: its share of one core, and its resident memory, from /proc
postgres    `gnomon scheduler` and `gnomon worker` on a fresh database: statements a second. The server logs
            every statement it runs, BEGIN and COMMIT included, and the lines are counted.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.progress import Progress

from benchmarks import Report
from tests.postgres import PostgresServer, bundled_server

SETTLE_SECONDS = 10.0
WATCH_SECONDS = 30.0
STOP_SECONDS_MAX = 20.0
GOALS = {"cpu_percent": 1.0, "rss_mb": 120.0, "queries_per_s": 5.0}
GNOMON = Path(sys.executable).with_name("gnomon")
STATEMENT = re.compile(r"LOG:  (?:statement|execute [^:]*): *(\S*)")


@contextmanager
def running(*words: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen([GNOMON, *words], cwd=folder, stdout=log, stderr=log)
    try:
        yield process
        if process.poll() is not None:
            raise RuntimeError(f"gnomon {' '.join(words)} ended:\n{(folder / 'log').read_text()}")
    finally:
        process.terminate()
        process.wait(STOP_SECONDS_MAX)


def cpu_seconds(pid: int) -> float:
    """Of all its threads, in user and in kernel mode."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_mb(pid: int) -> float:
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmRSS" in line]
    return int(line.split()[1]) / 1024


def measure_up() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as place, running("up", folder=Path(place)) as process:
        time.sleep(SETTLE_SECONDS)
        before, started = cpu_seconds(process.pid), time.monotonic()
        time.sleep(WATCH_SECONDS)
        used, passed = cpu_seconds(process.pid) - before, time.monotonic() - started
        return {"cpu_percent": round(100 * used / passed, 2), "rss_mb": round(rss_mb(process.pid), 1)}


def measure_postgres() -> dict[str, float]:
    with (
        PostgresServer(bundled_server(), {"log_statement": "all"}) as server,
        tempfile.TemporaryDirectory() as place,
    ):
        folder, database = Path(place), ("--database", asyncio.run(server.create_database("gnomon")))
        subprocess.run([GNOMON, "db", "migrate", *database], check=True, capture_output=True)
        with running("scheduler", *database, folder=folder), running("worker", *database, folder=folder):
            time.sleep(SETTLE_SECONDS)
            before, started = len(server.log()), time.monotonic()
            time.sleep(WATCH_SECONDS)
            count, passed = len(STATEMENT.findall(server.log()[before:])), time.monotonic() - started
    return {"queries_per_s": round(count / passed, 2)}


def run() -> Report:
    with Progress(transient=True) as progress:
        progress.add_task("idling", total=None)
        numbers = {"up": measure_up(), "postgres": measure_postgres()}
    lines = [f"{'':16}{'measured':>10}{'goal':>10}"]
    lines += [
        f"{name:16}{figure:>10}{f'< {GOALS[name]:g}':>10}"
        for figures in numbers.values()
        for name, figure in figures.items()
    ]
    return Report("\n".join(lines), numbers)
