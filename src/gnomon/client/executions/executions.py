"""What a user does with executions: ask for them, watch them, stop them, try them again."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from gnomon.client.context import ClientContext
from gnomon.client.executions.ends import pauses
from gnomon.client.workflows.places import NamedPlace, named_places
from gnomon.client.workflows.runs import check_workflow_lives
from gnomon.core.executions.execution import (
    Attempt,
    Enqueued,
    Execution,
    ExecutionId,
    ExecutionStatus,
    NewExecution,
    Trigger,
)
from gnomon.core.executions.records import AtRevision, ExecutionFilter, LogLine, Page, Redrive, Redriven
from gnomon.core.jobs.job import JobId
from gnomon.core.runs.events import Redrive as RedriveTasks
from gnomon.core.runs.run import Run, RunId, TaskPlace
from gnomon.core.time.schedule import DELAY_MAX
from gnomon.core.values.document import Document
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.values.instants import check_duration, check_instant
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, check_batch
from gnomon.errors import DeadLetterNotFound, ExecutionNotFound, IllegalTransition, InvalidInput, RunNotFound
from gnomon.store.databases.database import Session
from gnomon.store.databases.hints import Topic
from gnomon.store.queue.enqueue import enqueue_within

_DEAD = (ExecutionStatus.FAILED, ExecutionStatus.TIMEOUT)


class Ask(NamedTuple):
    """A run that somebody wants. None means: as the job says, and now."""

    job_id: JobId
    input: Document | None = None
    priority: int | None = None
    at: datetime | None = None
    delay: timedelta | None = None
    unique_key: str | None = None

    def as_new(self, id: ExecutionId, *, now: datetime) -> NewExecution:
        """Raises InvalidInput."""
        return NewExecution(id, self.job_id, self.input, self._due(now), self.priority, self.unique_key)

    def _due(self, now: datetime) -> datetime | None:
        if self.delay is None:
            return None if self.at is None else check_instant(self.at, field="at")
        if self.at is not None:
            raise InvalidInput("delay", "an instant is given too; one of them is enough.")
        check_duration(self.delay, field="delay", low=timedelta(0), high=DELAY_MAX)
        return now + self.delay


class Executions:
    def __init__(self, context: ClientContext) -> None:
        self._context = context
        self._executions = context.store.executions

    # Asking --------------------------------------------------------------------------------------------

    async def enqueue(self, ask: Ask, *, idempotency: Idempotency | None = None) -> Enqueued:
        """Raises JobNotFound; IllegalTransition if the job was cancelled; IdempotencyConflict."""
        now = self._context.clock.now()
        asked = ask.as_new(self._context.new_execution_id(now), now=now)
        [enqueued] = await self._enqueue([asked], now=now, idempotency=idempotency)
        return enqueued

    async def enqueue_many(
        self, asks: Sequence[Ask], *, idempotency: Idempotency | None = None
    ) -> Sequence[Enqueued]:
        """Keep all or none, in order. A live execution with the same unique key is the answer to its ask."""
        now = self._context.clock.now()
        return await self._enqueue(self._asked(asks, now=now), now=now, idempotency=idempotency)

    async def enqueue_within(self, session: Session, asks: Sequence[Ask]) -> Sequence[Enqueued]:
        """The same, in a transaction that the caller has open: kept exactly if the caller commits.

        Nobody is told, since nobody could see it yet. Workers find it at their next look.
        """
        check_batch(len(asks), field="executions")
        now = self._context.clock.now()
        asked = self._asked(asks, now=now)
        return await enqueue_within(session, self._context.tenant_id, asked, now=now) if asked else []

    def _asked(self, asks: Sequence[Ask], *, now: datetime) -> list[NewExecution]:
        """Raises InvalidInput, which says which of them it is about."""
        asked: list[NewExecution] = []
        try:
            for ask in asks:
                asked.append(ask.as_new(self._context.new_execution_id(now), now=now))  # noqa: PERF401
        except InvalidInput as error:
            raise error.at(f"executions[{len(asked)}].{error.field}") from None
        return asked

    async def _enqueue(
        self, asked: Sequence[NewExecution], *, now: datetime, idempotency: Idempotency | None
    ) -> Sequence[Enqueued]:
        enqueued = await self._executions.enqueue(
            self._context.tenant_id, asked, now=now, idempotency=idempotency
        )
        self._context.announce_due((one.due for one in asked), now=now)
        return enqueued

    async def retry(self, execution_id: ExecutionId, *, revision: AtRevision = AtRevision.NEWEST) -> Redriven:
        """Run an ended execution again, as a new one with the same input. Raises ExecutionNotFound.

        A dead letter is redriven; asked twice, that is one new execution. Of a task of a workflow, the run
        goes on from it: see `core/runs/repairs.py`. Raises IllegalTransition for an execution that has not
        ended, and for a run of a workflow of which tasks failed: run anew, it would leave them to be
        redriven.
        """
        ended = await self.get(execution_id)
        if not ended.status.is_final:
            raise IllegalTransition("execution", status=ended.status, action="retry")
        if ended.trigger is Trigger.DAG:
            places = await self._context.store.runs.places(self._context.tenant_id, [execution_id])
            return await self._retry_task(ended, places.get(execution_id))
        redrive = Redrive(execution_id, self._context.new_execution_id(self._context.clock.now()))
        if ended.status in _DEAD:
            with suppress(DeadLetterNotFound):  # Purged. The execution itself is still known.
                [made] = await self._context.store.dead_letters.redrive(
                    self._context.tenant_id, [redrive], now=self._context.clock.now(), revision=revision
                )
                self._context.announce(Topic.WORK)
                return made
        run = await self._run_of(ended)
        if run is not None and run.state.failed:
            raise IllegalTransition(
                "run of a workflow",
                status=run.status,
                action="retry",
                advice="Tasks of it failed: rerun it to go on from them, or trigger its workflow anew.",
            )
        made = await self._repeat(ended, redrive, revision)
        if run is None:
            return made
        begun = await self._context.store.runs.get(self._context.tenant_id, RunId(made.id))
        return made._replace(revision=begun.revision)  # As people count those of a workflow.

    async def _run_of(self, ended: Execution) -> Run | None:
        """None of what is no run of a workflow. No worker ever gets one."""
        if ended.claim:
            return None
        try:
            return await self._context.store.runs.get(self._context.tenant_id, RunId(ended.id))
        except RunNotFound:
            return None

    async def _repeat(self, ended: Execution, redrive: Redrive, revision: AtRevision) -> Redriven:
        """As a new execution, which only its caller knows to be the same."""
        now, tenant_id = self._context.clock.now(), self._context.tenant_id
        if revision is AtRevision.ORIGINAL:
            made = await self._executions.repeat(tenant_id, redrive, now=now)
        else:
            asked = NewExecution(
                redrive.new_id,
                ended.job_id,
                ended.input,
                None,
                ended.priority,
                ended.unique_key,
                Trigger.REDRIVE,
            )
            [made] = await self._executions.enqueue(tenant_id, [asked], now=now)
        self._context.announce(Topic.WORK)
        return Redriven(made.id, made.is_new, (await self.get(made.id)).revision)

    async def _retry_task(self, ended: Execution, place: TaskPlace | None) -> Redriven:
        if place is None:
            raise IllegalTransition("run", status="forgotten", action="retry")
        if ended.status is ExecutionStatus.COMPLETED:
            raise IllegalTransition(
                "execution of a task",
                status=ended.status,
                action="retry",
                advice=f"To run the task anew, and all that follows it, rerun it in its run {place.run_id}.",
            )
        # What is gone would be stopped at once.
        await check_workflow_lives(self._context, place.dag_id, action="retry")
        before = await self._context.store.runs.get(self._context.tenant_id, place.run_id)
        event = RedriveTasks(frozenset({(place.task, place.round)}))
        now = self._context.clock.now()
        run = await self._context.store.runs.act(self._context.tenant_id, place.run_id, event, now=now)
        self._context.announce(Topic.WORK)
        is_new = run.state != before.state
        return Redriven(ExecutionId(run.id), is_new, run.revision, run.id)

    async def places(self, found: Collection[Execution]) -> Mapping[ExecutionId, NamedPlace]:
        """Those of these executions that are for tasks of workflows."""
        tasks = [one.id for one in found if one.trigger is Trigger.DAG]
        return await named_places(
            self._context.store, self._context.task_names, self._context.tenant_id, tasks
        )

    async def progress(self, found: Collection[Execution]) -> Mapping[ExecutionId, float]:
        """How far those of these executions are that have begun and not ended, 0 to 1, if they say so."""
        begun = [one.id for one in found if one.claim and not one.status.is_final]
        return await self._executions.progress(self._context.tenant_id, begun) if begun else {}

    # Stopping ------------------------------------------------------------------------------------------

    async def cancel(self, execution_id: ExecutionId) -> ExecutionStatus:
        """Raises ExecutionNotFound. RUNNING means: it was asked to stop. What has ended stays as it is."""
        found = await self.cancel_many([execution_id])
        if execution_id not in found:
            raise ExecutionNotFound(execution_id)
        return found[execution_id]

    async def cancel_many(
        self, execution_ids: Sequence[ExecutionId]
    ) -> Mapping[ExecutionId, ExecutionStatus]:
        """The status of each afterwards. Those that do not exist are missing from the answer."""
        now = self._context.clock.now()
        found = await self._executions.cancel(self._context.tenant_id, execution_ids, now=now)
        if ExecutionStatus.RUNNING in found.values():
            self._context.announce(Topic.CANCEL)
        for execution_id, status in found.items():
            if status.is_final:
                self._context.at_home(self._context.ends.tell, execution_id)
        return found

    # Watching ------------------------------------------------------------------------------------------

    async def get(self, execution_id: ExecutionId) -> Execution:
        """Raises ExecutionNotFound."""
        now = self._context.clock.now()
        return await self._executions.get(self._context.tenant_id, execution_id, now=now)

    async def list(
        self,
        *,
        job_id: JobId | None = None,
        status: ExecutionStatus | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = PAGE_LIMIT_DEFAULT,
        after: UUID | None = None,
    ) -> Page[Execution]:
        """Newest first; of those made from `since` on and before `until`."""
        return await self._executions.page(
            self._context.tenant_id,
            ExecutionFilter(job_id, status, since, until),
            now=self._context.clock.now(),
            limit=limit,
            after=after,
        )

    async def attempts(self, execution_id: ExecutionId) -> Sequence[Attempt]:
        """The finished attempts, oldest first. Raises ExecutionNotFound."""
        found = await self._executions.attempts(self._context.tenant_id, execution_id)
        if not found:
            await self.get(execution_id)
        return found

    async def logs(
        self, execution_id: ExecutionId, *, limit: int = PAGE_LIMIT_MAX, after: tuple[int, int] = (0, 0)
    ) -> Sequence[LogLine]:
        """Lines in order, after the position (claim number, line number). Raises ExecutionNotFound."""
        lines = await self._context.store.logs.read(
            self._context.tenant_id, execution_id, limit=limit, after=after
        )
        if not lines:
            await self.get(execution_id)
        return lines

    async def wait(
        self,
        execution_id: ExecutionId,
        *,
        timeout: timedelta | None = None,  # noqa: ASYNC109 - no error: the answer is the execution as it is.
    ) -> Execution:
        """The execution when it has ended, or as it is when the time is up. Raises ExecutionNotFound."""
        loop = asyncio.get_running_loop()
        until = None if timeout is None else loop.time() + timeout.total_seconds()
        with self._context.ends.listening(execution_id) as wakeup:
            for pause in pauses():
                found = await self.get(execution_id)
                left = pause if until is None else timedelta(seconds=until - loop.time())
                if found.status.is_final or left <= timedelta(0):
                    return found
                await wakeup.wait(min(pause, left))
        raise AssertionError("pauses never end")
