"""What a user does with runs of workflows: look at them, stop them, repair them, tell them something."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from gnomon.client.context import ClientContext
from gnomon.core.executions.execution import ExecutionId, Failure, NewExecution
from gnomon.core.executions.records import Page
from gnomon.core.jobs.job import JobId, JobStatus
from gnomon.core.runs.events import (
    Approve,
    Event,
    Fail,
    Pause,
    Reject,
    Repair,
    Rerun,
    RerunFailed,
    Resume,
    Retry,
    Skip,
    Succeed,
    name_of,
)
from gnomon.core.runs.run import Brought, Run, RunId, TaskRun
from gnomon.core.runs.state import RunStatus, TaskStatus, configured
from gnomon.core.time.schedule import Overlap
from gnomon.core.values.document import JSON, Document, check_name
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.values.limits import NOTE_BYTES_MAX, PAGE_LIMIT_DEFAULT, RESULT_BYTES_MAX
from gnomon.core.workflows.dag import Dag
from gnomon.core.workflows.document import read_workflow
from gnomon.core.workflows.workflow import SubDag, Task, Workflow
from gnomon.errors import IllegalTransition, InvalidInput, JobNotFound
from gnomon.store.databases.hints import Topic

# In one page of tasks. Longer results, and those of what comes after that many, are in the executions.
RESULT_SHOWN_BYTES_MAX = 4096
RESULTS_SHOWN_MAX = 1000


async def begin_run(
    own: ClientContext, dag: Dag, config: JSON, *, idempotency: Idempotency | None = None
) -> Run:
    now = own.clock.now()
    given = None if config is None else Document.of(config, field="config")
    asked = NewExecution(own.new_execution_id(now), dag.job.id, given)
    if idempotency is None:
        run = await own.store.runs.begin(dag, asked, now=now)
        if run is not None:
            own.announce(Topic.WORK)
            return run
    elif given is not None:
        configured(await workflow_of(own, dag.job.id, dag.revision), given)
    try:
        [enqueued] = await own.store.executions.enqueue(
            own.tenant_id, [asked], now=now, idempotency=idempotency
        )
    except JobNotFound:  # The workflow was found, so it is the job that is no more.
        raise IllegalTransition("workflow", status=JobStatus.DELETED, action="trigger") from None
    # At once where that can be; else a conductor begins it when its turn comes.
    may_replace = dag.job.definition.schedule.overlap is Overlap.REPLACE
    if await own.store.runs.start_now([RunId(enqueued.id)], now=now, may_replace=may_replace):
        own.announce(Topic.CANCEL)
    own.announce(Topic.WORK)
    return await own.store.runs.get(own.tenant_id, RunId(enqueued.id))


async def workflow_of(own: ClientContext, dag_id: JobId, revision: int) -> Workflow:
    kept = await own.store.dags.revision(own.tenant_id, dag_id, revision)
    return read_workflow(kept.definition.value)


async def check_workflow_lives(own: ClientContext, dag_id: JobId, *, action: str) -> None:
    """Raises IllegalTransition if it is gone: what goes on would be stopped at once."""
    status = (await own.store.dags.get(own.tenant_id, dag_id)).job.status
    if status in (JobStatus.CANCELLED, JobStatus.DELETED):
        raise IllegalTransition("run of a workflow", status=status, action=action)


@dataclass(frozen=True, slots=True)
class NamedTask:
    name: str
    depends_on: tuple[str, ...]
    run: TaskRun
    failure: Failure | None  # That of `run`, or that a run inside of it failed.


def _named(written: Task, run: TaskRun) -> NamedTask:
    failure = run.failure
    has_failed = run.state.status in (TaskStatus.FAILED, TaskStatus.HALTED)
    if failure is None and has_failed and isinstance(written.work, SubDag) and run.executions:
        inner = f"run {run.executions[0]} of {written.work.dag}"
        failure = Failure("dag_run", f"{inner} failed; its tasks say why.")
    return NamedTask(written.name, written.depends_on, run, failure)


class Runs:
    def __init__(self, context: ClientContext) -> None:
        self._context = context
        self._runs = context.store.runs

    # Looking -------------------------------------------------------------------------------------------

    async def get(self, run_id: RunId) -> Run:
        """Raises RunNotFound."""
        return await self._runs.get(self._context.tenant_id, run_id)

    async def workflow(self, run: Run) -> Workflow:
        """What it runs: the revision that it is pinned to."""
        return await workflow_of(self._context, run.dag_id, run.revision)

    async def tasks(
        self, run: Run, *, limit: int = PAGE_LIMIT_DEFAULT, after: int = -1
    ) -> Sequence[NamedTask]:
        """In the order of the definition. Empty before the run begins."""
        found = await self._runs.tasks(self._context.tenant_id, run.id, limit=limit, after=after)
        written = (await self.workflow(run)).tasks if found else ()
        return [_named(written[one.task], one) for one in found]

    async def brought(self, tasks: Sequence[NamedTask]) -> Mapping[ExecutionId, Brought]:
        """What the executions of these tasks ended with; of fan-outs, the items that are shown."""
        wanted: list[ExecutionId] = []
        for task in tasks:
            run = task.run
            wanted += [one.execution for one in run.items] or run.executions[:1]
        return await self._runs.brought(
            self._context.tenant_id, wanted[:RESULTS_SHOWN_MAX], bytes_max=RESULT_SHOWN_BYTES_MAX
        )

    # Acting --------------------------------------------------------------------------------------------

    async def cancel(self, run_id: RunId) -> Run:
        """End what waits, ask what runs to stop. Safe to repeat. Raises RunNotFound."""
        await self.get(run_id)
        await self._context.store.executions.cancel(
            self._context.tenant_id, [ExecutionId(run_id)], now=self._context.clock.now()
        )
        self._context.announce(Topic.CANCEL)
        return await self.get(run_id)

    async def pause(self, run_id: RunId) -> Run:
        """Nothing new of it begins, nor of the runs inside of it. What runs goes on to its end."""
        return await self._act(run_id, Pause())

    async def resume(self, run_id: RunId) -> Run:
        return await self._act(run_id, Resume())

    async def rerun(self, run_id: RunId, tasks: Collection[str] = ()) -> Run:
        """These tasks and all that follows them, anew; without names, all that failed.

        Raises RunNotFound, IllegalTransition, InvalidInput for a name that the run does not have.
        """
        if not tasks:
            return await self._repair(run_id, RerunFailed())
        places = await self._places(run_id, {f"tasks[{place}]": name for place, name in enumerate(tasks)})
        return await self._repair(run_id, Rerun(frozenset(places)))

    async def retry(self, run_id: RunId, task: str) -> Run:
        return await self._repair(run_id, Retry(await self._place(run_id, task)))

    async def skip(self, run_id: RunId, task: str) -> Run:
        """Go on as if its branch had not been taken."""
        return await self._repair(run_id, Skip(await self._place(run_id, task)))

    async def succeed(self, run_id: RunId, task: str, result: JSON = None) -> Run:
        """Go on as if it had succeeded with this result."""
        kept = Document.of(result, field="result", bytes_max=RESULT_BYTES_MAX)
        return await self._repair(run_id, Succeed(await self._place(run_id, task), kept))

    async def fail(self, run_id: RunId, task: str) -> Run:
        """A task that halted its run has failed, and the rest goes on without it."""
        return await self._repair(run_id, Fail(await self._place(run_id, task)))

    async def approve(self, run_id: RunId, task: str, *, by: str, note: str = "") -> Run:
        """Raises PayloadTooLarge for a note of more than NOTE_BYTES_MAX."""
        _check_said(by, note)
        return await self._act(run_id, Approve(await self._place(run_id, task), by, note))

    async def reject(self, run_id: RunId, task: str, *, by: str, note: str = "") -> Run:
        """Raises what `approve` raises."""
        _check_said(by, note)
        return await self._act(run_id, Reject(await self._place(run_id, task), by, note))

    async def send(self, event: str, *, correlation: str = "", data: JSON = None) -> int:
        """Tell the tasks that wait for this event. Returns how many there were. Raises InvalidInput."""
        check_name(event, field="name")
        Document.of(correlation, field="correlation")
        kept = Document.of(data, field="data", bytes_max=RESULT_BYTES_MAX)
        now = self._context.clock.now()
        count = await self._runs.send(self._context.tenant_id, event, correlation, kept, now=now)
        if count:
            self._context.announce(Topic.WORK)
        return count

    async def _repair(self, run_id: RunId, event: Repair) -> Run:
        """Raises IllegalTransition also if the workflow is gone."""
        run = await self.get(run_id)
        await check_workflow_lives(self._context, run.dag_id, action=name_of(event))
        return await self._act(run_id, event)

    async def _act(self, run_id: RunId, event: Event) -> Run:
        run = await self._runs.act(self._context.tenant_id, run_id, event, now=self._context.clock.now())
        self._context.announce(Topic.WORK)
        return run

    async def _place(self, run_id: RunId, task: str) -> int:
        [place] = await self._places(run_id, {"task": task})
        return place

    async def _places(self, run_id: RunId, names: Mapping[str, str]) -> list[int]:
        """Of the names that the caller wrote, by where. Raises InvalidInput."""
        tasks = (await self.workflow(await self.get(run_id))).tasks
        known = {task.name: place for place, task in enumerate(tasks)}
        for field, name in names.items():
            if name not in known:
                raise InvalidInput(field, f"the run has no task {name[:100]!r}.")
        return [known[name] for name in names.values()]

    # Last, since its name hides the type.
    async def list(
        self,
        dag_id: JobId,
        *,
        status: RunStatus | None = None,
        limit: int = PAGE_LIMIT_DEFAULT,
        after: UUID | None = None,
    ) -> Page[Run]:
        """Newest first."""
        return await self._runs.page(self._context.tenant_id, dag_id, status=status, limit=limit, after=after)


def _check_said(by: str, note: str) -> None:
    check_name(by, field="by")
    Document.of(note, field="note", bytes_max=NOTE_BYTES_MAX)
