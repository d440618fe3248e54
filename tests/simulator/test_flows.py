"""Workflows in simulated worlds: all kinds come up, and every rule about them has something to look at."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from random import Random

from gnomon.core.workflows.document import read_dag
from gnomon.core.workflows.trigger_rules import TriggerRule
from gnomon.core.workflows.workflow import FailureStrategy, Plan
from gnomon.store.schema.migrations import migrate
from gnomon.store.writes.batches import moved_tasks
from proof.checker.judge import check
from proof.simulator.recording.notes import NotingDatabase
from proof.simulator.scenarios.flows import Does, document_of
from proof.simulator.seeds.flow_workload import TASKS_MAX, draw_flows, redrawn
from proof.simulator.seeds.profiles import draw
from proof.simulator.world.world import World

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RULES = [f"G{number}" for number in range(1, 9)]


def test_workflows_of_all_kinds_are_drawn_and_may_be_changed() -> None:
    flows = [flow for seed in range(300) for flow in draw_flows(Random(seed))]
    for flow in flows:
        for one in (flow, redrawn(flow, Random(1))):
            Plan.of(read_dag(document_of(one)).workflow)

    tasks = [task for flow in flows for task in flow.tasks]
    assert {flow.strategy for flow in flows} == set(FailureStrategy)
    assert {task.rule for task in tasks} == set(TriggerRule)
    assert {task.does for task in tasks} == set(Does)
    assert any(task.only_if for task in tasks)
    assert TASKS_MAX - 5 <= max(len(flow.tasks) for flow in flows) <= TASKS_MAX


def test_every_rule_about_workflows_is_tried() -> None:
    checked: Counter[str] = Counter()
    for seed in (3, 9, 20):
        scenario = draw(seed, hours=0.2)
        assert scenario.flows
        verdict = check(World(scenario).run().events)
        checked.update({found.invariant: found.checked for found in verdict.findings})
    assert [rule for rule in (*RULES, "V3") if not checked[rule]] == []


RUN = {
    "id": b"1" * 16, "tenant_id": b"2" * 16, "dag_id": b"3" * 16, "base": 1, "status": "RUNNING",
    "unended": 1, "live": 0, "halted": 0, "completed": 0, "failed": 0, "cancelled": 0, "is_paused": 0,
    "ends_as": None, "config": "{}", "nesting": 0, "outer_run_id": None, "outer_task": None,
    "outer_round": None, "nominal_time": None, "now": 0, "finished_at": None, "priority": None,
    "has_tasks": 1,
}  # fmt: skip


def test_what_is_rolled_back_was_never_noted() -> None:
    async def story() -> tuple[list[str], list[str]]:
        database = NotingDatabase()
        await migrate(database, now=NOW)
        database.note()
        with suppress(RuntimeError):
            async with database.transaction() as session:
                await session.fetch("run_add", moved_tasks([]), **RUN)
                raise RuntimeError
        before = [note.what for note in database.taken()]
        await database.fetch("run_add", moved_tasks([]), **RUN)
        return before, [note.what for note in database.taken()]

    assert asyncio.run(story()) == ([], ["start"])
