"""One fixture, `store`: the model, SQLite, and each PostgreSQL on this machine, empty for every test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from gnomon.store.base import Store
from tests.conftest import SERVERS, StartServer
from tests.contract.grounds import Ground, ModelGround, PostgresGround, SqliteGround

MODEL, SQLITE = "model", "sqlite"
STORES = [MODEL, SQLITE, *SERVERS]

FindGround = Callable[[str], Ground]


@pytest.fixture(scope="session")
def ground(postgres: StartServer, tmp_path_factory: pytest.TempPathFactory) -> FindGround:
    """A function from the name of a store to its ground, prepared at the first call."""
    prepared: dict[str, Ground] = {}

    def find(name: str) -> Ground:
        if name not in prepared:
            match name:
                case "model":
                    new: Ground = ModelGround()
                case "sqlite":
                    new = SqliteGround(tmp_path_factory.mktemp("contract"))
                case _:
                    new = PostgresGround(postgres(name))
            with asyncio.Runner() as runner:
                runner.run(new.prepare())
            prepared[name] = new
        return prepared[name]

    return find


@pytest.fixture(scope="session", params=STORES)
def each_ground(request: pytest.FixtureRequest, ground: FindGround) -> Ground:
    return ground(request.param)


@pytest.fixture
async def store(each_ground: Ground) -> AsyncIterator[Store]:
    opened = await each_ground.fresh()
    yield opened
    await opened.close()
