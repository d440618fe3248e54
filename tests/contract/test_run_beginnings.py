"""A run that is asked for and begun in one statement is the one that asking and starting makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.lifecycle import JobAction
from gnomon.core.runs.run import Run
from gnomon.core.runs.state import RunStatus
from gnomon.core.values.document import JSON, Document
from gnomon.core.workflows.dag import Dag
from gnomon.errors import InvalidInput
from gnomon.store.protocols.workflows import WorkflowStore
from tests.contract import given
from tests.contract.flows import (
    all_tasks,
    chain,
    change_dag,
    create_dag,
    run_of,
    start_run,
    statuses,
    tasks_of,
    work_off,
)
from tests.contract.given import NOW, ask

FAN = tasks_of({"a": [], "b": [], "c": ["a", "b"]})
READS = {"name": "reads", "kind": "echo", "payload": {"region": "${config.region}"}}
LISTED = {
    "name": "each",
    "kind": "echo",
    "fan_out": {"over": "${config.shops}"},
    "payload": {"shop": "${item}"},
}


async def begun_at_once(flows: WorkflowStore, dag: Dag, config: JSON = None) -> Run | None:
    given_config = None if config is None else Document.of(config, field="config")
    return await flows.runs.begin(dag, ask(dag.job, input=given_config), now=NOW)


async def looks(flows: WorkflowStore, run: Run) -> Mapping[str, Any]:
    """All that can be read of a run and of what it released, but the ids."""
    tasks = await all_tasks(flows, run.id)
    executions = [await given.seen(flows, one) for task in tasks for one in task.executions]
    whole = await given.seen(flows, run.id)
    return {
        "run": (
            run.revision,
            run.base,
            run.tasks,
            run.trigger,
            run.state,
            run.due,
            run.created_at,
            run.started_at,
        ),
        "whole": (whole.status, whole.waits_for, whole.priority, whole.due, whole.input, whole.trigger),
        "tasks": [(task.task, task.state, len(task.executions)) for task in tasks],
        "executions": [
            (one.status, one.revision, one.priority, one.due, one.input, one.trigger, one.created_at)
            for one in executions
        ],
    }


@pytest.mark.parametrize(
    ("tasks", "config"),
    [(FAN, None), ([READS], {"region": "eu"}), ([LISTED], {"shops": [1, 2, 3]})],
    ids=["fan", "config", "items"],
)
async def test_both_ways_make_the_same_run(flows: WorkflowStore, tasks: Sequence[JSON], config: JSON) -> None:
    dag = await create_dag(flows, tasks, config={"region": "us", "shops": []})

    run = await begun_at_once(flows, dag, config)
    assert run is not None
    other = await run_of(flows, await start_run(flows, dag, config=config))

    assert run == await run_of(flows, run.id)
    assert await looks(flows, run) == await looks(flows, other)


async def test_a_run_that_was_begun_at_once_goes_on_to_its_end(flows: WorkflowStore) -> None:
    run = await begun_at_once(flows, await create_dag(flows, tasks_of(chain(3))))
    assert run is not None
    assert await statuses(flows, run.id) == "RWW"

    assert await work_off(flows) == 3

    assert (await run_of(flows, run.id)).status is RunStatus.COMPLETED


async def rows_of(flows: WorkflowStore, dag: Dag) -> list[UUID]:
    page = await flows.runs.page(DEFAULT_TENANT, dag.job.id, limit=10)
    return [run.id for run in page.items]


@pytest.mark.parametrize(
    "first",
    [{"approval": {}}, {"event": {"name": "paid"}}, {"dag": "another"}],
    ids=["approval", "event", "sub-dag"],
)
async def test_what_takes_more_is_left_alone(flows: WorkflowStore, first: Mapping[str, JSON]) -> None:
    dag = await create_dag(flows, [{"name": "first", **first}])
    assert await begun_at_once(flows, dag) is None
    assert await rows_of(flows, dag) == []


async def test_with_slots_or_a_new_revision_or_gone_nothing_happens(flows: WorkflowStore) -> None:
    narrow = await create_dag(flows, FAN, schedule={"type": "manual", "overlap_policy": "queue"})
    changed = await create_dag(flows, FAN)
    await change_dag(flows, changed, tasks_of(chain(2)))
    deleted = await create_dag(flows, FAN)
    await given.act(flows, deleted.job, JobAction.DELETE)

    for dag in (narrow, changed, deleted):
        assert await begun_at_once(flows, dag) is None
        assert await rows_of(flows, dag) == []
    assert await given.claim(flows) == []


@pytest.mark.parametrize("config", [[1], {"x": "x" * 200_000}], ids=["list", "large"])
async def test_what_it_cannot_run_with_is_refused_or_ends_it(flows: WorkflowStore, config: JSON) -> None:
    dag = await create_dag(flows, FAN, config={"old": "x" * 200_000})
    with pytest.raises(InvalidInput):
        await begun_at_once(flows, dag, config)
    assert await rows_of(flows, dag) == []

    run = await run_of(flows, await start_run(flows, dag, config=config))

    assert run.failure is not None
    assert (run.status, run.failure.kind) == (RunStatus.FAILED, "invalid_config")
    assert await given.claim(flows) == []


async def test_a_workflow_inside_with_too_large_a_configuration_fails_its_task(flows: WorkflowStore) -> None:
    await create_dag(flows, FAN, "inner", config={"old": "x" * 200_000})
    dag = await create_dag(flows, [{"name": "sub", "dag": "inner", "config": {"new": "x" * 200_000}}])

    run_id = await start_run(flows, dag)

    [task] = await all_tasks(flows, run_id)
    assert task.failure is not None
    assert (await statuses(flows, run_id), task.failure.kind) == ("F", "invalid_config")
