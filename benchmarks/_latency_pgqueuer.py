"""Both ends of pgqueuer for the benchmark `latency`, as its quick start has them. Runs where pgqueuer is
installed, and Gnomon is not.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from time import monotonic

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

from benchmarks._turns import note_start, produce


async def work() -> None:
    """What `pgq run` does. The command itself does not start with the typer of these days (0.29)."""
    pgq = PgQueuer.from_asyncpg_connection(await asyncpg.connect(os.environ["PGDSN"]))

    @pgq.entrypoint("start")
    async def start(job: Job) -> None:
        note_start(int(job.payload), at=monotonic())

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, pgq.shutdown.set)
    await pgq.run()


async def produce_jobs() -> None:
    queries = Queries(AsyncpgDriver(await asyncpg.connect(os.environ["PGDSN"])))

    async def enqueue(n: int) -> None:
        await queries.enqueue("start", str(n).encode())

    await produce({"at_once": enqueue})


if __name__ == "__main__":
    if sys.argv[1] == "work":
        uvloop.run(work())  # As the command does.
    else:
        asyncio.run(produce_jobs())
