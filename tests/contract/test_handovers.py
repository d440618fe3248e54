"""Who ends a task of a workflow claims what follows it in the same transaction, on every database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT, Tenant
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus
from gnomon.core.executions.lease import Claim, ClaimRequest, Leased
from gnomon.core.executions.lifecycle import Cancelled, LeaseExpired, Outcome
from gnomon.core.jobs.job import Definition, Revision
from gnomon.core.runs.events import Cancel, Event, Pause, Rerun
from gnomon.core.runs.run import RunId
from gnomon.core.runs.state import RunStatus
from gnomon.core.workflows.dag import Dag
from gnomon.store.databases.database import Row, Rows
from gnomon.store.databases.rows import revision_of
from gnomon.store.jobs import revisions
from gnomon.store.protocols.changes import Applied, Handover
from gnomon.store.protocols.workflows import WorkflowStore
from gnomon.store.sql_store import SqlStore
from tests.contract import given
from tests.contract.flows import (
    act,
    all_tasks,
    begun,
    chain,
    claimed,
    create_dag,
    run_of,
    start_run,
    statuses,
    tasks_of,
    with_result,
)
from tests.contract.given import DONE, HOUR, NOW, ask, claim, decided, enqueue, new_job, request


async def hand_over(
    flows: WorkflowStore,
    leased: Sequence[Leased],
    wanted: ClaimRequest,
    outcome: Outcome = DONE,
    *,
    now: datetime = NOW,
) -> Handover:
    decisions = [decided(one, outcome)._replace(in_run=True) for one in leased]
    return await flows.executions.apply_and_claim(decisions, wanted, now=now, lease_until=now + HOUR)


async def test_who_ends_a_task_gets_what_follows_it(flows: WorkflowStore) -> None:
    run_id = await begun(flows, chain(3))
    first = list((await claimed(flows, run_id)).values())

    done = await hand_over(flows, first, request(given.ADA, limit=10))

    assert (list(done.applied), done.more) == ([Applied.APPLIED], False)
    assert done.leased is not None
    [second] = done.leased
    assert (second.worker, second.lease_until, second.claim.number) == (given.ADA, NOW + HOUR, 1)
    assert await statuses(flows, run_id) == "CRW"
    assert await claim(flows) == []  # It is in somebody's hands.
    assert await flows.executions.held([second.claim]) == [second]
    last = (await hand_over(flows, [second], request(given.ADA, limit=10))).leased
    assert last is not None
    # After the last one there is nothing to claim.
    ended = await hand_over(flows, last, request(given.ADA, limit=10))
    assert (list(ended.applied), ended.leased) == ([Applied.APPLIED], None)
    assert (await run_of(flows, run_id)).status is RunStatus.COMPLETED


async def test_what_follows_is_claimed_in_the_order_of_all_that_waits(flows: WorkflowStore) -> None:
    tasks = tasks_of({"a": [], "b": ["a"], "c": ["a"]}, priority=5)
    run_id = await start_run(flows, await create_dag(flows, tasks))
    first = list((await claimed(flows, run_id)).values())
    urgent = await given.create_one(flows, new_job(definition=Definition(kind="echo", priority=9)))
    [other] = await enqueue(flows, ask(urgent))

    done = await hand_over(flows, first, request(given.ADA, limit=2))

    assert done.leased is not None
    assert (done.leased[0].claim.execution_id, len(done.leased), done.more) == (other, 2, True)
    assert len(await claim(flows)) == 1


async def test_ends_that_come_after_a_repeat_of_their_request_are_accepted_without_a_claim(
    flows: WorkflowStore,
) -> None:
    """The worker got no answer and asked again, and that was quicker than what it had sent first."""
    run_id = await begun(flows, chain(3))
    first = list((await claimed(flows, run_id)).values())
    wanted = request(given.ADA, limit=10)
    asked = replace(wanted, is_repeat=True)
    assert not await flows.executions.claim(asked, now=NOW, lease_until=NOW + HOUR)

    late = await hand_over(flows, first, wanted)

    assert (list(late.applied), late.leased) == ([Applied.APPLIED], None)
    assert await statuses(flows, run_id) == "CRW"
    assert len(await claim(flows)) == 1


async def test_an_answer_that_got_lost_is_had_again_by_the_same_request(flows: WorkflowStore) -> None:
    first = list((await claimed(flows, run_id := await begun(flows, chain(2)))).values())
    wanted = request(given.ADA, limit=10)
    done = await hand_over(flows, first, wanted)

    again = await flows.executions.claim(replace(wanted, is_repeat=True), now=NOW, lease_until=NOW + 2 * HOUR)

    assert again == done.leased
    assert await statuses(flows, run_id) == "CR"
    repeated = await hand_over(flows, first, request(given.ADA, limit=10))
    assert (list(repeated.applied), repeated.leased) == ([Applied.REPLAYED], None)


async def test_an_end_that_is_refused_hands_over_nothing(flows: WorkflowStore) -> None:
    run_id = await begun(flows, chain(2))
    [zombie] = (await claimed(flows, run_id)).values()
    assert await given.end(flows, zombie, LeaseExpired(), now=NOW + HOUR) is Applied.APPLIED

    done = await hand_over(flows, [zombie], request(given.ADA, limit=10), with_result("late"))

    assert (list(done.applied), done.leased) == ([Applied.LOST], None)
    assert await statuses(flows, run_id) == "RW"


async def test_what_is_not_for_this_worker_is_left_to_others(flows: WorkflowStore) -> None:
    run_id = await begun(flows, chain(2))
    first = list((await claimed(flows, run_id)).values())

    done = await hand_over(flows, first, request(given.ADA, kinds=frozenset({"other"})))

    assert (done.leased, done.more) == (None, True)
    assert len(await claim(flows)) == 1


async def second_of(flows: WorkflowStore, run_id: RunId) -> Leased:
    """The first task ended the long way; from here on the store remembers the run."""
    first = list((await claimed(flows, run_id)).values())
    [second] = (await hand_over(flows, first, request(given.ADA, limit=10))).leased or ()
    return second


class Noting:
    """A database that notes the names of the statements it is asked for, for changes and for reads."""

    def __init__(self, database: Any) -> None:
        self._database = database
        self.statements: list[str] = []
        self.reads: list[str] = []

    async def read(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        self.reads.append(statement)
        rows: Sequence[Row] = await self._database.read(statement, *batches, **values)
        return rows

    async def fetch(self, statement: str, *batches: Rows, **values: object) -> Sequence[Row]:
        self.statements.append(statement)
        rows: Sequence[Row] = await self._database.fetch(statement, *batches, **values)
        return rows

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Noting]:
        self.statements.append("BEGIN")
        async with self._database.transaction() as session:
            inside = Noting(session)
            inside.statements = self.statements
            yield inside

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


# With room for one only, somebody must look who else waits.
BOTH_WAYS = pytest.mark.parametrize("limit", [10, 1], ids=["handed over", "as a batch"])


@BOTH_WAYS
async def test_between_two_tasks_there_is_one_statement(flows: WorkflowStore, limit: int) -> None:
    assert isinstance(flows, SqlStore)
    noting = Noting(flows.database)
    store = SqlStore(noting)
    run_id = await begun(store, chain(40))
    leased = [await second_of(store, run_id)]
    noting.statements.clear()

    for _ in range(20):
        leased = list((await hand_over(store, leased, request(given.ADA, limit=limit))).leased or ())

    assert noting.statements == ["task_handover" if limit > 1 else "tasks_end"] * 20
    # What the next tasks do is learned ahead.
    assert noting.reads.count("revisions") <= 3
    assert await statuses(store, run_id) == "C" * 21 + "R" + "W" * 18


async def test_with_its_last_task_a_run_ends_in_the_same_transaction(flows: WorkflowStore) -> None:
    assert isinstance(flows, SqlStore)
    noting = Noting(flows.database)
    store = SqlStore(noting)
    run_id = await begun(store, chain(2))
    second = await second_of(store, run_id)
    noting.statements.clear()

    done = await hand_over(store, [second], request(given.ADA, limit=10))

    assert noting.statements == ["BEGIN", "tasks_end", "runs_end"]
    assert (list(done.applied), done.leased, done.more) == ([Applied.APPLIED], None, False)
    run = await run_of(flows, run_id)
    assert (run.status, run.finished_at, run.state.left, run.state.live) == (RunStatus.COMPLETED, NOW, 0, 0)
    execution = await flows.executions.get(DEFAULT_TENANT, ExecutionId(run_id), now=NOW)
    assert (execution.status, execution.finished_at) == (ExecutionStatus.COMPLETED, NOW)
    assert execution.result is not None
    assert execution.result.value == {"dag_run_id": str(run_id)}
    # Who says it again, with what it remembers or with nothing, changes nothing.
    for again in (store, SqlStore(flows.database)):
        told = await hand_over(again, [second], request(given.ADA, limit=10))
        assert list(told.applied) == [Applied.REPLAYED]
    assert await run_of(flows, run_id) == run


async def test_a_run_that_ends_lets_the_next_one_in_and_says_so(flows: WorkflowStore) -> None:
    dag = await create_dag(flows, tasks_of(chain(2)), schedule={"type": "manual", "overlap_policy": "queue"})
    one, two = await start_run(flows, dag), await start_run(flows, dag)
    second = await second_of(flows, one)
    assert (await run_of(flows, two)).status is RunStatus.PENDING

    done = await hand_over(flows, [second], request(given.ADA, limit=10))

    assert (done.leased, done.more) == (None, True)
    assert (await run_of(flows, two)).status is RunStatus.RUNNING
    assert len(await claim(flows)) == 1


async def test_what_is_learned_ahead_need_not_be_readable(
    flows: WorkflowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later release may have written it, and nobody has asked for it yet."""
    run_id = await begun(flows, chain(3))
    last = (await run_of(flows, run_id)).base + 3

    def read(row: Row) -> Revision:
        if row["revision"] == last:
            raise ValueError("a mystery")
        return revision_of(row)

    monkeypatch.setattr(revisions, "revision_of", read)
    [first] = (await claimed(flows, run_id)).values()
    assert (await hand_over(flows, [first], request(given.ADA, limit=10))).leased


