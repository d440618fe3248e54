"""`rig`: a worker and a scheduler by hand. `url`: a migrated database of each kind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gnomon.app import open_database
from gnomon.store.schema.migrations import migrate
from tests.conftest import MakeDatabase
from tests.integration.engine.rig import Rig, open_rig


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with open_rig() as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgres"])
async def url(request: pytest.FixtureRequest, tmp_path: Path, migrated_database: MakeDatabase) -> str:
    if request.param == "postgres":
        return await migrated_database()
    address = f"sqlite://{tmp_path / 'gnomon.db'}"
    database = await open_database(address)
    await migrate(database, now=datetime.now(UTC))
    await database.close()
    return address
