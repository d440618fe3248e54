"""The commands that stay: `up`, `scheduler`, `worker`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import typer
from rich.console import Console

from gnomon import __version__
from gnomon.app.demo import add_demo_jobs
from gnomon.app.engine import Engine
from gnomon.app.process import Role, run_alone, run_process
from gnomon.cli.live import live_view
from gnomon.cli.options import Config, Database, LogFormat, LogLevel, option, start
from gnomon.cli.telling import telling
from gnomon.settings import Settings, without_password

logger = logging.getLogger(__name__)

SCHEDULER = "scheduler"

App = Annotated[str | None, option("app", "MODULE:NAME")]
Slots = Annotated[str | None, option("worker.slots", "NUMBER")]
Queues = Annotated[str | None, option("worker.queues", "NAMES")]
Capabilities = Annotated[str | None, option("worker.capabilities", "NAMES")]
Name = Annotated[str | None, option("worker.name", "NAME")]
DrainSeconds = Annotated[str | None, option("worker.drain_seconds", "SECONDS")]


def up(
    demo: Annotated[
        bool, typer.Option("--demo", help="Make a handful of sample jobs, and show what they do.")
    ] = False,
    app: App = None,
    slots: Slots = None,
    database: Database = None,
    config: Config = None,
    log_format: LogFormat = None,
    log_level: LogLevel = None,
) -> None:
    """Run scheduler and worker in one process, on an embedded SQLite file unless told otherwise.

    The file is made if need be, and belongs to this process until it ends. Ctrl-C drains.

    Examples:
    ```
    gnomon up --demo
    gnomon up --app shop.jobs:app --slots 20
    ```
    """
    console = Console()
    is_watched = demo and console.is_terminal
    settings = start(
        app=app,
        worker_slots=slots,
        database=database,
        config=config,
        log_format=log_format,
        log_level="error" if is_watched else log_level,  # Lines would tear the table apart.
    )

    @asynccontextmanager
    async def beside(engine: Engine) -> AsyncIterator[None]:
        if demo:
            await add_demo_jobs(engine)
        async with live_view(engine, console) if is_watched else _told(engine, settings, "Gnomon"):
            yield

    asyncio.run(run_alone(settings, beside=beside))


def scheduler(
    database: Database = None,
    config: Config = None,
    log_format: LogFormat = None,
    log_level: LogLevel = None,
) -> None:
    """Run a scheduler: fires what is due, takes back what dead workers held, keeps the store tidy.

    Any number may run at once; each due time fires once, whoever comes first.

    Examples:
    ```
    gnomon scheduler --database postgresql://gnomon@db.example/gnomon
    ```
    """
    settings = start(database=database, config=config, log_format=log_format, log_level=log_level)
    _run(settings, Role.SCHEDULER, SCHEDULER)


def worker(
    app: App = None,
    slots: Slots = None,
    queues: Queues = None,
    capabilities: Capabilities = None,
    name: Name = None,
    drain_seconds: DrainSeconds = None,
    database: Database = None,
    config: Config = None,
    log_format: LogFormat = None,
    log_level: LogLevel = None,
) -> None:
    """Run a worker: claims what fits its kinds, queues and capabilities, and runs it.

    SIGTERM drains: nothing new is taken, what runs may finish, the rest goes back to the queue without being
    charged. A second SIGTERM hurries, a third exits.

    Examples:
    ```
    gnomon worker --app shop.jobs:app
    gnomon worker --queues mail,reports --slots 50 --database postgresql://gnomon@db.example/gnomon
    ```
    """
    settings = start(
        app=app,
        worker_slots=slots,
        worker_queues=queues,
        worker_capabilities=capabilities,
        worker_name=name,
        worker_drain_seconds=drain_seconds,
        database=database,
        config=config,
        log_format=log_format,
        log_level=log_level,
    )
    _run(settings, Role.WORKER, "worker")


def _run(settings: Settings, role: Role, name: str) -> None:
    asyncio.run(run_process(settings, role, beside=lambda engine: _told(engine, settings, name)))


@asynccontextmanager
async def _told(engine: Engine, settings: Settings, name: str) -> AsyncIterator[None]:
    """What happens, as lines of log."""
    extra = {"database": without_password(settings.database), "version": __version__}
    async with telling(engine.telemetry, engine.store.jobs, engine.clock):
        logger.info("%s is up", name, extra=extra)
        if name != SCHEDULER and not settings.app:
            logger.info("without --app MODULE:NAME, no functions of yours are run here")
        yield
    logger.info("%s has ended", name)
