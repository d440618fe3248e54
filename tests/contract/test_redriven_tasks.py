"""To redrive a task of a workflow is to repair its run, and a repair settles dead letters."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.lease import Leased
from gnomon.core.executions.lifecycle import Cancelled, JobAction
from gnomon.core.executions.records import Redrive, Redriven
from gnomon.core.runs.events import (
    Cancel,
    Fail,
    Pause,
    Repair,
    Rerun,
    RerunFailed,
    Resume,
    Retry,
    Skip,
    Succeed,
)
from gnomon.core.runs.events import Redrive as RedriveTasks
from gnomon.core.runs.run import RunId, TaskPlace
from gnomon.core.runs.state import RunStatus
from gnomon.core.values.document import JSON
from gnomon.errors import IllegalTransition, JobNotFound
from gnomon.store.protocols.workflows import WorkflowStore
from tests.contract import given
from tests.contract.flows import (
    LIST_AND_EACH,
    act,
    all_tasks,
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
from tests.contract.given import BROKEN, DONE, MINUTE, NOW, claim, new_id

FORK = {"a": [], "b": [], "c": ["a", "b"]}


async def open_letters(flows: WorkflowStore) -> set[ExecutionId]:
    page = await flows.dead_letters.page(DEFAULT_TENANT, limit=100)
    return {one.execution_id for one in page.items if one.redriven_as is None}


async def redrive(flows: WorkflowStore, *dead: ExecutionId) -> list[Redriven]:
    redrives = [Redrive(one, ExecutionId(new_id())) for one in dead]
    return list(await flows.dead_letters.redrive(DEFAULT_TENANT, redrives, now=NOW))


async def fail(flows: WorkflowStore, *leased: Leased) -> list[ExecutionId]:
    await finish(flows, *leased, outcome=BROKEN)
    return [one.claim.execution_id for one in leased]


async def failed_first(flows: WorkflowStore, **more: JSON) -> tuple[RunId, ExecutionId]:
    """A run of two tasks whose first failed for good."""
    run_id = await begun(flows, chain(2), **more)
    [dead] = await fail(flows, *(await claimed(flows, run_id)).values())
    return run_id, dead


async def test_an_execution_of_a_task_tells_which_one_it_is_for(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, LIST_AND_EACH)
    run_id = await start_run(flows, dag)
    await finish(flows, *(await claimed(flows, run_id)).values(), outcome=with_result([1, 2]))
    items = sorted(one.claim.execution_id for one in await claim(flows))
    plain = await given.enqueue_one(flows)

    places = await flows.runs.places(DEFAULT_TENANT, [*items, plain, ExecutionId(run_id)])

    assert places == {
        one: TaskPlace(run_id, dag.job.id, 1, task=1, round=1, item=item) for item, one in enumerate(items)
    }
    assert await flows.runs.places(await given.other_tenant(flows), items) == {}
    assert await flows.runs.places(DEFAULT_TENANT, []) == {}


async def test_to_redrive_a_task_is_to_repair_its_run(flows: WorkflowStore) -> None:
    run_id, dead = await failed_first(flows)
    assert (await run_of(flows, run_id)).status is RunStatus.FAILED

    [answer] = await redrive(flows, dead)

    assert answer == Redriven(ExecutionId(run_id), is_new=True, revision=1, dag_run_id=run_id)
    assert await statuses(flows, run_id) == "RW"
    letter = await flows.dead_letters.get(DEFAULT_TENANT, dead)
    assert (letter.redriven_as, letter.redriven_at) == (ExecutionId(run_id), NOW)
    assert await work_off(flows) == 2
    assert (await run_of(flows, run_id)).status is RunStatus.COMPLETED


async def test_a_task_that_was_redriven_before_is_not_run_again(flows: WorkflowStore) -> None:
    run_id, dead = await failed_first(flows)
    await redrive(flows, dead)

    [repeated] = await redrive(flows, dead)

    assert (repeated.id, repeated.is_new) == (ExecutionId(run_id), False)
    assert len(await claim(flows)) == 1


async def test_many_who_redrive_a_task_together_repair_its_run_once(flows: WorkflowStore) -> None:
    _, dead = await failed_first(flows)

    answers = await asyncio.gather(*(redrive(flows, dead) for _ in range(8)))

    assert sum(one.is_new for [one] in answers) == 1
    assert len(await claim(flows)) == 1


@pytest.mark.parametrize(
    "repair",
    [RerunFailed(), Rerun(frozenset({0})), Retry(0), Skip(0), Succeed(0)],
    ids=lambda one: type(one).__name__,
)
async def test_a_repaired_task_leaves_nothing_to_redrive(flows: WorkflowStore, repair: Repair) -> None:
    run_id, dead = await failed_first(flows)
    assert await open_letters(flows) == {dead}

    await act(flows, run_id, repair)

    assert await open_letters(flows) == set()
    await work_off(flows)
    [answer] = await redrive(flows, dead)
    assert (answer.id, answer.is_new) == (ExecutionId(run_id), False)
    assert await claim(flows) == []


@pytest.mark.parametrize("repair", [Retry(0), Skip(0), Succeed(0)], ids=lambda one: type(one).__name__)
async def test_a_decision_about_a_halted_task_settles_its_dead_letter(
    flows: WorkflowStore, repair: Repair
) -> None:
    run_id, dead = await failed_first(flows, failure_strategy="PAUSE")
    assert await open_letters(flows) == {dead}

    await act(flows, run_id, repair)

    assert await open_letters(flows) == set()


async def test_a_halted_task_is_redriven_and_its_run_goes_on(flows: WorkflowStore) -> None:
    run_id, dead = await failed_first(flows, failure_strategy="PAUSE")

    await redrive(flows, dead)

    assert await work_off(flows) == 2
    assert (await run_of(flows, run_id)).status is RunStatus.COMPLETED


async def test_a_task_that_was_left_failed_can_still_be_redriven(flows: WorkflowStore) -> None:
    run_id, dead = await failed_first(flows, failure_strategy="PAUSE")
    await act(flows, run_id, Fail(0))
    assert await open_letters(flows) == {dead}

    await redrive(flows, dead)

    assert await work_off(flows) == 2
    assert (await run_of(flows, run_id)).status is RunStatus.COMPLETED


async def test_a_task_that_fails_again_has_a_dead_letter_of_its_own(flows: WorkflowStore) -> None:
    run_id, dead = await failed_first(flows)
    await redrive(flows, dead)

    [again] = await fail(flows, *(await claimed(flows, run_id)).values())

    assert await open_letters(flows) == {again}
    await redrive(flows, again)
    assert await work_off(flows) == 2


async def test_an_end_that_was_made_up_for_settles_no_later_one(flows: WorkflowStore) -> None:
    """As a retry of an execution that was retried before, while the task has failed again."""
    run_id, dead = await failed_first(flows)
    await redrive(flows, dead)
    [again] = await fail(flows, *(await claimed(flows, run_id)).values())

    await act(flows, run_id, RedriveTasks(frozenset({(0, 1)})))

    assert await open_letters(flows) == {again}
    assert await claim(flows) == []


async def test_an_end_that_was_made_up_for_settles_no_item_that_failed_since(flows: WorkflowStore) -> None:
    run_id = await start_run(flows, await create_dag(flows, LIST_AND_EACH))
    await finish(flows, *(await claimed(flows, run_id)).values(), outcome=with_result([1, 2]))
    await fail(flows, *await claim(flows))
    await act(flows, run_id, RerunFailed())
    items = await claim(flows)
    [dead] = await fail(flows, items[0])

    await act(flows, run_id, RedriveTasks(frozenset({(1, 1)})))

    assert await open_letters(flows) == {dead}


async def test_only_what_is_done_anew_is_settled(flows: WorkflowStore) -> None:
    run_id = await begun(flows, FORK)
    leased = await claimed(flows, run_id)
    [a, b] = await fail(flows, leased["a"], leased["b"])

    await redrive(flows, a)

    assert await open_letters(flows) == {b}
    assert await statuses(flows, run_id) == "RFW"


async def test_several_tasks_of_a_run_are_redriven_together(flows: WorkflowStore) -> None:
    run_id = await begun(flows, {"a": [], "b": [], "c": ["a"]})
    leased = await claimed(flows, run_id)
    dead = await fail(flows, leased["a"], leased["b"])

    assert [one.is_new for one in await redrive(flows, *dead)] == [True, True]

    assert await work_off(flows) == 3
    assert (await run_of(flows, run_id)).status is RunStatus.COMPLETED


async def test_a_task_is_redriven_while_its_run_goes_on(flows: WorkflowStore) -> None:
    run_id = await begun(flows, FORK)
    leased = await claimed(flows, run_id)
    [dead] = await fail(flows, leased["a"])

    await redrive(flows, dead)
    await finish(flows, leased["b"])

    assert await work_off(flows) == 2
    assert (await run_of(flows, run_id)).status is RunStatus.COMPLETED


async def test_a_task_of_a_paused_run_is_redriven_and_waits_for_it(flows: WorkflowStore) -> None:
    run_id = await begun(flows, FORK)
    leased = await claimed(flows, run_id)
    [dead] = await fail(flows, leased["a"])
    await act(flows, run_id, Pause())

    await redrive(flows, dead)

    assert await claim(flows) == []
    await act(flows, run_id, Resume())
    assert await work_off(flows) == 1


async def test_a_task_of_a_run_that_is_being_stopped_is_not_redriven(flows: WorkflowStore) -> None:
    run_id = await begun(flows, FORK)
    leased = await claimed(flows, run_id)
    [dead] = await fail(flows, leased["a"])
    await act(flows, run_id, Cancel())

    with pytest.raises(IllegalTransition, match="being stopped"):
        await redrive(flows, dead)

    assert await open_letters(flows) == {dead}


async def test_a_task_of_a_cancelled_run_is_redriven_and_the_others_stay_cancelled(
    flows: WorkflowStore,
) -> None:
    run_id = await begun(flows, {"a": [], "b": []})
    leased = await claimed(flows, run_id)
    [dead] = await fail(flows, leased["a"])
    await act(flows, run_id, Cancel())
    await finish(flows, leased["b"], outcome=Cancelled())
    assert (await run_of(flows, run_id)).status is RunStatus.CANCELLED

    await redrive(flows, dead)

    assert await work_off(flows) == 1
    assert await statuses(flows, run_id) == "CX"


async def test_what_a_failure_cancelled_goes_on_when_the_failed_task_is_redriven(
    flows: WorkflowStore,
) -> None:
    run_id = await begun(flows, FORK, failure_strategy="FAIL_FAST")
    leased = await claimed(flows, run_id)
    [dead] = await fail(flows, leased["a"])
    await finish(flows, leased["b"], outcome=Cancelled())
    assert await statuses(flows, run_id) == "FXX"

    await redrive(flows, dead)

    assert await work_off(flows) == 3
    assert (await run_of(flows, run_id)).status is RunStatus.COMPLETED


async def test_items_of_a_fan_out_are_one_task(flows: WorkflowStore) -> None:
    run_id = await start_run(flows, await create_dag(flows, LIST_AND_EACH))
    await finish(flows, *(await claimed(flows, run_id)).values(), outcome=with_result([1, 2, 3]))
    items = await claim(flows)
    [dead] = await fail(flows, items[0])
    with pytest.raises(IllegalTransition, match="have not ended"):
        await redrive(flows, dead)
    [other] = await fail(flows, items[1])
    await finish(flows, items[2])

    await redrive(flows, dead)

    assert await open_letters(flows) == set()
    [settled] = await redrive(flows, other)
    assert not settled.is_new
    assert await work_off(flows) == 3
    assert (await run_of(flows, run_id)).status is RunStatus.COMPLETED


async def test_a_run_stays_at_its_revision_when_its_task_is_redriven(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(1)))
    run_id = await start_run(flows, dag)
    [dead] = await fail(flows, *(await claimed(flows, run_id)).values())
    await change_dag(flows, dag, tasks_of(chain(3)))

    [answer] = await redrive(flows, dead)

    assert answer.revision == 1
    assert await work_off(flows) == 1


async def test_a_task_of_a_workflow_that_is_gone_is_not_redriven(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(1)))
    run_id = await start_run(flows, dag)
    [dead] = await fail(flows, *(await claimed(flows, run_id)).values())
    await given.act(flows, dag.job, JobAction.DELETE)

    with pytest.raises((JobNotFound, IllegalTransition)):
        await redrive(flows, dead)

    assert await open_letters(flows) == {dead}


# Runs inside of runs ---------------------------------------------------------------------------------


async def nested(flows: WorkflowStore, **more: Any) -> tuple[RunId, RunId, ExecutionId]:
    """A run, the run inside of its first task, whose first task failed for good, and that execution."""
    await create_dag(flows, tasks_of(chain(2)), "inner")
    tasks: list[JSON] = [
        {"name": "gate", "dag": "inner"},
        {"name": "then", "kind": "echo", "depends_on": ["gate"]},
    ]
    outer = await start_run(flows, await create_dag(flows, tasks, **more))
    inner = RunId((await all_tasks(flows, outer))[0].executions[0])
    [dead] = await fail(flows, *await claim(flows))
    assert (await run_of(flows, inner)).status is RunStatus.FAILED
    return outer, inner, dead


@pytest.mark.parametrize("strategy", ["FAIL_DOWNSTREAM", "FAIL_FAST", "PAUSE", "CONTINUE"])
async def test_a_task_inside_is_redriven_and_all_runs_around_it_go_on(
    flows: WorkflowStore, strategy: str
) -> None:
    outer, inner, dead = await nested(flows, failure_strategy=strategy)

    [answer] = await redrive(flows, dead)

    assert answer.dag_run_id == inner
    assert (await run_of(flows, outer)).status is RunStatus.RUNNING
    assert await statuses(flows, outer) == "RW"
    assert await work_off(flows) == 3
    assert [(await run_of(flows, one)).status for one in (inner, outer)] == [RunStatus.COMPLETED] * 2


async def test_a_run_inside_that_is_repaired_by_a_word_ends_the_task_around_it(flows: WorkflowStore) -> None:
    outer, inner, _ = await nested(flows)

    await act(flows, inner, Succeed(0))
    await act(flows, inner, Cancel())

    assert (await run_of(flows, inner)).status is RunStatus.CANCELLED
    assert (await run_of(flows, outer)).status is RunStatus.FAILED
    assert await claim(flows) == []


async def test_a_task_that_runs_its_workflow_anew_settles_what_failed_inside(flows: WorkflowStore) -> None:
    outer, inner, dead = await nested(flows)

    await act(flows, outer, RerunFailed())

    assert await open_letters(flows) == set()
    assert (await flows.dead_letters.get(DEFAULT_TENANT, dead)).redriven_as == outer
    assert await work_off(flows) == 3
    assert (await run_of(flows, inner)).status is RunStatus.FAILED


async def test_a_run_inside_is_not_repaired_while_what_follows_it_runs(flows: WorkflowStore) -> None:
    await create_dag(flows, tasks_of(chain(1)), "inner")
    after = {"name": "then", "kind": "echo", "depends_on": ["gate"], "trigger_rule": "all_done"}
    outer = await start_run(flows, await create_dag(flows, [{"name": "gate", "dag": "inner"}, after]))
    [dead] = await fail(flows, *await claim(flows))
    [running] = await claim(flows)

    with pytest.raises(IllegalTransition, match="then"):
        await redrive(flows, dead)

    assert await open_letters(flows) == {dead}
    await finish(flows, running, outcome=DONE, now=NOW + MINUTE)
    await redrive(flows, dead)
    assert await work_off(flows) == 2
    assert (await run_of(flows, outer)).status is RunStatus.COMPLETED
