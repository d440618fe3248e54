"""Jobs that wait for each other, and the circles that are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.lifecycle import JobAction, JobChange, change_of
from gnomon.core.executions.records import JobFilter
from gnomon.core.jobs.job import Job, JobId, JobStatus
from gnomon.errors import InvalidDependency, JobNotFound
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    NOW,
    act,
    create,
    create_one,
    new_id,
    new_job,
    other_tenant,
)


def updated(job: Job, **wishes: object) -> JobChange:
    change = change_of(job, JobAction.UPDATE, next_run_time=job.next_run_time)
    return replace(change, **wishes)  # type: ignore[arg-type]


async def all_jobs(store: Store) -> tuple[Job, ...]:
    return (await store.jobs.page(DEFAULT_TENANT, JobFilter(), limit=1000)).items


async def test_jobs_of_one_batch_may_depend_on_each_other(store: Store) -> None:
    load = new_job("load")
    report = new_job("report", dependencies={load.id})

    created = await create(store, report, load)

    assert [job.dependencies for job in created] == [{load.id}, frozenset()]


async def test_a_dependency_must_exist(store: Store) -> None:
    nobody = JobId(new_id())
    job = await create_one(store)

    with pytest.raises(JobNotFound) as refused:
        await create(store, new_job(), new_job(dependencies={nobody}))
    with pytest.raises(JobNotFound):
        await store.jobs.change([updated(job, dependencies=frozenset({nobody}))], now=NOW)

    assert refused.value.id == nobody
    assert await all_jobs(store) == (job,)


async def test_a_job_of_another_tenant_is_no_dependency(store: Store) -> None:
    theirs = await create_one(store, new_job(tenant_id=await other_tenant(store)))

    with pytest.raises(JobNotFound):
        await create_one(store, new_job(dependencies={theirs.id}))

    assert await all_jobs(store) == ()


async def test_a_cycle_of_dependencies_is_refused_and_changes_nothing(store: Store) -> None:
    a = await create_one(store, new_job("a"))
    b = await create_one(store, new_job("b", dependencies={a.id}))
    c = await create_one(store, new_job("c", dependencies={b.id}))

    with pytest.raises(InvalidDependency):
        await store.jobs.change([updated(a, dependencies=frozenset({c.id}))], now=NOW)

    assert await all_jobs(store) == (c, b, a)


async def test_a_job_cannot_depend_on_itself(store: Store) -> None:
    job = await create_one(store)

    with pytest.raises(InvalidDependency):
        await store.jobs.change([updated(job, dependencies=frozenset({job.id}))], now=NOW)

    assert await all_jobs(store) == (job,)


async def test_a_cycle_inside_a_new_batch_is_refused(store: Store) -> None:
    chicken, egg = new_job("chicken"), new_job("egg")
    circle = [
        replace(chicken, dependencies=frozenset({egg.id})),
        replace(egg, dependencies=frozenset({chicken.id})),
    ]

    with pytest.raises(InvalidDependency):
        await store.jobs.create(circle, now=NOW)

    assert await all_jobs(store) == ()


async def test_a_diamond_of_dependencies_is_no_cycle(store: Store) -> None:
    top = await create_one(store)
    left, right = await create(store, new_job(dependencies={top.id}), new_job(dependencies={top.id}))

    bottom = await create_one(store, new_job(dependencies={left.id, right.id}))

    assert bottom.dependencies == {left.id, right.id}


async def test_a_job_can_be_paused_after_its_dependency_was_deleted(store: Store) -> None:
    needed = await create_one(store)
    job = await create_one(store, new_job(dependencies={needed.id}))
    await act(store, needed, JobAction.DELETE)

    paused = await act(store, job, JobAction.PAUSE)

    assert (paused.status, paused.dependencies) == (JobStatus.PAUSED, frozenset({needed.id}))
