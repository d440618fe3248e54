"""A short run of `make api-kills`, on both stores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kills.killing import CALLERS, Kills
from tests.postgres import PostgresServer, bundled_server

ROUNDS = 2 * CALLERS + 1  # At least two kills: of the node, and of PostgreSQL where there is one.


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server of our own, since it will be stopped."""
    with PostgresServer(bundled_server()) as started:
        yield started


async def test_on_a_file_what_was_acknowledged_stays_and_what_was_not_ends_as_one_job(tmp_path: Path) -> None:
    kills = Kills(tmp_path, f"sqlite://{tmp_path / 'gnomon.db'}", seed=1)
    await kills.run(rounds=ROUNDS)
    assert kills.struck > 0


async def test_on_postgresql_what_was_acknowledged_stays_and_what_was_not_ends_as_one_job(
    tmp_path: Path, server: PostgresServer
) -> None:
    url = await server.create_database("kills")
    kills = Kills(tmp_path, url, seed=2, server=server)
    await kills.run(rounds=ROUNDS)
    assert kills.kills >= 2
    assert kills.struck > 0
