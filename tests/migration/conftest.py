"""`ground`: an empty SQLite file, and an empty database on each PostgreSQL of this machine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import uuid4

import pytest

from tests.conftest import EACH_SERVER, MakeDatabase, StartServer
from tests.migration.grounds import Ground, PostgresGround, SqliteGround

NewGround = Callable[[], Awaitable[Ground]]


@pytest.fixture(params=["sqlite", *EACH_SERVER])
def new_ground(
    request: pytest.FixtureRequest, postgres: StartServer, fresh_database: MakeDatabase, tmp_path: Path
) -> NewGround:
    """A function that makes an empty database. Each call makes another one."""

    async def make() -> Ground:
        if request.param == "sqlite":
            return SqliteGround(tmp_path / f"{uuid4().hex}.db")
        server = postgres(request.param)
        return PostgresGround(await fresh_database(server), server)

    return make


@pytest.fixture
async def ground(new_ground: NewGround) -> Ground:
    return await new_ground()
