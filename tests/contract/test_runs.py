"""What can happen to a run of a workflow, on every database: the rules are the core's, the rows are ours."""

from __future__ import annotations

import asyncio
from datetime import datetime

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, Failure
from gnomon.core.executions.lifecycle import Cancelled, JobAction, LeaseExpired
from gnomon.core.executions.retention import RetentionPolicy
from gnomon.core.runs.events import Approve, Pause, Rerun, RerunFailed, Resume, Retry, Skip, Succeed
from gnomon.core.runs.run import RunId
from gnomon.core.runs.state import RunStatus
from gnomon.core.values.document import Document
from gnomon.errors import IllegalTransition, InvalidInput, RunNotFound
from gnomon.store.protocols.changes import Applied
from gnomon.store.protocols.workflows import WorkflowStore
from gnomon.store.runs.runs import EVENT_TAKERS_MAX
from tests.contract import given
from tests.contract.flows import (
    DIAMOND,
    LIST_AND_EACH,
    act,
    all_tasks,
    begun,
    chain,
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
from tests.contract.given import (
    BROKEN,
    DONE,
    FAILED,
    HOUR,
    MINUTE,
    NOW,
    ask,
    claim,
    decided,
    enqueue,
    new_id,
    seen,
)

FORK = {"a": [], "b": [], "c": ["a", "b"]}
THEN = {"name": "after", "kind": "echo", "depends_on": ["gate"]}


# Ends ------------------------------------------------------------------------------------------------


async def test_a_task_that_is_tried_again_is_not_at_its_end(flows: WorkflowStore) -> None:
    run_id = await begun(flows, chain(2))
    await finish(flows, *(await claimed(flows, run_id)).values(), outcome=FAILED)
    assert await statuses(flows, run_id) == "RW"

    later = NOW + HOUR
    await finish(flows, *(await claimed(flows, run_id, now=later)).values(), now=later)
    assert await statuses(flows, run_id) == "CR"


async def test_an_end_that_is_refused_moves_nothing(flows: WorkflowStore) -> None:
    run_id = await begun(flows, chain(2))
    [zombie] = (await claimed(flows, run_id)).values()
    later = NOW + HOUR
    assert await given.end(flows, zombie, LeaseExpired(), now=later) is Applied.APPLIED
    [current] = await claim(flows, now=later + HOUR, is_alone=True)

    assert await given.end(flows, zombie, with_result("late"), now=later) is Applied.LOST
    assert await statuses(flows, run_id) == "RW"
    assert await given.end(flows, current, DONE, now=later) is Applied.APPLIED
    assert await given.end(flows, current, DONE, now=later) is Applied.REPLAYED
    assert await statuses(flows, run_id) == "CR"


async def test_a_batch_of_tasks_and_others_is_answered_in_order(flows: WorkflowStore) -> None:
    run_id = await begun(flows, {"a": [], "b": []})
    job = await given.create_one(flows)
    await enqueue(flows, ask(job), ask(job))
    leased = await claim(flows)
    gone = leased[0]
    await given.end(flows, gone)

    answers = await flows.executions.apply([decided(one, DONE) for one in leased], now=NOW)

    assert answers == [Applied.REPLAYED] + [Applied.APPLIED] * 3
    assert (await run_of(flows, run_id)).status is RunStatus.COMPLETED


async def test_parents_that_end_together_release_their_child_once(flows: WorkflowStore) -> None:
    names = [f"p{n}" for n in range(20)]
    run_id = await begun(flows, {name: [] for name in names} | {"join": names})
    parents = list((await claimed(flows, run_id)).values())

    await asyncio.gather(*(finish(flows, one) for one in parents))

    assert list(await claimed(flows, run_id)) == ["join"]
    assert await statuses(flows, run_id) == "C" * 20 + "R"


async def test_runs_that_end_together_in_batches_do_not_wait_for_each_other(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of({"a": [], "b": [], "c": ["a", "b"], "d": ["a", "b"]}))
    runs = [await start_run(flows, dag) for _ in range(6)]
    leased = await claim(flows, limit=100)
    # Each batch touches every run, in an order of its own.
    batches = [leased[::2], leased[1::2][::-1], leased[::3], leased[::-1][::5]]

    await asyncio.gather(
        *(flows.executions.apply([decided(one, DONE) for one in batch], now=NOW) for batch in batches)
    )
    await flows.executions.apply([decided(one, DONE) for one in leased], now=NOW)

    assert {await statuses(flows, run_id) for run_id in runs} == {"CCRR"}
    assert await work_off(flows) == 12
    assert {(await run_of(flows, run_id)).status for run_id in runs} == {RunStatus.COMPLETED}


async def test_a_task_without_a_result_of_its_own_keeps_its_failure(flows: WorkflowStore) -> None:
    tasks = [
        {"name": "a", "kind": "echo"},
        {"name": "b", "kind": "echo", "depends_on": ["a"], "payload": {"rows": "${tasks.a.result.rows}"}},
    ]
    run_id = await start_run(flows, await create_dag(flows, tasks))

    await finish(flows, *(await claimed(flows, run_id)).values(), outcome=with_result(7))

    assert await statuses(flows, run_id) == "CF"
    [_, failed] = await all_tasks(flows, run_id)
    assert failed.failure is not None
    assert failed.failure.kind == "invalid_input"


# Strategies, rules, fan-out --------------------------------------------------------------------------


async def test_a_strict_run_stops_at_the_first_failure(flows: WorkflowStore) -> None:
    run_id = await begun(
        flows, {"a": [], "b": [], "c": ["a"], "d": [], "e": ["d"]}, failure_strategy="FAIL_FAST"
    )
    first = await claimed(flows, run_id, limit=2)
    await finish(flows, first.pop("a"), outcome=BROKEN)

    # One waited for a worker and ended at once; the other is asked to stop.
    assert await statuses(flows, run_id) == "FRXXX"
    [left] = first.values()
    [renewed] = await flows.executions.renew([left.claim], lease_until=NOW + MINUTE)
    assert renewed.cancel_requested
    await finish(flows, left, outcome=Cancelled())
    assert (await run_of(flows, run_id)).status is RunStatus.FAILED
    assert await claimed(flows, run_id) == {}


async def test_a_run_that_pauses_at_a_failure_waits_for_a_person(flows: WorkflowStore) -> None:
    run_id = await begun(flows, FORK, failure_strategy="PAUSE")
    first = await claimed(flows, run_id)
    await finish(flows, first["a"], outcome=BROKEN)
    await finish(flows, first["b"])
    assert await statuses(flows, run_id) == "HCW"
    assert (await run_of(flows, run_id)).status is RunStatus.PAUSED

    assert await act(flows, run_id, Retry(0)) is RunStatus.RUNNING
    await finish(flows, *(await claimed(flows, run_id)).values())
    assert await work_off(flows) == 1
    assert (await run_of(flows, run_id)).status is RunStatus.COMPLETED


async def test_a_fan_out_is_one_task_with_many_executions(flows: WorkflowStore) -> None:
    tasks: list[object] = [
        *LIST_AND_EACH,
        {"name": "join", "kind": "echo", "depends_on": ["each"], "payload": {"all": "${tasks.each.result}"}},
    ]
    run_id = await start_run(flows, await create_dag(flows, tasks))
    await finish(flows, *(await claimed(flows, run_id)).values(), outcome=with_result(["x", "y", "z"]))

    items = await claim(flows)
    assert sorted(str(one.payload.value) for one in items) == [str({"of": one}) for one in "xyz"]
    for one in items[::-1]:
        await finish(flows, one, outcome=with_result(one.payload.value))
    [join] = (await claimed(flows, run_id)).values()
    assert join.payload.value == {"all": [{"of": "x"}, {"of": "y"}, {"of": "z"}]}
    [_, each, _] = await all_tasks(flows, run_id)
    assert len(each.executions) == 3


# People, events, time --------------------------------------------------------------------------------


async def test_an_approval_holds_a_task_until_somebody_decides(flows: WorkflowStore) -> None:
    tasks = [{"name": "gate", "approval": {"timeout_seconds": 3600}}, THEN]
    run_id = await start_run(flows, await create_dag(flows, tasks))
    assert await statuses(flows, run_id) == "hW"

    await act(flows, run_id, Approve(0, "ada", "looks good"))

    assert await statuses(flows, run_id) == "CR"
    [gate, _] = await all_tasks(flows, run_id)
    assert gate.result is not None
    assert gate.result.value == {"by": "ada", "note": "looks good", "at": "2030-01-01T00:00:00.000000Z"}
    with pytest.raises(IllegalTransition):
        await act(flows, run_id, Approve(0, "bob"))


async def test_what_is_held_for_too_long_fails(flows: WorkflowStore) -> None:
    tasks = [{"name": "gate", "approval": {"timeout_seconds": 3600}}, THEN]
    run_id = await start_run(flows, await create_dag(flows, tasks))

    assert await flows.runs.expire(now=NOW + MINUTE, limit=10) == 0
    assert await flows.runs.expire(now=NOW + HOUR, limit=10) == 1
    assert await flows.runs.expire(now=NOW + HOUR, limit=10) == 0

    assert await statuses(flows, run_id) == "FU"
    assert (await all_tasks(flows, run_id))[0].failure == Failure("timeout", "Nothing came in time.")


async def test_an_event_reaches_those_that_wait_for_it(flows: WorkflowStore) -> None:
    tasks = [
        {"name": "gate", "event": {"name": "paid", "correlation": "order ${config.order}"}},
        THEN | {"payload": {"got": "${tasks.gate.result}"}},
    ]
    dag = await create_dag(flows, tasks)
    one = await start_run(flows, dag, config={"order": 1})
    two = await start_run(flows, dag, config={"order": 2})
    data = Document.of({"euro": 5}, field="data")

    assert await flows.runs.send(DEFAULT_TENANT, "paid", "order 3", data, now=NOW) == 0
    assert await flows.runs.send(DEFAULT_TENANT, "paid", "order 2", data, now=NOW) == 1
    assert await flows.runs.send(DEFAULT_TENANT, "paid", "order 2", data, now=NOW) == 0

    assert (await statuses(flows, one), await statuses(flows, two)) == ("hW", "CR")
    [leased] = await claim(flows)
    assert leased.payload.value == {"got": {"euro": 5}}


async def test_an_event_reaches_all_that_wait_however_many(flows: WorkflowStore) -> None:
    count = EVENT_TAKERS_MAX + 1
    gates = [{"name": f"gate {n}", "event": {"name": "paid"}} for n in range(count)]
    run_id = await start_run(flows, await create_dag(flows, gates))

    assert await flows.runs.send(DEFAULT_TENANT, "paid", "", Document("{}"), now=NOW) == count

    assert (await run_of(flows, run_id)).status is RunStatus.COMPLETED


async def test_nothing_of_a_paused_run_can_be_claimed(flows: WorkflowStore) -> None:
    run_id = await begun(flows, {"a": [], "b": [], "c": ["a"]})
    [(name, first)] = (await claimed(flows, run_id, limit=1)).items()

    assert await act(flows, run_id, Pause()) is RunStatus.PAUSED
    assert await claim(flows) == []
    # What runs goes on to its end, or to its next try; what follows waits.
    await finish(flows, first, outcome=FAILED)
    assert await claim(flows, now=NOW + HOUR) == []

    assert await act(flows, run_id, Resume()) is RunStatus.RUNNING
    assert name == "a"
    assert await work_off(flows, now=NOW + HOUR) == 3
    assert (await run_of(flows, run_id)).status is RunStatus.COMPLETED


async def test_a_cancelled_run_ends_what_waits_and_stops_what_runs(flows: WorkflowStore) -> None:
    run_id = await begun(flows, {**DIAMOND, "e": []})
    [running] = (await claimed(flows, run_id, limit=1)).values()

    answer = await flows.executions.cancel(DEFAULT_TENANT, [ExecutionId(run_id)], now=NOW)
    assert answer == {run_id: ExecutionStatus.RUNNING}
    assert await claim(flows) == []
    again = await flows.executions.cancel(DEFAULT_TENANT, [ExecutionId(run_id)], now=NOW)
    assert again == answer
    await finish(flows, running, outcome=Cancelled())

    assert await statuses(flows, run_id) == "XXXXX"
    assert (await seen(flows, run_id)).status is ExecutionStatus.CANCELLED
    assert (await run_of(flows, run_id)).status is RunStatus.CANCELLED


async def test_a_run_can_be_cancelled_before_it_begins(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(DIAMOND))
    [run_id] = await enqueue(flows, ask(dag.job, due=NOW + HOUR))
    assert (await run_of(flows, RunId(run_id))).status is RunStatus.PENDING
    with pytest.raises(IllegalTransition):
        await act(flows, RunId(run_id), Pause())

    assert await flows.executions.cancel(DEFAULT_TENANT, [ExecutionId(run_id)], now=NOW) == {
        run_id: ExecutionStatus.CANCELLED
    }
    assert await flows.runs.start(now=NOW + HOUR, limit=10) == 0
    assert (await run_of(flows, RunId(run_id))).status is RunStatus.CANCELLED


async def test_a_task_that_is_cancelled_by_itself_counts_as_failed(flows: WorkflowStore) -> None:
    run_id = await begun(flows, FORK)
    [first, _, _] = await all_tasks(flows, run_id)

    answer = await flows.executions.cancel(DEFAULT_TENANT, first.executions, now=NOW)

    assert answer == {first.executions[0]: ExecutionStatus.CANCELLED}
    assert await statuses(flows, run_id) == "XRW"
    assert await work_off(flows) == 1
    assert await statuses(flows, run_id) == "XCU"


async def test_a_failed_run_goes_on_from_where_it_failed(flows: WorkflowStore) -> None:
    run_id = await begun(flows, {"a": [], "b": ["a"], "c": ["b"]})
    await finish(flows, *(await claimed(flows, run_id)).values())
    await finish(flows, *(await claimed(flows, run_id)).values(), outcome=BROKEN)
    assert (await run_of(flows, run_id)).status is RunStatus.FAILED

    assert await act(flows, run_id, RerunFailed()) is RunStatus.RUNNING
    assert (await seen(flows, run_id)).status is ExecutionStatus.RUNNING
    assert await statuses(flows, run_id) == "CRW"
    assert await work_off(flows) == 2

    assert (await run_of(flows, run_id)).status is RunStatus.COMPLETED
    assert await act(flows, run_id, Rerun(frozenset({0}))) is RunStatus.RUNNING
    assert await work_off(flows) == 3


async def test_a_run_whose_repeated_task_has_nothing_to_do_ends_anew(flows: WorkflowStore) -> None:
    run_id = await start_run(flows, await create_dag(flows, LIST_AND_EACH))
    await finish(flows, *(await claimed(flows, run_id)).values(), outcome=with_result([]))
    assert (await run_of(flows, run_id)).status is RunStatus.COMPLETED

    later = NOW + HOUR
    assert await act(flows, run_id, Rerun(frozenset({1})), now=later) is RunStatus.COMPLETED

    assert (await run_of(flows, run_id)).finished_at == later
    assert (await seen(flows, run_id, now=later)).finished_at == later


async def test_a_person_can_go_on_without_a_task(flows: WorkflowStore) -> None:
    run_id = await begun(flows, chain(2))
    await finish(flows, *(await claimed(flows, run_id)).values(), outcome=BROKEN)

    await act(flows, run_id, Skip(0))

    assert await statuses(flows, run_id) == "SS"
    assert (await run_of(flows, run_id)).status is RunStatus.COMPLETED


async def test_a_run_of_another_tenant_is_not_there(flows: WorkflowStore) -> None:
    run_id = await begun(flows, chain(1))
    other = await given.other_tenant(flows)

    with pytest.raises(RunNotFound):
        await flows.runs.get(other, run_id)
    with pytest.raises(RunNotFound):
        await flows.runs.act(other, run_id, Pause(), now=NOW)
    assert await flows.runs.tasks(other, run_id, limit=10) == []
    with pytest.raises(RunNotFound):
        await flows.runs.get(DEFAULT_TENANT, RunId(new_id()))


async def test_a_task_that_began_early_is_held_until_somebody_decides(flows: WorkflowStore) -> None:
    tasks = [
        {"name": "a", "kind": "echo"},
        {"name": "b", "kind": "echo"},
        {
            "name": "gate",
            "approval": {"timeout_seconds": 60},
            "depends_on": ["a", "b"],
            "trigger_rule": "one_success",
        },
    ]
    run_id = await start_run(flows, await create_dag(flows, tasks))
    both = await claimed(flows, run_id)
    await finish(flows, both["a"])
    await finish(flows, both["b"])
    assert await statuses(flows, run_id) == "CCh"

    assert await flows.runs.expire(now=NOW + MINUTE, limit=10) == 1
    assert await statuses(flows, run_id) == "CCF"


async def test_a_repair_that_leaves_nothing_to_do_ends_the_run_anew(flows: WorkflowStore) -> None:
    run_id = await begun(flows, chain(1))
    await finish(flows, *(await claimed(flows, run_id)).values(), outcome=BROKEN)
    assert (await seen(flows, run_id)).status is ExecutionStatus.FAILED

    assert await act(flows, run_id, Succeed(0)) is RunStatus.COMPLETED

    assert (await seen(flows, run_id)).status is ExecutionStatus.COMPLETED


# Workflows inside of workflows -----------------------------------------------------------------------


async def test_a_task_may_be_a_run_of_another_workflow(flows: WorkflowStore) -> None:
    await create_dag(flows, tasks_of(chain(2)), "inner")
    tasks = [{"name": "gate", "dag": "inner", "config": {"n": 1}}, THEN]
    outer = await start_run(flows, await create_dag(flows, tasks))
    [gate, _] = await all_tasks(flows, outer)
    inner = await run_of(flows, RunId(gate.executions[0]))
    assert (inner.outer, inner.status, inner.state.config.value) == (outer, RunStatus.RUNNING, {"n": 1})

    assert await work_off(flows, limit=1) == 3

    assert await statuses(flows, outer) == "CC"
    assert (await run_of(flows, inner.id)).status is RunStatus.COMPLETED
    assert (await run_of(flows, outer)).status is RunStatus.COMPLETED


async def test_a_cancel_reaches_the_runs_inside(flows: WorkflowStore) -> None:
    await create_dag(flows, tasks_of(chain(2)), "leaf")
    await create_dag(flows, [{"name": "t", "dag": "leaf"}], "middle")
    outer = await start_run(flows, await create_dag(flows, [{"name": "t", "dag": "middle"}]))
    [leased] = await claim(flows)

    await flows.executions.cancel(DEFAULT_TENANT, [ExecutionId(outer)], now=NOW)
    assert (await run_of(flows, outer)).status is RunStatus.RUNNING
    await finish(flows, leased, outcome=Cancelled())

    assert (await run_of(flows, outer)).status is RunStatus.CANCELLED
    assert await statuses(flows, outer) == "X"


async def test_a_pause_reaches_the_runs_inside(flows: WorkflowStore) -> None:
    await create_dag(flows, tasks_of(chain(2)), "leaf")
    middle = [{"name": "t", "dag": "leaf"}, {"name": "u", "dag": "leaf", "depends_on": ["t"]}]
    await create_dag(flows, middle, "middle")
    outer = await start_run(flows, await create_dag(flows, [{"name": "t", "dag": "middle"}]))
    between = RunId((await all_tasks(flows, outer))[0].executions[0])
    leaf = RunId((await all_tasks(flows, between))[0].executions[0])
    inside = [between, leaf]
    [leased] = await claim(flows)

    assert await act(flows, outer, Pause()) is RunStatus.PAUSED
    assert [(await run_of(flows, one)).status for one in inside] == [RunStatus.PAUSED] * 2
    await finish(flows, leased)  # What runs goes on to its end; what follows waits, however deep.
    assert await statuses(flows, leaf) == "CR"
    assert await claim(flows) == []
    with pytest.raises(IllegalTransition, match="Let the run around it go on"):
        await act(flows, leaf, Resume())

    assert await act(flows, outer, Resume()) is RunStatus.RUNNING
    assert [(await run_of(flows, one)).status for one in inside] == [RunStatus.RUNNING] * 2
    assert await work_off(flows) == 3
    assert (await run_of(flows, outer)).status is RunStatus.COMPLETED


async def test_a_run_inside_that_somebody_paused_stays_so_when_the_one_around_it_goes_on(
    flows: WorkflowStore,
) -> None:
    await create_dag(flows, tasks_of(chain(1)), "inner")
    outer = await start_run(flows, await create_dag(flows, [{"name": "t", "dag": "inner"}]))
    inner = RunId((await all_tasks(flows, outer))[0].executions[0])

    assert await act(flows, inner, Pause()) is RunStatus.PAUSED
    await act(flows, outer, Pause())
    assert await act(flows, outer, Resume()) is RunStatus.RUNNING
    assert (await run_of(flows, inner)).status is RunStatus.PAUSED
    assert await claim(flows) == []

    assert await act(flows, inner, Resume()) is RunStatus.RUNNING
    assert await work_off(flows) == 1
    assert (await run_of(flows, outer)).status is RunStatus.COMPLETED


async def test_a_run_that_begins_inside_of_a_paused_one_waits_with_it(flows: WorkflowStore) -> None:
    one_at_a_time = {"type": "manual", "overlap_policy": "queue"}
    inner = await create_dag(flows, tasks_of(chain(1)), "inner", schedule=one_at_a_time)
    await start_run(flows, inner)
    tasks = [{"name": "t", "dag": "inner"}, {"name": "bad", "kind": "echo", "max_retries": 0}]
    outer = await start_run(flows, await create_dag(flows, tasks, failure_strategy="PAUSE"))
    waiting = RunId((await all_tasks(flows, outer))[0].executions[0])
    first, bad = sorted(await claim(flows), key=lambda one: one.job_id != inner.job.id)

    await finish(flows, bad, outcome=BROKEN)  # A person is asked: that is a pause, too.
    assert (await run_of(flows, outer)).status is RunStatus.PAUSED
    await finish(flows, first)  # Now it is its turn.
    await flows.runs.start(now=NOW, limit=10)
    assert (await run_of(flows, waiting)).status is RunStatus.PAUSED
    assert await claim(flows) == []

    assert await act(flows, outer, Skip(1)) is RunStatus.RUNNING
    assert await work_off(flows) == 1
    assert (await run_of(flows, outer)).status is RunStatus.COMPLETED


async def test_a_cancel_reaches_the_runs_inside_of_a_paused_one(flows: WorkflowStore) -> None:
    await create_dag(flows, tasks_of(chain(2)), "inner")
    outer = await start_run(flows, await create_dag(flows, [{"name": "t", "dag": "inner"}]))
    await act(flows, outer, Pause())

    await flows.executions.cancel(DEFAULT_TENANT, [ExecutionId(outer)], now=NOW)

    assert (await run_of(flows, outer)).status is RunStatus.CANCELLED
    assert await claim(flows) == []


async def test_a_workflow_that_is_not_there_fails_its_task(flows: WorkflowStore) -> None:
    run_id = await start_run(flows, await create_dag(flows, [{"name": "gate", "dag": "nowhere"}, THEN]))

    assert await statuses(flows, run_id) == "FU"
    assert (await run_of(flows, run_id)).status is RunStatus.FAILED
    assert (await all_tasks(flows, run_id))[0].failure == Failure(
        "unknown_dag", "There is no workflow 'nowhere'."
    )


# Turns, and what must not get stuck ------------------------------------------------------------------


async def test_a_run_begins_when_its_turn_has_come(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(1)), schedule={"type": "manual", "overlap_policy": "queue"})
    one, two = await start_run(flows, dag), await start_run(flows, dag)
    assert [(await run_of(flows, run_id)).status for run_id in (one, two)] == ["RUNNING", "PENDING"]
    assert [run.id for run in (await flows.runs.page(DEFAULT_TENANT, dag.job.id, limit=10)).items] == [
        two,
        one,
    ]

    # The end of the first lets the second in and begins it.
    assert await work_off(flows) == 2
    assert await flows.runs.start(now=NOW, limit=10) == 0
    assert (await run_of(flows, two)).status is RunStatus.COMPLETED


