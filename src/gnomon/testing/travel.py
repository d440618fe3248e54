"""The jobs of an app from one date to another in virtual time, with trouble where a test wants it.

A trip is a virtual world (see testing/virtual) whose jobs are the app's own: production scheduler, worker and
store, in an event loop that never waits.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Self, cast

from gnomon.app.connection import AppConnection
from gnomon.app.gnomon import Gnomon
from gnomon.app.jobs.calls import duration
from gnomon.app.jobs.fixed_job import FixedJob
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Execution, ExecutionStatus
from gnomon.core.executions.records import ExecutionFilter, Page
from gnomon.core.jobs.job import JobId
from gnomon.core.values.ids import IdSource
from gnomon.core.values.limits import PAGE_LIMIT_MAX
from gnomon.errors import InvalidInput
from gnomon.handlers.base import Handler
from gnomon.handlers.python.handler import FunctionHandler
from gnomon.handlers.registry import Registry
from gnomon.settings import HandlerSettings
from gnomon.store.databases.hints import LocalHints
from gnomon.store.databases.one_thread import Here
from gnomon.store.databases.sqlite import SqliteDatabase
from gnomon.store.databases.sqlite_connection import MEMORY
from gnomon.store.sql_store import SqlStore
from gnomon.testing.firing import RUNS_MAX, Named, Quiet, check_limit, names_of, too_many
from gnomon.testing.stubs import stub_handlers
from gnomon.testing.virtual.network import Line, Network, RemoteStore
from gnomon.testing.virtual.node import Boot, Machine, VirtualNode
from gnomon.testing.virtual.world import Outage, VirtualWorld
from gnomon.testing.watched import Call, Watched, When, in_the_loop

Duration = timedelta | float
# In seconds.
LATENCY = 0.001  # One way.
LOOK = 10.0
READY_BEFORE = 15.0  # Time to ask for the time, and to say that one is alive.


@dataclass(frozen=True, slots=True)
class Journey:
    """What happened on the way. `runs` are all executions, the oldest first, as they are at the end."""

    runs: Sequence[Execution]
    calls: Sequence[Call]
    job_names: dict[JobId, str] = field(repr=False)

    def runs_of(self, job: str) -> list[Execution]:
        return [run for run in self.runs if self.job_names.get(run.job_id) == job]

    def calls_of(self, job: str) -> list[Call]:
        return [call for call in self.calls if call.job == job]


class TimeTravel:
    """`TimeTravel(app, start=...).run(until=...)`. The same seed makes the same journey, every time.

    Functions run in the one thread there is. What they sleep with `asyncio.sleep` takes no time; what they
    sleep with `time.sleep` does. What they read from the clock of the machine is today: ask the context for
    `nominal_time` instead.
    """

    def __init__(
        self,
        app: Gnomon,
        *,
        start: datetime,
        workers: int = 1,
        slots: int = 10,
        seed: int = 1,
        only: Collection[Named] | None = None,
        limit: int = RUNS_MAX,
        stubs: Mapping[FixedJob | str, Any] | None = None,
    ) -> None:
        """With `only`, no other job fires by its schedule. More calls than the limit end the journey."""
        _check_zone(start, "start")
        if only is not None:
            names_of(app, only)
        self._rules = _Rules(only, check_limit(limit), stubs or {})
        self._app = app
        self._start = start
        self._seed = seed
        self._machines = (
            Machine(name="scheduler", latency=LATENCY, schedules=True),
            *(
                Machine(name=f"worker-{number}", latency=LATENCY, slots=slots)
                for number in range(1, workers + 1)
            ),
        )
        self._outages: list[Outage] = []
        self._crashes: dict[int, When] = {}
        self._crash_lasts = timedelta(seconds=5)

    def crash_worker(self, *, at_call: int, when: When = "after", down: Duration = 5.0) -> Self:
        """Kill the worker at the call of this number, from 1: before the function runs, or right after.

        After is the nasty case: the work is done, and nobody has written down that it is. The worker is back
        `down` later, and the run when its lease has run out.
        """
        if at_call < 1:
            raise InvalidInput("at_call", "calls are counted from 1.")
        self._crashes[at_call] = when
        self._crash_lasts = duration(down, field="down") or timedelta(0)
        return self

    def drop_store(self, *, at: datetime | Duration, lasts: Duration = 30.0) -> Self:
        """Nobody reaches the store from `at`, an instant or a time after the start, for so long."""
        seconds = (duration(lasts, field="lasts") or timedelta(0)).total_seconds()
        self._outages.append(Outage(self._after_start(at, "at"), seconds))
        return self

    def run(self, *, until: datetime | Duration) -> Journey:
        """From the start to `until`, an instant or a time after the start. Not in a running event loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise InvalidInput(
                "run",
                "a journey has an event loop of its own, and one runs here already. "
                "Use await asyncio.to_thread(trip.run, until=...).",
            )
        plan = _Plan(self._after_start(until, "until"), self._outages, self._crashes, self._rules)
        return _Trip(
            self._app,
            plan,
            self._machines,
            seed=self._seed,
            start=self._start,
            crash_lasts=self._crash_lasts.total_seconds(),
        ).travel()

    def _after_start(self, at: datetime | Duration, name: str) -> float:
        if isinstance(at, datetime):
            _check_zone(at, name)
            at = at - self._start
        seconds = (duration(at, field=name) or timedelta(0)).total_seconds()
        if seconds <= 0:
            raise InvalidInput(name, "must be after the start.")
        return seconds


