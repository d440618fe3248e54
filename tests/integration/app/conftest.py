"""Databases of both kinds for apps: a file in a folder of the test, and one on a real PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import MakeDatabase


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest, migrated_database: MakeDatabase, tmp_path: Path) -> str:
    return f"sqlite://{tmp_path}/shop.db" if request.param == "sqlite" else await migrated_database()
