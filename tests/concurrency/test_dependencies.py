"""Two people draw arrows between the same jobs: no cycle comes of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.lifecycle import JobAction, change_of
from gnomon.core.jobs.job import Job
from gnomon.core.workflows.graph import check_acyclic
from gnomon.errors import InvalidDependency
from gnomon.store.sql_store import SqlStore
from tests.concurrency.conftest import Crowd
from tests.contract.given import NOW, create, new_job

ROUNDS = 20


async def test_opposite_dependency_changes_at_once_never_make_a_cycle(crowd: Crowd) -> None:
    one_store, other_store = await crowd(2)
    for _ in range(ROUNDS):
        one, other = await create(one_store, new_job(), new_job())
        answers = await asyncio.gather(
            make_depend(one_store, one, other), make_depend(other_store, other, one), return_exceptions=True
        )
        assert sum(isinstance(answer, InvalidDependency) for answer in answers) == 1
        assert sum(isinstance(answer, Job) for answer in answers) == 1


async def test_a_ring_drawn_by_many_at_once_stays_open(crowd: Crowd) -> None:
    stores = await crowd(6)
    jobs = await create(stores[0], *(new_job() for _ in stores))
    answers = await asyncio.gather(
        *(
            make_depend(store, job, jobs[(number + 1) % len(jobs)])
            for number, (store, job) in enumerate(zip(stores, jobs, strict=True))
        ),
        return_exceptions=True,
    )
    assert sum(isinstance(answer, InvalidDependency) for answer in answers) == 1
    kept = [await stores[0].jobs.get(DEFAULT_TENANT, job.id) for job in jobs]
    check_acyclic({job.id: sorted(job.dependencies) for job in kept})


async def make_depend(store: SqlStore, job: Job, on: Job) -> Job:
    change = change_of(job, JobAction.UPDATE, next_run_time=None)
    [changed] = await store.jobs.change([replace(change, dependencies=frozenset({on.id}))], now=NOW)
    return changed
