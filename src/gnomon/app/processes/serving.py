"""The API in the event loop of a process: beside a scheduler and a worker, or alone."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import socket
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from datetime import timedelta
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from random import Random
from typing import Any

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from gnomon import __version__
from gnomon.api import Api, application
from gnomon.api.serving.aside import Desk
from gnomon.api.serving.presence import Presence
from gnomon.app.connection import connection_to
from gnomon.app.door import IS_SUPPORTED, Doorman, Limits, room_for_connections
from gnomon.app.processes.desk import desk_for
from gnomon.app.processes.engine import Engine
from gnomon.app.processes.opening import is_in_memory, open_store
from gnomon.app.processes.patience import patiently
from gnomon.app.processes.probes import inside_of, vitals_of
from gnomon.app.processes.process import installed_handlers
from gnomon.client import Client
from gnomon.client.access.key_uses import KeyUses, KeyUseWriter
from gnomon.client.access.keys import NewKey
from gnomon.errors import InvalidInput, StoreError
from gnomon.health.metrics import Metrics
from gnomon.settings import ApiSettings, Settings, without_password
from gnomon.settings.api import in_url

logger = logging.getLogger(__name__)

START_PATIENCE = timedelta(seconds=10)
# How long requests that are under way may take once the process wants to end.
STOP_PATIENCE = timedelta(seconds=5)
BACKLOG = 1024
# The server accepts a few connections more than there may be: those are served while others are closed.
SPARE = 64
LAST_STEP_SECONDS = 2.0
OWNER_ONLY, SHARED_BY_ROOT = 0o700, 0o740

Show = Callable[[NewKey], None]


def _request_ids() -> Callable[[], str]:
    """No secrets, so the system is asked for chance once and not for each."""
    random = Random()  # noqa: S311
    return lambda: f"req_{random.getrandbits(64):016x}"


@asynccontextmanager
async def api_beside(engine: Engine, settings: Settings, show: Show) -> AsyncIterator[None]:
    """Serve until the end of the block. `show` gets the key that a first start makes, once."""
    handlers = installed_handlers(settings)
    try:
        with connection_to(engine, handlers.check, dag=settings.dag) as connection:
            api = Api(
                client=connection.client,
                vitals=vitals_of(engine),
                settings=settings.api,
                new_request_id=_request_ids(),
                events=engine.store.events,
                reports=engine.store.reports,
                metrics=Metrics(inside_of(engine)),
                version=__version__,
                presence=Presence(
                    per_address=settings.api.connections_per_address,
                    total=room_for_connections(settings.api.connections_max),
                ),
            )
            async with (
                _writing_uses(api.key_uses, engine),
                _desk(api, engine, settings.database) as desk,
                served(application(api, desk=desk), settings.api, closing=api.closing, presence=api.presence),
            ):
                # Not before the address is had: a key that is kept for another server's address helps nobody.
                await patiently(
                    f"the database {without_password(settings.database)}",
                    partial(_show_first_key, connection.client, show),
                    patience=settings.startup.wait,
                )
                yield
    finally:
        await handlers.aclose()


@asynccontextmanager
async def _writing_uses(uses: KeyUses, engine: Engine) -> AsyncIterator[None]:
    """The node has stopped its services when the API ends: what was noted after that is written here."""
    writer = KeyUseWriter(uses, engine.store.keys)
    engine.node.join(writer)
    try:
        yield
    finally:
        try:
            async with asyncio.timeout(LAST_STEP_SECONDS):
                await writer.step()
        except (StoreError, TimeoutError) as error:
            logger.warning("when keys were last used was not written: %r", error)


def _desk(api: Api, engine: Engine, url: str) -> AbstractAsyncContextManager[Desk | None]:
    """A database in memory cannot be opened twice, so its calls are all served on the loop."""
    if is_in_memory(url):
        return nullcontext()
    return desk_for(api, engine.hints.announce, partial(open_store, url))


async def _show_first_key(client: Client, show: Show) -> None:
    first = await client.keys.create_first()
    if first is not None:
        show(first)


@asynccontextmanager
async def served(
    app: Any, chosen: ApiSettings, *, closing: asyncio.Event, presence: Presence | None = None
) -> AsyncIterator[None]:
    """Listen, and end in order: streams are told, calls may finish, then connections are cut.

    `presence` says which connections have a request under way; without it, quiet ones are not closed.
    """
    check_exposure(chosen)
    port = chosen.port
    assert port is not None
    chosen = replace(chosen, host=_check_free(chosen.host, port))
    logging.getLogger("_granian").setLevel(logging.ERROR)
    server = _server(app, chosen, chosen.connections_max if presence is None else presence.total)
    task = asyncio.create_task(server.serve(), name="api")
    doorman = asyncio.create_task(_watched(presence, chosen), name="doorman")
    try:
        async with asyncio.timeout(START_PATIENCE.total_seconds()):
            await _listening(chosen, task)
        scheme = "http" if chosen.tls_certificate is None else "https"
        logger.info("the API listens at %s://%s", scheme, in_url(chosen.host, port))
        yield
    finally:
        closing.set()
        server.stop()  # type: ignore[no-untyped-call]
        _, left = await asyncio.wait([task], timeout=STOP_PATIENCE.total_seconds())
        if left:
            logger.warning("calls under way were cut off")
            task.cancel()
            await asyncio.wait([task])
        doorman.cancel()
        await asyncio.wait([doorman])


def _server(app: Any, chosen: ApiSettings, room: int) -> Server:
    assert chosen.port is not None
    return Server(
        app,
        address=chosen.host,
        port=chosen.port,
        interface=Interfaces.ASGI,
        log_enabled=False,
        backlog=BACKLOG,
        backpressure=room + SPARE,
        # Of HTTP/2, the door could not see what a client does not read, nor how many calls a connection has.
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=_head_milliseconds(chosen)),
        ssl_cert=chosen.tls_certificate,
        ssl_key=chosen.tls_key,
    )


async def _watched(presence: Presence | None, chosen: ApiSettings) -> None:
    if presence is None or not IS_SUPPORTED:
        return
    assert chosen.port is not None
    limits = Limits.of(chosen, total=presence.total)
    is_plain = chosen.tls_certificate is None
    await Doorman(presence, limits, port=chosen.port, speaks_plainly=is_plain).run()


def _head_milliseconds(chosen: ApiSettings) -> int:
    """The server has one deadline for a head and for an idle connection. The door has finer ones."""
    longest = max(chosen.head, chosen.idle) if IS_SUPPORTED else chosen.head
    return int((longest + timedelta(seconds=1)) / timedelta(milliseconds=1))


def check_exposure(chosen: ApiSettings) -> None:
    """Refuse to send keys over a network in the clear, unless somebody said so. Raises InvalidInput."""
    if chosen.port is None:
        return
    if (chosen.tls_certificate is None) != (chosen.tls_key is None):
        raise InvalidInput("api.tls_key", "certificate and key go together: give both, or none.")
    for field in ("tls_certificate", "tls_key"):
        path = getattr(chosen, field)
        if path is not None and not path.is_file():
            raise InvalidInput(f"api.{field}", f"there is no file {path}.")
    if chosen.tls_key is not None:
        _check_private(chosen.tls_key)
    if chosen.tls_certificate is None and not chosen.insecure and not _is_own_machine(chosen.host):
        raise InvalidInput(
            "api.host",
            f"{chosen.host} can be reached from elsewhere, and there is no TLS: keys would go over the "
            "network in the clear. Give api.tls_certificate and api.tls_key; or, where something in front "
            "does TLS, say so with --insecure-ack on.",
        )


def _check_private(key: Path) -> None:
    """As for PostgreSQL: 0600, or 0640 if root owns it and a group shares it. Raises InvalidInput."""
    found = key.stat()
    allowed = SHARED_BY_ROOT if found.st_uid == 0 and os.geteuid() != 0 else OWNER_ONLY
    mode = stat.S_IMODE(found.st_mode)
    if mode & ~allowed:
        raise InvalidInput(
            "api.tls_key",
            f"other users of this machine can read {key} (mode {mode:04o}). "
            f"Run: chmod 600 {shlex.quote(str(key))}",
        )


def _is_own_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_free(host: str, port: int) -> str:
    """The address of a host, which may be a name. Raises InvalidInput with a sentence if it cannot be had."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise InvalidInput("api.host", f"{host} is unknown here: {error.strerror or error}.") from None
    # A name such as localhost has several: the commands here look for the server at 127.0.0.1.
    family, kind, protocol, _, address = min(found, key=lambda one: one[0] is not socket.AF_INET)
    try:
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise InvalidInput(
            "api.port",
            f"cannot listen at {host}:{port}: {error.strerror or error}. Choose another with --port.",
        ) from None
    return str(address[0])


async def _listening(chosen: ApiSettings, task: asyncio.Task[None]) -> None:
    """Until a connection is accepted. Raises what the server raised, if it did not come that far."""
    while True:
        if task.done():
            task.result()
            raise InvalidInput("api.port", "the server ended before it listened.")
        try:
            _, writer = await asyncio.open_connection(chosen.host, chosen.port)
        except OSError:
            await asyncio.sleep(0.01)
            continue
        writer.close()
        await writer.wait_closed()
        return
