"""A process around an engine: from settings to services, signals, and how it ends."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from enum import Flag, auto
from functools import partial
from pathlib import Path
from random import Random
from typing import Protocol, TypeVar

from gnomon.app.processes.attached_apps import attached_apps
from gnomon.app.processes.engine import Engine, EngineOptions, open_engine
from gnomon.app.processes.garbage import collect_seldom
from gnomon.app.processes.leaving import left_behind
from gnomon.app.processes.opening import alone_on, dialect_of, open_database, tell_migrated
from gnomon.app.processes.patience import patiently
from gnomon.app.processes.worker_parts import WorkerOptions
from gnomon.core.executions.execution import WorkerId
from gnomon.core.operations.workers import Registration
from gnomon.core.values.ids import IdSource
from gnomon.engine import failpoints
from gnomon.engine.node import Node
from gnomon.engine.workers.recycler import Recycler
from gnomon.errors import GnomonError, InvalidInput
from gnomon.handlers.discovery import discover, installed_kinds
from gnomon.handlers.python.functions import Functions, load, union
from gnomon.handlers.python.handler import FunctionHandler
from gnomon.handlers.registry import Registry
from gnomon.logs import raised
from gnomon.settings import Settings
from gnomon.store.databases.file_lock import Holder
from gnomon.store.databases.sqlite import SqliteDatabase
from gnomon.store.schema.migrations import migrate

logger = logging.getLogger(__name__)

EXIT_AT_ONCE = 3
FAILPOINTS = "GNOMON_FAILPOINTS"


class RunnableEngine(Protocol):
    """What can be run until somebody says otherwise."""

    @property
    def node(self) -> Node: ...
    @property
    def recycler(self) -> Recycler | None: ...


R = TypeVar("R", bound=RunnableEngine)
Beside = Callable[[R], AbstractAsyncContextManager[None]]


class Role(Flag):
    SCHEDULER = auto()
    WORKER = auto()


async def run_process(settings: Settings, role: Role, *, beside: Beside[Engine] | None = None) -> None:
    await run_until_told(running_engine(settings, role), beside=beside)


async def run_until_told(opening: AbstractAsyncContextManager[R], *, beside: Beside[R] | None = None) -> None:
    """Run until SIGTERM or SIGINT. `beside` is opened once the engine is ready, and closed after it ended.

    If the worker has run its course (see the settings worker.recycle_...), the process starts itself anew.
    """
    failpoints.arm(os.environ.get(FAILPOINTS, ""))
    threads = ThreadPoolExecutor(thread_name_prefix="gnomon-to-thread")
    asyncio.get_running_loop().set_default_executor(threads)
    async with opening as engine, beside(engine) if beside else nullcontext():
        collect_seldom()
        was_told = await _until_told(engine)
    if engine.recycler is not None and engine.recycler.has_asked and not was_told:
        logger.info("starting anew")
        os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - the very command that started us.
    if stubborn := await left_behind(threads):
        # Python would wait for them, perhaps for ever. What they were to do has gone back to the queue.
        logger.warning("left behind: %s", ", ".join(stubborn))
        logging.shutdown()
        os._exit(0)


async def run_alone(settings: Settings, *, beside: Beside[Engine] | None = None) -> None:
    """All in one. A file belongs to this process until it ends, and is made and migrated if need be."""
    async with alone(settings):
        await run_process(settings, Role.SCHEDULER | Role.WORKER, beside=beside)


@asynccontextmanager
async def alone(settings: Settings) -> AsyncIterator[None]:
    """If the database is a file: nobody else runs on it until the end of the block, and it is up to date."""
    with alone_on(settings.database, Holder(os.getpid(), socket.gethostname())):
        if dialect_of(settings.database) == SqliteDatabase.dialect:
            url = settings.database
            await patiently(f"the database {url}", partial(_migrate, url), patience=settings.startup.wait)
        yield


@asynccontextmanager
async def running_engine(
    settings: Settings, role: Role, *, handlers: Registry | None = None
) -> AsyncIterator[Engine]:
    """An engine that is ready to run. Without `handlers`, a worker has all that are installed."""
    options = EngineOptions(
        settings.database,
        seed=secrets.randbits(128),
        schedules=Role.SCHEDULER in role,
        lease=settings.worker.lease,
        poll=settings.poll,
        patience=settings.startup.wait,
        fire_batch=settings.scheduler.batch,
        shards=settings.scheduler.shards,
        retention=settings.retention,
        kinds=installed_kinds(settings.handlers),
    )
    if Role.WORKER not in role:
        async with open_engine(options) as engine:
            yield engine
        return
    handlers = handlers or installed_handlers(settings)
    options = replace(options, worker=worker_options(settings, handlers))
    try:
        async with open_engine(options) as engine, attached_apps(settings, engine):
            yield engine
    finally:
        await handlers.aclose()


def installed_handlers(settings: Settings) -> Registry:
    """Every handler that is installed, and the functions of the apps that the settings name.

    A module is looked for in the current folder, too, as if it were run from there.
    """
    if not settings.app:
        return discover(settings.handlers).registry
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    functions = union([_loaded(home) for home in settings.app])
    return discover(
        settings.handlers, given={FunctionHandler.kind: lambda chosen: FunctionHandler(chosen, functions)}
    ).registry


def _loaded(home: str) -> Functions:
    try:
        return load(home)
    except GnomonError:
        raise
    except Exception as error:  # A module may do anything when it is imported.
        logger.error("%s cannot be imported", home, exc_info=raised(error))
        reason = f"{home!r} cannot be imported: {type(error).__name__}: {error}"
        raise InvalidInput("app", reason) from error


def worker_options(settings: Settings, handlers: Registry) -> WorkerOptions:
    chosen, host = settings.worker, socket.gethostname()
    boot = IdSource(Random(secrets.randbits(128))).next(datetime.now(UTC))  # noqa: S311 - an id, no secret.
    registration = Registration(
        WorkerId(chosen.name or f"{host}-{os.getpid()}-{boot.hex[-6:]}"),
        boot,
        host,
        chosen.slots,
        handlers.kinds,
        chosen.queues,
        chosen.capabilities,
    )
    above_mb = chosen.recycle_above_mb
    return WorkerOptions(
        registration,
        handlers,
        drain=chosen.drain,
        recycle_after_attempts=chosen.recycle_after_jobs,
        recycle_above_bytes=None if above_mb is None else above_mb * 2**20,
    )


async def _migrate(url: str) -> None:
    database = await open_database(url)
    try:
        was_new = not await database.applied_migrations()
        done = await migrate(database, now=datetime.now(UTC))
    finally:
        await database.close()
    tell_migrated(url, done, was_new=was_new)


async def _until_told(engine: RunnableEngine) -> bool:
    """Run. The first signal drains, the second hurries, the third exits. Returns if there was one."""
    loop, handler = asyncio.get_running_loop(), SignalHandler(engine)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, handler, number)
    try:
        await engine.node.run()
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
    return handler.times > 0


class SignalHandler:
    def __init__(self, engine: RunnableEngine) -> None:
        self._engine = engine
        self.times = 0

    def __call__(self, number: signal.Signals) -> None:
        self.times += 1
        match self.times:
            case 1:
                logger.info("%s: draining; send it again to hurry", number.name)
                self._engine.node.drain()
            case 2:
                logger.info("%s again: giving back what still runs", number.name)
                self._engine.node.hurry()
            case _:
                os._exit(EXIT_AT_ONCE)
