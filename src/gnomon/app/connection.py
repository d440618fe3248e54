"""A way from Python code to a store: opened once in an event loop, and used by everything in it."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from math import inf
from pathlib import Path
from random import Random

from gnomon.app.processes.engine import Engine
from gnomon.app.processes.opening import dialect_of, open_database, open_hints, open_store, tell_migrated
from gnomon.app.registration import registered
from gnomon.client import Ask, Client, Draft, Ends
from gnomon.client.context import ClientContext, no_misfit
from gnomon.client.executions.ends import Bells
from gnomon.core.executions.execution import Enqueued, Execution, ExecutionId
from gnomon.core.jobs.job import Definition, JobId
from gnomon.core.jobs.kinds import Kinds
from gnomon.core.values.ids import IdSource
from gnomon.core.workflows.graph import GraphLimits
from gnomon.engine.clock import Clock, StoreClock
from gnomon.engine.telemetry import Happening, What
from gnomon.errors import GnomonError, JobNotFound, KindDisabled
from gnomon.settings import DagSettings, Settings, read
from gnomon.store.databases.foreign import session_on
from gnomon.store.databases.hints import Hints, Topic
from gnomon.store.databases.sqlite import SqliteDatabase
from gnomon.store.schema.migrations import migrate
from gnomon.store.sql_store import SqlStore

LEARN_EVERY = timedelta(minutes=1)
_ENDS = frozenset({What.COMPLETED, What.FAILED, What.CANCELLED})


@dataclass
class AppConnection:
    """`registered` are the names of the declared jobs that are known to be in the store as declared."""

    store: SqlStore
    hints: Hints
    clock: Clock
    ids: IdSource
    check: Callable[[Definition], None]
    ends: Ends = field(default_factory=Ends)
    bells: Bells = field(default_factory=Bells)
    registered: set[str] = field(default_factory=set)
    registered_dags: set[str] = field(default_factory=set)
    job_ids: dict[str, JobId] = field(default_factory=dict)
    is_own: bool = True  # Else somebody else closes what it uses.
    learned_at: float = -inf
    graph_limits: GraphLimits = field(default_factory=GraphLimits)
    misfit: Callable[[], str | None] = no_misfit
    kinds: Kinds = field(default_factory=Kinds)

    def __post_init__(self) -> None:
        self.client = Client(
            ClientContext(
                self.store,
                self.clock,
                self.ids,
                self.check,
                announce=self.hints.announce,
                ends=self.ends,
                bells=self.bells,
                graph_limits=self.graph_limits,
                misfit=self.misfit,
                kinds=self.kinds,
            )
        )

    async def register(self, drafts: Mapping[str, Callable[[], Draft]]) -> None:
        """Once for each name. A job that somebody deletes later is not made again behind their back."""
        if len(self.registered) == len(drafts):
            return
        for name, draft in drafts.items():
            if name not in self.registered:
                try:
                    self.job_ids[name] = (await registered(self.client, draft())).id
                except KindDisabled as error:
                    error.add_note(f"That is about the job {name!r} that an app declares.")
                    raise
                self.registered.add(name)

    async def register_dags(self, documents: Mapping[str, object]) -> None:
        """The same for workflows."""
        for name, document in documents.items():
            if name not in self.registered_dags:
                try:
                    await self.client.dags.apply(document)
                except GnomonError as error:
                    error.add_note(f"That is about the workflow {name!r}.")
                    raise
                self.registered_dags.add(name)

    async def job_id(self, name: str) -> JobId:
        """Raises JobNotFound. A job that was deleted and made again has a new id."""
        if name not in self.job_ids:
            self.job_ids[name] = (await self.client.jobs.named(name)).id
        return self.job_ids[name]

    def forget(self, error: JobNotFound) -> bool:
        """Whether the job that was not found was known here: then it is worth another look."""
        stale = [name for name, job_id in self.job_ids.items() if job_id == error.id]
        for name in stale:
            del self.job_ids[name]
        return bool(stale)

    async def enqueue_in(self, theirs: object, asks: Sequence[Ask]) -> Sequence[Enqueued]:
        """Through a connection of the user's own, in the transaction that is open on it."""
        async with session_on(theirs) as session:
            return await self.client.executions.enqueue_within(session, asks)

    async def wait(self, execution_id: ExecutionId, patience: timedelta | None) -> Execution:
        return await self.client.executions.wait(execution_id, timeout=patience)

    async def keep_time(self) -> None:
        """Clocks drift apart in the weeks that a process may live."""
        now = asyncio.get_running_loop().time()
        if isinstance(self.clock, StoreClock) and now - self.learned_at > LEARN_EVERY.total_seconds():
            self.learned_at = now
            await self.clock.learn()

    async def close(self) -> None:
        if self.is_own:
            await self.hints.close()
            await self.store.close()


async def open_connection(
    url: str,
    check: Callable[[Definition], None],
    *,
    dag: DagSettings | None = None,
    kinds: Kinds = Kinds(),  # noqa: B008 - frozen.
) -> AppConnection:
    """A file is made and migrated if need be. Raises StoreRefused on a server whose schema is not ours."""
    if dialect_of(url) == SqliteDatabase.dialect:
        database = await open_database(url)
        store = SqlStore(database)
        try:
            was_new = not await database.applied_migrations()
            done = await migrate(database, now=await store.clock())
        except BaseException:
            await store.close()
            raise
        tell_migrated(url, done, was_new=was_new)
    else:
        store = await open_store(url)
    clock = StoreClock(store.clock)
    limits = graph_limits(dag or DagSettings())
    hints = open_hints(url)
    store.runs.stopped = partial(hints.announce, Topic.CANCEL)
    connection = AppConnection(store, hints, clock, _ids(), check, graph_limits=limits, kinds=kinds)
    try:
        await connection.keep_time()
    except BaseException:
        await connection.close()
        raise
    return connection


@contextmanager
def connection_to(
    engine: Engine, check: Callable[[Definition], None], *, dag: DagSettings | None = None
) -> Iterator[AppConnection]:
    """The parts of an engine that runs in this loop. Who waits for a run of its worker is told at once."""
    limits = graph_limits(dag or DagSettings())
    connection = AppConnection(
        engine.store,
        engine.hints,
        engine.clock,
        engine.ids,
        check,
        is_own=False,
        graph_limits=limits,
        misfit=engine.node.misfit,
        kinds=engine.kinds,
    )

    def listen(happening: Happening) -> None:
        if happening.what in _ENDS and happening.execution_id is not None:
            connection.ends.tell(happening.execution_id)

    engine.telemetry.listeners.append(listen)
    silence = engine.hints.listen(connection.bells.ring)
    try:
        yield connection
    finally:
        silence()
        engine.telemetry.listeners.remove(listen)


def graph_limits(chosen: DagSettings) -> GraphLimits:
    return GraphLimits(chosen.tasks_max, chosen.edges_max)


def chosen_settings(database: str | None) -> Settings:
    """What the environment and the file of settings say, else the defaults; but this database, if given."""
    options: dict[str, str | None] = {"database": database}
    return read(options=options, environment=os.environ, folder=Path.cwd()).settings()


def _ids() -> IdSource:
    return IdSource(Random(secrets.randbits(128)))  # noqa: S311 - ids, no secrets.
