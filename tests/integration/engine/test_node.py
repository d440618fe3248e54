"""A whole engine, driven by the loop with the real clock, on a file and on PostgreSQL."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, NewExecution, WorkerId
from gnomon.core.executions.lease import RENEW_EVERY
from gnomon.core.jobs.job import Definition
from gnomon.core.operations.workers import WorkerStatus
from gnomon.core.time.schedule import Interval, Overlap, Schedule
from gnomon.core.values.document import JSON, Document
from gnomon.engine.telemetry import What
from gnomon.handlers.base import Context, JobFailed
from gnomon.store.databases.hints import Topic
from tests.contract.flows import create_dag
from tests.integration.engine.nodes import PATIENCE, done, running


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
