"""A function that is a job, too: call it as before, or enqueue it."""

from __future__ import annotations

import functools
import inspect
import sqlite3
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

import msgspec

from gnomon.app.calls import RUN_OPTIONS, RunOptions, as_input, encoded, split
from gnomon.app.connection import Connection
from gnomon.app.declaration import WHEN_OPTIONS, Declaration, When, name_of, payload_of
from gnomon.app.nominal_arguments import filled_in, nominal_arguments
from gnomon.app.registering import registered
from gnomon.app.run import Run
from gnomon.app.sketch import DRAWING, TaskOptions
from gnomon.app.task_call import JobTask
from gnomon.client import Ask, Draft
from gnomon.core.execution import Enqueued
from gnomon.core.job import Definition, Job, JobId
from gnomon.core.nominal import zone_of
from gnomon.core.schedule import Manual
from gnomon.errors import InvalidInput, JobNotFound
from gnomon.handlers.arguments import Signature, signature_of

P = ParamSpec("P")
Returned = TypeVar("Returned")
Result = TypeVar("Result")

SCHEDULE_OPTIONS = WHEN_OPTIONS | {"name"}


class Connector(Protocol):
    """What a job needs of its app."""

    @property
    def is_connected(self) -> bool: ...

    async def connected(self) -> Connection: ...


