"""Jobs that run in a test: on a store in memory, in the test's own loop, at the time that the test says."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from gnomon.app.calls import duration
from gnomon.app.connection import Connection
from gnomon.app.gnomon import Gnomon
from gnomon.client import Ask, Client
from gnomon.core.execution import Enqueued, Execution, ExecutionId, ExecutionStatus, WorkerId
from gnomon.core.ids import IdSource
from gnomon.core.limits import PAGE_LIMIT_MAX
from gnomon.core.worker import Registration
from gnomon.engine.attempts import RUNNING
from gnomon.engine.completer import Completer
from gnomon.engine.conductor import Conductor
from gnomon.engine.notebook import Capture, Notebook
from gnomon.engine.scheduler import Scheduler
from gnomon.engine.service import NOW
from gnomon.engine.sweeper import Sweeper
from gnomon.engine.telemetry import Telemetry
from gnomon.engine.worker import Worker
from gnomon.handlers.function import FunctionHandler
from gnomon.handlers.functions import Functions
from gnomon.handlers.registry import Registry
from gnomon.settings import HandlerSettings
from gnomon.store.hints import LocalHints
from gnomon.store.migrate import migrate
from gnomon.store.sql_store import SqlStore
from gnomon.store.sqlite import MEMORY, SqliteDatabase
from gnomon.testing.clock import ManualClock

LOOK_AGAIN = timedelta(milliseconds=10)


@asynccontextmanager
async def inline(app: Gnomon, *, clock: ManualClock | None = None, slots: int = 1) -> AsyncIterator[Inline]:
    """The app on an empty store in memory, until the end of the block. Its own database is left alone.

    What is enqueued runs when the test says so: `run.drain()`, `run.advance(...)`, or by waiting for a
    result. One at a time, in order; a job that waits for the result of another needs two `slots`.
    """
    clock = clock or ManualClock()
    database = SqliteDatabase(MEMORY)
    async with AsyncExitStack() as stack:
        store = SqlStore(database, rescan=timedelta(0))
        stack.push_async_callback(store.close)
        await migrate(database, now=clock.now())
        registry = Registry([FunctionHandler(HandlerSettings(), _here(app.functions))])
        stack.push_async_callback(registry.aclose)
        run = Inline(store, clock, registry, slots=slots)
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

    def __init__(self, store: SqlStore, clock: ManualClock, handlers: Registry, *, slots: int) -> None:
        self.clock = clock
        self.store = store
        # Each has a seed of its own, and always the same: so does every run of the test.
        self.ids = IdSource(Random(1))  # noqa: S311
        telemetry = Telemetry()
        self.notebook = Notebook(
            logs=store.logs, checkpoints=store.checkpoints, clock=clock, telemetry=telemetry
        )
        self._completer = Completer(
            executions=store.executions,
            clock=clock,
            random=Random(2),  # noqa: S311
            notebook=self.notebook,
            telemetry=telemetry,
        )
        self._worker = Worker(
            Registration(WorkerId("inline"), self.ids.next(clock.now()), "here", slots, handlers.kinds),
            executions=store.executions,
            checkpoints=store.checkpoints,
            clock=clock,
            ids=self.ids,
            handlers=handlers,
            completer=self._completer,
            notebook=self.notebook,
            telemetry=telemetry,
        )
        self._scheduler = Scheduler(
            schedules=store.schedules, clock=clock, ids=self.ids, telemetry=telemetry, fired=lambda: None
        )
        self._sweeper = Sweeper(executions=store.executions, clock=clock, admitted=lambda: None)
        self._conductor = Conductor(runs=store.runs, clock=clock, released=lambda: None)

    async def drain(self) -> None:
        """Fire and run what is due now, and what that leads to, until nothing is left to do."""
        started = -1
        while started < self._worker.started:
            started = self._worker.started
            while await self._scheduler.step() == NOW:
                pass
            while await self._sweeper.step() == NOW:
                pass
            while await self._conductor.step() == NOW:
                pass
            await self._worker.step()
            await self._until_written()

    async def advance(self, by: timedelta | float) -> None:
        """Let time pass, a number in seconds. Everything on the way happens at its own time, in order."""
        passing = duration(by, field="by")
        assert passing is not None
        until = self.clock.now() + passing
        await self.drain()
        while (at := await self._next_time()) is not None and at <= until:
            self.clock.advance(at - self.clock.now())
            await self.drain()
        self.clock.advance(until - self.clock.now())
        await self.drain()

    async def _until_written(self) -> None:
        while True:
            await self.notebook.step()
            await self._completer.step()
            if self._worker.is_empty and not self._worker.running:
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
class _InlineConnection(Connection):
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