async def test_whoever_did_not_look_says_that_there_may_be_more(flows: WorkflowStore) -> None:
    """A worker that took all there was sleeps until somebody tells it."""
    run_id = await begun(flows, {"a": [], "b": [], "c": ["a", "b"]})
    first = await claimed(flows, run_id)
    job = await given.create_one(flows, new_job())
    await enqueue(flows, ask(job))

    done = await hand_over(flows, [first["a"]], request(given.ADA, limit=10))

    # Either way is fine: to claim what waits, or to say that nobody has looked.
    assert done.leased or done.more


async def test_an_end_makes_room_for_a_tenant_with_a_limit_and_says_so(flows: WorkflowStore) -> None:
    await flows.tenants.save(Tenant(DEFAULT_TENANT, "default", max_concurrent=1), now=NOW)
    dag = await create_dag(flows, tasks_of(chain(2)))
    one, _ = await start_run(flows, dag), await start_run(flows, dag)
    [first] = await claim(flows)
    assert (await hand_over(flows, [first], request(given.ADA, limit=10))).more
    leased = first
    for _ in range(3):  # Two tasks of each run.
        [leased] = await claim(flows, now=NOW.replace(second=30))
        assert (await hand_over(flows, [leased], request(given.ADA, limit=10))).more
    assert await claim(flows) == []
    assert (await run_of(flows, one)).status is RunStatus.COMPLETED


