"""What stories about workflows begin with: a DAG in a few words, a run of it, a worker that ends tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.lease import Leased
from gnomon.core.executions.lifecycle import JobChange, Outcome, Succeeded
from gnomon.core.jobs.job import JobId, NewJob
from gnomon.core.runs.events import Event
from gnomon.core.runs.run import Run, RunId, TaskRun
from gnomon.core.runs.state import RunStatus, TaskStatus
from gnomon.core.values.document import JSON, Document
from gnomon.core.workflows.dag import Dag, DagChange, NewDag, dag_definition
from gnomon.core.workflows.document import read_dag
from gnomon.core.workflows.workflow import Plan
from gnomon.store.protocols.workflows import WorkflowStore
from tests.contract.given import DONE, NOW, ask, claim, decided, enqueue, new_id

Edges = Mapping[str, Sequence[str]]
LIST_AND_EACH: tuple[JSON, ...] = (
    {"name": "list", "kind": "echo"},
    {
        "name": "each",
        "kind": "echo",
        "depends_on": ["list"],
        "fan_out": {"over": "${tasks.list.result}"},
        "payload": {"of": "${item}"},
    },
)
DIAMOND: Edges = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}


def tasks_of(edges: Edges, **more: JSON) -> list[JSON]:
    """Tasks by what each waits for. `more` is said of each of them."""
    return [
        {"name": name, "kind": "echo", "depends_on": [*waits_for], **more}
        for name, waits_for in edges.items()
    ]


def chain(length: int) -> Edges:
    return {f"t{n}": [f"t{n - 1}"] if n else [] for n in range(length)}


def document_of(tasks: Sequence[object], name: str | None = None, **more: object) -> dict[str, JSON]:
    document = {"name": name or f"dag {new_id()}", "tasks": list(tasks), **more}
    return cast("dict[str, JSON]", document)


async def create_dag(
    flows: WorkflowStore,
    tasks: Sequence[object],
    name: str | None = None,
    *,
    now: datetime = NOW,
    next_run_time: datetime | None = None,
    **more: object,
) -> Dag:
    document = document_of(tasks, name, **more)
    written = read_dag(document)
    job = NewJob(
        JobId(new_id()),
        DEFAULT_TENANT,
        written.name,
        dag_definition(written.schedule),
        next_run_time,
        written.tags,
    )
    kept = Document.of(document, field="dag", bytes_max=1 << 24)
    return await flows.dags.create(NewDag(job, kept, Plan.of(written.workflow)), now=now)


async def change_dag(flows: WorkflowStore, dag: Dag, tasks: Sequence[JSON], **more: JSON) -> Dag:
    document = document_of(tasks, dag.job.name, **more)
    written = read_dag(document)
    change = JobChange(
        job_id=dag.job.id,
        tenant_id=DEFAULT_TENANT,
        expected_version=dag.job.version,
        expected_next_run_time=dag.job.next_run_time,
        name=dag.job.name,
        status=dag.job.status,
        next_run_time=dag.job.next_run_time,
        tags=written.tags,
        dependencies=frozenset(),
        definition=dag_definition(written.schedule),
    )
    kept = Document.of(document, field="dag")
    return await flows.dags.change(DagChange(change, kept, Plan.of(written.workflow)), now=NOW)


async def start_run(flows: WorkflowStore, dag: Dag, *, now: datetime = NOW, config: JSON = None) -> RunId:
    given = None if config is None else Document.of(config, field="config")
    [run_id] = await enqueue(flows, ask(dag.job, input=given), now=now)
    await flows.runs.start_now([RunId(run_id)], now=now)
    return RunId(run_id)


async def begun(flows: WorkflowStore, edges: Edges, **more: Any) -> RunId:
    """A run of a new workflow, with its first tasks released."""
    return await start_run(flows, await create_dag(flows, tasks_of(edges), **more))


async def run_of(flows: WorkflowStore, run_id: RunId) -> Run:
    return await flows.runs.get(DEFAULT_TENANT, run_id)


async def statuses(flows: WorkflowStore, run_id: RunId) -> str:
    """The first letters of the statuses, in the order of the tasks: `CRW` is completed, released, waiting.

    A small h is HELD, a big H HALTED.
    """
    tasks = await all_tasks(flows, run_id)
    letters = {TaskStatus.HELD: "h", TaskStatus.CANCELLED: "X"}
    return "".join(letters.get(one.state.status, one.state.status[0]) for one in tasks)


async def all_tasks(flows: WorkflowStore, run_id: RunId) -> Sequence[TaskRun]:
    return await flows.runs.tasks(DEFAULT_TENANT, run_id, limit=20_000)


async def task_names(flows: WorkflowStore, run_id: RunId) -> list[str]:
    run = await run_of(flows, run_id)
    kept = await flows.dags.revision(DEFAULT_TENANT, run.dag_id, run.revision)
    return [task.name for task in read_dag(kept.definition.value).workflow.tasks]


async def claimed(
    flows: WorkflowStore, run_id: RunId, *, now: datetime = NOW, limit: int = 1000
) -> dict[str, Leased]:
    """What can be claimed now, by the name of the task. Of a fan-out, the last one."""
    names, run = await task_names(flows, run_id), await run_of(flows, run_id)
    leased = await claim(flows, now=now, limit=limit)
    return {names[one.revision.number - run.base - 1]: one for one in leased}


async def finish(flows: WorkflowStore, *leased: Leased, outcome: Outcome = DONE, now: datetime = NOW) -> None:
    """Says nothing of runs: the store finds out."""
    decisions = [decided(one, outcome, now=now) for one in leased]
    answers = await flows.executions.apply(decisions, now=now)
    assert answers == ["applied"] * len(leased)


def with_result(value: JSON) -> Succeeded:
    return Succeeded(Document.of(value, field="result"))


async def work_off(flows: WorkflowStore, *, now: datetime = NOW, limit: int = 1000) -> int:
    """Claim and complete until nothing is left. Returns how many there were."""
    count = 0
    while leased := await claim(flows, now=now, limit=limit):
        decisions = [decided(one, DONE, now=now)._replace(in_run=True) for one in leased]
        await flows.executions.apply(decisions, now=now)
        count += len(leased)
    return count


async def act(flows: WorkflowStore, run_id: RunId, event: Event, *, now: datetime = NOW) -> RunStatus:
    return (await flows.runs.act(DEFAULT_TENANT, run_id, event, now=now)).status
