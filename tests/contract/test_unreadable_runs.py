"""A run that cannot be read stands in nobody's way: the others begin, go on and end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.jobs.job import JobId, NewJob
from gnomon.core.runs import rows as run_book
from gnomon.core.runs.decisions import after
from gnomon.core.runs.events import Approve, Pause, RerunFailed
from gnomon.core.runs.run import RunId
from gnomon.core.runs.state import RunStatus
from gnomon.core.runs.write_set import WriteSet
from gnomon.core.time.schedule import Schedule
from gnomon.core.values.document import JSON, Document
from gnomon.core.workflows.dag import NewDag, dag_definition
from gnomon.core.workflows.document import read_workflow
from gnomon.core.workflows.workflow import Plan
from gnomon.errors import IllegalTransition, InvalidInput
from gnomon.store.protocols.workflows import WorkflowStore
from gnomon.store.sql_store import SqlStore
from gnomon.store.workflows import plans
from gnomon.store.writes import batches
from gnomon.store.writes.batches import ReleasedRow
from tests.contract.flows import (
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
    work_off,
)
from tests.contract.given import DONE, HOUR, NOW, ask, claim, decided, enqueue, new_id, seen

POISON = "poison"


@contextmanager
def unreadable(flows: WorkflowStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a release that cannot read what another one has kept: tasks of this name are a mystery to it."""
    assert isinstance(flows, SqlStore)
    known = flows.runs._plans._known
    known.clear()

    class Reader:
        @staticmethod
        def of(workflow: object, limits: object) -> Plan:
            plan = Plan.of(workflow, limits)  # type: ignore[arg-type]
            if POISON in plan.graph.names:
                raise InvalidInput("tasks", "nobody knows what this is.")
            return plan

    with monkeypatch.context() as patch:
        patch.setattr(plans, "Plan", Reader)
        yield
    known.clear()