async def test_a_run_that_somebody_else_has_stopped_ends_as_they_said(flows: WorkflowStore) -> None:
    run_id = await begun(flows, chain(2))
    second = await second_of(flows, run_id)
    assert isinstance(flows, SqlStore)
    await act(SqlStore(flows.database), run_id, Cancel())

    done = await hand_over(flows, [second], request(given.ADA, limit=10), Cancelled())

    assert list(done.applied) == [Applied.APPLIED]
    assert (await run_of(flows, run_id)).status is RunStatus.CANCELLED


@pytest.mark.parametrize(
    "event", [Pause(), Cancel(), Rerun(frozenset({0}))], ids=lambda one: type(one).__name__
)
@BOTH_WAYS
async def test_what_somebody_else_did_to_the_run_counts(
    flows: WorkflowStore, event: Event, limit: int
) -> None:
    """Another process moved it. What this one remembers of the run is old, and decides nothing."""
    run_id = await begun(flows, {"a": [], "b": [], "c": ["b"], "d": ["c"], "e": ["a"]})
    first = await claimed(flows, run_id)
    [fifth] = (await hand_over(flows, [first["a"]], request(given.ADA, limit=10))).leased or ()
    [third] = (await hand_over(flows, [first["b"]], request(given.ADA, limit=10))).leased or ()
    assert isinstance(flows, SqlStore)
    other = SqlStore(flows.database)
    if isinstance(event, Rerun):
        await other.executions.apply([decided(fifth, DONE)], now=NOW)
    await act(other, run_id, event)

    done = await hand_over(flows, [third], request(given.ADA, limit=limit))

    assert list(done.applied) == [Applied.APPLIED]
    told = {Pause: "CCCRR", Cancel: "CCCXR", Rerun: "RCCRW"}
    assert await statuses(flows, run_id) == told[type(event)]
    begins = 2 if isinstance(event, Rerun) else 0
    assert len(done.leased or ()) == min(begins, limit)
    assert len(await claim(flows)) == max(0, begins - limit)