async def test_a_run_that_was_fired_is_begun_once(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(1)))
    await enqueue(flows, ask(dag.job), ask(dag.job, due=NOW + HOUR))

    assert await flows.runs.start(now=NOW, limit=10) == 1
    assert await flows.runs.start(now=NOW, limit=10) == 0
    assert await work_off(flows) == 1


async def test_two_that_start_a_run_start_it_once(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(1)))
    await enqueue(flows, ask(dag.job))

    await asyncio.gather(*(flows.runs.start(now=NOW, limit=10) for _ in range(8)))

    assert await work_off(flows) == 1


async def test_a_run_begins_after_those_that_it_replaces_were_asked_to_stop(flows: WorkflowStore) -> None:
    dag = await create_dag(
        flows, tasks_of(chain(2)), schedule={"type": "manual", "overlap_policy": "replace"}
    )
    old = await start_run(flows, dag)
    await claimed(flows, old)
    [new] = await enqueue(flows, ask(dag.job))

    assert await flows.runs.start(now=NOW, limit=10) == 1

    assert await statuses(flows, old) == "RX"
    assert (await run_of(flows, old)).state.ends_as is RunStatus.CANCELLED
    assert await statuses(flows, RunId(new)) == "RW"


async def test_a_run_that_is_begun_at_once_stops_those_that_it_replaces(flows: WorkflowStore) -> None:
    dag = await create_dag(
        flows, tasks_of(chain(2)), schedule={"type": "manual", "overlap_policy": "replace"}
    )
    old = await start_run(flows, dag)
    await claimed(flows, old)
    [new] = await enqueue(flows, ask(dag.job))

    assert await flows.runs.start_now([RunId(new)], now=NOW) == 1
    assert await flows.runs.start_now([RunId(new)], now=NOW) == 0

    assert await statuses(flows, old) == "RX"
    assert (await run_of(flows, old)).state.ends_as is RunStatus.CANCELLED
    assert await statuses(flows, RunId(new)) == "RW"


