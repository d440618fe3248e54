"""Why something does not run: the facts from the store, the reasons from the core."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gnomon.client.context import ClientContext
from gnomon.client.jobs.calendars import Calendars
from gnomon.core.executions.execution import Execution, ExecutionId, ExecutionStatus, WorkerId
from gnomon.core.executions.records import ExecutionFilter
from gnomon.core.explain.attempts import ATTEMPTS_MAX, Past, why_it_failed, why_it_waits
from gnomon.core.explain.executions import AHEAD_MAX, Prospect, QueuePlace, why_no_fire, why_not
from gnomon.core.explain.obstacles import Reason
from gnomon.core.explain.runs import (
    FAILED_TASKS_SHOWN_MAX,
    OPEN_TASKS_SHOWN_MAX,
    RunView,
    why_run_failed,
    why_run_waits,
    why_task_is_held,
)
from gnomon.core.jobs.job import Job, JobId
from gnomon.core.operations.workers import Worker
from gnomon.core.runs.run import RunId
from gnomon.core.schedules.occurrence import SkipReason
from gnomon.core.time.schedule import CronTiming
from gnomon.core.values.limits import PAGE_LIMIT_MAX
from gnomon.core.workflows.document import read_workflow
from gnomon.errors import RunNotFound
from gnomon.handlers.python.handler import FunctionHandler

SHOWN_MAX = 5
WORKERS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Explanation:
    """Of one execution, or of a job with those of its executions that wait.

    Of a run of a workflow, with those of its tasks that wait.
    """

    reasons: tuple[Reason, ...]
    executions: tuple[tuple[ExecutionId, tuple[Reason, ...]], ...] = ()


class Explanations:
    def __init__(self, context: ClientContext) -> None:
        self._context = context
        self._executions = context.store.executions

    async def execution(self, execution_id: ExecutionId) -> Explanation:
        """Raises ExecutionNotFound. No reasons: a live worker would get it at its next claim."""
        workers = await self._workers()
        reasons, view = await self._reasons(execution_id, workers)
        waiting = [task.waiting for _, task in view.open if task.waiting is not None] if view else []
        shown = [(one, (await self._reasons(one, workers))[0]) for one in waiting[:SHOWN_MAX]]
        return Explanation(reasons, tuple(shown))

    async def job(self, job_id: JobId) -> Explanation:
        """Raises JobNotFound. No reasons: one of its executions would be claimed next."""
        now, tenant_id = self._context.clock.now(), self._context.tenant_id
        job = await self._context.store.jobs.get(tenant_id, job_id)
        workers = await self._workers()
        waiting: list[ExecutionId] = []
        for status in (ExecutionStatus.QUEUED, ExecutionStatus.PENDING, ExecutionStatus.RUNNING):
            wanted = ExecutionFilter(job_id, status)
            page = await self._executions.page(tenant_id, wanted, now=now, limit=SHOWN_MAX)
            waiting += [one.id for one in page.items]
        shown = [(one, (await self._reasons(one, workers))[0]) for one in waiting[:SHOWN_MAX]]
        is_next = any(not reasons for _, reasons in shown)
        return Explanation(() if is_next else await self._why_no_fire(job, now=now), tuple(shown))

    async def _why_no_fire(self, job: Job, *, now: datetime) -> tuple[Reason, ...]:
        schedule = job.definition.schedule
        last = await self._context.store.schedules.occurrences(job.tenant_id, job.id, limit=1)
        zone = schedule.timing.timezone if isinstance(schedule.timing, CronTiming) else None
        skip = await Calendars(self._context).skip_of(schedule.calendar, job.next_run_time, timezone=zone)
        return why_no_fire(
            job, now=now, last=last[0] if last else None, is_next_closed=skip is SkipReason.CALENDAR
        )

    async def _reasons(
        self, execution_id: ExecutionId, workers: list[Worker]
    ) -> tuple[tuple[Reason, ...], RunView | None]:
        """With the run that it is, if it is one that has begun."""
        now, tenant_id = self._context.clock.now(), self._context.tenant_id
        # First the place: an execution that is claimed in between is then seen where it is.
        place = await self._executions.place(tenant_id, execution_id)
        execution = await self._executions.get(tenant_id, execution_id, now=now)
        if place is None:
            why = await self._why_it_failed(execution)
            return why_not(execution, None, now=now, workers=workers, prospects=(), of_its_past=why), None
        view, of_its_run, of_its_past, prospects = None, tuple[Reason, ...](), tuple[Reason, ...](), []
        if place.has_begun:
            view = await self._view(RunId(execution_id))
            of_its_run = why_run_waits(view)
        elif place.is_held and place.run_id is not None:
            of_its_run = why_task_is_held(await self._view(place.run_id))
        if not place.is_run:
            of_its_past = await self._why_it_waits(execution, place, workers)
            prospects = await self._prospects(place, workers)
        reasons = why_not(
            execution,
            place,
            now=now,
            workers=workers,
            prospects=prospects,
            of_its_run=of_its_run,
            of_its_past=of_its_past,
        )
        return reasons, view

    async def _why_it_waits(
        self, execution: Execution, place: QueuePlace, workers: list[Worker]
    ) -> tuple[Reason, ...]:
        if execution.claim == 0:
            return ()
        now, tenant_id = self._context.clock.now(), self._context.tenant_id
        found = await self._executions.latest_attempts(tenant_id, execution.id, limit=ATTEMPTS_MAX)
        revision = await self._context.store.jobs.revision(tenant_id, execution.job_id, execution.revision)
        definition = revision.definition
        rendered = execution.input if revision.is_task else None
        payload = (definition.payload if rendered is None else rendered).value
        function = payload.get("function") if isinstance(payload, dict) else None
        is_named = definition.kind == FunctionHandler.kind and isinstance(function, str)
        past = Past(found, definition.retry.max_attempts, str(function) if is_named else None)
        fitting = [one for one in workers if one.is_live(now) and place.lane.fits(one)]
        return why_it_waits(execution, past, due=place.due, now=now, fitting=fitting)

    async def _why_it_failed(self, execution: Execution) -> tuple[Reason, ...]:
        """Also of a run of a workflow."""
        if execution.status not in (ExecutionStatus.FAILED, ExecutionStatus.TIMEOUT):
            return ()
        tenant_id = self._context.tenant_id
        try:
            return why_run_failed(await self._view(RunId(execution.id)))
        except RunNotFound:
            revision = await self._context.store.jobs.revision(
                tenant_id, execution.job_id, execution.revision
            )
            return why_it_failed(execution, attempts_max=revision.definition.retry.max_attempts)

    async def _view(self, run_id: RunId) -> RunView:
        """Raises RunNotFound."""
        runs, tenant_id = self._context.store.runs, self._context.tenant_id
        run = await runs.get(tenant_id, run_id)
        kept = await self._context.store.dags.revision(tenant_id, run.dag_id, run.revision)
        begun = (
            []
            if run.status.is_final
            else await runs.open_tasks(tenant_id, run_id, limit=OPEN_TASKS_SHOWN_MAX)
        )
        failed = await runs.failed_tasks(tenant_id, run_id, limit=FAILED_TASKS_SHOWN_MAX)
        try:
            tasks = read_workflow(kept.definition.value).tasks
        except Exception as error:  # It was checked when it was kept, so this can be anything.
            return RunView(run, unreadable=str(error))
        return RunView(
            run,
            [(tasks[one.task].name, one) for one in begun],
            failed=[(tasks[one.task].name, one) for one in failed],
        )

    async def _prospects(self, place: QueuePlace, workers: list[Worker]) -> list[Prospect]:
        now, offers = self._context.clock.now(), {}
        fitting = [one for one in workers if one.is_live(now) and one.free and place.lane.fits(one)]
        for worker in fitting:
            offer = (worker.kinds, worker.queues, worker.capabilities)
            if offer not in offers:  # Workers of one kind see the same queue.
                offers[offer] = await self._executions.ahead(place, worker, now=now, limit=AHEAD_MAX)
        return [Prospect(one, offers[one.kinds, one.queues, one.capabilities]) for one in fitting]

    async def _workers(self) -> list[Worker]:
        found: list[Worker] = []
        after: WorkerId | None = None
        while len(found) < WORKERS_MAX:
            page = await self._context.store.workers.list(limit=PAGE_LIMIT_MAX, after=after)
            found += page
            if len(page) < PAGE_LIMIT_MAX:
                break
            after = page[-1].id
        return found
