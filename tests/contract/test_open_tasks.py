"""What a run waits for, as a reader sees it: tasks that have begun and not ended, and where each is."""

from __future__ import annotations

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionStatus, Failure, WaitsFor
from gnomon.core.executions.records import ExecutionFilter
from gnomon.core.runs.events import Pause
from gnomon.core.runs.run import OpenTask
from gnomon.core.runs.state import TaskStatus
from gnomon.core.values.document import JSON
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
    tasks_of,
)
from tests.contract.given import BROKEN, MINUTE, NOW, other_tenant


async def test_tasks_that_wait_for_a_person_come_first(flows: WorkflowStore) -> None:
    held: list[JSON] = [
        {"name": "paid", "event": {"name": "payment", "correlation": "7", "timeout_seconds": 60}},
        {"name": "boss", "approval": {}},
    ]
    tasks = [*tasks_of({"good": [], "bad": [], "later": ["good"]}, max_retries=0), *held]
    run_id = await start_run(flows, await create_dag(flows, tasks, failure_strategy="PAUSE"))
    await finish(flows, (await claimed(flows, run_id))["bad"], outcome=BROKEN)

    halted, paid, boss, good = await flows.runs.open_tasks(DEFAULT_TENANT, run_id, limit=10)

    assert (halted.task, halted.status) == (1, TaskStatus.HALTED)
    assert halted.failure == BROKEN.failure
    assert paid == OpenTask(3, TaskStatus.HELD, "payment", "7", NOW + MINUTE)
    assert boss == OpenTask(4, TaskStatus.HELD)
    assert good == OpenTask(0, TaskStatus.RELEASED)  # A worker has it.
    assert await flows.runs.open_tasks(DEFAULT_TENANT, run_id, limit=1) == [halted]
    assert await flows.runs.open_tasks(await other_tenant(flows), run_id, limit=10) == []


async def test_a_task_that_could_not_begin_is_halted_with_the_reason(flows: WorkflowStore) -> None:
    tasks: list[JSON] = [{"name": "a", "kind": "echo", "payload": {"x": "${config.gone}"}}]
    run_id = await start_run(flows, await create_dag(flows, tasks, failure_strategy="PAUSE"))

    [halted] = await flows.runs.open_tasks(DEFAULT_TENANT, run_id, limit=10)

    assert halted.failure == Failure("invalid_input", "The config has no 'gone'.")


async def test_an_execution_that_waits_is_named_and_knows_its_run(flows: WorkflowStore) -> None:
    run_id = await begun(flows, chain(2))
    [first, _] = await all_tasks(flows, run_id)
    [waiting] = first.executions

    assert await flows.runs.open_tasks(DEFAULT_TENANT, run_id, limit=10) == [
        OpenTask(0, TaskStatus.RELEASED, waiting=waiting)
    ]
    await act(flows, run_id, Pause())
    place = await flows.executions.place(DEFAULT_TENANT, waiting)
    assert place is not None
    assert (place.run_id, place.waits_for, place.is_held) == (run_id, WaitsFor.APPROVAL, True)


async def test_a_run_that_waits_for_its_tasks_is_among_what_runs(flows: WorkflowStore) -> None:
    first, second = [await begun(flows, chain(2)) for _ in range(2)]
    leased = (await claimed(flows, first))["t0"].claim.execution_id

    running = ExecutionFilter(None, ExecutionStatus.RUNNING)
    page = await flows.executions.page(DEFAULT_TENANT, running, now=NOW, limit=100)

    assert {first, second, leased} <= {one.id for one in page.items}
    assert {one.status for one in page.items} == {ExecutionStatus.RUNNING}
    assert [one.id for one in page.items] == sorted((one.id for one in page.items), reverse=True)