async def test_runs_of_a_workflow_that_is_gone_are_stopped(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(2)))
    run_id = await start_run(flows, dag)
    assert not (await flows.runs.repair(now=NOW, limit=10)).items

    await given.act(flows, dag.job, JobAction.DELETE)
    assert list((await flows.runs.repair(now=NOW, limit=10)).items) == [run_id]
    assert not (await flows.runs.repair(now=NOW, limit=10)).items

    assert (await run_of(flows, run_id)).status is RunStatus.CANCELLED
    assert await claim(flows) == []


async def test_runs_and_holds_whose_time_has_come_wait_for_us(flows: WorkflowStore) -> None:
    async def do_wait(now: datetime) -> bool:
        return (await flows.runs.wait_for_us(now=now)).is_due

    async def next_due(now: datetime) -> datetime | None:
        return (await flows.runs.wait_for_us(now=now)).next_due

    dag = await create_dag(flows, [{"name": "gate", "approval": {"timeout_seconds": 60}}])
    assert not await do_wait(NOW)
    await enqueue(flows, ask(dag.job, due=NOW + MINUTE))
    assert (await next_due(NOW), await next_due(NOW + MINUTE)) == (NOW + MINUTE, None)
    assert (await do_wait(NOW), await do_wait(NOW + MINUTE)) == (False, True)

    assert await flows.runs.start(now=NOW + MINUTE, limit=10) == 1
    assert (await do_wait(NOW + MINUTE), await do_wait(NOW + 2 * MINUTE)) == (False, True)

    assert await next_due(NOW + MINUTE) == NOW + 2 * MINUTE

    assert await flows.runs.expire(now=NOW + 2 * MINUTE, limit=10) == 1
    assert not await do_wait(NOW + HOUR)


