"""What a user does with backfills: count, make, look at, pause, resume, cancel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from gnomon.client.context import ClientContext
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.records import Page
from gnomon.core.jobs.job import Job, JobId
from gnomon.core.runs.backfills import (
    Backfill,
    BackfillAction,
    BackfillId,
    BackfillPlan,
    BackfillTerms,
    BackfillTime,
    Existing,
    NewBackfill,
    TimeState,
    bounds,
    plan_backfill,
)
from gnomon.core.runs.state import RunStatus
from gnomon.core.time.nominal import seed_of
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX
from gnomon.core.workflows.dag import Dag
from gnomon.errors import InvalidInput
from gnomon.store.databases.hints import Topic

PAST_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Range:
    """From one day or instant to another, both included. A day is one of the zone of the schedule."""

    start: str
    end: str


class Backfills:
    def __init__(self, context: ClientContext) -> None:
        self._context = context
        self._backfills = context.store.dags.backfills

    # Making ------------------------------------------------------------------------------------------

    async def preview(self, dag_id: JobId, span: Range, existing: Existing = Existing.SKIP) -> BackfillPlan:
        """What a backfill would run, and what it would leave out. Nothing is kept.

        Raises DagNotFound, and InvalidInput for a range that is wrong or has too many times.
        """
        dag = await self._context.store.dags.get(self._context.tenant_id, dag_id)
        return await self._plan(dag, span, existing)

    async def create(
        self, dag_id: JobId, span: Range, terms: BackfillTerms, *, idempotency: Idempotency | None = None
    ) -> Backfill:
        """Raises what `preview` raises, BackfillOverlaps, IdempotencyConflict."""
        if terms.config is not None and not isinstance(terms.config.value, dict):
            raise InvalidInput("config", "must be an object.")
        dag = await self._context.store.dags.get(self._context.tenant_id, dag_id)
        plan = await self._plan(dag, span, terms.existing)
        now = self._context.clock.now()
        new = NewBackfill(
            BackfillId(self._context.ids.next(now)), self._context.tenant_id, dag.job.id, terms, plan
        )
        backfill = await self._backfills.create(new, now=now, idempotency=idempotency)
        await self._go_on(dag.job.id, now=now)
        return await self.get(backfill.id)

    async def _plan(self, dag: Dag, span: Range, existing: Existing) -> BackfillPlan:
        job, now = dag.job, self._context.clock.now()
        schedule = job.definition.schedule
        first, last = bounds(schedule, span.start, span.end)
        if first > now:
            raise InvalidInput("start", "lies in the future; what is to come is the schedule's.")
        return plan_backfill(
            schedule,
            start=first,
            end=min(last, now),
            existing=existing,
            runs=await self._past(job.id, first, last),
            seed=seed_of(job.tenant_id, job.name),
            anchor=job.anchor,
            cursor=job.next_run_time,
            excluded_dates=await self._closed(job),
        )

    async def _past(self, dag_id: JobId, first: datetime, last: datetime) -> dict[datetime, RunStatus]:
        found: dict[datetime, RunStatus] = {}
        while True:
            page = await self._backfills.past(
                self._context.tenant_id, dag_id, first=first, last=last, limit=PAST_AT_ONCE
            )
            found |= page
            # The last time once more: some of its runs may not have been on this page.
            if not page or (following := max(page)) == first:
                return found
            first = following

    async def _closed(self, job: Job) -> frozenset[date]:
        name = job.definition.schedule.calendar
        if name is None:
            return frozenset()
        calendars = await self._context.store.schedules.calendars({(job.tenant_id, name)})
        return frozenset().union(*(calendar.dates for calendar in calendars))

    # Acting ------------------------------------------------------------------------------------------

    async def pause(self, backfill_id: BackfillId) -> Backfill:
        """No more runs begin. Those under way go on."""
        return await self._act(backfill_id, BackfillAction.PAUSE)

    async def resume(self, backfill_id: BackfillId) -> Backfill:
        backfill = await self._act(backfill_id, BackfillAction.RESUME)
        await self._go_on(backfill.dag_id, now=self._context.clock.now())
        return await self.get(backfill_id)

    async def cancel(self, backfill_id: BackfillId) -> Backfill:
        """What has not begun never will; its runs under way are cancelled. Safe to repeat."""
        await self._act(backfill_id, BackfillAction.CANCEL)
        live = await self._live(backfill_id)
        if live:
            await self._context.store.executions.cancel(
                self._context.tenant_id, live, now=self._context.clock.now()
            )
            self._context.announce(Topic.CANCEL)
        return await self.get(backfill_id)

    async def _live(self, backfill_id: BackfillId) -> Sequence[ExecutionId]:
        """As many at most as it may run at once."""
        live: list[ExecutionId] = []
        after: datetime | None = None
        while page := await self.times(backfill_id, limit=PAGE_LIMIT_MAX, after=after):
            live += [one.run_id for one in page if one.run_id and one.state is TimeState.RUNNING]
            after = page[-1].nominal_time
        return live

    async def _act(self, backfill_id: BackfillId, action: BackfillAction) -> Backfill:
        return await self._backfills.act(
            self._context.tenant_id, backfill_id, action, now=self._context.clock.now()
        )

    async def _go_on(self, dag_id: JobId, *, now: datetime) -> None:
        """At once; else a conductor does it."""
        runs = await self._backfills.advance(now=now, limit=PAGE_LIMIT_DEFAULT, dag_ids=[dag_id])
        await self._context.store.runs.start_now(runs, now=now, may_replace=False)
        self._context.announce(Topic.WORK)

    # Looking -----------------------------------------------------------------------------------------

    async def get(self, backfill_id: BackfillId) -> Backfill:
        """Raises BackfillNotFound."""
        return await self._backfills.get(self._context.tenant_id, backfill_id)

    async def times(
        self,
        backfill_id: BackfillId,
        *,
        limit: int = PAGE_LIMIT_DEFAULT,
        after: datetime | None = None,
    ) -> Sequence[BackfillTime]:
        """Oldest first. Raises BackfillNotFound."""
        await self.get(backfill_id)
        return await self._backfills.times(self._context.tenant_id, backfill_id, limit=limit, after=after)

    async def list(
        self, dag_id: JobId, *, limit: int = PAGE_LIMIT_DEFAULT, after: UUID | None = None
    ) -> Page[Backfill]:
        """Newest first."""
        return await self._backfills.page(self._context.tenant_id, dag_id, limit=limit, after=after)
