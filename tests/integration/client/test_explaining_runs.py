"""Why a run of a workflow, or a task of it, does not go on."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from gnomon.core.executions.execution import ExecutionId, Failure, WorkerId
from gnomon.core.executions.lifecycle import Failed, Succeeded
from gnomon.core.explain.obstacles import Obstacle, Reason
from gnomon.core.operations.workers import Registration
from gnomon.core.runs.run import Run, RunId
from gnomon.core.values.document import JSON
from tests.integration.client.conftest import Office

HOUR = timedelta(hours=1)


def task(name: str, *depends_on: str, **more: JSON) -> JSON:
    return {"name": name, "kind": "report", "depends_on": [*depends_on], "max_retries": 0, **more}


async def begun(office: Office, *tasks: JSON, name: str = "flow", **more: JSON) -> Run:
    dag = await office.client.dags.create({"name": name, "tasks": [*tasks], **more})
    return await office.client.dags.trigger(dag.job.id)


async def reasons(office: Office, run_id: RunId | ExecutionId) -> tuple[Reason, ...]:
    return (await office.client.explaining.execution(ExecutionId(run_id))).reasons


async def executions_of(office: Office, run: Run) -> list[ExecutionId]:
    return [id for one in await office.client.runs.tasks(run) for id in one.run.executions]


async def register(office: Office) -> None:
    worker = Registration(
        WorkerId("ada"), uuid4(), "host", 5, frozenset({"report"}), frozenset({"default"}), frozenset()
    )
    await office.store.workers.register(worker, now=office.clock.now())


async def test_a_run_under_way_tells_of_its_tasks_and_not_of_workers(office: Office) -> None:
    run = await begun(office, task("a"), task("b"), task("c", "a", "b"))

    [reason] = await reasons(office, run.id)

    assert reason.code is Obstacle.TASKS_UNDER_WAY
    assert reason.message == "2 of its 3 tasks are under way: 'a', 'b'."
    assert reason.details == {"tasks": 3, "running": 2, "left": 3, "names": ["a", "b"]}


async def test_a_run_tells_why_its_tasks_wait(office: Office) -> None:
    run = await begun(office, task("a"), task("b", "a"))

    found = await office.client.explaining.execution(ExecutionId(run.id))

    [waiting] = await executions_of(office, run)
    assert [(one, [reason.code for reason in why]) for one, why in found.executions] == [
        (waiting, [Obstacle.NO_WORKER])
    ]
    await register(office)
    found = await office.client.explaining.execution(ExecutionId(run.id))
    assert found.executions == ((waiting, ()),)
    await office.claim()
    assert (await office.client.explaining.execution(ExecutionId(run.id))).executions == ()


async def test_a_paused_run_says_so_and_so_do_the_tasks_that_it_holds(office: Office) -> None:
    run = await begun(office, task("a"), task("b", "a"))
    await register(office)
    await office.client.runs.pause(run.id)

    paused, under_way = await reasons(office, run.id)
    [held] = await reasons(office, (await executions_of(office, run))[0])

    assert paused.code is Obstacle.PAUSED
    assert (
        paused.message == "It is paused: nothing new of it begins until it is resumed: gnomon dag-run resume."
    )
    assert under_way.message == "1 of its 2 tasks has begun: 'a'. It runs to its end, or waits for the run."
    assert held.code is Obstacle.PAUSED
    assert (
        held.message
        == f"Its run {run.id} is paused: nothing new of it begins until it is resumed: gnomon dag-run resume."
    )
    assert held.details == {"dag_run_id": str(run.id)}


async def test_a_task_that_is_held_still_tells_that_no_worker_fits(office: Office) -> None:
    run = await begun(office, task("a"))
    await office.client.runs.pause(run.id)

    [held] = await executions_of(office, run)

    assert [one.code for one in await reasons(office, held)] == [Obstacle.PAUSED, Obstacle.NO_WORKER]


async def test_a_run_that_is_halted_names_the_task_its_failure_and_what_to_do(office: Office) -> None:
    run = await begun(office, task("a"), task("b"), failure_strategy="PAUSE")
    await register(office)
    leased = {one.claim.execution_id: one for one in await office.claim()}
    first, _ = await executions_of(office, run)
    await office.end(leased[first], Failed(Failure("boom", "No such table.")))

    halted, under_way = await reasons(office, run.id)

    assert halted.code is Obstacle.HALTED
    assert halted.message == (
        "Its task 'a' failed (boom: No such table.), and the run waits for a decision about it: "
        "retry, skip, succeed or fail the task."
    )
    assert halted.details == {"task": "a", "error": {"kind": "boom", "message": "No such table."}}
    assert under_way.code is Obstacle.TASKS_UNDER_WAY


async def test_what_a_halted_run_holds_names_the_task_to_decide_about(office: Office) -> None:
    run = await begun(office, task("a"), task("b"), failure_strategy="PAUSE")
    await register(office)
    leased = {one.claim.execution_id: one for one in await office.claim()}
    first, second = await executions_of(office, run)
    await office.end(leased[first], Failed(Failure("boom", "No such table.")))
    await office.end(leased[second], Succeeded())
    await office.client.runs.pause(run.id)
    await office.client.runs.rerun(run.id, ["b"])

    paused, halted = await reasons(office, (await executions_of(office, run))[1])

    assert paused.code is Obstacle.PAUSED
    assert halted.code is Obstacle.HALTED
    assert halted.message.startswith(
        f"Its run {run.id} waits for a decision about the task 'a', which failed"
    )


async def test_a_run_that_waits_for_an_approval_names_the_task_and_until_when(office: Office) -> None:
    gates: list[JSON] = [
        {"name": "by boss", "approval": {}},
        {"name": "by bank", "approval": {"timeout_seconds": 3600}},
    ]
    run = await begun(office, *gates)

    first, second = await reasons(office, run.id)

    assert first.code is Obstacle.WAITS_FOR_APPROVAL
    assert first.message == "Its task 'by boss' waits for an approval: approve or reject it."
    assert first.details == {"task": "by boss", "until": None}
    assert "waits for an approval until 2" in second.message
    assert second.details["until"] is not None


async def test_a_run_that_waits_for_an_event_names_it(office: Office) -> None:
    paid: JSON = {"name": "paid", "event": {"name": "payment", "correlation": "order 7"}}
    any_paid: JSON = {"name": "any", "event": {"name": "payment"}}
    run = await begun(office, paid, any_paid)

    first, second = await reasons(office, run.id)

    assert first.code is Obstacle.WAITS_FOR_EVENT
    assert first.message == "Its task 'paid' waits for the event 'payment' with the correlation 'order 7'."
    assert first.details == {"task": "paid", "event": "payment", "correlation": "order 7", "until": None}
    assert second.message == "Its task 'any' waits for the event 'payment'."


async def test_a_run_that_is_being_stopped_says_so(office: Office) -> None:
    run = await begun(office, task("a"), task("b", "a"))
    await office.claim()
    await office.client.runs.cancel(run.id)

    [reason] = await reasons(office, run.id)

    assert reason.code is Obstacle.STOPPING
    assert (
        reason.message
        == "It is being stopped, and will be CANCELLED: 1 task was asked to stop, and still runs."
    )


async def test_a_run_that_waits_for_its_turn_is_told_of_the_runs_before_it(office: Office) -> None:
    schedule: JSON = {"type": "manual", "overlap_policy": "queue"}
    dag = await office.client.dags.create({"name": "flow", "schedule": schedule, "tasks": [task("a")]})
    await office.client.dags.trigger(dag.job.id)
    run = await office.client.dags.trigger(dag.job.id)

    assert [one.code for one in await reasons(office, run.id)] == [Obstacle.WAITS_FOR_SLOT]


async def test_an_inner_run_is_a_task_under_way_that_tells_of_its_own(office: Office) -> None:
    await office.client.dags.create({"name": "inner", "tasks": [{"name": "ok", "approval": {}}]})
    run = await begun(office, {"name": "sub", "dag": "inner"})

    found = await office.client.explaining.execution(ExecutionId(run.id))

    assert [one.message for one in found.reasons] == ["1 of its 1 tasks is under way: 'sub'."]
    [(_, [why])] = found.executions
    assert why.message == "Its task 'ok' waits for an approval: approve or reject it."


async def test_a_run_that_has_ended_says_how(office: Office) -> None:
    run = await begun(office, task("a"))
    await office.client.runs.cancel(run.id)

    assert [one.code for one in await reasons(office, run.id)] == [Obstacle.ENDED]


async def test_a_workflow_tells_why_its_runs_do_not_go_on(office: Office) -> None:
    run = await begun(office, {"name": "ok", "approval": {}})

    found = await office.client.explaining.job(run.dag_id)

    assert [one.code for one in found.reasons] == [Obstacle.MANUAL]
    assert [(one, [reason.code for reason in why]) for one, why in found.executions] == [
        (ExecutionId(run.id), [Obstacle.WAITS_FOR_APPROVAL])
    ]