async def test_the_runs_of_one_workflow_can_be_stopped_at_once(flows: WorkflowStore) -> None:
    dag, other = [await create_dag(flows, tasks_of(chain(2))) for _ in range(2)]
    run_ids = [await start_run(flows, dag) for _ in range(2)]
    left = await start_run(flows, other)

    assert await flows.runs.stop_all(dag.job.id, now=NOW, limit=10) == 2
    assert await flows.runs.stop_all(dag.job.id, now=NOW, limit=10) == 0

    assert {(await run_of(flows, one)).status for one in run_ids} == {RunStatus.CANCELLED}
    assert (await run_of(flows, left)).status is RunStatus.RUNNING


async def test_all_runs_are_looked_over_page_by_page(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(2)))
    run_ids = [await start_run(flows, dag) for _ in range(3)]
    await given.act(flows, dag.job, JobAction.DELETE)

    first = await flows.runs.repair(now=NOW, limit=2)
    rest = await flows.runs.repair(now=NOW, limit=2, after=first.next)

    assert [*first.items, *rest.items] == run_ids
    assert (first.next, rest.next) == (run_ids[1], None)


async def test_a_run_that_was_not_told_of_an_end_is_told(flows: WorkflowStore) -> None:
    await create_dag(
        flows, tasks_of(chain(1)), "inner", schedule={"type": "manual", "overlap_policy": "queue"}
    )
    inner = await flows.dags.named(DEFAULT_TENANT, "inner")
    first = await start_run(flows, inner)  # Takes the only slot.
    run_id = await start_run(flows, await create_dag(flows, [{"name": "gate", "dag": "inner"}, THEN]))
    # Whoever deletes a workflow ends the runs of it that have not begun, and knows nothing of those around.
    await given.act(flows, inner.job, JobAction.DELETE)
    assert await statuses(flows, run_id) == "RW"

    assert list((await flows.runs.repair(now=NOW, limit=10)).items) == [first, run_id]
    assert list((await flows.runs.repair(now=NOW, limit=10)).items) == []
    assert await statuses(flows, run_id) == "XU"


