"""What failed in a run, as a reader sees it: the task, the item and the execution, also while others run."""

from __future__ import annotations

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.runs.run import Brought, FailedTask, TaskItem
from gnomon.core.runs.state import TaskStatus
from gnomon.core.values.document import JSON, Document
from gnomon.store.protocols.workflows import WorkflowStore
from tests.contract.flows import (
    LIST_AND_EACH,
    all_tasks,
    claimed,
    create_dag,
    finish,
    start_run,
    tasks_of,
    with_result,
)
from tests.contract.given import BROKEN, claim, other_tenant


async def test_a_task_that_failed_is_named_with_its_execution_and_its_error(flows: WorkflowStore) -> None:
    tasks = tasks_of({"good": [], "bad": [], "later": ["bad"]}, max_retries=0)
    run_id = await start_run(flows, await create_dag(flows, tasks))
    bad = (await claimed(flows, run_id))["bad"]
    await finish(flows, bad, outcome=BROKEN)

    assert await flows.runs.failed_tasks(DEFAULT_TENANT, run_id, limit=10) == [
        FailedTask(1, TaskStatus.FAILED, BROKEN.failure, bad.claim.execution_id, attempts=1)
    ]
    assert await flows.runs.failed_tasks(await other_tenant(flows), run_id, limit=10) == []


async def test_an_item_that_failed_is_named_while_the_others_run(flows: WorkflowStore) -> None:
    fan_out: list[JSON] = [{**task, "max_retries": 0} for task in LIST_AND_EACH]  # type: ignore[dict-item]
    run_id = await start_run(flows, await create_dag(flows, fan_out))
    await finish(flows, (await claimed(flows, run_id))["list"], outcome=with_result([1, 2, 3]))
    items = {one.claim.execution_id: one for one in await claim(flows, limit=10)}
    [_, each] = await all_tasks(flows, run_id)
    await finish(flows, items[each.executions[1]], outcome=BROKEN)

    assert await flows.runs.failed_tasks(DEFAULT_TENANT, run_id, limit=10) == [
        FailedTask(1, TaskStatus.RELEASED, BROKEN.failure, each.executions[1], 1, 1, 2, 1)
    ]


async def test_items_are_told_with_where_they_are_and_what_they_brought(flows: WorkflowStore) -> None:
    fan_out: list[JSON] = [{**task, "max_retries": 0} for task in LIST_AND_EACH]  # type: ignore[dict-item]
    run_id = await start_run(flows, await create_dag(flows, fan_out))
    await finish(flows, (await claimed(flows, run_id))["list"], outcome=with_result([1, 2, 3, 4]))
    [_, each] = await all_tasks(flows, run_id)
    first, second, third, fourth = each.executions
    items = {one.claim.execution_id: one for one in await claim(flows, limit=3)}
    await finish(flows, items[first], outcome=with_result({"rows": 7}))
    await finish(flows, items[second], outcome=BROKEN)

    [listed, each] = await all_tasks(flows, run_id)

    assert (listed.items, listed.failed_execution, each.failed_execution) == ((), None, second)
    assert each.items == [
        TaskItem(0, first, ExecutionStatus.COMPLETED, 1),
        TaskItem(1, second, ExecutionStatus.FAILED, 1),
        TaskItem(2, third, ExecutionStatus.RUNNING, 1),
        TaskItem(3, fourth, ExecutionStatus.PENDING, 1),
    ]
    brought = await flows.runs.brought(DEFAULT_TENANT, each.executions, bytes_max=10)
    assert brought == {
        first: Brought(Document('{"rows":7}'), False, None),
        second: Brought(None, False, BROKEN.failure),
    }
    short = await flows.runs.brought(DEFAULT_TENANT, each.executions, bytes_max=9)
    assert short[first] == Brought(None, True, None)
    assert await flows.runs.brought(await other_tenant(flows), each.executions, bytes_max=10) == {}
