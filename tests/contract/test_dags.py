"""Workflows are kept as jobs with revisions, and runs of them are executions that go from task to task."""

from __future__ import annotations

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.executions.records import JobFilter
from gnomon.core.jobs.job import JobId
from gnomon.core.runs.state import RunStatus
from gnomon.errors import DagNotFound, JobAlreadyExists, VersionConflict
from gnomon.store.protocols.workflows import WorkflowStore
from tests.contract.flows import (
    DIAMOND,
    begun,
    chain,
    change_dag,
    claimed,
    create_dag,
    finish,
    run_of,
    start_run,
    statuses,
    tasks_of,
    with_result,
    work_off,
)
from tests.contract.given import BROKEN, NOW, create_one, new_id, new_job, seen


async def test_a_workflow_is_found_by_its_id_and_its_name(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(DIAMOND), "etl 'pipeline' \"one\" `x` ´y´")

    assert await flows.dags.get(DEFAULT_TENANT, dag.job.id) == dag
    assert await flows.dags.named(DEFAULT_TENANT, "etl 'pipeline' \"one\" `x` ´y´") == dag
    assert (await flows.dags.page(DEFAULT_TENANT, limit=10)).items == (dag,)
    assert (dag.revision, dag.job.version) == (1, 1)
    with pytest.raises(DagNotFound):
        await flows.dags.get(DEFAULT_TENANT, JobId(new_id()))


async def test_a_workflow_is_no_job_that_a_list_of_jobs_shows(flows: WorkflowStore) -> None:
    await create_dag(flows, tasks_of(DIAMOND))
    job = await create_one(flows)

    assert (await flows.jobs.page(DEFAULT_TENANT, JobFilter(), limit=10)).items == (job,)
    with pytest.raises(DagNotFound):
        await flows.dags.named(DEFAULT_TENANT, job.name)


async def test_a_workflow_and_a_job_cannot_have_one_name(flows: WorkflowStore) -> None:
    await create_one(flows, new_job("nightly"))

    with pytest.raises(JobAlreadyExists):
        await create_dag(flows, tasks_of(DIAMOND), "nightly")


async def test_a_change_is_a_new_revision_and_a_run_stays_on_its_own(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(2)))
    old = await start_run(flows, dag)
    changed = await change_dag(flows, dag, tasks_of(DIAMOND))
    new = await start_run(flows, changed)

    assert changed.revision == 2
    assert [one.number for one in await flows.dags.revisions(DEFAULT_TENANT, dag.job.id, limit=10)] == [2, 1]
    assert ((await run_of(flows, old)).revision, (await run_of(flows, new)).revision) == (1, 2)
    assert await work_off(flows) == 6
    assert (await statuses(flows, old), await statuses(flows, new)) == ("CC", "CCCC")
    with pytest.raises(VersionConflict):
        await change_dag(flows, dag, tasks_of(chain(3)))


async def test_a_run_goes_from_task_to_task(flows: WorkflowStore) -> None:
    run_id = await begun(flows, DIAMOND)
    assert await statuses(flows, run_id) == "RWWW"
    assert (await seen(flows, run_id)).status is ExecutionStatus.RUNNING

    await finish(flows, *(await claimed(flows, run_id)).values())
    assert await statuses(flows, run_id) == "CRRW"
    both = await claimed(flows, run_id)
    assert sorted(both) == ["b", "c"]
    await finish(flows, both["b"])
    assert await statuses(flows, run_id) == "CCRW"
    assert await claimed(flows, run_id) == {}
    await finish(flows, both["c"])
    assert await statuses(flows, run_id) == "CCCR"
    await finish(flows, *(await claimed(flows, run_id)).values())

    run = await run_of(flows, run_id)
    assert (run.status, run.state.left, run.finished_at) == (RunStatus.COMPLETED, 0, NOW)
    assert (await seen(flows, run_id)).status is ExecutionStatus.COMPLETED


async def test_what_follows_a_failure_does_not_run(flows: WorkflowStore) -> None:
    run_id = await begun(flows, {"a": [], "b": ["a"], "c": ["b"], "d": []})
    first = await claimed(flows, run_id)

    await finish(flows, first["a"], outcome=BROKEN)
    assert await statuses(flows, run_id) == "FUUR"
    await finish(flows, first["d"])

    assert (await run_of(flows, run_id)).status is RunStatus.FAILED
    assert (await seen(flows, run_id)).status is ExecutionStatus.FAILED
    letters = await flows.dead_letters.page(DEFAULT_TENANT, limit=10)
    assert [one.execution_id for one in letters.items] == [first["a"].claim.execution_id]


async def test_a_result_is_the_input_of_what_follows(flows: WorkflowStore) -> None:
    tasks = [
        {"name": "a", "kind": "echo"},
        {"name": "b", "kind": "echo", "depends_on": ["a"], "payload": {"rows": "${tasks.a.result.rows}"}},
    ]
    run_id = await start_run(flows, await create_dag(flows, tasks))

    await finish(flows, (await claimed(flows, run_id))["a"], outcome=with_result({"rows": [1, 2]}))

    [second] = (await claimed(flows, run_id)).values()
    assert second.payload.value == {"rows": [1, 2]}


async def test_workflows_are_found_by_a_tag(flows: WorkflowStore) -> None:
    tasks = tasks_of({"a": []})
    await create_dag(flows, tasks)
    nightly = await create_dag(flows, tasks, tags=["nightly", "etl"])

    assert (await flows.dags.page(DEFAULT_TENANT, limit=10, tag="nightly")).items == (nightly,)
    assert (await flows.dags.page(DEFAULT_TENANT, limit=10, tag="night")).items == ()
    name = nightly.job.name
    assert nightly in (await flows.dags.page(DEFAULT_TENANT, limit=10, name_prefix=name[:-1])).items
    assert nightly in (await flows.dags.page(DEFAULT_TENANT, limit=10, name_contains=name[1:-1])).items
    assert (await flows.dags.page(DEFAULT_TENANT, limit=10, name_prefix="x")).items == ()
    assert (await flows.dags.page(DEFAULT_TENANT, limit=10, name_contains="%")).items == ()