class JobFunction(Generic[P, Returned, Result]):
    """What `@app.job` makes of a function."""

    def __init__(
        self, app: Connector, function: Callable[P, Returned], name: str, declaration: Declaration
    ) -> None:
        functools.update_wrapper(self, function)
        self.name = name
        self.definition = declaration.definition(name)
        self.tags = frozenset(declaration.tags)
        self.signature: Signature = signature_of(function)
        self.returns = _returns_of(function)
        self._function = function
        self._app = app
        self._plain: Call[Result] = Call(self, app, {})

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Returned:
        """The function itself, here and now, without a store. In a function of `@app.dag`: a task."""
        if DRAWING.get() is not None:
            return self.task()(*args, **kwargs)  # type: ignore[no-any-return]
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<job {self.name}>"

    def body(self) -> Callable[..., Any]:
        """What a worker calls: the function, with the nominal time for what a schedule cannot give it."""
        schedule = self.definition.schedule
        if isinstance(schedule.timing, Manual):
            return self._function
        names = nominal_arguments(self.signature)
        if not names:
            return self._function
        return filled_in(self._function, names, self.signature.context_name, zone_of(schedule))

    def needs(self) -> frozenset[str]:
        """The arguments that nobody gives if the caller does not."""
        needed = {field.name for field in msgspec.structs.fields(self.signature.whole) if field.required}
        is_manual = isinstance(self.definition.schedule.timing, Manual)
        return frozenset(needed if is_manual else needed - nominal_arguments(self.signature).keys())

    def draft(self) -> Draft:
        return Draft(self.name, self.definition, self.tags)

    def options(self, **options: Any) -> Call[Result]:
        """Options of runs and schedules, apart from the arguments: for a function that uses their names."""
        known = RUN_OPTIONS | SCHEDULE_OPTIONS
        for name in options:
            if name not in known:
                raise InvalidInput(name, f"is no option; there are {', '.join(sorted(known))}.")
        return Call(self, self._app, options)

    # In a function of `@app.dag` --------------------------------------------------------------------------

    def task(
        self,
        *,
        name: str | None = None,
        after: Any = (),
        trigger_rule: str | None = None,
        when: Any = (),
        over: Any = None,
        limit: int | None = None,
    ) -> JobTask:
        """A task with options: call what this returns as the job would be called."""
        return JobTask(
            self,
            TaskOptions(name=name, after=after, trigger_rule=trigger_rule, when=when, over=over, limit=limit),
        )

    def map(self, items: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A task with a run for each item, which is the first argument; the others are the same for all."""
        return self.task().map(items, *args, **kwargs)

    # Runs and schedules --------------------------------------------------------------------------------

    async def enqueue(self, **arguments: Any) -> Run[Result]:
        """Ask for a run with these arguments. Raises InvalidInput that names the one that does not fit.

        `priority`, `delay`, `at` and `unique_key` are options of the run, unless the function has parameters
        of those names.
        """
        return await self._plain.enqueue(**arguments)

    async def enqueue_many(self, many: Iterable[Mapping[str, Any]]) -> Sequence[Run[Result]]:
        """A run for each set of arguments, all or none, in order."""
        return await self._plain.enqueue_many(many)

    async def enqueue_in(self, connection: object, /, **arguments: Any) -> Run[Result]:
        """Like `enqueue`, in the transaction that is open on a connection of yours to the same database.

        The run exists exactly if you commit. `connection` is one of asyncpg, of psycopg 3 (async or not), or
        an sqlite3.Connection. Workers are not told, and find it at their next look, within a second or so.
        """
        return await self._plain.enqueue_in(connection, **arguments)

    async def schedule(self, **arguments: Any) -> Job:
        """A job of its own that calls this function by a schedule, with these arguments.

        `name`, `cron`, `every`, `at`, `timezone`, `misfire`, `overlap` and `schedule` are options, unless the
        function has parameters of those names. The same call again changes nothing; with the same `name`
        and something else, it changes the job.
        """
        return await self._plain.schedule(**arguments)


class Call(Generic[Result]):
    """A job and options for what is asked of it next."""

    def __init__(self, job: JobFunction[Any, Any, Result], app: Connector, options: dict[str, Any]) -> None:
        self._job = job
        self._app = app
        self._options = options

    async def enqueue(self, **arguments: Any) -> Run[Result]:
        [run] = await self.enqueue_many([arguments])
        return run

    async def enqueue_many(self, many: Iterable[Mapping[str, Any]]) -> Sequence[Run[Result]]:
        asks = [self._ask(arguments) for arguments in many]
        connection = await self._app.connected()
        try:
            enqueued = await self._enqueue(connection, asks)
        except JobNotFound as error:
            if not connection.forget(error):
                raise
            enqueued = await self._enqueue(connection, asks)
        return [self._run(one) for one in enqueued]

    async def enqueue_in(self, connection: object, /, **arguments: Any) -> Run[Result]:
        ask = self._ask(arguments)
        if (
            isinstance(connection, sqlite3.Connection)
            and connection.in_transaction
            and not self._app.is_connected
        ):
            # Registering jobs writes, and a file has one writer, which is the caller.
            raise InvalidInput(
                "connection", "is in a transaction already. Call app.connect() before it begins."
            )
        ours = await self._app.connected()
        job_id = await ours.job_id(self._job.name)
        [enqueued] = await ours.enqueue_in(connection, [ask(job_id)])
        return self._run(enqueued)

    async def _enqueue(
        self, connection: Connection, asks: Sequence[Callable[[JobId], Ask]]
    ) -> Sequence[Enqueued]:
        job_id = await connection.job_id(self._job.name)
        return await connection.client.executions.enqueue_many([ask(job_id) for ask in asks])

    async def schedule(self, **arguments: Any) -> Job:
        given, options = split(arguments, self._job.signature, SCHEDULE_OPTIONS)
        chosen = self._options | options
        name = chosen.pop("name", None)
        if unfit := chosen.keys() - WHEN_OPTIONS:
            raise InvalidInput(min(unfit), "is an option of a run, not of a schedule.")
        definition = self._scheduled(When(**chosen), given)
        draft = Draft(name or name_of(self._job.name, definition), definition, self._job.tags)
        return await registered((await self._app.connected()).client, draft)

    def _scheduled(self, when: When, given: dict[str, Any]) -> Definition:
        schedule = when.as_schedule()
        if isinstance(schedule.timing, Manual):
            raise InvalidInput("cron", "when shall it run? Give cron, every, at or schedule.")
        values = encoded(given, self._job.signature)
        return replace(self._job.definition, payload=payload_of(self._job.name, values), schedule=schedule)

    def _ask(self, arguments: Mapping[str, Any]) -> Callable[[JobId], Ask]:
        given, options = split(arguments, self._job.signature, RUN_OPTIONS)
        chosen = self._options | options
        if unfit := chosen.keys() - RUN_OPTIONS:
            raise InvalidInput(min(unfit), "is an option of a schedule, not of a run.")
        document = as_input(encoded(given, self._job.signature))
        return functools.partial(RunOptions(**chosen).ask, given=document)

    def _run(self, enqueued: Enqueued) -> Run[Result]:
        return Run(enqueued.id, self._job.returns, self._app.connected, is_new=enqueued.is_new)


def _returns_of(function: Callable[..., Any]) -> Any:
    """The type of the result, to decode it by. Raises InvalidInput for one that JSON cannot bring back."""
    plain = inspect.unwrap(function)
    hints = typing.get_type_hints(plain, include_extras=True) if hasattr(plain, "__annotations__") else {}
    returns = hints.get("return", Any)
    try:
        msgspec.json.Decoder(returns)
    except TypeError as error:
        raise InvalidInput("function", f"what it returns is not for JSON: {error}.") from error
    return returns