async def test_a_run_that_stops_what_runs_says_so_at_once(flows: WorkflowStore) -> None:
    heard: list[str] = []
    flows.runs.stopped = lambda: heard.append("stop")  # type: ignore[attr-defined]
    run_id = await begun(flows, {"a": [], "b": []}, failure_strategy="FAIL_FAST")
    leased = await claimed(flows, run_id)

    await finish(flows, leased["a"], outcome=BROKEN)
    assert heard == ["stop"]
    await finish(flows, leased["b"], outcome=Cancelled())

    alone = await begun(flows, {"a": [], "b": ["a"]}, failure_strategy="FAIL_FAST")
    await finish(flows, *(await claimed(flows, alone)).values(), outcome=BROKEN)
    assert heard == ["stop"]  # Nothing else ran.


async def test_retention_takes_a_run_with_its_tasks(flows: WorkflowStore) -> None:
    run_id = await begun(flows, chain(2))
    assert await work_off(flows) == 2

    later = NOW + 1000 * HOUR
    policy = RetentionPolicy(completed_days=1)
    while (await flows.upkeep.forget_ended(policy, now=later, limit=100)).more:
        pass

    with pytest.raises(RunNotFound):
        await run_of(flows, run_id)
    assert await all_tasks(flows, run_id) == []


