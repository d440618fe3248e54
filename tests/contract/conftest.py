"""One fixture, `store`: the model, SQLite, and each PostgreSQL on this machine, empty for every test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from gnomon.store.protocols.store import Store
from gnomon.store.protocols.workflows import WorkflowStore
from gnomon.store.sql_store import SqlStore
from tests.conftest import EACH_SERVER, StartServer
from tests.contract.grounds import Ground, ModelGround, PostgresGround, SqliteGround

MODEL, SQLITE = "model", "sqlite"
STORES = [MODEL, SQLITE, *EACH_SERVER]

FindGround = Callable[[str], Ground]


@pytest.fixture(scope="session")
def memory_folder() -> Iterator[Path]:
    """A folder in memory where there is one: a commit of SQLite waits for its disk."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(prefix="gnomon-", dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def ground(postgres: StartServer, memory_folder: Path) -> FindGround:
    """A function from the name of a store to its ground, prepared at the first call."""
    prepared: dict[str, Ground] = {}

    def find(name: str) -> Ground:
        if name not in prepared:
            match name:
                case "model":
                    new: Ground = ModelGround()
                case "sqlite":
                    new = SqliteGround(memory_folder)
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
    store = await each_ground.fresh()
    yield store
    await store.close()


@pytest.fixture(scope="session", params=[SQLITE, *EACH_SERVER])
def sql_ground(request: pytest.FixtureRequest, ground: FindGround) -> Ground:
    return ground(request.param)


@pytest.fixture
async def flows(sql_ground: Ground) -> AsyncIterator[WorkflowStore]:
    """A store with workflows. The model has none: they have a judge of their own, beside the core."""
    store = await sql_ground.fresh()
    assert isinstance(store, SqlStore)
    yield store
    await store.close()
