"""Workflows from their schedule to their last task, with the services that run them in production."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gnomon import Gnomon, InvalidInput, JobFailed
from gnomon.client import Client
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.jobs.job import JobId, JobStatus
from gnomon.core.runs.run import Run
from gnomon.core.runs.state import RunStatus
from gnomon.core.values.document import JSON
from gnomon.core.workflows.graph import GraphLimits
from gnomon.errors import DagNotFound, InvalidDag, JobAlreadyExists, VersionConflict
from gnomon.testing import ManualClock, inline
from gnomon.testing.inline_run import Inline

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def app() -> Gnomon:
    app = Gnomon("sqlite:///nowhere/at/all.db")

    @app.job()
    def add(a: int, b: int = 2) -> int:
        return a + b

    @app.job(retries=0)
    def divide(a: int, b: int) -> int:
        if b == 0:
            raise JobFailed("by zero", permanent=True)
        return a // b

    return app


@pytest.fixture
async def run(app: Gnomon) -> AsyncIterator[Inline]:
    async with inline(app, clock=ManualClock(NOON), slots=4) as run:
        yield run


def call(name: str, function: str, *depends_on: str, **arguments: JSON) -> dict[str, JSON]:
    payload: JSON = {"function": function, "arguments": dict(arguments)}
    return {"name": name, "kind": "python", "payload": payload, "depends_on": [*depends_on]}


SUMS: list[JSON] = [
    call("a", "add", a=1),
    call("b", "add", "a", a="${tasks.a.result}"),
    call("c", "add", "a", a="${tasks.a.result}", b="${config.more}"),
    call("d", "add", "b", "c", a="${tasks.b.result}", b="${tasks.c.result}"),
]
DAG: JSON = {"name": "sums", "tasks": SUMS, "config": {"more": 10}}


async def results(run: Inline, of: Run) -> dict[str, JSON]:
    found = {}
    for task in await run.client.runs.tasks(of):
        for one in task.run.executions:
            ended = await run.client.executions.get(one)
            found[task.name] = ended.result.value if ended.result else None
    return found


async def test_results_go_from_task_to_task(run: Inline) -> None:
    dag = await run.client.dags.create(DAG)
    one = await run.client.dags.trigger(dag.job.id)
    two = await run.client.dags.trigger(dag.job.id, config={"more": 20})

    await run.drain()

    assert await results(run, one) == {"a": 3, "b": 5, "c": 13, "d": 18}
    assert await results(run, two) == {"a": 3, "b": 5, "c": 23, "d": 28}
    assert (await run.client.runs.get(one.id)).status is RunStatus.COMPLETED


async def test_a_schedule_fires_runs_as_it_fires_jobs(run: Inline) -> None:
    dag = await run.client.dags.create(
        {"name": "nightly", "cron_expression": "0 2 * * *", "timezone": "UTC", "tasks": SUMS[:1]}
    )
    assert dag.job.next_run_time == datetime(2026, 1, 2, 2, tzinfo=UTC)

    await run.advance(timedelta(days=3))

    found = (await run.client.runs.list(dag.job.id)).items
    assert [one.nominal_time.day for one in found if one.nominal_time] == [4, 3, 2]
    assert {one.status for one in found} == {RunStatus.COMPLETED}
    ledger = await run.client.jobs.occurrences(dag.job.id)
    assert [one.execution_id for one in ledger] == [one.id for one in found]


async def test_overlap_holds_for_runs_as_for_jobs(run: Inline) -> None:
    gate: JSON = {"name": "gate", "approval": {}}
    skipping = await run.client.dags.create(
        {
            "name": "skipping",
            "tasks": [gate],
            "schedule": {"type": "interval", "interval_seconds": 3600, "overlap_policy": "skip"},
        }
    )
    replacing = await run.client.dags.create(
        {
            "name": "replacing",
            "tasks": [gate],
            "schedule": {"type": "interval", "interval_seconds": 3600, "overlap_policy": "replace"},
        }
    )

    await run.advance(3.5 * HOUR)

    assert [one.status for one in (await run.client.runs.list(skipping.job.id)).items] == ["RUNNING"]
    assert [one.status for one in (await run.client.runs.list(replacing.job.id)).items] == [
        "RUNNING",
        "CANCELLED",
        "CANCELLED",
    ]


async def test_a_failure_reaches_the_run_and_a_repair_goes_on(run: Inline) -> None:
    tasks = [call("a", "divide", a=4, b="${config.by}"), call("b", "add", "a", a="${tasks.a.result}")]
    dag = await run.client.dags.create({"name": "halves", "tasks": tasks})
    failed = await run.client.dags.trigger(dag.job.id, config={"by": 0})
    await run.drain()
    assert (await run.client.runs.get(failed.id)).status is RunStatus.FAILED

    assert (await run.client.runs.succeed(failed.id, "a", 40)).status is RunStatus.RUNNING
    await run.drain()

    assert (await run.client.runs.get(failed.id)).status is RunStatus.COMPLETED
    assert (await results(run, failed))["b"] == 42


async def test_an_approval_that_nobody_gives_runs_out(run: Inline) -> None:
    tasks = [{"name": "gate", "approval": {"timeout_seconds": 3600}}, call("a", "add", "gate", a=1)]
    dag = await run.client.dags.create({"name": "careful", "tasks": tasks})
    late, soon = [await run.client.dags.trigger(dag.job.id) for _ in range(2)]

    await run.client.runs.approve(soon.id, "gate", by="ada", note="fine")
    await run.advance(HOUR)

    assert (await run.client.runs.get(soon.id)).status is RunStatus.COMPLETED
    assert (await run.client.runs.get(late.id)).status is RunStatus.FAILED
    assert [task.run.state.status for task in await run.client.runs.tasks(late)] == [
        "FAILED",
        "UPSTREAM_FAILED",
    ]


async def test_an_event_wakes_who_waits_for_it(run: Inline) -> None:
    tasks = [
        {"name": "paid", "event": {"name": "payment", "correlation": "7"}},
        call("a", "add", "paid", a=1),
    ]
    dag = await run.client.dags.create({"name": "shop", "tasks": tasks})
    waiting = await run.client.dags.trigger(dag.job.id)

    assert await run.client.runs.send("payment", correlation="8") == 0
    assert await run.client.runs.send("payment", correlation="7", data={"euro": 5}) == 1
    await run.drain()

    assert (await run.client.runs.get(waiting.id)).status is RunStatus.COMPLETED


async def test_a_deleted_workflow_takes_its_runs_with_it(run: Inline) -> None:
    dag = await run.client.dags.create(DAG)
    started = await run.client.dags.trigger(dag.job.id)

    assert (await run.client.dags.delete(dag.job.id)).job.status is JobStatus.DELETED

    assert (await run.client.runs.get(started.id)).status is RunStatus.CANCELLED
    await run.client.dags.create(DAG)  # Its name is free.


async def test_a_change_that_changes_nothing_is_no_revision(run: Inline) -> None:
    dag = await run.client.dags.create(DAG)

    assert await run.client.dags.update(dag.job.id, DAG) == dag
    changed = await run.client.dags.update(dag.job.id, {"name": "sums", "tasks": SUMS[:1]}, version=1)
    assert (changed.revision, changed.job.version) == (2, 2)
    with pytest.raises(VersionConflict):
        await run.client.dags.update(dag.job.id, DAG, version=1)
    assert (await run.client.dags.named("sums")).revision == 2
    assert [one.number for one in await run.client.dags.revisions(dag.job.id)] == [2, 1]


async def test_a_workflow_that_could_never_run_is_not_kept(run: Inline) -> None:
    with pytest.raises(InvalidDag) as circle:
        await run.client.dags.create(
            {"name": "x", "tasks": [call("a", "add", "b", a=1), call("b", "add", "a", a=1)]}
        )
    assert "a -> b -> a" in str(circle.value)
    with pytest.raises(InvalidInput) as wrong:
        await run.client.dags.create({"name": "x", "tasks": [call("a", "add", z=1)]})
    assert wrong.value.field.startswith("tasks.a.payload")
    with pytest.raises(DagNotFound):
        await run.client.dags.named("x")
    with pytest.raises(DagNotFound):
        await run.client.dags.trigger(JobId(run.client.new_id()))
    await run.client.dags.create(DAG)
    with pytest.raises(JobAlreadyExists):
        await run.client.dags.create(DAG)


async def test_the_example_of_python_works_as_it_stands() -> None:
    app = Gnomon("sqlite:///nowhere/at/all.db")
    loaded: list[str] = []

    @app.job()
    def extract(source: str) -> list[int]:
        return [1, 2, len(source)]

    @app.job(retries=2)
    async def transform(rows: list[int]) -> int:
        return sum(rows)

    @app.job()
    def load(total: int, note: str = "") -> None:
        loaded.append(f"{total} {note}")

    @app.dag(cron="0 2 * * *")
    def etl() -> None:
        raw = extract(source="production")
        clean = transform(raw)
        load(clean)  # type: ignore[arg-type]
        load(7, note="first").after(raw)  # type: ignore[attr-defined]

    assert extract("here") == [1, 2, 4]  # Outside, a job is the function that it was.
    async with inline(app, clock=ManualClock(NOON)) as run:
        await run.advance(timedelta(days=1))
        by_hand = await etl.trigger()
        await run.drain()

        tasks = await run.client.runs.tasks(by_hand)
        assert {task.name: task.depends_on for task in tasks} == {
            "extract": (),
            "transform": ("extract",),
            "load": ("transform",),
            "load_2": ("extract",),
        }
        assert (await run.client.runs.get(by_hand.id)).status is RunStatus.COMPLETED
    assert sorted(loaded) == ["13 ", "13 ", "7 first", "7 first"]


async def test_limits_are_those_that_were_set(run: Inline) -> None:
    own = replace(run.client._context, graph_limits=GraphLimits(tasks_max=3))
    with pytest.raises(InvalidDag) as refused:
        await Client(own).dags.create(DAG)
    assert (refused.value.problem, "4 tasks; at most 3" in str(refused.value)) == ("dag_too_large", True)


async def test_a_cancelled_run_does_nothing_more(run: Inline) -> None:
    dag = await run.client.dags.create(DAG)
    stopped = await run.client.dags.trigger(dag.job.id)

    assert (await run.client.runs.cancel(stopped.id)).status is RunStatus.CANCELLED
    await run.drain()

    assert await results(run, stopped) == {"a": None}
    [task, *_] = await run.client.runs.tasks(stopped)
    assert (await run.client.executions.get(task.run.executions[0])).status is ExecutionStatus.CANCELLED
