"""The commands that stay: `up`, `api`, `scheduler`, `worker`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from typing import Annotated

import typer
import uvloop

from gnomon import __version__
from gnomon.app.demo import add_demo_jobs
from gnomon.app.processes.engine import Engine
from gnomon.app.processes.process import Role, run_alone, run_process, run_until_told
from gnomon.app.processes.remote import RemoteEngine, running_remotely
from gnomon.cli.output.live import live_view
from gnomon.cli.output.narration import Nameless, narrated
from gnomon.cli.output.terminal import Screen, say
from gnomon.cli.session.options import Config, Database, LogFormat, LogLevel, option, read_settings, start
from gnomon.cli.session.profiles import address_of, keep_if_new, names_the_key, next_command
from gnomon.cli.session.session import KeyOption, ProfileOption, ServerOption
from gnomon.client.access.keys import NewKey
from gnomon.client.remote.wire import ServerAddress
from gnomon.client.workflows.places import TaskLookup
from gnomon.errors import InvalidInput
from gnomon.settings import Reading, Settings, without_password
from gnomon.settings.api import in_url

logger = logging.getLogger(__name__)

API, SCHEDULER = "API", "scheduler"

App = Annotated[str | None, option("app", "MODULE:NAME")]
Slots = Annotated[str | None, option("worker.slots", "NUMBER")]
Queues = Annotated[str | None, option("worker.queues", "NAMES")]
Capabilities = Annotated[str | None, option("worker.capabilities", "NAMES")]
Name = Annotated[str | None, option("worker.name", "NAME")]
Host = Annotated[str | None, option("api.host", "ADDRESS")]
Port = Annotated[str | None, option("api.port", "NUMBER|off")]
InsecureAck = Annotated[str | None, option("api.insecure", "on|off")]
DrainSeconds = Annotated[str | None, option("worker.drain_seconds", "SECONDS")]


def up(
    demo: Annotated[
        bool, typer.Option("--demo", help="Make a handful of sample jobs, and show what they do.")
    ] = False,
    app: App = None,
    slots: Slots = None,
    host: Host = None,
    port: Port = None,
    insecure_ack: InsecureAck = None,
    database: Database = None,
    config: Config = None,
    log_format: LogFormat = None,
    log_level: LogLevel = None,
) -> None:
    """Run API, scheduler and worker in one process, on an embedded SQLite file unless told otherwise.

    The file is made if need be, and belongs to this process until it ends. Ctrl-C drains.

    Examples:
    ```
    gnomon up --demo
    gnomon up --app shop.jobs:app --slots 20
    ```
    """
    console = Screen()
    is_watched = demo and console.is_terminal
    settings = start(
        app=app,
        worker_slots=slots,
        api_host=host,
        api_port=port,
        api_insecure=insecure_ack,
        database=database,
        config=config,
        log_format=log_format,
        log_level="error" if is_watched else log_level,  # Lines would tear the table apart.
    )
    _check_exposure(settings)
    beside = partial(_beside_all, settings=settings, demo=demo, watching=console if is_watched else None)
    asyncio.run(run_alone(settings, beside=beside))


@asynccontextmanager
async def _beside_all(
    engine: Engine, *, settings: Settings, demo: bool, watching: Screen | None
) -> AsyncIterator[None]:
    """What `up` has beside its engine: sample jobs, the API, and somebody who tells."""
    if demo:
        await add_demo_jobs(engine)
    has_api = settings.api.port is not None
    made: list[NewKey] = []
    async with (
        _api_beside(engine, settings, partial(_keep_key, settings, made)) if has_api else nullcontext(),
        live_view(engine, watching, _next_step(settings, made))
        if watching
        else _logged(engine, settings, "Gnomon"),
    ):
        if not watching:
            logger.info("%s", " ".join(_next_step(settings, made)))
        yield


def _next_step(settings: Settings, made: Sequence[NewKey]) -> list[str]:
    """A sentence, and the command that it ends with."""
    if settings.api.port is None:
        return ["ready, without an API."]
    url = _url_of(settings)
    command = next_command(settings, url, made[0].text if made else None)
    return [f"ready at {url}. Next, in another terminal:", command]


def api(
    host: Host = None,
    port: Port = None,
    insecure_ack: InsecureAck = None,
    app: App = None,
    database: Database = None,
    config: Config = None,
    log_format: LogFormat = None,
    log_level: LogLevel = None,
) -> None:
    """Run an API node: REST, events and the worker protocol. Any number may run at once; none keeps state.

    Examples:
    ```
    gnomon api --database postgresql://gnomon@db.example/gnomon
    gnomon api --host 0.0.0.0 --insecure-ack on    # behind a proxy that does TLS
    ```
    """
    settings = start(
        api_host=host,
        api_port=port,
        api_insecure=insecure_ack,
        app=app,
        database=database,
        config=config,
        log_format=log_format,
        log_level=log_level,
    )
    if settings.api.port is None:
        raise InvalidInput("api.port", "is off, so there is nothing to run.")
    _check_exposure(settings)

    @asynccontextmanager
    async def beside(engine: Engine) -> AsyncIterator[None]:
        async with _api_beside(engine, settings, _show_key), _logged(engine, settings, API):
            yield

    uvloop.run(run_process(settings, Role(0), beside=beside))


# The API brings a web framework along, which takes half a second to import. Other commands do without.


def _api_beside(
    engine: Engine, settings: Settings, show: Callable[[NewKey], None]
) -> AbstractAsyncContextManager[None]:
    from gnomon.app.processes.serving import api_beside

    return api_beside(engine, settings, show)


def _check_exposure(settings: Settings) -> None:
    from gnomon.app.processes.serving import check_exposure

    check_exposure(settings.api)


def _show_key(new: NewKey) -> None:
    """Once, on stdout, and never in the log."""
    say(f"API key, shown only now: {new.text}")


def _keep_key(settings: Settings, made: list[NewKey], new: NewKey) -> None:
    """`gnomon up` is mostly run by the person that calls it: the key is put where commands look for one."""
    made.append(new)
    kept = keep_if_new(settings.profile, ServerAddress(_url_of(settings), new.text))
    _show_key(new)
    say(kept)


def _url_of(settings: Settings) -> str:
    """How a command on this machine reaches the API."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.api.host, settings.api.host)  # noqa: S104
    scheme = "http" if settings.api.tls_certificate is None else "https"
    assert settings.api.port is not None
    return f"{scheme}://{in_url(host, settings.api.port)}"


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
    server: ServerOption = None,
    key: KeyOption = None,
    profile: ProfileOption = None,
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
    gnomon worker --server https://gnomon.example:8484    # no database; the key is in GNOMON_KEY
    ```
    """
    settings = start(
        app=app, worker_slots=slots, worker_queues=queues, worker_capabilities=capabilities, worker_name=name,
        worker_drain_seconds=drain_seconds, server=server, key=key, profile=profile, database=database,
        config=config, log_format=log_format, log_level=log_level,
    )  # fmt: skip
    if server is not None and database is not None:
        raise InvalidInput("server", "a worker works for a server or on a database: give one of them.")
    if server is None:
        _run(settings, Role.WORKER, "worker")
    else:
        _run_remotely(settings, read_settings(server=server, key=key, profile=profile))


def _run(settings: Settings, role: Role, name: str) -> None:
    @asynccontextmanager
    async def beside(engine: Engine) -> AsyncIterator[None]:
        async with _probes(engine, settings), _logged(engine, settings, name):
            yield

    asyncio.run(run_process(settings, role, beside=beside))


def _probes(engine: Engine | RemoteEngine, settings: Settings) -> AbstractAsyncContextManager[None]:
    """Imported only where they are wanted: the library for metrics is not small."""
    if settings.health.port is None:
        return nullcontext()
    from gnomon.app.processes.probes import probes_of, remote_probes_of

    if isinstance(engine, RemoteEngine):
        return remote_probes_of(engine, settings.health)
    return probes_of(engine, settings.health)


def _run_remotely(settings: Settings, found: Reading) -> None:
    address = address_of(settings)

    @asynccontextmanager
    async def beside(engine: RemoteEngine) -> AsyncIterator[None]:
        async with _probes(engine, settings), narrated(engine.telemetry, Nameless(), engine.clock):
            logger.info("worker is up", extra={"server": address.url, "version": __version__})
            yield
        logger.info("worker has ended")

    with names_the_key(address.url, settings, found):
        asyncio.run(run_until_told(running_remotely(settings, address), beside=beside))


@asynccontextmanager
async def _logged(engine: Engine, settings: Settings, name: str) -> AsyncIterator[None]:
    """What happens, as lines of log."""
    extra = {"database": without_password(settings.database), "version": __version__}
    tasks = TaskLookup(engine.store)
    async with narrated(engine.telemetry, engine.store.jobs, engine.clock, tasks=tasks):
        logger.info("%s is up", name, extra=extra)
        if name not in (API, SCHEDULER) and not settings.app:
            logger.info("without --app MODULE:NAME, no functions of yours are run here")
        yield
    logger.info("%s has ended", name)
