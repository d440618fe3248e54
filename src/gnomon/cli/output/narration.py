"""What happens, as lines of log: one by one while there are few, counted while there are many."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Protocol

from gnomon.core.access.tenants import DEFAULT_TENANT, TenantId
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.records import JobFilter, Page
from gnomon.core.jobs.job import Job, JobId
from gnomon.core.values.limits import PAGE_LIMIT_MAX
from gnomon.engine.clock import Clock
from gnomon.engine.service import NOW, Stopping, Wakeup, drive
from gnomon.engine.telemetry import Happening, Telemetry, What
from gnomon.engine.workers.attempts import RUNNING
from gnomon.errors import JobNotFound, StoreError

logger = logging.getLogger("gnomon.runs")

WINDOW = timedelta(seconds=5)
LINES_MAX = 50  # Of one kind in a window, unless debugging. To write more would slow a busy worker down.
WAITING_MAX = 1000  # Lines that wait for the name of their job.
TASKS_REMEMBERED_MAX = 20_000
# A job that gets another name is told by the old one for so long.
FORGET_NAMES = timedelta(minutes=5)

# What is not here is told by who sees it: a lost lease, a late result.
_LEVELS = {
    What.FIRED: logging.INFO,
    What.SKIPPED: logging.INFO,
    What.STARTED: logging.INFO,
    What.PROGRESSED: logging.INFO,
    What.COMPLETED: logging.INFO,
    What.RETRIED: logging.WARNING,
    What.FAILED: logging.ERROR,
    What.CANCELLED: logging.INFO,
    What.RELEASED: logging.INFO,
}
_NOTES = {What.PROGRESSED: "progress", What.SKIPPED: "reason"}


class JobNames(Protocol):
    async def get(self, tenant_id: TenantId, job_id: JobId) -> Job: ...

    async def page(self, tenant_id: TenantId, wanted: JobFilter, *, limit: int) -> Page[Job]: ...


class TaskNames(Protocol):
    async def name(self, tenant_id: TenantId, execution_id: ExecutionId) -> str | None: ...


class Nameless:
    """For who may not look at jobs: they go by their ids."""

    async def get(self, tenant_id: TenantId, job_id: JobId) -> Job:
        raise JobNotFound(job_id)

    async def page(self, tenant_id: TenantId, wanted: JobFilter, *, limit: int) -> Page[Job]:
        return Page((), None)


@asynccontextmanager
async def narrated(
    telemetry: Telemetry, jobs: JobNames, clock: Clock, *, tasks: TaskNames | None = None
) -> AsyncIterator[None]:
    """Until the end of the block, what happens is written down, and lines of user code say whose they are."""
    narrator = Narrator(jobs, clock, tasks=tasks)
    with suppress(StoreError):  # Who works already must not end for want of names; they come when needed.
        await narrator.learn()
    handlers = logging.getLogger().handlers[:]
    for handler in handlers:
        handler.addFilter(narrator.sign)
    telemetry.listeners.append(narrator.hear)
    stopping = Stopping()
    driver = asyncio.create_task(drive(narrator, stopping))
    try:
        yield
    finally:
        telemetry.listeners.remove(narrator.hear)
        stopping.set([narrator])
        await driver
        await narrator.finish()
        for handler in handlers:
            handler.removeFilter(narrator.sign)


class Narrator:
    """A listener, and a service that finds the names of jobs and counts what was too much to say."""

    def __init__(self, jobs: JobNames, clock: Clock, *, tasks: TaskNames | None = None) -> None:
        """Without `tasks`, what is for a task of a workflow is told by the workflow alone."""
        self.wakeup = Wakeup()
        self._jobs = jobs
        self._task_lookup = tasks
        self._tasks: dict[tuple[JobId, int | None], str | None] = {}
        self._clock = clock
        self._names: dict[JobId, str] = {}
        self._names_from = self._window_from = clock.now()
        self._heard: Counter[What] = Counter()  # In this window.
        self._waiting: deque[Happening] = deque(maxlen=WAITING_MAX)

    def hear(self, happening: Happening) -> None:
        what = happening.what
        level = _LEVELS.get(what)
        if level is None or not logger.isEnabledFor(level):
            return
        self._heard[what] += 1
        if self._heard[what] > LINES_MAX and not logger.isEnabledFor(logging.DEBUG):
            return
        name = self._names.get(happening.job_id)
        if name is None or not self._knows_task(happening) or self._waiting:  # Lines stay in their order.
            self._waiting.append(happening)
            self.wakeup.set()
        else:
            _say(happening, name, self._task_of(happening))

    def sign(self, record: logging.LogRecord) -> bool:
        """Adds to a line from inside an attempt whose it is. For the handlers of the log."""
        attempt = RUNNING.get()
        if attempt is not None and not hasattr(record, "execution"):
            leased = attempt.leased
            record.job = self._names.get(leased.job_id) or str(leased.job_id)
            record.execution = str(leased.claim.execution_id)
            if (task := self._tasks.get((leased.job_id, leased.revision.number))) is not None:
                record.task = task
        return True

    async def step(self) -> timedelta:
        now = self._clock.now()
        if now - self._window_from >= WINDOW:
            self._count()
            self._window_from = now
        if now - self._names_from >= FORGET_NAMES:
            await self.learn()
        while self._waiting:
            happening = self._waiting[0]
            name = await self._name(happening.tenant_id, happening.job_id)
            await self._learn_task(happening)
            _say(self._waiting.popleft(), name, self._task_of(happening))
        return max(NOW, self._window_from + WINDOW - now)

    async def learn(self) -> None:
        """The names of the latest jobs at once; those of others when they are needed."""
        page = await self._jobs.page(DEFAULT_TENANT, JobFilter(), limit=PAGE_LIMIT_MAX)
        self._names = {job.id: job.name for job in page.items}
        self._names_from = self._clock.now()

    async def finish(self) -> None:
        """Say what is left."""
        with suppress(StoreError):
            await self.step()
        self._count()

    async def _name(self, tenant_id: TenantId, job_id: JobId) -> str:
        if job_id not in self._names:
            try:
                self._names[job_id] = (await self._jobs.get(tenant_id, job_id)).name
            except JobNotFound:  # Deleted meanwhile.
                self._names[job_id] = str(job_id)
        return self._names[job_id]

    def _knows_task(self, happening: Happening) -> bool:
        return happening.task_revision is None or (happening.job_id, happening.task_revision) in self._tasks

    def _task_of(self, happening: Happening) -> str | None:
        return self._tasks.get((happening.job_id, happening.task_revision))

    async def _learn_task(self, happening: Happening) -> None:
        """A revision never changes, so its name is asked for once."""
        if self._knows_task(happening) or happening.execution_id is None:
            return
        task = None
        if self._task_lookup is not None:
            task = await self._task_lookup.name(happening.tenant_id, happening.execution_id)
        while len(self._tasks) >= TASKS_REMEMBERED_MAX:
            del self._tasks[next(iter(self._tasks))]
        self._tasks[happening.job_id, happening.task_revision] = task

    def _count(self) -> None:
        if not logger.isEnabledFor(logging.DEBUG):
            unsaid = {
                str(what): count - LINES_MAX for what, count in self._heard.items() if count > LINES_MAX
            }
            if unsaid:
                logger.info("more, not told one by one", extra=unsaid)
        self._heard.clear()


def _say(happening: Happening, name: str, task: str | None) -> None:
    extra: dict[str, object] = {"job": name}
    if task is not None:
        extra["task"] = task
    if happening.execution_id is not None:
        extra["execution"] = str(happening.execution_id)
    if happening.attempt > 1:
        extra["attempt"] = happening.attempt
    if happening.note:
        extra[_NOTES.get(happening.what, "error")] = happening.note
    logger.log(_LEVELS[happening.what], "%s", happening.what, extra=extra)