# Size ------------------------------------------------------------------------------------------------


async def test_a_chain_of_skipped_tasks_is_no_recursion(flows: WorkflowStore) -> None:
    run_id = await begun(flows, chain(10_000))

    await finish(flows, *(await claimed(flows, run_id)).values(), outcome=BROKEN)

    run = await run_of(flows, run_id)
    assert (run.status, run.state.left) == (RunStatus.FAILED, 0)


async def test_a_join_of_many_is_counted_not_searched(flows: WorkflowStore) -> None:
    names = [f"p{n}" for n in range(2000)]
    run_id = await begun(flows, {name: [] for name in names} | {"join": names})

    assert await work_off(flows, limit=500) == 2001

    assert (await run_of(flows, run_id)).status is RunStatus.COMPLETED


async def test_a_retry_that_cannot_begin_either_is_halted_again(flows: WorkflowStore) -> None:
    tasks = [{"name": "a", "kind": "echo", "payload": {"x": "${config.gone}"}}]
    run_id = await start_run(flows, await create_dag(flows, tasks, failure_strategy="PAUSE"))
    assert await statuses(flows, run_id) == "H"

    assert await act(flows, run_id, Retry(0)) is RunStatus.PAUSED

    [task] = await all_tasks(flows, run_id)
    assert task.failure == Failure("invalid_input", "The config has no 'gone'.")