@BOTH_WAYS
async def test_a_lease_that_was_lost_hands_over_nothing(flows: WorkflowStore, limit: int) -> None:
    run_id = await begun(flows, chain(3))
    second = await second_of(flows, run_id)
    assert await given.end(flows, second, LeaseExpired(), now=NOW + 2 * HOUR) is Applied.APPLIED

    done = await hand_over(flows, [second], request(given.ADA, limit=limit))

    assert (list(done.applied), done.leased) == ([Applied.LOST], None)
    assert await statuses(flows, run_id) == "CRW"


async def walked(flows: SqlStore, dag: Dag, *, limit: int) -> list[object]:
    """What there is to see after each of four steps of a run, but for ids."""
    run_id = await start_run(flows, dag)
    leased, seen, anybody = await second_of(flows, run_id), list[object](), Claim(ExecutionId(UUID(int=1)), 1)
    start = await flows.events.end()
    for _ in range(4):
        outcome = with_result([{"size": 3}])
        done = await hand_over(flows, [leased], request(given.ADA, limit=limit), outcome)
        [leased] = done.leased or ()
        execution = await flows.executions.get(DEFAULT_TENANT, leased.claim.execution_id, now=NOW)
        tasks = [(one.state, one.attempt, one.result) for one in await all_tasks(flows, run_id)]
        seen.append((done.more, leased.claim.number, leased._replace(claim=anybody)))
        seen.append((replace(execution, id=anybody.execution_id), tasks, (await run_of(flows, run_id)).state))
    happened = await flows.events.after(DEFAULT_TENANT, start, limit=100)
    return [*seen, [one.event.type for one in happened]]


async def test_both_ways_write_the_same(flows: WorkflowStore) -> None:
    tasks = [
        *tasks_of(chain(2), priority=7),
        *tasks_of({"t2": ["t1"]}, payload={"seen": "${tasks.t1.result}"}),
        *tasks_of({"t3": ["t2"]}, fan_out={"over": "${tasks.t2.result}"}, payload={"item": "${item}"}),
        *tasks_of({"t4": ["t3"], "t5": ["t4"]}),
    ]
    dag = await create_dag(flows, tasks)
    assert isinstance(flows, SqlStore)
    await flows.events.follow(DEFAULT_TENANT, now=NOW)

    assert await walked(flows, dag, limit=10) == await walked(flows, dag, limit=1)


async def test_for_a_second_at_most_nobody_looks_who_waits(flows: WorkflowStore) -> None:
    """And only where there is room for whoever came meanwhile."""
    second = await second_of(flows, await begun(flows, chain(9)))
    urgent = await given.create_one(flows, new_job(definition=Definition(kind="echo", priority=9)))
    [other] = await enqueue(flows, ask(urgent))

    [third] = (await hand_over(flows, [second], request(given.ADA, limit=2))).leased or ()
    [first] = (await hand_over(flows, [third], request(given.ADA, limit=1))).leased or ()

    assert (third.revision.is_task, first.claim.execution_id) == (True, other)
    [fourth] = await claim(flows)
    [other] = await enqueue(flows, ask(urgent))
    done = await hand_over(flows, [fourth], request(given.ADA, limit=2), now=NOW + timedelta(seconds=1))
    assert [one.claim.execution_id == other for one in done.leased or ()] == [True, False]


