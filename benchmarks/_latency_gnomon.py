"""Both ends of Gnomon for the benchmark `latency`: what the worker runs, and a producer."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from random import Random
from time import monotonic

from benchmarks._turns import note_start, produce
from gnomon.app.opening import open_hints, open_store
from gnomon.core.document import Document
from gnomon.core.execution import ExecutionId, NewExecution
from gnomon.core.ids import IdSource
from gnomon.core.job import DEFAULT_TENANT, Definition, Job, JobId, NewJob
from gnomon.engine.clock import StoreClock
from gnomon.handlers.functions import Functions
from gnomon.store.hints import Hints, Topic
from gnomon.store.sql_store import SqlStore

functions = Functions(home=f"{__name__}:functions")


async def start(n: int) -> None:
    note_start(n, at=monotonic())


functions.add("start", start)


async def make_job(store: SqlStore, clock: StoreClock, ids: IdSource) -> Job:
    now = clock.now()
    definition = Definition(kind="python", payload=Document('{"function":"start"}'))
    [job] = await store.jobs.create(
        [NewJob(JobId(ids.next(now)), DEFAULT_TENANT, "start", definition, None)], now=now
    )
    return job


def enqueuer(
    store: SqlStore, hints: Hints, clock: StoreClock, ids: IdSource, job: Job
) -> Callable[[int], Awaitable[None]]:
    async def enqueue(n: int) -> None:
        now = clock.now()
        asked = NewExecution(ExecutionId(ids.next(now)), job.id, input=Document(f'{{"n":{n}}}'))
        await store.executions.enqueue(DEFAULT_TENANT, [asked], now=now)
        hints.announce(Topic.WORK)

    return enqueue


async def main(url: str) -> None:
    store, hints, ids = await open_store(url), open_hints(url), IdSource(Random(1))
    clock = StoreClock(store.clock)
    await clock.learn()
    job = await make_job(store, clock, ids)
    await produce(enqueuer(store, hints, clock, ids, job))
    await hints.close()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
