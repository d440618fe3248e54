"""Jobs that run in a test: on a store in memory, in the test's own loop, at the time that the test says."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Any

from gnomon.app.connection import AppConnection
from gnomon.app.gnomon import Gnomon
from gnomon.app.jobs.calls import duration
from gnomon.app.jobs.fixed_job import FixedJob
from gnomon.client import Ask, Client
from gnomon.core.executions.execution import Enqueued, Execution, ExecutionId, ExecutionStatus, WorkerId
from gnomon.core.jobs.job import JobId
from gnomon.core.operations.workers import Registration
from gnomon.core.values.ids import IdSource
from gnomon.core.values.limits import PAGE_LIMIT_MAX
from gnomon.engine.schedulers.conductor import Conductor
from gnomon.engine.schedulers.scheduler import Scheduler
from gnomon.engine.schedulers.sweeper import Sweeper
from gnomon.engine.service import NOW
from gnomon.engine.telemetry import Happening, Telemetry, What
from gnomon.engine.workers.attempts import RUNNING
from gnomon.engine.workers.completer import Completer
from gnomon.engine.workers.notebook import Capture, Notebook
from gnomon.engine.workers.slots import Slots
from gnomon.engine.workers.worker import Worker
from gnomon.handlers.python.functions import Functions
from gnomon.handlers.python.handler import FunctionHandler
from gnomon.handlers.registry import Registry
from gnomon.settings import HandlerSettings
from gnomon.store.databases.hints import LocalHints
from gnomon.store.databases.sqlite import SqliteDatabase
from gnomon.store.databases.sqlite_connection import MEMORY
from gnomon.store.schema.migrations import migrate
from gnomon.store.sql_store import SqlStore
from gnomon.testing.clock import ManualClock
from gnomon.testing.firing import RUNS_MAX, Allowed, Named, Quiet, check_limit, too_many
from gnomon.testing.stubs import stub_handlers

LOOK_AGAIN = timedelta(milliseconds=10)


@asynccontextmanager
async def inline(
    app: Gnomon,
    *,
    clock: ManualClock | None = None,
    slots: int = 1,
    stubs: Mapping[FixedJob | str, Any] | None = None,
) -> AsyncIterator[Inline]:
    """The app on an empty store in memory, until the end of the block. Its own database is left alone.

    What is enqueued runs when the test says so: `run.drain()`, `run.advance(...)`, or by waiting for a
    result. One at a time, in order; a job that waits for the result of another needs two `slots`. `stubs` say
    what calls and scripts of the app return, which do not run in a test.
    """
    clock = clock or ManualClock()
    database = SqliteDatabase(MEMORY)
    async with AsyncExitStack() as stack:
        store = SqlStore(database, rescan=timedelta(0))
        stack.push_async_callback(store.close)
        await migrate(database, now=clock.now())
        registry = Registry(
            [FunctionHandler(HandlerSettings(), _here(app.functions)), *stub_handlers(app, stubs or {})]
        )
        stack.push_async_callback(registry.aclose)
        run = Inline(app, store, clock, registry, slots=slots)
        _capture(run.notebook, stack)
        connection = _InlineConnection(store, LocalHints(), clock, run.ids, app.check, run=run)
        run.client = connection.client
        await stack.enter_async_context(app.through(connection))
        yield run


def _here(functions: Functions) -> Functions:
    """The same functions without processes of their own: these would not find the store of the test."""
    here = Functions()
    for function in functions:
        here.add(function.name, function.call)
    return here


class Inline:
    """The hands of a test on the clock and on the worker."""

    client: Client

    def __init__(
        self, app: Gnomon, store: SqlStore, clock: ManualClock, handlers: Registry, *, slots: int
    ) -> None:
        self._app = app
        self._starts: Counter[JobId] = Counter()
        self.clock = clock
        self.store = store
        # Each has a seed of its own, and always the same: so does every run of the test.
        self.ids = IdSource(Random(1))  # noqa: S311
        telemetry = Telemetry()
        telemetry.listeners.append(self._count)
        self.notebook = Notebook(
            logs=store.logs, checkpoints=store.checkpoints, clock=clock, telemetry=telemetry
        )
        own = Registration(WorkerId("inline"), self.ids.next(clock.now()), "here", slots, handlers.kinds)
        between = Slots(slots)
        self._completer = Completer(
            between,
            executions=store.executions,
            clock=clock,
            random=Random(2),  # noqa: S311
            notebook=self.notebook,
            telemetry=telemetry,
        )
        self._worker = Worker(
            own,
            between,
            executions=store.executions,
            checkpoints=store.checkpoints,
            clock=clock,
            ids=self.ids,
            handlers=handlers,
            notebook=self.notebook,
            telemetry=telemetry,
        )
        self._scheduler = Scheduler(
            schedules=store.schedules, clock=clock, ids=self.ids, telemetry=telemetry, fired=lambda: None
        )
        self._sweeper = Sweeper(executions=store.executions, clock=clock, admitted=lambda: None)
        self._conductor = Conductor(runs=store.runs, clock=clock, released=lambda: None)

    async def drain(self, *, limit: int = RUNS_MAX) -> None:
        """Fire and run what is due now, and what that leads to, until nothing is left to do.

        Raises InvalidInput if more runs than the limit start.
        """
        await self._drain(self._allowed(limit))

    async def advance(
        self, by: timedelta | float, *, only: Collection[Named] | None = None, limit: int = RUNS_MAX
    ) -> None:
        """Let time pass, a number in seconds. Everything on the way happens at its own time, in order.

        With `only`, the schedules of all other jobs stand still meanwhile. Raises InvalidInput if more runs
        than the limit start.
        """
        passing = duration(by, field="by")
        assert passing is not None
        allowed = self._allowed(limit)
        quiet = Quiet(self.client)
        if only is not None:
            await quiet.silence(self._app, only)
        try:
            await self._pass(self.clock.now() + passing, allowed)
        finally:
            await quiet.restore()

    def _allowed(self, limit: int) -> Allowed:
        allowed = Allowed(check_limit(limit), self._worker.started)
        # Past the limit, what runs may end, and nothing else starts.
        self._worker.is_halted = partial(self._is_over, allowed)
        return allowed

    async def _pass(self, until: datetime, allowed: Allowed) -> None:
        await self._drain(allowed)
        while (at := await self._next_time()) is not None and at <= until:
            self.clock.advance(at - self.clock.now())
            await self._drain(allowed)
        self.clock.advance(until - self.clock.now())
        await self._drain(allowed)

    async def _drain(self, allowed: Allowed) -> None:
        started = -1
        while started < self._worker.started:
            started = self._worker.started
            await self._check(allowed)
            while await self._scheduler.step() == NOW:
                pass
            while await self._sweeper.step() == NOW:
                pass
            while await self._conductor.step() == NOW:
                pass
            await self._worker.step()
            await self._until_written(allowed)
        await self._check(allowed)

    def _is_over(self, allowed: Allowed) -> bool:
        return self._worker.started - allowed.before > allowed.limit

    async def _check(self, allowed: Allowed) -> None:
        if self._is_over(allowed):
            names = {job_id: job.name for job_id, job in (await self.client.jobs.many(self._starts)).items()}
            runs = {names.get(job_id, str(job_id)): count for job_id, count in self._starts.items()}
            raise too_many(allowed.limit, runs, now=self.clock.now())

    def _count(self, happening: Happening) -> None:
        if happening.what is What.STARTED:
            self._starts[happening.job_id] += 1

    async def _until_written(self, allowed: Allowed) -> None:
        while True:
            await self.notebook.step()
            await self._completer.step()
            if not self._worker.running and (self._worker.is_empty or self._is_over(allowed)):
                return
            await self._worker.wakeup.wait(LOOK_AGAIN)
            await self._worker.step()

    async def _next_time(self) -> datetime | None:
        """When something is due next, after now: a fire, a retry, a delayed run."""
        now = self.clock.now()
        times = [await self.store.schedules.next_due()]
        after = None
        while True:
            page = await self.client.executions.list(
                status=ExecutionStatus.PENDING, limit=PAGE_LIMIT_MAX, after=after
            )
            times += [one.due for one in page.items]
            after = page.next
            if after is None:
                return min((at for at in times if at is not None and at > now), default=None)


@dataclass
class _InlineConnection(AppConnection):
    run: Inline | None = None

    async def enqueue_in(self, theirs: object, asks: Sequence[Ask]) -> Sequence[Enqueued]:
        """The store of the test is no part of anybody's transaction: kept at once."""
        return await self.client.executions.enqueue_many(asks)

    async def wait(self, execution_id: ExecutionId, patience: timedelta | None) -> Execution:
        """A test that waits lets the jobs run; a job that waits leaves that to whoever runs it."""
        if RUNNING.get() is not None:
            return await super().wait(execution_id, patience)
        assert self.run is not None
        await self.run.drain()
        return await self.client.executions.get(execution_id)


def _capture(notebook: Notebook, stack: AsyncExitStack) -> None:
    root, capture = logging.getLogger(), Capture(notebook)
    logging.getLogger("gnomon.job").setLevel(logging.DEBUG)
    root.addHandler(capture)
    stack.callback(root.removeHandler, capture)
