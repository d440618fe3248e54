"""Why a run of a workflow failed, or will: which task, which item, which execution, and what helps."""

from __future__ import annotations

from gnomon.core.executions.execution import ExecutionId, Failure
from gnomon.core.executions.lifecycle import Failed, Succeeded
from gnomon.core.explain.obstacles import Obstacle, Reason
from gnomon.core.runs.run import Run
from gnomon.core.values.document import JSON, Document
from tests.integration.client.conftest import Office

BOOM = Failed(Failure("boom", "No such table."))
EACH: JSON = {
    "name": "each",
    "kind": "report",
    "depends_on": ["list"],
    "fan_out": {"over": "${tasks.list.result}"},
    "payload": {"of": "${item}"},
    "max_retries": 0,
}


def task(name: str, *depends_on: str) -> JSON:
    return {"name": name, "kind": "report", "depends_on": [*depends_on], "max_retries": 0}


async def begun(office: Office, *tasks: JSON, name: str = "flow") -> Run:
    dag = await office.client.dags.create({"name": name, "tasks": [*tasks]})
    return await office.client.dags.trigger(dag.job.id)


async def reasons(office: Office, run: Run) -> tuple[Reason, ...]:
    return (await office.client.explaining.execution(ExecutionId(run.id))).reasons


async def test_a_run_that_failed_names_the_task_its_error_and_what_helps(office: Office) -> None:
    run = await begun(office, task("load"), task("report", "load"))
    [leased] = await office.claim()
    await office.end(leased, BOOM)

    [reason] = await reasons(office, run)

    assert reason.code is Obstacle.TASK_FAILED
    assert reason.message == (
        "Its task 'load' failed in attempt 1 (boom: No such table.). What needs its success does not run. "
        "Mend what failed, then run the task again, and all that follows it: gnomon dag-run retry."
    )
    assert reason.details == {
        "task": "load",
        "item": None,
        "execution_id": str(leased.claim.execution_id),
        "attempts": 1,
        "error": {"kind": "boom", "message": "No such table."},
    }


async def test_a_failed_item_of_a_fan_out_is_named_while_the_others_run(office: Office) -> None:
    run = await begun(office, task("list"), EACH)
    [first] = await office.claim()
    await office.end(first, Succeeded(Document.of([1, 2, 3], field="result")))
    leased = {one.claim.execution_id: one for one in await office.claim()}
    [_, each] = await office.client.runs.tasks(run)
    await office.end(leased[each.run.executions[1]], BOOM)

    under_way, failed = await reasons(office, run)

    assert under_way.code is Obstacle.TASKS_UNDER_WAY
    assert failed.code is Obstacle.TASK_FAILED
    assert failed.message == (
        "Item 1 of its task 'each' failed in attempt 1 (boom: No such table.). The task fails when the rest "
        "of it has ended: 2 items are left. Mend what failed meanwhile."
    )
    assert failed.details["execution_id"] == str(each.run.executions[1])
    await office.end(leased[each.run.executions[0]], BOOM)
    await office.end(leased[each.run.executions[2]], Succeeded())
    [failed] = await reasons(office, run)
    assert failed.message.startswith(
        "Item 0 of its task 'each' failed in attempt 1 (boom: No such table.), and 1 more item. What needs"
    )


async def test_a_run_that_failed_inside_of_another_is_named(office: Office) -> None:
    await office.client.dags.create({"name": "inner", "tasks": [task("load")]})
    run = await begun(office, {"name": "sub", "dag": "inner"})
    [leased] = await office.claim()
    await office.end(leased, BOOM)

    [reason] = await reasons(office, run)

    [sub] = await office.client.runs.tasks(run)
    assert reason.message.startswith(
        f"Its task 'sub' failed: see run {sub.run.executions[0]}, which is inside of it."
    )


async def test_a_task_that_failed_is_told_while_the_rest_of_the_run_goes_on(office: Office) -> None:
    run = await begun(office, task("a"), task("b"))
    leased = {one.claim.execution_id: one for one in await office.claim()}
    [a, _] = await office.client.runs.tasks(run)
    await office.end(leased[a.run.executions[0]], BOOM)

    assert [one.code for one in await reasons(office, run)] == [
        Obstacle.TASKS_UNDER_WAY,
        Obstacle.TASK_FAILED,
    ]
