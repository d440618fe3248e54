"""How many no-op Python jobs a second a worker over HTTP finishes, next to one with a database of its own.

direct    the worker of `BENCH=drain` on PostgreSQL
remote    the same worker with nothing but the address of a `gnomon api` process on the same database

Measured in turns; the median of the rounds counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from rich.progress import Progress

from benchmarks import Report
from benchmarks.api import process
from benchmarks.drain import Drained, migrated, noop_worker, rate_of
from benchmarks.store import in_turns
from gnomon.app.connection import open_connection
from gnomon.app.processes.engine import open_engine
from gnomon.app.processes.garbage import collect_seldom
from gnomon.app.processes.remote import open_remote
from gnomon.client.remote.wire import ServerAddress
from gnomon.settings import Settings
from tests.postgres import PostgresServer, bundled_server, free_port

ROUNDS = 5
GOAL = 0.4


class RemotelyDrained(Drained):
    """The queue is filled directly and emptied over HTTP."""

    async def rate_at(self, address: ServerAddress) -> float:
        async with open_engine(self._options(None)) as engine:
            await self.fill(engine)
        async with open_remote(address, noop_worker(), Settings()) as remote:
            return await rate_of(remote.node, remote.telemetry)


async def measure(step: Callable[[str], None]) -> dict[str, float]:
    step("starting")
    with PostgresServer(bundled_server(), {"shared_buffers": "256MB", "max_wal_size": "4GB"}) as server:
        url, port = await server.create_database("drained"), free_port()
        await migrated(url)
        connection = await open_connection(url, lambda _: None)
        key = await connection.client.keys.create("bench", ["admin"])
        await connection.close()
        drained = RemotelyDrained(url)
        collect_seldom()
        with process("gnomon.cli", "api", "--database", url, "--port", str(port), port=port):
            address = ServerAddress(f"http://127.0.0.1:{port}", key.text)
            step("in turns")
            direct, remote, ratio = await in_turns(
                drained.rate, lambda: drained.rate_at(address), rounds=ROUNDS
            )
    return {"direct": round(direct), "remote": round(remote), "ratio": round(ratio, 3)}


def run() -> Report:
    with Progress(transient=True) as progress:
        task = progress.add_task("", total=2)
        numbers = asyncio.run(measure(lambda what: progress.update(task, description=what, advance=1)))
    table = (
        f"direct {numbers['direct']:>10,.0f}/s\nremote {numbers['remote']:>10,.0f}/s\n"
        f"ratio  {numbers['ratio']:>12.2f}   (goal {GOAL})"
    )
    return Report(table, numbers)
