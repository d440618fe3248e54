"""Backfills run the past a few times at once, on every database."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from uuid import UUID

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT, TenantId
from gnomon.core.executions.execution import ExecutionId, NewExecution
from gnomon.core.executions.lease import Leased
from gnomon.core.executions.lifecycle import Cancelled, JobAction
from gnomon.core.jobs.job import JobId
from gnomon.core.runs.backfills import (
    Backfill,
    BackfillAction,
    BackfillId,
    BackfillPlan,
    BackfillStatus,
    BackfillTerms,
    Existing,
    NewBackfill,
    TimeState,
    after_action,
)
from gnomon.core.runs.events import RerunFailed
from gnomon.core.runs.run import RunId
from gnomon.core.runs.state import RunStatus
from gnomon.core.schedules.occurrence import Firing, Occurrence
from gnomon.core.values.document import JSON, Document
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.workflows.dag import Dag
from gnomon.errors import BackfillNotFound, BackfillOverlaps, DagNotFound, IllegalTransition
from gnomon.store.databases.database import Row, Session
from gnomon.store.protocols.workflows import WorkflowStore
from gnomon.store.queue.enqueue import jobs_for
from gnomon.store.workflows import backfills
from tests.contract import given
from tests.contract.flows import (
    act,
    begun,
    chain,
    change_dag,
    create_dag,
    finish,
    run_of,
    start_run,
    tasks_of,
    work_off,
)
from tests.contract.given import BROKEN, NOW, ask, claim, enqueue, new_id

PAUSE, RESUME, CANCEL = BackfillAction.PAUSE, BackfillAction.RESUME, BackfillAction.CANCEL
DAY = timedelta(days=1)
LAST = NOW - DAY


def days(count: int) -> tuple[datetime, ...]:
    return tuple(LAST - DAY * n for n in reversed(range(count)))


async def asked(
    flows: WorkflowStore,
    dag: Dag,
    times: Sequence[datetime],
    *,
    concurrency: int = 1,
    priority: int | None = None,
    config: JSON = None,
    key: Idempotency | None = None,
) -> Backfill:
    given = None if config is None else Document.of(config, field="config")
    terms = BackfillTerms(Existing.SKIP, concurrency, priority, given)
    first, last = (times[0], times[-1]) if times else (LAST, LAST)
    plan = BackfillPlan(first, last, tuple(times), {})
    new = NewBackfill(BackfillId(new_id()), DEFAULT_TENANT, dag.job.id, terms, plan)
    return await flows.dags.backfills.create(new, now=NOW, idempotency=key)


async def look(flows: WorkflowStore, backfill: Backfill) -> Backfill:
    return await flows.dags.backfills.get(DEFAULT_TENANT, backfill.id)


async def states(flows: WorkflowStore, backfill: Backfill) -> str:
    """The first letters, oldest first."""
    times = await flows.dags.backfills.times(DEFAULT_TENANT, backfill.id, limit=100)
    return "".join("X" if one.state is TimeState.CANCELLED else one.state[0] for one in times)


async def go_on(flows: WorkflowStore) -> None:
    await flows.runs.start(now=NOW, limit=100)


async def test_a_backfill_runs_its_times_oldest_first_and_ends(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(2)))
    backfill = await asked(flows, dag, days(3), config={"n": 1})
    assert (backfill.status, backfill.total, backfill.waiting) == (BackfillStatus.RUNNING, 3, 3)

    await go_on(flows)
    assert await states(flows, backfill) == "RWW"
    [first, *_] = await flows.dags.backfills.times(DEFAULT_TENANT, backfill.id, limit=100)
    assert first.run_id is not None
    run = await run_of(flows, RunId(first.run_id))
    assert (run.status, run.nominal_time, run.state.config.value) == (RunStatus.RUNNING, days(3)[0], {"n": 1})

    # The end of one run begins the next, without anybody's help.
    assert await work_off(flows) == 6
    ended = await look(flows, backfill)
    assert (ended.status, ended.completed, ended.finished_at) == (BackfillStatus.COMPLETED, 3, NOW)
    assert await states(flows, backfill) == "CCC"
    runs = (await flows.runs.page(DEFAULT_TENANT, dag.job.id, limit=10)).items
    assert {run.nominal_time for run in runs} == set(days(3))


async def test_a_backfill_has_slots_of_its_own(flows: WorkflowStore) -> None:
    queued = {"type": "manual", "overlap_policy": "queue"}
    dag = await create_dag(flows, tasks_of(chain(1)), schedule=queued)
    own = await start_run(flows, dag)
    backfill = await asked(flows, dag, days(5), concurrency=2)

    await go_on(flows)
    await go_on(flows)
    assert await states(flows, backfill) == "RRWWW"
    assert (await run_of(flows, own)).status is RunStatus.RUNNING
    leased = await claim(flows)
    assert len(leased) == 3
    later = await start_run(flows, dag)  # Waits for the one that was there first, not for the past.
    await finish(flows, *leased)
    assert await states(flows, backfill) == "CCRRW"
    assert (await run_of(flows, later)).status is RunStatus.RUNNING


async def test_runs_of_a_backfill_do_not_replace_each_other(flows: WorkflowStore) -> None:
    replacing = {"type": "manual", "overlap_policy": "replace"}
    dag = await create_dag(flows, tasks_of(chain(1)), schedule=replacing)
    backfill = await asked(flows, dag, days(2), concurrency=2)
    await go_on(flows)
    await start_run(flows, dag)

    assert not (await flows.runs.repair(now=NOW, limit=10)).items

    await finish(flows, *await claim(flows), outcome=BROKEN)
    assert await states(flows, backfill) == "FF"
    [first, _] = await flows.dags.backfills.times(DEFAULT_TENANT, backfill.id, limit=100)
    assert first.run_id is not None
    assert await act(flows, RunId(first.run_id), RerunFailed()) is RunStatus.RUNNING
    await start_run(flows, dag)
    assert not (await flows.runs.repair(now=NOW, limit=10)).items


async def test_a_run_that_replaces_others_leaves_those_of_a_backfill(flows: WorkflowStore) -> None:
    replacing = {"type": "manual", "overlap_policy": "replace"}
    dag = await create_dag(flows, tasks_of(chain(1)), schedule=replacing)
    backfill = await asked(flows, dag, days(2), concurrency=2)
    await go_on(flows)
    [new] = await enqueue(flows, NewExecution(ExecutionId(new_id(NOW + DAY)), dag.job.id))

    await go_on(flows)

    assert (await run_of(flows, RunId(new))).status is RunStatus.RUNNING
    for time in await flows.dags.backfills.times(DEFAULT_TENANT, backfill.id, limit=100):
        assert time.run_id is not None
        assert (await run_of(flows, RunId(time.run_id))).state.ends_as is None


async def test_runs_of_a_backfill_stay_uncounted_when_a_workflow_begins_to_replace_its_runs(
    flows: WorkflowStore,
) -> None:
    tasks = tasks_of(chain(1))
    dag = await create_dag(flows, tasks)
    backfill = await asked(flows, dag, days(3), concurrency=2)
    await flows.dags.backfills.advance(now=NOW, limit=10)  # One that has begun, and one that will.
    [first, second, _] = await flows.dags.backfills.times(DEFAULT_TENANT, backfill.id, limit=100)
    assert first.run_id is not None
    assert second.run_id is not None
    await flows.runs.start_now([RunId(first.run_id)], now=NOW)
    own = await start_run(flows, dag)

    await change_dag(flows, dag, tasks, schedule={"type": "manual", "overlap_policy": "replace"})

    assert await flows.schedules.live([dag.job.id]) == {dag.job.id: 1}
    [new] = await enqueue(flows, NewExecution(ExecutionId(new_id(NOW + DAY)), dag.job.id))
    assert await flows.runs.start_now([RunId(new)], now=NOW) == 1
    assert (await run_of(flows, own)).status is RunStatus.CANCELLED
    await go_on(flows)
    assert not (await flows.runs.repair(now=NOW, limit=10)).items
    for run_id in (first.run_id, second.run_id):
        run = await run_of(flows, RunId(run_id))
        assert (run.status, run.state.ends_as) == (RunStatus.RUNNING, None)


async def test_the_priority_of_a_backfill_is_that_of_its_tasks(flows: WorkflowStore) -> None:
    await create_dag(flows, tasks_of(chain(1), priority=7), "inner")
    tasks = [*tasks_of(chain(2), priority=8), {"name": "sub", "dag": "inner"}]
    dag = await create_dag(flows, tasks)
    await asked(flows, dag, days(1), priority=1)
    await go_on(flows)
    own = await begun(flows, {"a": []})

    leased = await claim(flows)

    ours = (await run_of(flows, own)).dag_id
    assert sorted((one.job_id == ours, one.priority) for one in leased) == [(False, 1), (False, 1), (True, 5)]


async def test_a_paused_backfill_begins_no_run(flows: WorkflowStore) -> None:
    store = flows.dags.backfills
    backfill = await asked(flows, await create_dag(flows, tasks_of(chain(1))), days(3))
    await go_on(flows)

    assert (await store.act(DEFAULT_TENANT, backfill.id, PAUSE, now=NOW)).status is BackfillStatus.PAUSED
    assert await work_off(flows) == 1  # What runs goes on to its end.
    await go_on(flows)
    assert (await look(flows, backfill)).waiting == 2
    assert await claim(flows) == []

    await store.act(DEFAULT_TENANT, backfill.id, RESUME, now=NOW)
    await go_on(flows)
    assert await work_off(flows) == 2
    assert (await look(flows, backfill)).status is BackfillStatus.COMPLETED
    with pytest.raises(IllegalTransition):
        await store.act(DEFAULT_TENANT, backfill.id, PAUSE, now=NOW)


async def test_what_has_not_begun_of_a_cancelled_backfill_never_will(flows: WorkflowStore) -> None:
    store = flows.dags.backfills
    backfill = await asked(flows, await create_dag(flows, tasks_of(chain(1))), days(3))
    await go_on(flows)

    for _ in range(2):  # Safe to repeat.
        cancelled = await store.act(DEFAULT_TENANT, backfill.id, CANCEL, now=NOW)
        assert (cancelled.status, cancelled.finished_at) == (BackfillStatus.CANCELLED, NOW)
    assert await states(flows, backfill) == "RXX"
    assert await work_off(flows) == 1
    await go_on(flows)
    assert await claim(flows) == []
    assert await states(flows, backfill) == "CXX"


@pytest.mark.parametrize(("action", "rest"), [(PAUSE, "WW"), (CANCEL, "XX")])
async def test_the_numbers_of_a_backfill_that_begins_no_more_runs_follow_those_under_way(
    flows: WorkflowStore, action: BackfillAction, rest: str
) -> None:
    store = flows.dags.backfills
    backfill = await asked(flows, await create_dag(flows, tasks_of(chain(1))), days(5), concurrency=3)
    await go_on(flows)
    [fine, broken, stopped, *_] = await store.times(DEFAULT_TENANT, backfill.id, limit=100)
    leased = {one.nominal_time: one for one in await claim(flows)}
    assert stopped.run_id is not None

    await store.act(DEFAULT_TENANT, backfill.id, action, now=NOW)
    assert await states(flows, backfill) == "RRR" + rest
    await finish(flows, leased[fine.nominal_time])
    await finish(flows, leased[broken.nominal_time], outcome=BROKEN)
    await flows.executions.cancel(DEFAULT_TENANT, [stopped.run_id], now=NOW)
    await finish(flows, leased[stopped.nominal_time], outcome=Cancelled())

    assert await states(flows, backfill) == "CFX" + rest
    found = await look(flows, backfill)
    assert (found.running, found.completed, found.failed) == (0, 1, 1)
    assert not (await flows.runs.wait_for_us(now=NOW)).is_due


async def test_a_run_of_a_paused_backfill_that_is_cancelled_before_it_began_is_settled(
    flows: WorkflowStore,
) -> None:
    store = flows.dags.backfills
    backfill = await asked(flows, await create_dag(flows, tasks_of(chain(1))), days(2))
    [run_id] = await store.advance(now=NOW, limit=10)
    await store.act(DEFAULT_TENANT, backfill.id, PAUSE, now=NOW)

    await flows.executions.cancel(DEFAULT_TENANT, [ExecutionId(run_id)], now=NOW)

    assert await states(flows, backfill) == "XW"


async def test_a_backfill_of_a_workflow_that_is_gone_ends(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(1)))
    backfill = await asked(flows, dag, days(2))
    await given.act(flows, dag.job, JobAction.DELETE)

    await go_on(flows)

    assert (await look(flows, backfill)).status is BackfillStatus.CANCELLED
    assert await states(flows, backfill) == "XX"


async def test_two_backfills_cannot_be_under_way_for_the_same_times(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(1)))
    first = await asked(flows, dag, days(3))

    with pytest.raises(BackfillOverlaps) as refused:
        await asked(flows, dag, days(2))
    assert refused.value.backfill_id == first.id
    await asked(flows, dag, [NOW - 10 * DAY])
    await flows.dags.backfills.act(DEFAULT_TENANT, first.id, CANCEL, now=NOW)
    await asked(flows, dag, days(2))
    with pytest.raises(DagNotFound):
        await flows.dags.backfills.create(
            NewBackfill(
                BackfillId(new_id()),
                DEFAULT_TENANT,
                JobId(new_id()),
                BackfillTerms(),
                BackfillPlan(LAST, LAST, (), {}),
            ),
            now=NOW,
        )


async def test_a_call_that_is_repeated_makes_one_backfill(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(1)))
    key = Idempotency("k", "f")

    first = await asked(flows, dag, days(2), key=key)

    assert await asked(flows, dag, days(2), key=key) == first
    assert (await flows.dags.backfills.page(DEFAULT_TENANT, dag.job.id, limit=10)).items == (first,)


async def test_many_who_go_on_with_a_backfill_begin_each_run_once(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(1)))
    backfill = await asked(flows, dag, days(8), concurrency=3)

    await asyncio.gather(*(flows.dags.backfills.advance(now=NOW, limit=10) for _ in range(6)))

    assert await states(flows, backfill) == "RRRWWWWW"
    await go_on(flows)
    assert await work_off(flows) == 8


async def test_a_backfill_that_cannot_go_on_does_not_stop_the_others(
    flows: WorkflowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, fine = [await asked(flows, await create_dag(flows, tasks_of(chain(1))), days(1)) for _ in range(2)]
    own = await create_dag(flows, tasks_of(chain(1)))
    [run_id] = await enqueue(flows, ask(own.job))
    real = jobs_for

    async def broken(session: Session, tenant_id: TenantId, ids: Sequence[UUID]) -> Mapping[UUID, Row]:
        assert stuck.dag_id not in ids
        return await real(session, tenant_id, ids)

    with monkeypatch.context() as patch:
        patch.setattr(backfills, "jobs_for", broken)
        await go_on(flows)
    assert (await states(flows, stuck), await states(flows, fine)) == ("W", "R")
    assert (await run_of(flows, RunId(run_id))).status is RunStatus.RUNNING

    await go_on(flows)
    assert await states(flows, stuck) == "R"


async def test_a_backfill_with_nothing_to_run_is_at_its_end(flows: WorkflowStore) -> None:
    backfill = await asked(flows, await create_dag(flows, tasks_of(chain(1))), [])

    assert (backfill.status, backfill.total, backfill.finished_at) == (BackfillStatus.COMPLETED, 0, NOW)


async def test_a_backfill_of_another_tenant_is_not_there(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(1)))
    backfill = await asked(flows, dag, days(2))
    other = await given.other_tenant(flows)

    with pytest.raises(BackfillNotFound):
        await flows.dags.backfills.get(other, backfill.id)
    with pytest.raises(BackfillNotFound):
        await flows.dags.backfills.act(other, backfill.id, CANCEL, now=NOW)
    assert await flows.dags.backfills.times(other, backfill.id, limit=10) == []
    assert (await flows.dags.backfills.page(other, dag.job.id, limit=10)).items == ()
    assert (await look(flows, backfill)).status is BackfillStatus.RUNNING


async def test_backfills_and_their_times_come_page_by_page(flows: WorkflowStore) -> None:
    store = flows.dags.backfills
    dag = await create_dag(flows, tasks_of(chain(1)))
    old, new = await asked(flows, dag, days(2)), await asked(flows, dag, [NOW - 10 * DAY])

    page = await store.page(DEFAULT_TENANT, dag.job.id, limit=1)
    assert (page.items, page.next) == ((new,), new.id)
    assert (await store.page(DEFAULT_TENANT, dag.job.id, limit=1, after=page.next)).items == (old,)
    [first] = await store.times(DEFAULT_TENANT, old.id, limit=1)
    [second] = await store.times(DEFAULT_TENANT, old.id, limit=2, after=first.nominal_time)
    assert (first.nominal_time, second.nominal_time) == days(2)


async def test_retention_takes_an_ended_backfill_with_its_times(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(1)))
    ended, live = await asked(flows, dag, days(3)), await asked(flows, dag, [NOW - 10 * DAY])
    await flows.dags.backfills.act(DEFAULT_TENANT, ended.id, CANCEL, now=NOW)

    await flows.upkeep.forget_occurrences(before=NOW, limit=2)
    assert await states(flows, ended) == "XXX"
    assert (await flows.upkeep.forget_occurrences(before=NOW + DAY, limit=2)).more
    await flows.upkeep.forget_occurrences(before=NOW + DAY, limit=2)

    with pytest.raises(BackfillNotFound):
        await look(flows, ended)
    assert await states(flows, ended) == ""
    assert await look(flows, live) == live


# What was before -------------------------------------------------------------------------------------


async def fired(flows: WorkflowStore, dag: Dag, at: datetime) -> RunId:
    """A run that the schedule fired."""
    run_id = ExecutionId(new_id())
    job = await flows.jobs.get(DEFAULT_TENANT, dag.job.id)
    assert job.next_run_time is not None
    firing = Firing(
        job.id,
        DEFAULT_TENANT,
        job.version,
        job.next_run_time,
        job.status,
        job.next_run_time + DAY,
        at,
        job.fires + 1,
        None,
        (Occurrence(at, at, execution_id=run_id, due=at),),
    )
    await flows.schedules.fire([firing], now=NOW)
    return RunId(run_id)


async def test_the_past_is_what_schedules_and_backfills_ran(flows: WorkflowStore) -> None:
    [one, two, three, four] = days(4)
    dag = await create_dag(flows, tasks_of(chain(1)), next_run_time=one)
    await fired(flows, dag, one)
    await fired(flows, dag, two)
    await go_on(flows)
    both = {leased.nominal_time: leased for leased in await claim(flows)}
    await finish(flows, both[one], outcome=BROKEN)
    await finish(flows, both[two])
    await fired(flows, dag, three)

    async def past() -> dict[datetime, RunStatus]:
        return dict(
            await flows.dags.backfills.past(DEFAULT_TENANT, dag.job.id, first=one, last=four, limit=100)
        )

    assert await past() == {one: RunStatus.FAILED, two: RunStatus.COMPLETED, three: RunStatus.PENDING}
    await asked(flows, dag, [one])
    assert (await past())[one] is RunStatus.FAILED  # It has not begun.
    await go_on(flows)
    assert (await past())[one] is RunStatus.RUNNING  # The newest counts.
    await work_off(flows)
    assert await past() == dict.fromkeys([one, two, three], RunStatus.COMPLETED)


# By chance -------------------------------------------------------------------------------------------


class Model:
    """A backfill as a list of letters."""

    def __init__(self, count: int, concurrency: int) -> None:
        self.times = ["W"] * count
        self.concurrency = concurrency
        self.status = BackfillStatus.RUNNING

    def end(self, place: int, letter: str) -> None:
        self.times[place] = letter
        self.go_on()

    def act(self, action: BackfillAction) -> None:
        self.status = after_action(self.status, action)
        if self.status is BackfillStatus.CANCELLED:
            self.times = ["X" if one == "W" else one for one in self.times]

    def go_on(self) -> None:
        if self.status is not BackfillStatus.RUNNING:
            return
        while "W" in self.times and self.times.count("R") < self.concurrency:
            self.times[self.times.index("W")] = "R"
        if not {"W", "R"} & set(self.times):
            self.status = BackfillStatus.COMPLETED


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_happens_a_backfill_does_as_a_list_of_letters_does(
    flows: WorkflowStore, seed: int
) -> None:
    random = Random(seed)
    dag = await create_dag(flows, tasks_of(chain(1), max_retries=0))
    count, concurrency = random.randint(1, 8), random.randint(1, 3)
    backfill, model = await asked(flows, dag, days(count), concurrency=concurrency), Model(count, concurrency)
    running = dict[datetime, Leased]()
    await go_on(flows)
    model.go_on()
    for _ in range(30):
        running |= {one.nominal_time: one for one in await claim(flows) if one.nominal_time is not None}
        if running and random.random() < 0.7:
            at = random.choice(sorted(running))
            is_fine = random.random() < 0.7
            await finish(flows, running.pop(at), outcome=given.DONE if is_fine else BROKEN)
            model.end(days(count).index(at), "C" if is_fine else "F")
        else:
            weights = [5, 10, 1]
            [action] = random.choices([PAUSE, RESUME, CANCEL], weights)
            try:
                model.act(action)
            except IllegalTransition:
                with pytest.raises(IllegalTransition):
                    await flows.dags.backfills.act(DEFAULT_TENANT, backfill.id, action, now=NOW)
            else:
                await flows.dags.backfills.act(DEFAULT_TENANT, backfill.id, action, now=NOW)
        await go_on(flows)
        model.go_on()
        found = await look(flows, backfill)
        assert found.status is model.status
        assert await states(flows, backfill) == "".join(model.times)
        assert found.running <= concurrency
