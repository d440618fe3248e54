"""Random workflows through random lives, on every database: what the rows must say of each other, always.

The core has an oracle of its own. Here it is about what the store makes of its decisions: counters,
executions and the run itself, after every step, with several things that happen at the same moment.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from random import Random

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Execution, ExecutionId, ExecutionStatus
from gnomon.core.executions.lease import Leased
from gnomon.core.executions.lifecycle import Cancelled, Outcome
from gnomon.core.runs.events import (
    Approve,
    Event,
    Fail,
    Pause,
    Reject,
    Rerun,
    RerunFailed,
    Resume,
    Retry,
    Skip,
    Succeed,
)
from gnomon.core.runs.run import Run, RunId, TaskRun
from gnomon.core.runs.state import RunStatus, TaskStatus
from gnomon.core.values.document import JSON, Document
from gnomon.core.workflows.document import read_dag
from gnomon.core.workflows.trigger_rules import Ending, TriggerRule
from gnomon.core.workflows.workflow import FailureStrategy, Task
from gnomon.errors import IllegalTransition
from gnomon.store.sql_store import SqlStore
from tests.contract.flows import all_tasks, create_dag, run_of, start_run, with_result
from tests.contract.given import BROKEN, DONE, FAILED, HOUR, NOW, claim, decided, request, seen

LIVES = 12
STEPS = 25
SIZE_MAX = 12
RULES = [*TriggerRule, *[TriggerRule.ALL_SUCCESS] * 5]
RESULTS: list[JSON] = [[], [1], [1, 2], [1, 2, 3], {"x": 1}]
_T = TaskStatus


def random_task(place: int, random: Random) -> dict[str, JSON]:
    parents = [f"t{n}" for n in random.sample(range(place), min(place, random.randint(0, 3)))]
    task: dict[str, JSON] = {"name": f"t{place}", "depends_on": [*parents]}
    rule = random.choice(RULES)
    if parents:
        task["trigger_rule"] = rule.value
    kind = random.random()
    if kind < 0.06:
        return task | {"approval": {"timeout_seconds": 3600}}
    if kind < 0.12:
        return task | {"event": {"name": "paid"}}
    if kind < 0.2:
        return task | {"dag": "inner"}
    task["kind"] = "echo"
    task["max_retries"] = random.choice([0, 0, 1])
    is_eager = rule in (TriggerRule.ONE_SUCCESS, TriggerRule.ONE_FAILED)
    if parents and kind < 0.4 and not is_eager:
        task["fan_out"] = {"over": f"${{tasks.{parents[0]}.result}}", "limit": 2}
        task["payload"] = {"of": "${item}"}
    elif parents and kind < 0.5 and not is_eager:
        task["condition"] = {"value_of": f"${{tasks.{parents[0]}.result}}", "value": [1, 2]}
    return task


class Life:
    def __init__(self, flows: SqlStore, tasks: Sequence[Task], run_id: RunId, random: Random) -> None:
        self.flows, self.tasks, self.run_id, self.random = flows, tasks, run_id, random
        # Two processes that end tasks: what one of them remembers of the run is often old.
        self.enders = [flows, SqlStore(flows.database)]
        self.now: datetime = NOW
        self.leased: dict[object, Leased] = {}
        self.before: Sequence[TaskRun] = ()

    # What happens ------------------------------------------------------------------------------------

    async def step(self) -> None:
        self.now += timedelta(minutes=self.random.choice([0, 2, 20]))
        self.before = await all_tasks(self.flows, self.run_id)
        kind = self.random.random()
        if kind < 0.35:
            for one in await claim(self.flows, now=self.now, limit=self.random.randint(1, 5)):
                self.leased[one.claim] = one
        elif kind < 0.8:
            await self._together(*(self._end(one) for one in self._some_leased()))
        elif kind < 0.84:
            await self.flows.runs.send(DEFAULT_TENANT, "paid", "", Document("[1]"), now=self.now)
        elif kind < 0.87:
            await self.flows.runs.expire(now=self.now, limit=10)
        elif kind < 0.9:
            await self._cancel_a_task()
        elif kind < 0.92:
            await self.flows.executions.cancel(DEFAULT_TENANT, [ExecutionId(self.run_id)], now=self.now)
        else:
            await self._together(self._act(), *(self._end(one) for one in self._some_leased()))

    async def _together(self, *happenings: Awaitable[None]) -> None:
        await asyncio.gather(*happenings)

    def _some_leased(self) -> list[Leased]:
        count = self.random.randint(0, min(4, len(self.leased)))
        chosen = self.random.sample(sorted(self.leased.values(), key=lambda one: one.claim), count)
        return [self.leased.pop(one.claim) for one in chosen]

    async def _end(self, one: Leased) -> None:
        renewed = await self.flows.executions.renew([one.claim], lease_until=self.now)
        outcomes: list[Outcome] = [DONE, *map(with_result, RESULTS), with_result([1, 2]), FAILED, BROKEN]
        outcome = self.random.choice(outcomes)
        if any(each.cancel_requested for each in renewed):
            outcome = Cancelled()
        ender, decision = self.random.choice(self.enders), decided(one, outcome, now=self.now)
        if self.random.random() < 0.5:
            await ender.executions.apply([decision], now=self.now)
            return
        done = await ender.executions.apply_and_claim(
            [decision._replace(in_run=True)], request(limit=3), now=self.now, lease_until=self.now + HOUR
        )
        self.leased |= {one.claim: one for one in done.leased or ()}

    async def _cancel_a_task(self) -> None:
        begun = [one for task in self.before for one in task.executions]
        if begun:
            chosen = self.random.choice(begun)
            await self.flows.executions.cancel(DEFAULT_TENANT, [chosen], now=self.now)

    async def _act(self) -> None:
        task = self.random.randrange(len(self.tasks))
        acts: list[Event] = [
            Pause(),
            Resume(),
            RerunFailed(),
            Rerun(frozenset({task})),
            Retry(task),
            Skip(task),
            Succeed(task, Document("[1,2]")),
            Fail(task),
            Approve(task, "ada"),
            Reject(task, "ada"),
        ]
        event = self.random.choice(acts)
        with suppress(IllegalTransition):
            await self.flows.runs.act(DEFAULT_TENANT, self.run_id, event, now=self.now)

    async def finish(self) -> None:
        """Whatever was done to it, it can be brought to its end."""
        for _ in range(500):
            run = await run_of(self.flows, self.run_id)
            if run.status.is_final:
                return
            self.now += timedelta(hours=2)
            await self.flows.runs.start(now=self.now, limit=100)
            await self.flows.runs.expire(now=self.now, limit=100)
            await self.flows.runs.send(DEFAULT_TENANT, "paid", "", Document("[1]"), now=self.now)
            if run.status is RunStatus.PAUSED:
                await self._go_on()
            held, self.leased = list(self.leased.values()), {}
            for one in [*held, *await claim(self.flows, now=self.now, limit=100)]:
                await self._end(one)
        raise AssertionError("stuck")

    async def _go_on(self) -> None:
        for one in await all_tasks(self.flows, self.run_id):
            if one.state.status is _T.HALTED:
                await self.flows.runs.act(DEFAULT_TENANT, self.run_id, Fail(one.task), now=self.now)
        with suppress(IllegalTransition):  # Others may have halted because of it, or it has ended.
            await self.flows.runs.act(DEFAULT_TENANT, self.run_id, Resume(), now=self.now)

    # What must hold ----------------------------------------------------------------------------------

    async def check(self) -> None:
        run, tasks = await run_of(self.flows, self.run_id), await all_tasks(self.flows, self.run_id)
        self._check_counters(run, tasks)
        for one in tasks:
            await self._check_executions(one)
        if run.status.is_final:
            assert run.state.left == 0  # G5
            own = await seen(self.flows, self.run_id, now=self.now)
            assert own.status.value == run.status.value
        before = {one.task: one.state.round for one in self.before}
        if run.state.ends_as is None:
            for one in tasks:
                began = one.state.round > before.get(one.task, 0)
                if began and one.state.status in (_T.RELEASED, _T.HELD):
                    self._check_rule(one.task, tasks)  # G1, G3

    def _check_counters(self, run: Run, tasks: Sequence[TaskRun]) -> None:
        rows, count = [one.state for one in tasks], Counter(one.state.status for one in tasks)
        assert run.state.left == sum(row.status.ending is None for row in rows)
        assert (run.state.live, run.state.halted) == (count[_T.RELEASED], count[_T.HALTED])
        assert (run.state.completed, run.state.failed, run.state.cancelled) == (
            count[_T.COMPLETED],
            count[_T.FAILED],
            count[_T.CANCELLED],
        )
        for one in tasks:
            if one.state.status is _T.WAITING:
                endings = self._endings(one.task, tasks)
                found = (endings.count(None), endings.count(Ending.FAILURE), endings.count(Ending.SKIP))
                assert (one.state.left, one.state.failed, one.state.skipped) == found

    async def _check_executions(self, one: TaskRun) -> None:
        """A task is released as long as something of its round is live. Nothing is begun twice: G2."""
        found: list[Execution] = [await seen(self.flows, each, now=self.now) for each in one.executions]
        live = [each for each in found if not each.status.is_final]
        is_fan_out = self.tasks[one.task].fan_out is not None
        assert len(found) <= (2 if is_fan_out else 1)
        if one.state.status is _T.RELEASED:
            assert len(live) == (one.state.items_left if is_fan_out else 1)
        else:
            assert not live
        if one.state.status is _T.COMPLETED and found and not is_fan_out and one.result is None:
            assert found[0].status is ExecutionStatus.COMPLETED

    def _check_rule(self, place: int, tasks: Sequence[TaskRun]) -> None:
        endings = self._endings(place, tasks)
        match self.tasks[place].rule:
            case TriggerRule.ALL_SUCCESS:
                assert set(endings) <= {Ending.SUCCESS}
            case TriggerRule.ALL_DONE:
                assert None not in endings
            case TriggerRule.NONE_FAILED:
                assert not {None, Ending.FAILURE} & set(endings)
            case TriggerRule.ONE_SUCCESS:
                assert Ending.SUCCESS in endings
            case TriggerRule.ONE_FAILED:
                assert Ending.FAILURE in endings

    def _endings(self, place: int, tasks: Sequence[TaskRun]) -> list[Ending | None]:
        names = {task.name: number for number, task in enumerate(self.tasks)}
        return [tasks[names[name]].state.status.ending for name in self.tasks[place].depends_on]


@pytest.mark.parametrize("seed", range(4))
async def test_rows_agree_with_each_other_whatever_happens(flows: SqlStore, seed: int) -> None:
    random = Random(seed)
    await create_dag(flows, [{"name": "x", "kind": "echo", "max_retries": 0}], "inner")
    for _ in range(LIVES):
        tasks = [random_task(place, random) for place in range(random.randint(1, SIZE_MAX))]
        dag = await create_dag(
            flows,
            tasks,
            failure_strategy=random.choice(list(FailureStrategy)).value,
            allow_partial_completion=random.random() < 0.5,
        )
        kept = await flows.dags.revision(DEFAULT_TENANT, dag.job.id, 1)
        run_id = await start_run(flows, dag)
        life = Life(flows, read_dag(kept.definition.value).workflow.tasks, run_id, random)
        for _ in range(STEPS):
            await life.step()
            await life.check()
        await life.finish()
        await life.check()
