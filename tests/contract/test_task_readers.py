"""What a reader learns of the tasks of a run: when they ran, why they failed, what they wait for."""

from __future__ import annotations

from datetime import timedelta

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Failure
from gnomon.core.executions.lifecycle import Failed
from gnomon.core.runs.events import Retry, Succeed
from gnomon.core.runs.run import Hold, RunId
from gnomon.core.runs.state import RunStatus
from gnomon.core.values.document import JSON, Document
from gnomon.store.protocols.workflows import WorkflowStore
from tests.contract.flows import (
    act,
    all_tasks,
    begun,
    chain,
    claimed,
    create_dag,
    finish,
    start_run,
    statuses,
    tasks_of,
    with_result,
    work_off,
)
from tests.contract.given import FAILED, HOUR, NOW, claim

WHY = Failure("boom", "the disk is full")


async def test_a_failed_task_says_why_and_when(flows: WorkflowStore) -> None:
    run_id = await begun(flows, chain(2))
    [before, waiting] = await all_tasks(flows, run_id)
    assert (before.attempt, before.started_at, before.finished_at) == (1, None, None)
    leased = await claimed(flows, run_id)
    [running, _] = await all_tasks(flows, run_id)
    assert (running.attempt, running.started_at, running.finished_at) == (1, NOW, None)

    await finish(flows, *leased.values(), outcome=Failed(WHY, permanent=True), now=NOW + HOUR)

    [failed, after] = await all_tasks(flows, run_id)
    assert (failed.failure, failed.attempt) == (WHY, 1)
    assert (failed.started_at, failed.finished_at) == (NOW, NOW + HOUR)
    assert (after.failure, after.attempt, after.finished_at) == (None, 0, None)
    assert (waiting.attempt, waiting.started_at) == (0, None)


async def test_a_second_attempt_is_counted(flows: WorkflowStore) -> None:
    run_id = await begun(flows, chain(1))
    await finish(flows, *(await claimed(flows, run_id)).values(), outcome=FAILED)
    assert [one.attempt for one in await all_tasks(flows, run_id)] == [2]


async def test_a_halted_task_says_why_until_it_is_made_good(flows: WorkflowStore) -> None:
    run_id = await begun(flows, chain(2), failure_strategy="PAUSE")
    broken = Failed(WHY, permanent=True)
    await finish(flows, *(await claimed(flows, run_id)).values(), outcome=broken)
    [halted, _] = await all_tasks(flows, run_id)
    assert (halted.state.status, halted.failure, halted.finished_at) == ("HALTED", WHY, NOW)

    await act(flows, run_id, Retry(0))
    [again, _] = await all_tasks(flows, run_id)
    assert (again.state.status, again.failure, again.finished_at) == ("RELEASED", None, None)
    await finish(flows, *(await claimed(flows, run_id)).values(), outcome=broken)
    await act(flows, run_id, Succeed(0, Document("7")))
    [good, _] = await all_tasks(flows, run_id)
    assert (good.state.status, good.failure, good.result) == ("COMPLETED", None, Document("7"))


async def test_of_a_fan_out_the_first_item_that_failed_speaks(flows: WorkflowStore) -> None:
    tasks: list[JSON] = [
        {"name": "list", "kind": "echo"},
        {
            "name": "each",
            "kind": "echo",
            "payload": {"n": "${item}"},
            "depends_on": ["list"],
            "fan_out": {"over": "${tasks.list.result}"},
        },
    ]
    run_id = await start_run(flows, await create_dag(flows, tasks))
    await finish(flows, *(await claimed(flows, run_id)).values(), outcome=with_result([1, 2, 3]))
    by_item = (await all_tasks(flows, run_id))[1].executions
    ordered = sorted(await claim(flows), key=lambda one: by_item.index(one.claim.execution_id))
    minute = timedelta(minutes=1)
    await finish(flows, ordered[0], now=NOW + minute)
    for place in (2, 1):
        why = Failed(Failure("boom", f"disk {place}"), permanent=True)
        await finish(flows, ordered[place], outcome=why, now=NOW + (4 - place) * minute)

    each = (await all_tasks(flows, run_id))[1]

    assert each.failure == Failure("boom", "item 1: disk 1")
    assert (each.started_at, each.finished_at) == (NOW, NOW + 3 * minute)
    assert len(each.executions) == 3


async def test_what_a_task_waits_for_is_told(flows: WorkflowStore) -> None:
    tasks: list[JSON] = [
        {"name": "paid", "event": {"name": "payment", "correlation": "7", "timeout_seconds": 3600}},
        {"name": "release", "approval": {}},
        {"name": "go", "kind": "echo"},
    ]
    run_id = await start_run(flows, await create_dag(flows, tasks))

    assert await statuses(flows, run_id) == "hhR"
    holds = [one.hold for one in await all_tasks(flows, run_id)]
    assert holds == [Hold("payment", "7", NOW + HOUR), Hold(), None]


async def test_runs_are_found_by_their_status(flows: WorkflowStore) -> None:
    schedule: JSON = {"type": "manual", "overlap_policy": "queue"}
    dag = await create_dag(flows, tasks_of({"a": []}), schedule=schedule)
    done = await start_run(flows, dag)
    await work_off(flows)
    under_way = await start_run(flows, dag)
    pending = await start_run(flows, dag)

    async def found(status: RunStatus) -> list[RunId]:
        page = await flows.runs.page(DEFAULT_TENANT, dag.job.id, status=status, limit=10)
        assert {one.status for one in page.items} <= {status}
        return [one.id for one in page.items]

    assert await found(RunStatus.COMPLETED) == [done]
    assert await found(RunStatus.RUNNING) == [under_way]
    assert await found(RunStatus.PENDING) == [pending]
    assert await found(RunStatus.FAILED) == []
