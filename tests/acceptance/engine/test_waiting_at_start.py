"""A process that is started before its database or its server waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from datetime import UTC, datetime

import pytest

from gnomon.app import open_database
from gnomon.app.processes.attached_apps import attached_apps
from gnomon.app.processes.engine import Engine
from gnomon.app.processes.process import Role, running_engine
from gnomon.app.processes.serving import api_beside
from gnomon.settings import ApiSettings, Settings
from gnomon.store.schema.migrations import migrate
from tests.acceptance.engine.processes import GnomonProcess
from tests.integration.app.shop import make_app
from tests.postgres import PostgresServer, bundled_server, free_port

app = make_app()
IMPATIENT = {"GNOMON_STARTUP_WAIT_SECONDS": "0.2"}


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server of our own, which is stopped."""
    with PostgresServer(bundled_server()) as started:
        yield started


@pytest.fixture
async def url(server: PostgresServer) -> str:
    database = await open_database(server.dsn())
    await migrate(database, now=datetime.now(UTC))
    await database.close()
    return server.dsn()


@contextmanager
def away(server: PostgresServer) -> Iterator[None]:
    server.stop()
    try:
        yield
    finally:
        server.start()


@pytest.mark.parametrize("command", ["up", "api", "scheduler", "worker"])
async def test_a_database_that_is_started_later_is_waited_for(
    server: PostgresServer, url: str, command: str
) -> None:
    port = {"GNOMON_API_PORT": str(free_port())} if command == "api" else {}
    with away(server):
        process = await GnomonProcess.start(command, "--database", url, environment=port)
        await process.says("waiting for the database")
    try:
        await process.says("answers, after")
        await process.says("is up")
    finally:
        await process.kill()


@asynccontextmanager
async def serving(settings: Settings, engine: Engine) -> AsyncIterator[None]:
    async with api_beside(engine, settings, lambda _: None):
        yield


@pytest.mark.parametrize("go_on", [attached_apps, serving])
async def test_a_database_that_goes_away_in_the_middle_of_a_start_is_waited_for(
    server: PostgresServer,
    url: str,
    caplog: pytest.LogCaptureFixture,
    go_on: Callable[[Settings, Engine], AbstractAsyncContextManager[None]],
) -> None:
    """After the store was opened: an app registers its jobs, an API node makes the first key."""
    settings = Settings(database=url, app=(f"{__name__}:app",), api=ApiSettings(port=free_port()))

    async def start() -> None:
        async with go_on(settings, engine):
            pass

    async with running_engine(Settings(database=url), Role(0)) as engine:
        with away(server):
            starting = asyncio.create_task(start())
            while "waiting for the database" not in caplog.text and not starting.done():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await starting


async def test_after_the_wait_it_says_what_it_waited_for_and_ends(server: PostgresServer, url: str) -> None:
    with away(server):
        process = await GnomonProcess.start("scheduler", "--database", url, environment=IMPATIENT)
        assert await process.ended() == 1
    assert "Waited 0.2 s for the database" in process.log
    assert "startup.wait_seconds" in process.log


async def test_a_server_that_is_not_there_is_waited_for() -> None:
    address = f"http://127.0.0.1:{free_port()}"
    process = await GnomonProcess.start(
        "worker", "--server", address, environment={**IMPATIENT, "GNOMON_KEY": "gnm_nobody"}
    )
    assert await process.ended() == 1
    assert f"Waited 0.2 s for the server {address}" in process.log


async def test_what_waiting_does_not_mend_ends_a_start_at_once(server: PostgresServer, url: str) -> None:
    other = url.replace("/postgres", "/nothing")
    process = await GnomonProcess.start("scheduler", "--database", other)
    assert await process.ended() == 1
    assert "waiting for" not in process.log
    assert "does not exist" in process.log
