"""Jobs that misbehave: each has a clear end, and the worker lives."""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Execution, ExecutionId, ExecutionStatus
from gnomon.core.jobs.job import Definition
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.values.document import Document
from gnomon.core.values.limits import LOG_BYTES_MAX
from tests.acceptance.engine.processes import Cluster, GnomonProcess

ONCE = RetryPolicy(max_attempts=1)
RSS_MB_MAX = 300


async def test_jobs_that_misbehave_end_and_the_worker_lives(cluster: Cluster) -> None:
    worker = await cluster.worker(slots=16)
    await worker.says("is up")
    runs = {
        "malformed": await run_of(cluster, Definition("python", Document('{"function": 5}'), retry=ONCE)),
        "no_json": await run_named(cluster, "gives_no_json"),
        "rude": await run_named(cluster, "is_rude"),
        "exits": await run_named(cluster, "exits"),
        "forks": await run_named(cluster, "forks"),
        "ignores_term": await run_of(cluster, script("trap '' TERM; sleep 60", timeout=0.5)),
        "leaves_a_daemon": await run_of(cluster, script("setsid sleep 61 & exit 0")),
        "prints_a_gigabyte": await run_of(cluster, script("head -c 1000000000 /dev/zero")),
    }
    ends = {name: await cluster.ended(run) for name, run in runs.items()}

    assert kind_of(ends["malformed"]) == "bad_payload"
    assert kind_of(ends["no_json"]) == "bad_result"
    assert kind_of(ends["rude"]) == "Rude"
    assert kind_of(ends["exits"]) == "SystemExit"
    assert ends["forks"].result == Document('"twice"')
    assert ends["ignores_term"].status is ExecutionStatus.TIMEOUT
    assert ends["leaves_a_daemon"].status is ExecutionStatus.COMPLETED
    assert ends["prints_a_gigabyte"].status is ExecutionStatus.COMPLETED
    lines = await cluster.store.logs.read(DEFAULT_TENANT, runs["prints_a_gigabyte"], limit=1000)
    assert sum(len(line.message) for line in lines) <= LOG_BYTES_MAX
    assert "[cut:" in lines[-1].message
    await is_well(cluster, worker)
    assert commands() & {"sleep 60", "sleep 61"} == set()


async def test_a_function_that_no_worker_has_waits_and_costs_nothing(cluster: Cluster) -> None:
    await (await cluster.worker()).says("is up")

    run = await run_named(cluster, "not_written_yet")

    waiting = await cluster.until(run, lambda one: one.claim == 1 and one.status is ExecutionStatus.PENDING)
    assert waiting.attempts == 0


@pytest.mark.parametrize("function", ["never_stops", "sits_in_a_thread"])
async def test_a_job_that_does_not_stop_does_not_keep_the_worker_from_leaving(
    cluster: Cluster, function: str
) -> None:
    worker = await cluster.worker()
    await worker.says("is up")
    run = await run_named(cluster, function)
    await cluster.until(run, lambda one: one.claim == 1)

    worker.send(signal.SIGTERM)
    await worker.says("draining; send it again")
    worker.send(signal.SIGTERM)
    async with asyncio.timeout(20):
        assert await worker.ended() == 0

    left = await cluster.get(run)
    assert (left.status, left.attempts) == (ExecutionStatus.QUEUED, 0)


def script(text: str, *, timeout: float = 30.0) -> Definition:
    payload = Document.of({"interpreter": "/bin/sh", "script": text}, field="payload")
    return Definition("script", payload, retry=ONCE, timeout=timedelta(seconds=timeout))


async def run_named(cluster: Cluster, function: str) -> ExecutionId:
    [run] = await cluster.enqueue(await cluster.job(function, retry=ONCE))
    return run


async def run_of(cluster: Cluster, definition: Definition) -> ExecutionId:
    [run] = await cluster.enqueue(await cluster.job_of(definition))
    return run


def kind_of(execution: Execution) -> str:
    assert execution.status is ExecutionStatus.FAILED
    assert execution.failure is not None
    return execution.failure.kind


async def is_well(cluster: Cluster, worker: GnomonProcess) -> None:
    """It runs another job, has not grown, and is one process."""
    assert (await cluster.ended(await run_named(cluster, "noop"))).status is ExecutionStatus.COMPLETED
    assert rss_mb(worker.pid) < RSS_MB_MAX
    assert members(worker.pid) == [worker.pid]


def rss_mb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) // 1024


def members(group: int) -> list[int]:
    """The processes of a group that still live."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(folder.name)) == group and "State:\tZ" not in (folder / "status").read_text():
                found.append(int(folder.name))
        except (ProcessLookupError, FileNotFoundError):
            continue
    return found


def commands() -> set[str]:
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.add(path.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found
