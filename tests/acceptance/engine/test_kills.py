"""SIGKILL and SIGSTOP at the worst moments: every execution comes to its end, once."""

from __future__ import annotations

import asyncio
import signal
from datetime import timedelta

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import AttemptOutcome, ExecutionId, ExecutionStatus
from gnomon.core.executions.lifecycle import DeadReason
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.time.schedule import Interval, Schedule
from gnomon.engine.failpoints import At
from tests.acceptance.engine.processes import Cluster, GnomonProcess

LEASE_SECONDS = 5
# With a lease of 5 s. The promise of 30 s is for the default of 20 s.
RECLAIMED_WITHIN_SECONDS = 15.0
RUN_SECONDS = 3.0
IN_A_WORKER = [
    At.CLAIM_BEFORE,
    At.CLAIM_AFTER,
    At.START_BEFORE,
    At.START_AFTER,
    At.RUN_AFTER,
    At.APPLY_BEFORE,
    At.APPLY_AFTER,
    At.RENEW_BEFORE,
    At.RENEW_AFTER,
    At.CHECKPOINT_AFTER,
]
WHILE_IT_FIRES = [At.FIRE_BEFORE, At.FIRE_AFTER]
WHILE_IT_TAKES_BACK = [At.REAP_BEFORE, At.REAP_AFTER]


async def test_a_worker_that_is_killed_anywhere_loses_nothing(cluster: Cluster) -> None:
    """Each failpoint has a queue, an execution and a worker of its own, which dies there."""
    await (await cluster.scheduler()).says("is up")
    runs: dict[At, ExecutionId] = {}
    for place in IN_A_WORKER:
        job = await cluster.job("touch", queue=str(place), sink=str(cluster.sink), seconds=RUN_SECONDS)
        [runs[place]] = await cluster.enqueue(job)
    dying = [await cluster.worker(failpoints=f"{place}=kill", queues=place) for place in IN_A_WORKER]
    for place, process in zip(IN_A_WORKER, dying, strict=True):
        assert await process.ended() == -signal.SIGKILL, f"{place}\n{process.log}"

    await (await cluster.worker(queues=",".join(IN_A_WORKER), slots=20)).says("is up")

    # What ran on those that died runs alone, one after the other.
    patience = RECLAIMED_WITHIN_SECONDS + len(runs) * RUN_SECONDS
    for place, run in runs.items():
        ended = await cluster.ended(run, patience=patience)
        assert ended.status is ExecutionStatus.COMPLETED, place
        accepted = [line["what"] for line in cluster.effects(run) if line["claim"] == ended.claim]
        assert accepted == ["start", "end"], place


async def test_a_scheduler_that_is_killed_anywhere_loses_nothing(cluster: Cluster) -> None:
    """Two die while they fire, two while they take back what a dead worker held."""
    every_second = Schedule(Interval(timedelta(seconds=1)))
    ticking = await cluster.job("noop", schedule=every_second)
    await _kill_schedulers(cluster, WHILE_IT_FIRES)
    # Not before: one of those could have taken it back, and then it would be nobody's death.
    dead = await cluster.worker(failpoints="start.after=kill", queues="held")
    [held] = await cluster.enqueue(await cluster.job("noop", queue="held"))
    assert await dead.ended() == -signal.SIGKILL
    await _kill_schedulers(cluster, WHILE_IT_TAKES_BACK)
    await (await cluster.scheduler()).says("is up")
    await (await cluster.worker(queues="default")).says("is up")
    await (await cluster.worker(queues="held")).says("is up")

    # What ran on the dead one waits for a worker that runs nothing else.
    ended = await cluster.ended(held, patience=60.0)
    assert ended.status is ExecutionStatus.COMPLETED
    await asyncio.sleep(2)
    ledger = await cluster.store.schedules.occurrences(DEFAULT_TENANT, ticking.id, limit=1000)
    times = [one.nominal_time for one in ledger]
    assert len(times) == len(set(times))
    covered = sum(one.count for one in ledger)
    assert covered == (max(times) - min(times)) // timedelta(seconds=1) + 1


async def _kill_schedulers(cluster: Cluster, places: list[At]) -> None:
    for place in places:
        dying = await cluster.scheduler(failpoints=f"{place}=kill")
        assert await dying.ended() == -signal.SIGKILL, f"{place}\n{dying.log}"


async def test_a_worker_that_slept_past_its_lease_is_refused(cluster: Cluster) -> None:
    await (await cluster.scheduler()).says("is up")
    job = await cluster.job("touch", sink=str(cluster.sink), seconds=4.0)
    [run] = await cluster.enqueue(job)
    sleeper = await cluster.worker()
    await sleeper.says("started")
    await _stop_between_writes(cluster, sleeper)
    other = await cluster.worker()

    ended = await cluster.ended(run)
    sleeper.send(signal.SIGCONT)
    told = await _first_of(sleeper, "late result refused", "lease lost; attempt stopped")

    assert told
    assert ended.status is ExecutionStatus.COMPLETED
    assert (await cluster.get(run)) == ended
    outcomes = [one.outcome for one in await cluster.store.executions.attempts(DEFAULT_TENANT, run)]
    assert outcomes == [AttemptOutcome.EXPIRED, AttemptOutcome.COMPLETED]
    assert other.lines


