"""A job that code declares, and the verbs that every such job has, whatever it runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from gnomon.app.jobs.calls import RUN_OPTIONS
from gnomon.app.jobs.job_call import SCHEDULE_OPTIONS, JobCall, JobConnector
from gnomon.app.jobs.run import Run
from gnomon.app.workflows.sketch import TaskOptions
from gnomon.app.workflows.task_call import JobTask
from gnomon.client import Draft
from gnomon.core.jobs.job import Definition, Job
from gnomon.core.values.document import JSON, Document
from gnomon.errors import InvalidInput

Result = TypeVar("Result")


class DeclaredJob(ABC, Generic[Result]):
    """`definition` is what it comes to in the store, `returns` the type of its results."""

    def __init__(
        self, app: JobConnector, name: str, definition: Definition, tags: Collection[str], returns: Any
    ) -> None:
        self.name = name
        self.definition = definition
        self.tags = frozenset(tags)
        self.returns = returns
        self._app = app
        self._plain: JobCall[Result] = JobCall(self, app, {})

    def __repr__(self) -> str:
        return f"<job {self.name}>"

    def draft(self) -> Draft:
        return Draft(self.name, self.definition, self.tags)

    # What depends on what it runs ----------------------------------------------------------------------

    @abstractmethod
    def split(
        self, given: Mapping[str, Any], options: Collection[str]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arguments, and options of these names."""

    @abstractmethod
    def encoded(self, arguments: Mapping[str, Any]) -> dict[str, JSON]:
        """The arguments as JSON that it can run with. Raises InvalidInput that names one."""

    @abstractmethod
    def payload(self, values: dict[str, JSON]) -> Document:
        """The payload of a job that always runs with these arguments."""

    @abstractmethod
    def task_payload(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The payload of a task that is called like this. What is promised is in it as it is."""

    # In a function of `@app.dag` -----------------------------------------------------------------------

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

    def options(self, **options: Any) -> JobCall[Result]:
        """Options of runs and schedules, apart from the arguments: for a job that uses their names."""
        known = RUN_OPTIONS | SCHEDULE_OPTIONS
        for name in options:
            if name not in known:
                raise InvalidInput(name, f"is no option; there are {', '.join(sorted(known))}.")
        return JobCall(self, self._app, options)

    async def enqueue(self, **arguments: Any) -> Run[Result]:
        """Ask for a run with these arguments. Raises InvalidInput that names the one that does not fit.

        `priority`, `delay`, `at` and `unique_key` are options of the run, unless the job has arguments of
        those names.
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
        """A job of its own that does the same by a schedule, with these arguments.

        `name`, `cron`, `every`, `at`, `timezone`, `misfire`, `overlap` and `schedule` are options, unless the
        job has arguments of those names. The same call again changes nothing; with the same `name` and
        something else, it changes the job.
        """
        return await self._plain.schedule(**arguments)