async def test_who_took_less_than_there_was_looks_again(flows: WorkflowStore) -> None:
    """What waited and what is new filled all the room, so something may be left in the queue."""
    tasks = tasks_of(chain(2)) + tasks_of({"x": ["t1"], "y": ["t1"], "z": ["x"]}, priority=9)
    second = await second_of(flows, await start_run(flows, await create_dag(flows, tasks)))
    usual = await given.create_one(flows, new_job())
    await enqueue(flows, *(ask(usual) for _ in range(10)))
    x, y, *others = (await hand_over(flows, [second], request(given.ADA, limit=7))).leased or ()
    assert (x.revision.is_task, y.revision.is_task, len(others)) == (True, True, 5)

    done = await hand_over(flows, [x], request(given.ADA, limit=3))

    assert [one.revision.is_task for one in done.leased or ()] == [True, False, False]


async def test_who_has_not_looked_from_the_front_looks_again(flows: WorkflowStore) -> None:
    second = await second_of(flows, await begun(flows, chain(5)))
    job = await given.create_one(flows, new_job())
    await enqueue(flows, ask(job))
    assert len(await claim(flows, limit=1)) == 1  # All the room: the next look goes on from there.
    [late] = await enqueue(flows, ask(job, due=NOW - HOUR))

    leased: list[Leased] = []
    for _ in range(2):
        leased = list((await hand_over(flows, leased or [second], request(given.ADA, limit=10))).leased or ())
        if late in {one.claim.execution_id for one in leased}:
            return
    raise AssertionError("nobody found what came behind those who look")


async def test_what_follows_for_other_workers_waits_for_them(flows: WorkflowStore) -> None:
    tasks = [*tasks_of(chain(2)), *tasks_of({"t2": ["t1"]}, kind="other")]
    second = await second_of(flows, await start_run(flows, await create_dag(flows, tasks)))

    done = await hand_over(flows, [second], request(given.ADA, limit=10))

    assert (done.leased, done.more) == (None, True)
    assert await claim(flows) == []
    assert len(await claim(flows, kinds=frozenset({"other"}))) == 1


async def test_what_is_urgent_comes_first_whether_it_is_new_or_waits(flows: WorkflowStore) -> None:
    tasks = tasks_of(chain(2)) + tasks_of({"x": ["t1"]}, priority=9) + tasks_of({"y": ["t1"]}, priority=1)
    run_id = await start_run(flows, await create_dag(flows, tasks))
    second = await second_of(flows, run_id)
    usual = await given.create_one(flows, new_job(definition=Definition(kind="echo", priority=5)))
    await enqueue(flows, ask(usual), ask(usual))

    done = await hand_over(flows, [second], request(given.ADA, limit=2))

    assert [one.priority for one in done.leased or ()] == [9, 5]
    assert done.more
    assert [one.priority for one in await claim(flows)] == [5, 1]


async def test_ends_without_a_claim_leave_what_follows_to_others(flows: WorkflowStore) -> None:
    run_id = await begun(flows, chain(4))
    second = await second_of(flows, run_id)

    assert await flows.executions.apply([decided(second, DONE)._replace(in_run=True)], now=NOW) == [
        Applied.APPLIED
    ]

    assert await statuses(flows, run_id) == "CCRW"
    assert len(await claim(flows)) == 1


async def test_one_end_that_is_refused_does_not_hold_up_the_others(flows: WorkflowStore) -> None:
    edges = {"a": [], **{f"b{n}": ["a"] for n in range(3)}, **{f"c{n}": [f"b{n}"] for n in range(3)}}
    run_id = await begun(flows, edges)
    first = list((await claimed(flows, run_id)).values())
    three = list((await hand_over(flows, first, request(given.ADA, limit=10))).leased or ())
    assert await given.end(flows, three[0], LeaseExpired(), now=NOW + 2 * HOUR) is Applied.APPLIED

    done = await hand_over(flows, three, request(given.ADA, limit=10))

    assert list(done.applied) == [Applied.LOST, Applied.APPLIED, Applied.APPLIED]
    assert await statuses(flows, run_id) == "CRCCWRR"
