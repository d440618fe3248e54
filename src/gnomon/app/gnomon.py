"""The Python surface: an app, the jobs that it declares, and its way to a store."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar, overload
from weakref import WeakKeyDictionary

from gnomon.app.connection import AppConnection, chosen_settings, connection_to, open_connection
from gnomon.app.jobs.declaration import Declaration, Seconds
from gnomon.app.jobs.declared_job import DeclaredJob
from gnomon.app.jobs.fixed_declarations import DeclaresCalls
from gnomon.app.jobs.fixed_job import FixedJob
from gnomon.app.jobs.fixed_work import check_payload
from gnomon.app.jobs.job_function import JobFunction
from gnomon.app.processes.engine import Engine
from gnomon.app.sync import Sync
from gnomon.app.workflows.declarations import DeclaresDags
from gnomon.client import Client, Draft
from gnomon.core.jobs.job import PRIORITY_DEFAULT, Definition, Delivery
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.time.schedule import Schedule
from gnomon.errors import GnomonError, InvalidInput
from gnomon.handlers.discovery import discover, installed_kinds
from gnomon.handlers.python.functions import Functions, Isolation
from gnomon.handlers.python.handler import FunctionHandler
from gnomon.settings import HandlerSettings

P = ParamSpec("P")
Result = TypeVar("Result")
Loop = asyncio.AbstractEventLoop


class Decorator:
    """Turns a function into a job."""

    def __init__(self, app: Gnomon, name: str | None, declaration: Declaration) -> None:
        self._app = app
        self._name = name
        self._declaration = declaration

    @overload
    def __call__(
        self, function: Callable[P, Coroutine[Any, Any, Result]]
    ) -> JobFunction[P, Coroutine[Any, Any, Result], Result]: ...

    @overload
    def __call__(self, function: Callable[P, Result]) -> JobFunction[P, Result, Result]: ...

    def __call__(self, function: Callable[P, Any]) -> JobFunction[P, Any, Any]:
        return self._app.declare(function, self._name, self._declaration)


@dataclass
class _Place:
    """What belongs to one event loop."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    connection: AppConnection | None = None