@pytest.mark.parametrize("note", ["x" * 300_000, "nul \0"])
async def test_a_note_that_cannot_be_kept_is_refused_and_changes_nothing(
    flows: WorkflowStore, note: str
) -> None:
    run_id = await start_run(flows, await create_dag(flows, [{"name": "gate", "approval": {}}, THEN]))

    with pytest.raises(InvalidInput):
        await act(flows, run_id, Approve(0, "ada", note))

    assert await statuses(flows, run_id) == "hW"
    assert (await run_of(flows, run_id)).status is RunStatus.RUNNING


async def test_a_fan_out_that_has_not_ended_has_no_result_yet(flows: WorkflowStore) -> None:
    tasks = [
        {"name": "list", "kind": "echo"},
        {"name": "quick", "kind": "echo", "depends_on": ["list"]},
        {
            "name": "each",
            "kind": "echo",
            "depends_on": ["list"],
            "fan_out": {"over": "${tasks.list.result}"},
            "payload": {"of": "${item}"},
        },
        {
            "name": "first",
            "kind": "echo",
            "depends_on": ["quick", "each"],
            "trigger_rule": "one_success",
            "payload": {"all": "${tasks.each.result}"},
        },
    ]
    run_id = await start_run(flows, await create_dag(flows, tasks))
    await finish(flows, *(await claimed(flows, run_id)).values(), outcome=with_result(["x", "y"]))
    one, _, quick = sorted(await claim(flows), key=lambda leased: leased.payload.text)
    await finish(flows, one, outcome=with_result("done"))

    await finish(flows, quick)

    [*_, first] = await all_tasks(flows, run_id)
    assert first.failure == Failure("invalid_input", "Task 'each' has no result.")


async def test_the_newest_runs_of_workflows_are_told_in_few_words(flows: WorkflowStore) -> None:
    dag, other = await create_dag(flows, tasks_of(FORK)), await create_dag(flows, tasks_of(FORK))
    runs = [await start_run(flows, dag, now=NOW + n * MINUTE) for n in range(3)]
    await act(flows, runs[2], Pause())
    await flows.executions.cancel(DEFAULT_TENANT, [ExecutionId(runs[1])], now=NOW + HOUR)
    ids = [dag.job.id, other.job.id]

    found = await flows.runs.recent(DEFAULT_TENANT, ids, limit=2)
    elsewhere = await flows.runs.recent(await given.other_tenant(flows), ids, limit=2)

    assert [(one.id, one.status) for one in found[dag.job.id]] == [
        (ExecutionId(runs[2]), ExecutionStatus.RUNNING),
        (ExecutionId(runs[1]), ExecutionStatus.CANCELLED),
    ]
    assert (found[other.job.id], elsewhere[dag.job.id]) == ([], [])
