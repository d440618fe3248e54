"""What is asked of a declared job: runs and schedules, with arguments and options."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

from gnomon.app.connection import AppConnection
from gnomon.app.jobs.calls import RUN_OPTIONS, RunOptions, as_input
from gnomon.app.jobs.declaration import WHEN_OPTIONS, When, name_of
from gnomon.app.jobs.run import Run
from gnomon.app.registration import registered
from gnomon.client import Ask, Draft
from gnomon.core.executions.execution import Enqueued
from gnomon.core.jobs.job import Definition, Job, JobId
from gnomon.core.time.schedule import Manual
from gnomon.core.values.document import JSON, Document
from gnomon.errors import InvalidInput, JobNotFound

Result = TypeVar("Result")

SCHEDULE_OPTIONS = WHEN_OPTIONS | {"name"}


class JobConnector(Protocol):
    """What a job needs of its app."""

    @property
    def is_connected(self) -> bool: ...

    async def connected(self) -> AppConnection: ...


class Called(Protocol):
    """What a job says about itself and about what it is called with."""

    name: str
    definition: Definition
    tags: frozenset[str]
    returns: Any

    def split(
        self, given: Mapping[str, Any], options: Collection[str]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arguments, and options of these names."""

    def encoded(self, arguments: Mapping[str, Any]) -> dict[str, JSON]:
        """The arguments as JSON that it can run with. Raises InvalidInput that names one."""

    def payload(self, values: dict[str, JSON]) -> Document:
        """The payload of a job that always runs with these arguments."""


class JobCall(Generic[Result]):
    """A job and options for what is asked of it next."""

    def __init__(self, job: Called, app: JobConnector, options: dict[str, Any]) -> None:
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
        self, connection: AppConnection, asks: Sequence[Callable[[JobId], Ask]]
    ) -> Sequence[Enqueued]:
        job_id = await connection.job_id(self._job.name)
        return await connection.client.executions.enqueue_many([ask(job_id) for ask in asks])

    async def schedule(self, **arguments: Any) -> Job:
        given, options = self._job.split(arguments, SCHEDULE_OPTIONS)
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
        payload = self._job.payload(self._job.encoded(given))
        return replace(self._job.definition, payload=payload, schedule=schedule)

    def _ask(self, arguments: Mapping[str, Any]) -> Callable[[JobId], Ask]:
        given, options = self._job.split(arguments, RUN_OPTIONS)
        chosen = self._options | options
        if unfit := chosen.keys() - RUN_OPTIONS:
            raise InvalidInput(min(unfit), "is an option of a schedule, not of a run.")
        document = as_input(self._job.encoded(given))
        return functools.partial(RunOptions(**chosen).ask, given=document)

    def _run(self, enqueued: Enqueued) -> Run[Result]:
        return Run(enqueued.id, self._job.returns, self._app.connected, is_new=enqueued.is_new)
