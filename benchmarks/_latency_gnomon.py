"""Both ends of Gnomon for the benchmark `latency`: what the worker runs, and a producer."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from random import Random
from time import monotonic

from benchmarks._turns import Enqueue, note_start, produce
from gnomon.app.processes.opening import open_hints, open_store
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, NewExecution
from gnomon.core.jobs.job import Definition, Job, JobId, NewJob
from gnomon.core.jobs.retry import Backoff, RetryPolicy
from gnomon.core.values.document import Document
from gnomon.core.values.ids import IdSource
from gnomon.engine.clock import StoreClock
from gnomon.handlers.python.functions import Functions
from gnomon.store.databases.hints import Hints, Topic
from gnomon.store.sql_store import SqlStore

# Between a twentieth of a second and two polls, none a multiple of another.
DELAYS = [timedelta(milliseconds=53 + 97 * n) for n in range(20)]
BACKOFF = timedelta(milliseconds=700)

functions = Functions(home=f"{__name__}:functions")


async def start(n: int) -> None:
    note_start(n, at=monotonic())


async def again(n: int) -> None:
    """Fails once. Notes how long after the end of its backoff the second attempt began."""
    if n not in failed_at:
        failed_at[n] = monotonic()
        raise ValueError("once more")
    note_start(n, at=monotonic() - failed_at[n] - BACKOFF.total_seconds())


failed_at: dict[int, float] = {}
functions.add("start", start)
functions.add("again", again)


async def ways(store: SqlStore, hints: Hints, clock: StoreClock, ids: IdSource) -> dict[str, Enqueue]:
    """By name: what to do at once, what after a delay, and what twice."""
    jobs = {name: await _make_job(store, clock, ids, name) for name in ("start", "again")}

    async def enqueue(job: Job, n: int, *, delay: timedelta = timedelta(0)) -> None:
        now = clock.now()
        given = Document(f'{{"n":{n}}}')
        asked = NewExecution(ExecutionId(ids.next(now)), job.id, input=given, due=now + delay)
        await store.executions.enqueue(DEFAULT_TENANT, [asked], now=now)
        hints.announce(Topic.LATER if delay else Topic.WORK)

    async def at_once(n: int) -> None:
        await enqueue(jobs["start"], n)

    async def delayed(n: int) -> float:
        delay = DELAYS[n % len(DELAYS)]
        asked = monotonic()
        await enqueue(jobs["start"], n, delay=delay)
        return asked + delay.total_seconds()

    async def retried(n: int) -> float:
        await enqueue(jobs["again"], n)
        return 0.0

    return {"at_once": at_once, "delayed": delayed, "retried": retried}


async def _make_job(store: SqlStore, clock: StoreClock, ids: IdSource, function: str) -> Job:
    now = clock.now()
    retry = RetryPolicy(backoff=Backoff.FIXED, backoff_base=BACKOFF, jitter=0)
    definition = Definition("python", payload=Document(f'{{"function":"{function}"}}'), retry=retry)
    [job] = await store.jobs.create(
        [NewJob(JobId(ids.next(now)), DEFAULT_TENANT, function, definition, None)], now=now
    )
    return job


async def main(url: str) -> None:
    store, hints, ids = await open_store(url), open_hints(url), IdSource(Random(1))
    clock = StoreClock(store.clock)
    await clock.learn()
    await produce(await ways(store, hints, clock, ids))
    await hints.close()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