@dataclass(frozen=True, slots=True)
class _Rules:
    only: Collection[Named] | None
    limit: int
    stubs: Mapping[FixedJob | str, Any]


@dataclass(frozen=True, slots=True)
class _Plan:
    seconds: float  # From the start to the end.
    outages: Sequence[Outage]
    crashes: dict[int, When]
    rules: _Rules


class _Trip(VirtualWorld[VirtualNode]):
    def __init__(
        self,
        app: Gnomon,
        plan: _Plan,
        machines: Sequence[Machine],
        *,
        seed: int,
        start: datetime,
        crash_lasts: float,
    ) -> None:
        super().__init__(machines, seed=seed, start=start, crash_lasts=crash_lasts)
        self._app = app
        self._plan = plan
        self._stubs = stub_handlers(app, plan.rules.stubs)
        self._functions = in_the_loop(app.functions)
        self.crashes = plan.crashes
        self.calls: list[Call] = []
        self.job_names: dict[JobId, str] = {}

    def travel(self) -> Journey:
        runs, bugs = self.live(self._travel())
        if bugs:
            raise AssertionError("Something of Gnomon itself failed on the way:\n" + "\n".join(bugs))
        return Journey(sorted(runs, key=lambda run: run.id), self.calls, self.job_names)

    async def _travel(self) -> tuple[list[Execution], list[str]]:
        await self.found(SqliteDatabase(MEMORY, hands=Here))
        self.network = Network(self.loop, now=self.now)
        async with self._settled():
            runs = await self._until_full()
        # A copy: at the end of the world everything is cancelled, and some of that may be logged.
        return runs, list(self.watch.bugs)

    def handlers(self, boot: Boot) -> Registry:
        functions = FunctionHandler(HandlerSettings(), self._functions)
        known: Sequence[Handler] = [functions, *self._stubs]
        return Registry([Watched(self, boot, handler) for handler in known])

    def called(self, call: Call) -> None:
        self.calls.append(call)
        if len(self.calls) > self._plan.rules.limit and not self._full.done():
            runs = Counter(one.job for one in self.calls)
            self._full.set_exception(too_many(self._plan.rules.limit, runs, now=self.now()))

    async def _until_full(self) -> list[Execution]:
        """Until the end, or until there were too many calls."""
        years = asyncio.ensure_future(self._years())
        first: list[asyncio.Future[Any]] = [years, self._full]
        await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        if self._full.done():
            self._full.result()
        return await years

    async def _years(self) -> list[Execution]:
        self.populate(VirtualNode(self, machine) for machine in self.machines)
        self.schedule(self._plan.outages)
        await asyncio.sleep(self._plan.seconds - self.loop.time())
        self.is_over = True
        return await self.kept()

    @asynccontextmanager
    async def _settled(self) -> AsyncIterator[None]:
        """The app is a client like any other: when the store is away, it is away for it, too."""
        line = Line("app/1", SqlStore(self.database), self.chance.fork("net:app"), LATENCY)
        store = cast("SqlStore", RemoteStore(self.network, line))
        ids = IdSource(self.chance.fork("ids:app"))
        connection = AppConnection(store, LocalHints(), _TrueTime(self.now), ids, self._app.check)
        self._full: asyncio.Future[None] = self.loop.create_future()
        async with self._app.through(connection):
            if self._plan.rules.only is not None:
                await Quiet(connection.client).silence(self._app, self._plan.rules.only)
            skipping = asyncio.create_task(self._skip_idle_hours())
            yield
            skipping.cancel()
            self.job_names |= {
                job.id: job.name
                for job_id in {run.job_id for run in await self.kept()}
                for job in [await self.store.jobs.get(DEFAULT_TENANT, job_id)]
            }

    async def _skip_idle_hours(self) -> None:
        """Nobody misses what services do while there is nothing to do: they look, many times a minute."""
        while True:
            await asyncio.sleep(LOOK)
            idle_until = await self._idle_until()
            if idle_until is not None:
                self.loop.skip_to(idle_until - READY_BEFORE)

    async def _idle_until(self) -> float | None:
        """When something is to be done next, in seconds after the start; None if something is now."""
        for status in (ExecutionStatus.RUNNING, ExecutionStatus.QUEUED):
            if (await self._page(status)).items:
                return None
        times = [run.due for run in (await self._page(ExecutionStatus.PENDING)).items]
        next_due = await self.store.schedules.next_due()
        if next_due is not None:
            times.append(next_due)
        now = self.loop.time()
        to_come = [one.at for one in self._plan.outages if one.at + one.seconds > now]
        seconds = [(at - self.start).total_seconds() for at in times]
        return min([*seconds, *to_come, self._plan.seconds])

    async def _page(self, status: ExecutionStatus) -> Page[Execution]:
        return await self.store.executions.page(
            DEFAULT_TENANT, ExecutionFilter(status=status), now=self.now(), limit=PAGE_LIMIT_MAX
        )


@dataclass(frozen=True, slots=True)
class _TrueTime:
    now: Callable[[], datetime]
    is_settled: bool = True

    async def sure(self) -> None:
        """It is."""


def _check_zone(instant: datetime, name: str) -> None:
    if instant.tzinfo is None:
        raise InvalidInput(name, "has no time zone; say tzinfo=UTC, or another.")
