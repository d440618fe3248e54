"""Runs that end before they began are in the history of their workflow, on every database."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.lifecycle import JobAction
from gnomon.core.runs.events import Pause, RerunFailed, Retry
from gnomon.core.runs.run import Run, RunId
from gnomon.core.runs.state import RunStatus
from gnomon.core.workflows.dag import Dag
from gnomon.errors import IllegalTransition
from gnomon.store.protocols.workflows import WorkflowStore
from tests.contract import given
from tests.contract.firings import fire
from tests.contract.flows import (
    act,
    all_tasks,
    chain,
    create_dag,
    run_of,
    start_run,
    statuses,
    tasks_of,
    work_off,
)
from tests.contract.given import MINUTE, NOW, ask, enqueue

HOUR = timedelta(hours=1)
ONE_AT_A_TIME = {"type": "manual", "overlap_policy": "queue"}


async def history(flows: WorkflowStore, dag: Dag) -> dict[RunId, Run]:
    runs = (await flows.runs.page(DEFAULT_TENANT, dag.job.id, limit=10)).items
    return {run.id: run for run in runs}


async def check_never_began(flows: WorkflowStore, dag: Dag, run_id: RunId) -> None:
    run = await run_of(flows, run_id)
    assert (await history(flows, dag))[run_id] == run
    assert (run.status, run.started_at, run.finished_at) == (RunStatus.CANCELLED, None, NOW)
    assert (run.state.left, run.state.cancelled) == (0, run.tasks)
    assert await all_tasks(flows, run_id) == []


async def test_a_run_that_is_cancelled_while_it_waits_stays_in_the_history(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(2)), schedule=ONE_AT_A_TIME)
    first = await start_run(flows, dag)
    second = await start_run(flows, dag, config={"n": 1})
    assert (await run_of(flows, second)).status is RunStatus.PENDING

    for _ in range(2):  # Safe to repeat.
        await flows.executions.cancel(DEFAULT_TENANT, [ExecutionId(second)], now=NOW)

    await check_never_began(flows, dag, second)
    assert (await run_of(flows, second)).state.config.value == {"n": 1}
    assert set(await history(flows, dag)) == {first, second}
    assert await work_off(flows) == 2


async def test_what_never_began_cannot_be_run_again_and_that_is_told(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(2)))
    [waiting] = await enqueue(flows, ask(dag.job, due=NOW + HOUR))
    with pytest.raises(IllegalTransition, match="A run that is PENDING cannot"):
        await act(flows, RunId(waiting), Pause())
    await flows.executions.cancel(DEFAULT_TENANT, [waiting], now=NOW)

    for event in (RerunFailed(), Retry(0)):
        with pytest.raises(IllegalTransition, match=r"never began.*[Tt]rigger"):
            await act(flows, RunId(waiting), event)
    assert (await run_of(flows, RunId(waiting))).status is RunStatus.CANCELLED


async def test_a_run_whose_workflow_is_deleted_while_it_waits_stays_in_the_history(
    flows: WorkflowStore,
) -> None:
    dag = await create_dag(flows, tasks_of(chain(2)))
    [waiting] = await enqueue(flows, ask(dag.job, due=NOW + HOUR))

    await given.act(flows, dag.job, JobAction.DELETE)

    await check_never_began(flows, dag, RunId(waiting))


async def test_a_run_that_is_replaced_while_it_waits_stays_in_the_history(flows: WorkflowStore) -> None:
    replacing = {"type": "cron", "cron": "* * * * *", "overlap_policy": "replace"}
    dag = await create_dag(flows, tasks_of(chain(2)), schedule=replacing, next_run_time=NOW - MINUTE)
    [replaced] = await fire(flows, now=NOW - MINUTE)

    [new] = await fire(flows, now=NOW)

    await check_never_began(flows, dag, RunId(replaced))
    assert set(await history(flows, dag)) == {replaced, new}


async def test_a_run_that_is_cancelled_with_the_run_around_it_stays_in_the_history(
    flows: WorkflowStore,
) -> None:
    inner = await create_dag(flows, tasks_of(chain(1)), "inner", schedule=ONE_AT_A_TIME)
    await start_run(flows, inner)
    around = await create_dag(flows, [{"name": "t", "dag": "inner"}])
    outers = [await start_run(flows, around) for _ in range(2)]
    waiting = [RunId((await all_tasks(flows, outer))[0].executions[0]) for outer in outers]
    assert [(await run_of(flows, one)).status for one in waiting] == [RunStatus.PENDING] * 2

    await flows.executions.cancel(DEFAULT_TENANT, [ExecutionId(outers[0])], now=NOW)
    await flows.executions.cancel(DEFAULT_TENANT, [ExecutionId(waiting[1])], now=NOW)

    for outer, run_id in zip(outers, waiting, strict=True):
        await check_never_began(flows, inner, run_id)
        assert (await run_of(flows, run_id)).outer == outer
        assert await statuses(flows, outer) == "X"