class Gnomon(DeclaresDags, DeclaresCalls):
    """An app. Declares jobs, and connects when it is first asked for something.

    `database` is an address; without one, the settings decide, and the default is an SQLite file in the
    current folder. `home` says where other processes find this app, as `module:attribute`. It is needed only
    for functions that run in a process of their own, and only if the app is not found in their module.
    """

    def __init__(self, database: str | None = None, *, home: str | None = None) -> None:
        super().__init__()
        self.functions = Functions(home=home)
        self.jobs: dict[str, DeclaredJob[Any]] = {}
        self.sync = Sync(self._loop_in_charge, self.close)
        self._drafts: dict[str, Callable[[], Draft]] = {}
        self._database = database
        self._handler = FunctionHandler(HandlerSettings(), self.functions)
        self._places: WeakKeyDictionary[Loop, _Place] = WeakKeyDictionary()
        self._in_charge: tuple[Loop, AppConnection] | None = None

    # Declaring -----------------------------------------------------------------------------------------

    def job(
        self,
        *,
        name: str | None = None,
        cron: str | None = None,
        every: Seconds | None = None,
        timezone: str | None = None,
        schedule: Schedule | None = None,
        misfire: str | None = None,
        overlap: str | None = None,
        retries: int | None = None,
        retry: RetryPolicy | None = None,
        timeout: Seconds | None = None,
        queue: str = "default",
        capabilities: Collection[str] = (),
        priority: int = PRIORITY_DEFAULT,
        max_concurrent: int | None = None,
        delivery: str = Delivery.AT_LEAST_ONCE,
        tags: Collection[str] = (),
        isolation: Isolation | str | None = None,
    ) -> Decorator:
        """Declare the function below as a job of the same name. Raises InvalidInput for what cannot be.

        Durations are timedeltas or seconds. `retries` is how often a run that failed is tried again; `retry`
        is the whole policy instead. docs/reference/python.md describes each of them.
        """
        declared = {key: value for key, value in locals().items() if key not in ("self", "name")}
        return Decorator(self, name, Declaration(**declared))

    def declare(
        self, function: Callable[P, Any], name: str | None, declaration: Declaration
    ) -> JobFunction[P, Any, Any]:
        name = name or function.__name__
        try:
            return self._declared(function, name, declaration)
        except GnomonError as error:
            error.add_note(f"That is about the job {name!r} in {function.__module__!r}.")
            raise

    def _declared(
        self, function: Callable[P, Any], name: str, declaration: Declaration
    ) -> JobFunction[P, Any, Any]:
        self._check_free(name)
        job: JobFunction[P, Any, Any] = JobFunction(self, function, name, declaration)
        if declaration.isolation == Isolation.PROCESS and self.functions.home is None:
            self.functions.home = self._found_in(function)
        self.functions.add(job.name, job.body(), isolation=declaration.isolation)
        self._keep(job)
        return job

    def add_fixed(self, job: FixedJob) -> None:
        self._check_free(job.name)
        self._keep(job)

    def _check_free(self, name: str) -> None:
        if name in self.dags:
            raise InvalidInput("name", f"a workflow is named {name!r}; a job needs a name of its own.")
        if name in self.jobs:
            raise InvalidInput("name", f"a job named {name!r} is declared already.")

    def _keep(self, job: DeclaredJob[Any]) -> None:
        self.jobs[job.name] = job
        self._drafts[job.name] = job.draft

    def has_job(self, name: str) -> bool:
        return name in self.jobs

    def _found_in(self, function: Callable[..., Any]) -> str | None:
        """Where the module of a function keeps this app. A script that was started cannot be imported."""
        module = sys.modules.get(function.__module__)
        if module is None or module.__name__ == "__main__":
            return None
        names = [name for name, value in vars(module).items() if value is self]
        return f"{module.__name__}:{names[0]}" if names else None

    def check(self, definition: Definition) -> None:
        """Refuse what a function of this app cannot be called with, and calls and scripts that cannot be."""
        if definition.kind == self._handler.kind:
            self._handler.check(definition.payload.value)
        else:
            check_payload(definition.kind, definition.payload.value)

    # Connecting ----------------------------------------------------------------------------------------

    def use(self, database: str) -> None:
        """Connect to this database, unless the app was made with an address of its own."""
        self._database = self._database or database

    async def connect(self) -> Client:
        """Open the store, if that has not happened yet in this event loop, and register the declared jobs.

        The answer is the whole of what can be done with the store: see gnomon.client.
        """
        return (await self.connected()).client

    @property
    def is_connected(self) -> bool:
        """Whether the store was opened in this event loop."""
        loop = asyncio.get_running_loop()
        is_in_charge = self._in_charge is not None and self._in_charge[0] is loop
        return is_in_charge or (loop in self._places and self._places[loop].connection is not None)

    async def connected(self) -> AppConnection:
        loop = asyncio.get_running_loop()
        if self._in_charge is not None and self._in_charge[0] is loop:
            connection = self._in_charge[1]
        else:
            connection = await self._opened(loop)
        await connection.keep_time()
        await connection.register(self._drafts)
        await connection.register_dags({name: dag.document for name, dag in self.dags.items()})
        return connection

    async def _opened(self, loop: Loop) -> AppConnection:
        place = self._places.setdefault(loop, _Place())
        async with place.turn:
            if place.connection is None:
                chosen = chosen_settings(self._database)
                place.connection = await open_connection(
                    chosen.database, self.check, dag=chosen.dag, kinds=installed_kinds(chosen.handlers)
                )
            return place.connection

    async def close(self) -> None:
        """Close what was opened in this event loop."""
        place = self._places.pop(asyncio.get_running_loop(), None)
        if place is not None and place.connection is not None:
            await place.connection.close()

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self,
        _: type[BaseException] | None,
        __: BaseException | None,
        ___: TracebackType | None,
    ) -> None:
        await self.close()

    # In the process that runs the jobs -----------------------------------------------------------------

    @asynccontextmanager
    async def running(self, *, slots: int | None = None) -> AsyncIterator[Engine]:
        """Scheduler and worker in this event loop until the end of the block, as `gnomon up` runs them.

        A file belongs to this process meanwhile, and is made if need be. At the end, what runs may finish.
        """
        from gnomon.app.processes.process import (  # It knows apps, so it comes after us.
            Role,
            alone,
            running_engine,
        )

        settings = replace(chosen_settings(self._database), app=())
        if slots is not None:
            settings = replace(settings, worker=replace(settings.worker, slots=slots))
        given = {FunctionHandler.kind: lambda chosen: FunctionHandler(chosen, self.functions)}
        handlers = discover(settings.handlers, given=given).registry
        async with (
            alone(settings),
            running_engine(settings, Role.SCHEDULER | Role.WORKER, handlers=handlers) as engine,
            self.attached(engine),
        ):
            running = asyncio.create_task(engine.node.run(), name="gnomon")
            try:
                yield engine
            finally:
                engine.node.drain()
                await running

    @asynccontextmanager
    async def attached(self, engine: Engine) -> AsyncIterator[AppConnection]:
        """Work through an engine that runs in this event loop, until the end of the block.

        The declared jobs are registered. Jobs that enqueue others do it by the engine's own connections.
        """
        with connection_to(engine, self.check) as connection:
            async with self.through(connection):
                yield connection

    @asynccontextmanager
    async def through(self, connection: AppConnection) -> AsyncIterator[AppConnection]:
        before, self._in_charge = self._in_charge, (asyncio.get_running_loop(), connection)
        try:
            await self.connected()
            yield connection
        finally:
            self._in_charge = before

    def _loop_in_charge(self) -> Loop | None:
        return None if self._in_charge is None else self._in_charge[0]