async def test_a_run_that_cannot_be_read_fails_and_later_ones_begin(
    flows: WorkflowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = await create_dag(flows, tasks_of({POISON: []}))
    good = await create_dag(flows, tasks_of(chain(1)))
    [lost] = await enqueue(flows, ask(bad.job))
    [fine] = await enqueue(flows, ask(good.job))

    with unreadable(flows, monkeypatch):
        assert await flows.runs.start(now=NOW, limit=1) == 1
        assert await flows.runs.start(now=NOW, limit=1) == 1
        assert await flows.runs.start(now=NOW, limit=1) == 0

    run = await run_of(flows, RunId(lost))
    assert (run.status, run.finished_at) == (RunStatus.FAILED, NOW)
    assert (await seen(flows, lost)).status is ExecutionStatus.FAILED
    assert run.failure is not None
    assert (run.failure.kind, "nobody knows" in run.failure.message) == ("unreadable_dag", True)
    assert (await flows.runs.page(DEFAULT_TENANT, bad.job.id, limit=10)).items == (run,)
    with pytest.raises(IllegalTransition):
        await act(flows, run.id, RerunFailed())
    assert (await run_of(flows, RunId(fine))).status is RunStatus.RUNNING


async def test_a_workflow_inside_that_cannot_be_read_fails_its_task(
    flows: WorkflowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create_dag(flows, tasks_of({POISON: []}), "inner")
    dag = await create_dag(flows, [{"name": "sub", "dag": "inner"}])

    with unreadable(flows, monkeypatch):
        run_id = await start_run(flows, dag)

    assert await statuses(flows, run_id) == "F"
    [task] = await all_tasks(flows, run_id)
    assert task.failure is not None
    assert task.failure.kind == "unreadable_dag"
    assert (await run_of(flows, run_id)).status is RunStatus.FAILED


async def test_a_run_that_cannot_be_read_any_more_waits_and_others_go_on(
    flows: WorkflowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = await start_run(flows, await create_dag(flows, tasks_of({POISON: [], "next": [POISON]})))
    other = await start_run(flows, await create_dag(flows, tasks_of(chain(2))))
    gates = [
        await start_run(flows, await create_dag(flows, [{"name": name, "approval": {"timeout_seconds": 60}}]))
        for name in (POISON, "gate")
    ]
    leased = await claim(flows)

    with unreadable(flows, monkeypatch):
        # In one batch with the end of another.
        await flows.executions.apply([decided(one, DONE) for one in leased], now=NOW)
        assert (await statuses(flows, stuck), await statuses(flows, other)) == ("RW", "CR")
        assert await flows.runs.expire(now=NOW + HOUR, limit=1) == 0
        assert await flows.runs.expire(now=NOW + HOUR, limit=10) == 1
        assert list((await flows.runs.repair(now=NOW, limit=10)).items) == []
        with pytest.raises(IllegalTransition):
            await act(flows, stuck, Pause())
        assert await work_off(flows) == 1

    # When it can be read again, it is told what it missed.
    assert list((await flows.runs.repair(now=NOW, limit=10)).items) == [stuck]
    await finish(flows, *(await claimed(flows, stuck)).values())
    assert (await run_of(flows, stuck)).status is RunStatus.COMPLETED
    assert [(await run_of(flows, one)).status for one in gates] == [RunStatus.RUNNING, RunStatus.FAILED]


async def test_a_run_whose_time_zone_is_lost_goes_on(flows: WorkflowStore) -> None:
    kept = Document.of(
        {
            "name": "lost",
            "cron_expression": "0 2 * * *",
            "timezone": "Mars/Olympus_Mons",
            "tasks": [
                {"name": "a", "kind": "echo", "payload": {"at": "${run.time}"}},
                {"name": "b", "kind": "echo", "payload": {"on": "${run.day}"}},
            ],
        },
        field="dag",
    )
    job = NewJob(JobId(new_id()), DEFAULT_TENANT, "lost", dag_definition(Schedule()), None)
    dag = await flows.dags.create(NewDag(job, kept, Plan.of(read_workflow(kept.value))), now=NOW)

    run_id = await start_run(flows, dag)

    # Only what needs to know whose day it is fails.
    assert await statuses(flows, run_id) == "RF"
    [leased] = await claim(flows)
    assert leased.payload.value == {"at": "2030-01-01T00:00:00.000000Z"}


async def test_a_mistake_of_ours_about_one_run_does_not_stop_the_others(
    flows: WorkflowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gnomon.store.runs import beginnings as run_beginnings

    bad = await create_dag(flows, tasks_of({POISON: []}))
    good = await create_dag(flows, tasks_of(chain(1)))
    [lost] = await enqueue(flows, ask(bad.job))
    [fine] = await enqueue(flows, ask(good.job))
    real = after

    def broken(plan: Plan, *args: Any, **more: Any) -> object:
        assert POISON not in plan.graph.names
        return real(plan, *args, **more)

    monkeypatch.setattr(run_beginnings, "after", broken)
    await flows.runs.start(now=NOW, limit=10)

    ended = await run_of(flows, RunId(lost))
    assert ended.failure is not None
    assert (ended.status, ended.failure.kind) == (RunStatus.FAILED, "internal_error")
    assert (await run_of(flows, RunId(fine))).status is RunStatus.RUNNING


def breaking(monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> None:
    """A bug of ours, which shows when a task of this name begins."""
    real = getattr(module, name)

    def broken(plan: Plan, place: int, *args: object, **more: object) -> object:
        assert plan.task(place).name != POISON
        return real(plan, place, *args, **more)

    monkeypatch.setattr(module, name, broken)


@pytest.mark.parametrize("more", [{}, {"failure_strategy": "CONTINUE", "allow_partial_completion": True}])
async def test_a_bug_about_one_run_fails_it_and_other_ends_of_the_batch_are_written(
    flows: WorkflowStore, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
) -> None:
    edges = {"first": [], "beside": [], POISON: ["first"], "last": [POISON]}
    bad = await start_run(flows, await create_dag(flows, tasks_of(edges), **more))
    beside = (ours := await claimed(flows, bad))["beside"]
    good = await begun(flows, chain(2))
    others = [ours["first"], *await claim(flows)]
    breaking(monkeypatch, run_book, "release_of")

    await finish(flows, *others)

    assert (await statuses(flows, good), await statuses(flows, bad)) == ("CR", "CRXX")
    told = (await all_tasks(flows, bad))[2].failure
    assert told is not None
    assert told.kind == "internal_error"
    # What runs is asked to stop, and the run ends with it.
    [held] = await flows.executions.renew([beside.claim], lease_until=NOW + HOUR)
    assert held.cancel_requested
    await finish(flows, beside)
    ended = await run_of(flows, bad)
    assert ended.status is RunStatus.FAILED
    assert ended.failure is not None
    assert ended.failure.kind == "internal_error"
    assert await work_off(flows) == 1
    assert (await run_of(flows, good)).status is RunStatus.COMPLETED


async def test_a_run_of_which_nothing_can_be_written_fails_and_the_others_are_written(
    flows: WorkflowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = await begun(flows, {"first": [], POISON: ["first"]})
    good = await begun(flows, chain(2))
    leased = await claim(flows)
    real = batches.released

    def broken(write_set: WriteSet) -> list[ReleasedRow]:
        begin = [step.plan.task(release.task).name for step, release in write_set.releases]
        assert POISON not in begin
        return real(write_set)

    monkeypatch.setattr(batches, "released", broken)
    await finish(flows, *leased)

    assert (await statuses(flows, good), await statuses(flows, bad)) == ("CR", "CX")
    assert (await run_of(flows, bad)).status is RunStatus.FAILED
    assert await work_off(flows) == 1


@pytest.mark.parametrize("more", [{}, {"failure_strategy": "FAIL_FAST"}])
async def test_an_event_that_nothing_can_follow_ends_its_run_which_says_so(
    flows: WorkflowStore, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
) -> None:
    tasks: list[JSON] = [{"name": "wait", "event": {"name": "paid"}}]
    tasks.append({"name": POISON, "kind": "echo", "depends_on": ["wait"]})
    run_id = await start_run(flows, await create_dag(flows, tasks, **more))
    breaking(monkeypatch, run_book, "release_of")

    await flows.runs.send(DEFAULT_TENANT, "paid", "", Document("null"), now=NOW)

    run, told = await run_of(flows, run_id), (await all_tasks(flows, run_id))[1].failure
    assert (run.status, await statuses(flows, run_id)) == (RunStatus.FAILED, "XX")
    assert (run.failure is None) == bool(more)
    assert told is not None
    assert told.kind == "internal_error"


async def test_an_act_that_cannot_be_kept_is_refused_and_changes_nothing(flows: WorkflowStore) -> None:
    run_id = await start_run(flows, await create_dag(flows, [{"name": "gate", "approval": {}}]))

    with pytest.raises(InvalidInput):
        await act(flows, run_id, Approve(0, "ada", "a\0b"))

    assert await statuses(flows, run_id) == "h"
    assert await act(flows, run_id, Approve(0, "ada", "fine")) is RunStatus.COMPLETED
