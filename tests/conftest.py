"""Fixtures that every suite may use: real PostgreSQL servers, and fresh databases on them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack
from uuid import uuid4

import pytest

from tests.postgres import Installation, PostgresServer, all_servers

SERVERS: dict[str, Installation] = all_servers()
BUNDLED = next(iter(SERVERS))

StartServer = Callable[[str], PostgresServer]
MakeDatabase = Callable[..., Awaitable[str]]


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> Iterator[StartServer]:
    """A function from a name such as `postgres18` to a running server. It starts at the first call."""
    running: dict[str, PostgresServer] = {}
    with ExitStack() as stack:

        def start(name: str = BUNDLED) -> PostgresServer:
            if name not in running:
                running[name] = stack.enter_context(PostgresServer(SERVERS[name]))
            return running[name]

        yield start


@pytest.fixture(scope="session", params=list(SERVERS))
def postgres_server(request: pytest.FixtureRequest, postgres: StartServer) -> PostgresServer:
    """Each PostgreSQL version on this machine in turn. A test that uses it runs once per version."""
    return postgres(request.param)


@pytest.fixture
async def fresh_database(postgres: StartServer) -> AsyncIterator[MakeDatabase]:
    """A function that makes an empty database, or a copy of `template`, and returns its address."""
    made: list[tuple[PostgresServer, str]] = []

    async def make(server: PostgresServer | None = None, *, template: str = "template1") -> str:
        server = server or postgres(BUNDLED)
        name = f"test_{uuid4().hex}"
        made.append((server, name))
        return await server.create_database(name, template=template)

    yield make
    for server, name in made:
        await server.drop_database(name)
