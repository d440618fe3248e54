"""Fire what is due: decide about each due time in pure code, then write all of it at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple, TypeVar

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.jobs.job import Job, JobId
from gnomon.core.schedules.firing import plan
from gnomon.core.schedules.occurrence import Firing
from gnomon.core.time.schedule import Overlap
from gnomon.core.values.ids import IdSource
from gnomon.engine.clock import Clock
from gnomon.engine.failpoints import At, failpoint
from gnomon.engine.service import NOW, POLL, Wakeup
from gnomon.engine.telemetry import Telemetry, What
from gnomon.errors import StoreError
from gnomon.store.protocols.jobs import ScheduleStore

logger = logging.getLogger(__name__)

BATCH = 500
# What is due for longer than this is everybody's: its scheduler is dead, slow, or cut off.
OVERDUE = timedelta(seconds=2)
# When what is due belongs to another scheduler, look again after this long.
OTHERS_TURN = timedelta(milliseconds=250)
PASS_OVER = timedelta(minutes=1)
# What is due within this time is read and planned before it is due: then only the write is left to do.
AHEAD = timedelta(milliseconds=300)
AHEAD_MAX = 2000


Answer = TypeVar("Answer")
ClosedDates = Mapping[tuple[TenantId, str | None], frozenset[date]]


class PlanFacts(NamedTuple):
    """What a plan depends on besides the job: the dates of its calendar, and how many of its runs live."""

    closed_dates: ClosedDates
    live: Mapping[JobId, int]


class Planned(NamedTuple):
    """A plan made before its instant. When that has come, it holds `until` then."""

    firing: Firing
    until: datetime


class Scheduler:
    """Many may run at once: the store lets each due time fire once, whoever comes first.

    `shards` says which jobs this one looks after; None means all of them. What is overdue is fired by
    anybody, so a scheduler that dies costs no more than a moment. `fired` is called after a batch, and
    `replaced` if it ended runs that were live, and `put_off` if it made some that are due later (jitter), so
    that workers need not find out by themselves.
    """

    def __init__(
        self,
        *,
        schedules: ScheduleStore,
        clock: Clock,
        ids: IdSource,
        telemetry: Telemetry,
        fired: Callable[[], None],
        replaced: Callable[[], None] = lambda: None,
        put_off: Callable[[], None] = lambda: None,
        shards: Callable[[], Collection[int] | None] = lambda: None,
        batch: int = BATCH,
        poll: timedelta = POLL,
    ) -> None:
        self.wakeup = Wakeup()
        self._schedules = schedules
        self._clock = clock
        self._ids = ids
        self._telemetry = telemetry
        self._fired = fired
        self._replaced = replaced
        self._put_off = put_off
        self._shards = shards
        self._batch = batch
        self._poll = poll
        self._passed_over: dict[JobId, datetime] = {}
        self._ahead_at: datetime | None = None
        self._ahead: Sequence[Planned] = ()

    async def step(self) -> timedelta:
        now = self._clock.now()
        if await self._fire_planned(now):
            return NOW
        self._passed_over = {job: until for job, until in self._passed_over.items() if now < until}
        next_due = await self._asked(self._schedules.next_due(passed_over=self._passed_over))
        if next_due is None:
            return self._poll
        if next_due - now > AHEAD:
            return min(self._poll, next_due - now - AHEAD / 2)
        if next_due > now:
            await self._look_ahead(next_due)
            return max(NOW, next_due - self._clock.now())
        shards = None if now - next_due > OVERDUE else self._shards()
        due = await self._asked(
            self._schedules.due(now=now, limit=self._batch, shards=shards, passed_over=self._passed_over)
        )
        for one in due.unreadable:
            self._pass_over(one.job_id, f"cannot be read: {one.reason}")
        facts = await self._facts(due.jobs)
        now = self._clock.now()
        firings = self._plan(due.jobs, facts, now=now)
        if firings:
            # None taken: somebody else fires these jobs, or holds them for a reason of their own.
            return NOW if await self._fire(firings, now=now) else OTHERS_TURN
        return NOW if due.jobs or due.unreadable else OTHERS_TURN

    async def _asked(self, question: Awaitable[Answer]) -> Answer:
        """Notes how long the store took to answer."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        answer = await question
        self._telemetry.polled.add(loop.time() - begun)
        return answer

    async def _look_ahead(self, at: datetime) -> None:
        """Plan what is due at an instant to come. Who changes such a job meanwhile makes its plan void.

        Not for those whose plan depends on more than the job: it shall be true when it is made.
        """
        if self._ahead_at == at:
            return
        due = await self._schedules.due(
            now=at, limit=AHEAD_MAX, shards=self._shards(), passed_over=self._passed_over
        )
        plain = {job.id: job for job in due.jobs if _depends_on_itself_alone(job)}
        firings = self._plan(list(plain.values()), PlanFacts({}, {}), now=at)
        self._ahead_at = at
        self._ahead = [Planned(one, until=at + _holds_for(plain[one.job_id])) for one in firings]

    async def _fire_planned(self, now: datetime) -> int:
        """Fire what was planned ahead, if its instant has come. Returns how many jobs that concerned.

        Who comes too late for a plan plans anew: what is missed, the policies of the job decide.
        """
        if self._ahead_at is None or self._ahead_at > now:
            return 0
        planned, self._ahead_at, self._ahead = self._ahead, None, ()
        taken = 0
        for first in range(0, len(planned), self._batch):
            now = self._clock.now()
            firings = [one.firing for one in planned[first : first + self._batch] if now <= one.until]
            taken += await self._fire(firings, now=now) if firings else 0
        return taken

    async def _fire(self, firings: Sequence[Firing], *, now: datetime) -> int:
        """`now`, when it was decided, is what is written down: what was in time then is not late now."""
        failpoint(At.FIRE_BEFORE)
        taken = set(await self._take(firings, now=now))
        failpoint(At.FIRE_AFTER)
        if taken:
            self._fired()
        if any(one.replaces and one.job_id in taken for one in firings):
            self._replaced()
        if any(_is_put_off(one, now) and one.job_id in taken for one in firings):
            self._put_off()
        self._tell(firings, taken)
        return len(taken)

    async def _take(self, firings: Sequence[Firing], *, now: datetime) -> Sequence[JobId]:
        try:
            return await self._schedules.fire(firings, now=now)
        except StoreError:
            raise
        except Exception as error:  # A bug, and one that a single job runs into.
            if len(firings) == 1:
                logger.exception("the due times of a job cannot be written")
                self._pass_over(firings[0].job_id, f"cannot be fired: {error!r}")
                return []
            half = len(firings) // 2
            return [*await self._take(firings[:half], now=now), *await self._take(firings[half:], now=now)]

    def _pass_over(self, job_id: JobId, why: str) -> None:
        """One job that cannot be fired must not hold up the others, nor fill the log."""
        logger.error("job passed over for a while: it %s", why, extra={"job": str(job_id)})
        self._passed_over[job_id] = self._clock.now() + PASS_OVER
        self._telemetry.count([What.PASSED_OVER])

    async def _facts(self, jobs: Sequence[Job]) -> PlanFacts:
        return PlanFacts(await self._closed_dates(jobs), await self._live(jobs))

    def _plan(self, jobs: Sequence[Job], facts: PlanFacts, *, now: datetime) -> Sequence[Firing]:
        """What becomes of them as of `now`, which is read when all is known that it depends on."""
        firings = []
        for job in jobs:
            calendar = job.definition.schedule.calendar
            try:
                firing = plan(
                    job,
                    now=now,
                    live=facts.live.get(job.id, 0),
                    excluded_dates=facts.closed_dates.get((job.tenant_id, calendar), frozenset()),
                    new_id=lambda: ExecutionId(self._ids.next(now)),
                )
            except Exception as error:  # A bug, and one that a single schedule runs into.
                logger.exception("the due times of a job cannot be planned")
                self._pass_over(job.id, f"cannot be planned: {error!r}")
            else:
                firings.append(firing)
        return firings

    async def _closed_dates(self, jobs: Sequence[Job]) -> ClosedDates:
        names = {(job.tenant_id, name) for job in jobs if (name := job.definition.schedule.calendar)}
        if not names:
            return {}
        found = await self._schedules.calendars(names)
        return {(calendar.tenant_id, calendar.name): calendar.dates for calendar in found}

    async def _live(self, jobs: Sequence[Job]) -> Mapping[JobId, int]:
        asking = [job.id for job in jobs if job.definition.schedule.overlap is not Overlap.ALLOW]
        return await self._schedules.live(asking) if asking else {}

    def _tell(self, firings: Sequence[Firing], taken: Collection[JobId]) -> None:
        now = self._clock.now()
        for firing in firings:
            if firing.job_id not in taken:
                continue
            for one in firing.occurrences:
                what = What.SKIPPED if one.reason else What.FIRED
                if what is What.FIRED:
                    self._telemetry.late.add((now - one.nominal_time).total_seconds())
                self._telemetry.tell_of_job(
                    what,
                    firing.tenant_id,
                    firing.job_id,
                    at=now,
                    count=one.count,
                    execution_id=one.execution_id,
                    note=one.reason or "",
                )


def _depends_on_itself_alone(job: Job) -> bool:
    schedule = job.definition.schedule
    return schedule.overlap is Overlap.ALLOW and schedule.calendar is None


def _is_put_off(firing: Firing, now: datetime) -> bool:
    return any(one.due is not None and one.due > now for one in firing.occurrences)


def _holds_for(job: Job) -> timedelta:
    """How long a plan made ahead may wait. Who fires at once is in time, however short the grace."""
    return min(OVERDUE, max(AHEAD, job.definition.schedule.misfire_grace))
