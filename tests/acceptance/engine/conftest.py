from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gnomon.app import open_database
from gnomon.store.schema.migrations import migrate
from tests.acceptance.engine.processes import Cluster, open_cluster
from tests.conftest import MakeDatabase


@pytest.fixture(params=["sqlite", "postgres"])
async def cluster(
    request: pytest.FixtureRequest, tmp_path: Path, migrated_database: MakeDatabase
) -> AsyncIterator[Cluster]:
    """An empty store of each kind, and nothing that runs on it yet."""
    if request.param == "postgres":
        url = await migrated_database()
    else:
        url = f"sqlite://{tmp_path / 'gnomon.db'}"
        database = await open_database(url)
        await migrate(database, now=datetime.now(UTC))
        await database.close()
    async with open_cluster(url, tmp_path) as opened:
        yield opened
