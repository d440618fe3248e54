"""Workflows as people write them down, and what they are told when they slip."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from gnomon.core.time.schedule import CronTiming, Interval, Manual
from gnomon.core.time.schedule_document import from_document
from gnomon.core.values.document import Document
from gnomon.core.workflows.document import read_dag, read_workflow
from gnomon.core.workflows.references import Comparison
from gnomon.core.workflows.trigger_rules import TriggerRule
from gnomon.core.workflows.workflow import Approval, AwaitEvent, Execute, FailureStrategy, Plan, SubDag
from gnomon.errors import InvalidDag, InvalidInput

ETL = """
{
    "name": "etl-pipeline",
    "cron_expression": "0 2 * * *",
    "timezone": "UTC",
    "tasks": [
        {
            "name": "extract",
            "payload": {
                "action": "extract_data",
                "source": "production_db"
            },
            "timeout_seconds": 1800
        },
        {
            "name": "transform",
            "payload": {
                "action": "transform_data"
            },
            "dependencies": ["extract"],
            "timeout_seconds": 3600
        },
        {
            "name": "load",
            "payload": {
                "action": "load_data",
                "destination": "data_warehouse"
            },
            "dependencies": ["transform"],
            "timeout_seconds": 1800
        },
        {
            "name": "notify",
            "payload": {
                "action": "send_notification",
                "channel": "#data-team"
            },
            "dependencies": ["load"]
        }
    ]
}
"""


def dag(*tasks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"name": "d", "tasks": [{"kind": "dummy"} | task for task in tasks]} | fields


def test_the_first_example_is_read_as_it_stands() -> None:
    written = read_dag(json.loads(ETL))
    plan = Plan.of(written.workflow)

    assert (written.name, written.schedule.timing) == ("etl-pipeline", CronTiming("0 2 * * *", "UTC"))
    assert plan.graph.levels() == [[0], [1], [2], [3]]
    load = plan.task(2).work
    assert isinstance(load, Execute)
    assert (load.definition.kind, load.definition.timeout) == ("load_data", timedelta(minutes=30))
    assert load.definition.payload == Document('{"action":"load_data","destination":"data_warehouse"}')
    assert written.workflow.failure_strategy is FailureStrategy.FAIL_DOWNSTREAM


def test_the_strategy_of_the_second_example_is_read_as_it_stands() -> None:
    given = dag({"name": "a"}, failure_strategy="FAIL_DOWNSTREAM", allow_partial_completion=True)
    assert read_dag(given).workflow.allow_partial_completion


def test_everything_that_a_task_can_say_is_read() -> None:
    workflow = read_dag(
        {
            "name": "all",
            "schedule": {"type": "interval", "interval_seconds": 60},
            "config": {"day": 1},
            "tasks": [
                {"name": "list", "kind": "http", "queue": "slow", "priority": 9, "max_retries": 4},
                {
                    "name": "each",
                    "kind": "http",
                    "depends_on": ["list"],
                    "fan_out": {"over": "${tasks.list.result.urls}", "limit": 50},
                    "payload": {"url": "${item}"},
                    "retry_policy": {"max_attempts": 2, "backoff": "fixed", "backoff_seconds": 1},
                },
                {
                    "name": "ask",
                    "depends_on": ["each"],
                    "trigger_rule": "all_done",
                    "condition": {"value_of": "${tasks.list.result.count}", "is": ">", "value": 3},
                    "approval": {"timeout_seconds": 60},
                },
                {
                    "name": "paid",
                    "event": {"name": "paid", "correlation": "${config.day}", "timeout_seconds": 5},
                },
                {
                    "name": "sub",
                    "depends_on": ["ask"],
                    "dag": "other",
                    "config": {"n": "${tasks.list.result}"},
                },
            ],
        }
    )
    plan = Plan.of(workflow.workflow)
    first, each, ask, paid, sub = workflow.workflow.tasks

    assert isinstance(workflow.schedule.timing, Interval)
    assert isinstance(first.work, Execute)
    assert (first.work.definition.retry.max_attempts, first.work.definition.priority) == (5, 9)
    assert each.fan_out is not None
    assert each.fan_out.items_max == 50
    assert (ask.work, ask.rule) == (Approval(timedelta(minutes=1)), TriggerRule.ALL_DONE)
    assert ask.conditions[0].comparison is Comparison.MORE
    assert paid.work == AwaitEvent("paid", "${config.day}", timedelta(seconds=5))
    assert isinstance(sub.work, SubDag)
    assert plan.reads == tuple(map(frozenset[int], ((), {0}, {0}, (), {0})))


def test_a_workflow_without_a_schedule_runs_when_somebody_asks() -> None:
    assert read_dag(dag({"name": "a"})).schedule.timing == Manual()


@pytest.mark.parametrize(
    ("schedule", "in_our_words"),
    [
        ({"type": "cron", "expression": "0 0 * * *"}, {"type": "cron", "cron": "0 0 * * *"}),
        ({"expression": "0 0 * * *"}, {"type": "cron", "cron": "0 0 * * *"}),
        ({"type": "RECURRING", "every_seconds": 60}, {"type": "interval", "interval_seconds": 60}),
        ({"interval_seconds": 60}, {"type": "interval", "interval_seconds": 60}),
        ({"at": "2030-01-01T00:00:00Z"}, {"type": "once", "run_at": "2030-01-01T00:00:00Z"}),
        ({"delay_seconds": 5}, {"type": "delayed", "delay_seconds": 5}),
    ],
)
def test_the_schedule_of_a_workflow_is_read_in_all_words_that_a_job_has_for_it(
    schedule: dict[str, Any], in_our_words: dict[str, Any]
) -> None:
    assert read_dag(dag({"name": "a"}, schedule=schedule)).schedule == from_document(in_our_words)


def test_a_task_may_call_its_first_pause_as_a_job_does() -> None:
    policy = {"max_retries": 3, "backoff": "exponential", "initial_delay_seconds": 7}
    work = read_dag(dag({"name": "a", "retry_policy": policy})).workflow.tasks[0].work
    assert isinstance(work, Execute)
    assert (work.definition.retry.backoff_base, work.definition.retry.max_attempts) == (
        timedelta(seconds=7),
        4,
    )


@pytest.mark.parametrize(
    ("document", "field", "reason"),
    [
        (
            dag({"name": "a"}, schedule={"every_seconds": 0}),
            "schedule.every_seconds",
            "0 s is not between 1 and 316224000 seconds.",
        ),
        (
            dag({"name": "a"}, schedule={"cron": "0 0 * * *", "expression": "0 1 * * *"}),
            "schedule.cron",
            "is said twice, in different words.",
        ),
        (
            dag({"name": "a", "retry_policy": {"initial_delay_seconds": 1, "backoff_seconds": 2}}),
            "tasks.a.retry_policy.initial_delay_seconds",
            "must be what `backoff_seconds` says.",
        ),
        ([], "workflow", "expected `object`, got `array`."),
        ({"tasks": []}, "name", "is missing; a workflow needs it."),
        (dag({"name": "a"}, colour="red"), "colour", "is not a field of a workflow."),
        (
            dag({"name": "a"}, failure_strategy="STOP"),
            "failure_strategy",
            "invalid enum value 'STOP'; one of FAIL_FAST, FAIL_DOWNSTREAM, CONTINUE, PAUSE.",
        ),
        (dag({"name": "a"}, config=[]), "config", "must be an object, not list."),
        (dag({"name": "a", "colour": "red"}), "tasks.a.colour", "is not a field of a task."),
        (dag({"name": "a", "fan_out": {"in": 1}}), "tasks.a.fan_out.in", "is not a field of a task."),
        (dag({"colour": "red"}), "tasks[0].colour", "is not a field of a task."),
        (dag({}), "tasks[0].name", "is missing; a task needs it."),
        (
            dag({"name": "a", "timeout_seconds": "1"}),
            "tasks.a.timeout_seconds",
            "expected `float | null`, got `str`.",
        ),
        (
            dag({"name": "a", "timeout_seconds": -1}),
            "tasks.a.timeout_seconds",
            "must be more than 0 and at most 30 days.",
        ),
        (dag({"name": "a", "priority": 10}), "tasks.a.priority", "10 is not a whole number from 0 to 9."),
        (
            dag({"name": "a", "depends_on": [], "dependencies": []}),
            "tasks.a.depends_on",
            "has two names, depends_on, dependencies; give one of them.",
        ),
        (
            dag({"name": "a", "kind": None}),
            "tasks.a.kind",
            "is missing; say what runs it, here or as `action` of the payload.",
        ),
        (
            dag({"name": "a", "dag": "b"}),
            "tasks.a.dag",
            "a task has one of kind, dag, approval and event; this has kind, too.",
        ),
        (
            dag({"name": "a", "trigger_rule": "one_success"}),
            "tasks.a.trigger_rule",
            "one_success needs something to depend on.",
        ),
        (
            dag({"name": "a", "max_retries": 1, "retry_policy": {"max_attempts": 3}}),
            "tasks.a.max_retries",
            "disagrees with retry_policy.max_attempts.",
        ),
        (
            dag({"name": "a", "fan_out": {"over": "items"}}),
            "tasks.a.fan_out.over",
            "'items' is not one reference, such as ${tasks.extract.result.rows}.",
        ),
        (
            dag({"name": "a", "payload": {"x": float("nan")}}),
            "tasks.a.payload.x",
            "nan is not a JSON number.",
        ),
    ],
)
def test_a_slip_is_answered_with_the_task_the_field_and_the_reason(
    document: object, field: str, reason: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_dag(document)
    said, known, _ = refused.value.reason.partition(" Known: ")  # Which fields there are comes after it.
    assert (refused.value.field, said) == (field, reason)
    assert bool(known) == ("is not a field" in reason)


@pytest.mark.parametrize(
    ("payload", "field", "reason"),
    [
        (
            "${tasks.b.result}",
            "tasks.a",
            "reads the result of 'b', which need not have ended by then; depend on it.",
        ),
        (
            "${tasks.a.result}",
            "tasks.a",
            "reads the result of 'a', which need not have ended by then; depend on it.",
        ),
        ("${tasks.nobody.result}", "tasks.a.payload", "there is no task 'nobody'."),
        ("${tasks.b}", "tasks.a.payload", "${tasks.b} is not of the form ${tasks.name.result.path}."),
        ("${tasks.b.result", "tasks.a.payload", "'${tasks.b.result' has no closing brace."),
        ("${tasks.b.result..x}", "tasks.a.payload", "${tasks.b.result..x} cannot be read from '..x' on."),
        ("${item}", "tasks.a.payload", "item stands for the item of a fan-out; there is none."),
    ],
)
def test_a_reference_that_cannot_work_is_refused_when_the_workflow_is_made(
    payload: str, field: str, reason: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        Plan.of(read_dag(dag({"name": "a", "payload": {"x": payload}}, {"name": "b"})).workflow)
    assert (refused.value.field, refused.value.reason) == (field, reason)


def test_a_reference_to_an_ancestor_far_up_is_fine_and_a_sibling_is_not() -> None:
    tasks: list[dict[str, Any]] = [
        {"name": "a"},
        {"name": "b", "depends_on": ["a"]},
        {"name": "c", "depends_on": ["a"]},
    ]
    last = {"name": "d", "depends_on": ["b"], "payload": {"x": "${tasks.a.result}"}}
    Plan.of(read_dag(dag(*tasks, last)).workflow)

    with pytest.raises(InvalidDag, match="reads the result of 'c'") as refused:
        Plan.of(read_dag(dag(*tasks, last | {"payload": {"x": "${tasks.c.result}"}})).workflow)
    assert (refused.value.problem, refused.value.task) == ("not_an_ancestor", "d")


@pytest.mark.parametrize(
    "name", ["it's", 'say "hi"', "`tick`", "a.b", "a}b", "${tasks.x}", "back\\slash", "«ä»"]
)
def test_a_name_with_every_kind_of_quote_is_just_a_name_and_can_be_referred_to(name: str) -> None:
    reader = {"name": "r", "depends_on": [name], "payload": {"x": f"${{tasks[{json.dumps(name)}].result}}"}}
    plan = Plan.of(read_dag(dag({"name": name}, reader)).workflow)
    assert plan.reads[1] == {0}


def test_a_task_that_reads_from_too_many_others_is_refused() -> None:
    parents = [f"p{n}" for n in range(101)]
    reader = {
        "name": "r",
        "depends_on": parents,
        "payload": [f"${{tasks.{name}.result}}" for name in parents],
    }
    with pytest.raises(InvalidInput, match="payload: reads more than 100 results"):
        Plan.of(read_dag(dag(*({"name": name} for name in parents), reader)).workflow)


@pytest.mark.parametrize(
    "task",
    [
        {"approval": {}, "timeout_seconds": 3, "max_retries": 2, "payload": {"x": 1}},
        {"event": {"name": "paid"}, "timeout_seconds": 5},
        {"dag": "other", "queue": "slow"},
        {"kind": "gnomon.dag"},
    ],
)
def test_what_is_refused_today_is_still_read_where_it_was_kept(task: dict[str, Any]) -> None:
    document = {"name": "x", "timezone": "Mars/X", "tasks": [{"name": "a", **task}]}
    with pytest.raises(InvalidInput):
        read_dag(document)
    assert [one.name for one in read_workflow(document).tasks] == ["a"]


def test_what_a_task_says_in_the_words_of_the_default_is_no_mistake() -> None:
    task: dict[str, Any] = {
        "name": "a",
        "approval": {},
        "payload": {},
        "queue": "default",
        "timeout_seconds": None,
    }
    assert read_dag({"name": "x", "tasks": [task]}).workflow.tasks[0].work == Approval()


@pytest.mark.parametrize(
    ("said", "timeout"),
    [
        ({}, timedelta(hours=1)),
        ({"timeout_seconds": 5}, timedelta(seconds=5)),
        ({"timeout_seconds": None}, None),
    ],
)
def test_a_task_times_out_after_an_hour_unless_it_says_otherwise(
    said: dict[str, Any], timeout: timedelta | None
) -> None:
    [task] = read_dag(dag({"name": "a", "kind": "echo", **said})).workflow.tasks

    assert isinstance(task.work, Execute)
    assert task.work.definition.timeout == timeout


@pytest.mark.parametrize(
    "odd",
    [
        {"\ud800": 1},
        {"trigger_rule": "\ud800"},
        {"retry_policy": {"\udfff": 1}},
        {"failure_strategy": "\ud800"},
    ],
)
def test_a_lone_surrogate_is_refused_wherever_it_is(odd: dict[str, Any]) -> None:
    for document in (
        {"name": "etl", "tasks": [{"name": "extract", "kind": "dummy"} | odd]},
        {"name": "etl", "tasks": [{"name": "extract", "kind": "dummy"}]} | odd,
    ):
        with pytest.raises(InvalidInput):
            read_dag(document)
