"""Many schedulers, one ledger: each nominal time is decided once."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.records import ExecutionFilter
from gnomon.core.jobs.job import Definition, JobId
from gnomon.core.schedules.firing import plan
from gnomon.core.time.schedule import Interval, Schedule
from gnomon.store.sql_store import SqlStore
from tests.concurrency.conftest import Crowd
from tests.contract.given import MINUTE, NOW, create, new_id, new_job

JOBS, MINUTES = 50, 5
EVERY_MINUTE = Definition("echo", schedule=Schedule(Interval(MINUTE, NOW)))


@pytest.mark.parametrize("schedulers", [2, 4])
async def test_schedulers_that_race_fire_each_occurrence_once(crowd: Crowd, schedulers: int) -> None:
    stores = await crowd(schedulers)
    jobs = await create(
        stores[0], *(new_job(definition=EVERY_MINUTE, next_run_time=NOW) for _ in range(JOBS))
    )
    fired: Counter[tuple[JobId, datetime]] = Counter()

    async def schedule(store: SqlStore, now: datetime) -> None:
        while due := (await store.schedules.due(now=now, limit=20)).jobs:
            firings = [
                plan(job, now=now, live=0, excluded_dates=frozenset(), new_id=lambda: ExecutionId(new_id()))
                for job in due
            ]
            taken = set(await store.schedules.fire(firings, now=now))
            fired.update(
                (firing.job_id, occurrence.nominal_time)
                for firing in firings
                if firing.job_id in taken
                for occurrence in firing.occurrences
            )

    for minute in range(MINUTES):
        await asyncio.gather(*(schedule(store, NOW + MINUTE * minute) for store in stores))

    assert set(fired.values()) == {1}
    assert set(fired) == {(job.id, NOW + MINUTE * minute) for job in jobs for minute in range(MINUTES)}
    for job in jobs:
        ledger = await stores[0].schedules.occurrences(DEFAULT_TENANT, job.id, limit=100)
        page = await stores[0].executions.page(
            DEFAULT_TENANT, ExecutionFilter(job.id), now=NOW + MINUTE * MINUTES, limit=100
        )
        assert {one.execution_id for one in ledger} == {one.id for one in page.items}
        assert len(page.items) == MINUTES