async def _stop_between_writes(cluster: Cluster, process: GnomonProcess) -> None:
    """Who is stopped while it writes to an SQLite file holds it, and nobody else could go on."""
    is_free = False
    while not is_free:
        process.send(signal.SIGSTOP)
        writing = asyncio.create_task(cluster.job("noop", queue="nobody"))
        done, _ = await asyncio.wait([writing], timeout=1)
        is_free = bool(done) and writing.exception() is None
        if not is_free:
            process.send(signal.SIGCONT)
            await asyncio.wait([writing])


@pytest.mark.thorough("A job that keeps the interpreter busy for three leases keeps its lease")
async def test_a_job_that_keeps_the_interpreter_busy_keeps_its_lease(cluster: Cluster) -> None:
    await (await cluster.scheduler()).says("is up")
    await (await cluster.worker()).says("is up")
    busy_seconds = 3.0 * LEASE_SECONDS
    [run] = await cluster.enqueue(
        await cluster.job("busy_loop", sink=str(cluster.sink), seconds=busy_seconds)
    )

    ended = await cluster.ended(run)

    assert (ended.status, ended.claim) == (ExecutionStatus.COMPLETED, 1)


@pytest.mark.thorough("A job that kills three workers in a row is dead-lettered as a crash loop")
async def test_a_job_that_kills_every_worker_is_dead_lettered_as_a_crash_loop(cluster: Cluster) -> None:
    await (await cluster.scheduler()).says("is up")
    [run] = await cluster.enqueue(await cluster.job("kills_its_worker", retry=RetryPolicy(max_attempts=10)))

    for _ in range(3):
        victim = await cluster.worker()
        assert await victim.ended() == -signal.SIGKILL

    assert (await cluster.ended(run)).status is ExecutionStatus.FAILED
    assert (await cluster.store.dead_letters.get(DEFAULT_TENANT, run)).reason is DeadReason.CRASH_LOOP


@pytest.mark.thorough("A job that kills its workers takes none of its neighbours along")
async def test_a_job_that_kills_every_worker_takes_none_of_its_neighbours_along(cluster: Cluster) -> None:
    await (await cluster.scheduler()).says("is up")
    patient = RetryPolicy(max_attempts=10)
    innocent = await cluster.job("touch", retry=patient, sink=str(cluster.sink), seconds=0.2)
    poison = await cluster.job("kills_its_worker", retry=patient)
    neighbours = await cluster.enqueue(innocent, 5)
    [killer] = await cluster.enqueue(poison)
    neighbours += await cluster.enqueue(innocent, 5)

    for _ in range(3):
        victim = await cluster.worker(slots=20)
        assert await victim.ended() == -signal.SIGKILL

    given_up = await cluster.ended(killer)
    assert given_up.failure is not None
    assert (given_up.status, given_up.failure.kind) == (ExecutionStatus.FAILED, "crash_loop")
    assert "3 times in a row" in given_up.failure.message
    await (await cluster.worker(slots=20)).says("is up")
    for run in neighbours:
        ended = await cluster.ended(run)
        tried = [one.outcome for one in await cluster.store.executions.attempts(DEFAULT_TENANT, run)]
        assert ended.status is ExecutionStatus.COMPLETED
        assert tried == [AttemptOutcome.EXPIRED, AttemptOutcome.COMPLETED]


async def test_what_ran_when_the_only_process_was_killed_runs_again_one_by_one(cluster: Cluster) -> None:
    await (await cluster.scheduler()).says("is up")
    job = await cluster.job("touch", sink=str(cluster.sink), seconds=1.0)
    killed = await cluster.worker(slots=20)
    runs = await cluster.enqueue(job, 5)
    for run in runs:
        await cluster.until(run, lambda execution: execution.status is ExecutionStatus.RUNNING)
    killed.send(signal.SIGKILL)
    await killed.ended()

    next_one = await cluster.worker(slots=20)

    await next_one.says("a suspect runs alone")
    for run in runs:
        assert (await cluster.ended(run)).status is ExecutionStatus.COMPLETED
    second = [line for line in cluster.all_effects() if line["claim"] == 2]
    assert [line["what"] for line in second] == ["start", "end"] * 5


async def _first_of(process: GnomonProcess, *messages: str) -> bool:
    waits = [asyncio.create_task(process.says(message)) for message in messages]
    done, pending = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    return any(task.exception() is None for task in done)
