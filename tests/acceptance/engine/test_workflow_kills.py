"""Every process is killed in the middle of many runs of a workflow: all of them end, each task once."""

from __future__ import annotations

import asyncio

import pytest

from gnomon.client import Client
from gnomon.client.context import ClientContext
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.runs.run import RunId
from gnomon.core.runs.state import RunStatus
from gnomon.core.values.document import JSON
from gnomon.engine.clock import StoreClock
from tests.acceptance.engine.processes import Cluster

RUNS = 100
KILLS = 3
PATIENCE_SECONDS = 90.0
AFTER = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}


@pytest.mark.thorough("A hundred runs of a workflow survive the death of every process, three times")
async def test_runs_survive_the_death_of_everything(cluster: Cluster) -> None:
    clock = StoreClock(cluster.store.clock)
    await clock.learn()
    client = Client(ClientContext(cluster.store, clock, cluster.ids))
    payload: JSON = {"function": "touch", "arguments": {"sink": str(cluster.sink), "seconds": 0.05}}
    tasks: list[JSON] = [
        {"name": name, "kind": "python", "payload": payload, "depends_on": [*after], "max_retries": 9}
        for name, after in AFTER.items()
    ]
    dag = await client.dags.create({"name": "diamond", "tasks": tasks})
    # As a schedule does it: nobody begins them but a conductor.
    runs = await cluster.enqueue(dag.job, RUNS)

    for _ in range(KILLS):
        processes = [await cluster.scheduler(), await cluster.worker(slots=8), await cluster.worker(slots=8)]
        for process in processes:
            await process.says("is up")
        await asyncio.sleep(0.5)
        for process in processes:
            await process.kill()
    await cluster.scheduler()
    await cluster.worker(slots=20)

    for run_id in runs:
        ended = await cluster.ended(run_id, patience=PATIENCE_SECONDS)
        assert ended.status is ExecutionStatus.COMPLETED
    effects: dict[tuple[str, int], list[str]] = {}
    for line in cluster.all_effects():
        effects.setdefault((line["execution"], line["claim"]), []).append(line["what"])
    for run_id in runs:
        run = await client.runs.get(RunId(run_id))
        assert (run.status, run.state.completed) == (RunStatus.COMPLETED, len(AFTER))
        for task in await client.runs.tasks(run):
            [execution_id] = task.run.executions
            ended = await cluster.get(execution_id)
            assert effects[str(execution_id), ended.claim] == ["start", "end"]
