"""What failed in a run, as a reader sees it: the task, the item and the execution, also while others run."""

from __future__ import annotations

from gnomon.core.dag import FailedTask
from gnomon.core.document import JSON
from gnomon.core.job import DEFAULT_TENANT
from gnomon.core.run_state import TaskStatus
from gnomon.store.workflows import WorkflowStore
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
