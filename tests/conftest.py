"""Fixtures that every suite may use: real PostgreSQL servers, and fresh databases on them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from gnomon.app import open_database
from gnomon.store.schema.migrations import migrate
from tests.checks import add_checks
from tests.postgres import Installation, PostgresServer, all_servers

SERVERS: dict[str, Installation] = all_servers()
BUNDLED = next(iter(SERVERS))
OTHER_VERSION = pytest.mark.thorough(
    "What holds on the bundled PostgreSQL holds on the other installed versions"
)
# For parameters: `make test` runs on the bundled version, `make test-all` on each.
EACH_SERVER = [BUNDLED, *(pytest.param(name, marks=OTHER_VERSION) for name in SERVERS if name != BUNDLED)]

TEMPLATE = "gnomon_template"
MIGRATED_AT = datetime(2030, 1, 1, tzinfo=UTC)

StartServer = Callable[[str], PostgresServer]
MakeDatabase = Callable[..., Awaitable[str]]


@pytest.fixture(scope="session", autouse=True)
def no_profiles_of_mine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """`gnomon up` keeps the key of a first start; not beside the keys of the person that runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield


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


@pytest.fixture(scope="session", params=EACH_SERVER)
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


@pytest.fixture(scope="session")
def with_template() -> set[str]:
    """The names of the servers that have a migrated database to copy."""
    return set()


@pytest.fixture
def migrated_database(
    postgres: StartServer, fresh_database: MakeDatabase, with_template: set[str]
) -> MakeDatabase:
    """A function that makes a database with the schema of this release and returns its address."""

    async def make(server: PostgresServer | None = None) -> str:
        server = server or postgres(BUNDLED)
        if server.name not in with_template:
            template = await server.create_database(TEMPLATE)
            database = await open_database(template)
            await migrate(database, now=MIGRATED_AT)
            await database.close()
            await add_checks(template)
            with_template.add(server.name)
        return await fresh_database(server, template=TEMPLATE)

    return make
