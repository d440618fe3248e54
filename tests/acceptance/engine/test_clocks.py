"""Wall clocks that are set by an hour: nothing fires early or twice, and no live lease is taken."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.jobs.job import JobId
from gnomon.core.time.schedule import Interval, Misfire, Schedule
from tests.acceptance.engine.processes import Cluster, GnomonProcess, open_cluster
from tests.conftest import MakeDatabase

LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
SECOND = timedelta(seconds=1)

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="there is no libfaketime here")


def wall_clock(folder: Path, name: str) -> tuple[Path, Mapping[str, str]]:
    """A file that says how wrong the wall clock of a process is, and the environment that makes it so."""
    path = folder / f"{name}.offset"
    path.write_text("+0")
    return path, {
        "LD_PRELOAD": str(LIBRARY),
        "FAKETIME_TIMESTAMP_FILE": str(path),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }


async def test_a_wall_clock_that_is_set_changes_nothing(
    tmp_path: Path, migrated_database: MakeDatabase
) -> None:
    async with open_cluster(await migrated_database(), tmp_path) as cluster:
        of_scheduler, scheduler_environment = wall_clock(tmp_path, "scheduler")
        of_worker, worker_environment = wall_clock(tmp_path, "worker")
        scheduler = await cluster.start("scheduler", environment=scheduler_environment)
        worker = await cluster.start(
            "worker",
            "--app",
            "tests.acceptance.engine.jobs:functions",
            environment={**worker_environment, "GNOMON_WORKER_LEASE_SECONDS": "3"},
        )
        for process in (scheduler, worker):
            await process.says("is up")
        schedule = Schedule(Interval(SECOND), misfire=Misfire.FIRE_ALL)
        ticking = await cluster.job("noop", schedule=schedule)
        [long_run] = await cluster.enqueue(await cluster.job("touch", sink=str(cluster.sink), seconds=14.0))

        for offset in ("+3600", "-3600", "+0"):
            await asyncio.sleep(4)
            of_scheduler.write_text(offset)
            of_worker.write_text(offset)
            await is_on_time(cluster, ticking.id)

        ended = await cluster.ended(long_run)
        assert (ended.status, ended.claim) == (ExecutionStatus.COMPLETED, 1)
        await is_on_time(cluster, ticking.id)
        for process in (scheduler, worker):
            assert clock_was_wrong(process, by=timedelta(hours=1))
            assert clock_was_wrong(process, by=-timedelta(hours=1))


def clock_was_wrong(process: GnomonProcess, *, by: timedelta) -> bool:
    """Lines of log carry the wall clock, so they show that it really was set."""
    told = [datetime.fromisoformat(line["time"]) for line in process.lines if "time" in line]
    expected = datetime.now(UTC) + by
    return any(abs(time - expected) < timedelta(minutes=5) for time in told)


async def is_on_time(cluster: Cluster, job_id: JobId) -> None:
    """Every second up to now has one row, and none that is still to come has any."""
    ledger = await cluster.store.schedules.occurrences(DEFAULT_TENANT, job_id, limit=1000)
    times = sorted(one.nominal_time for one in ledger)
    assert times == [times[0] + SECOND * number for number in range(len(times))]
    assert times[-1] <= datetime.now(UTC)
    assert datetime.now(UTC) - times[-1] < 10 * SECOND
