"""Many POSTs with one key and a kill; and a short run of `make api-kills`. On both stores."""

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


@pytest.mark.parametrize("after_the_first", [False, True])
async def test_on_a_file_many_posts_with_one_key_make_one_job(tmp_path: Path, after_the_first: bool) -> None:
    kills = Kills(tmp_path, f"sqlite://{tmp_path / 'gnomon.db'}", seed=3)
    await kills.all_at_once(callers=64, after_the_first=after_the_first)


@pytest.mark.parametrize("after_the_first", [False, True])
async def test_on_postgresql_many_posts_with_one_key_make_one_job(
    tmp_path: Path, server: PostgresServer, after_the_first: bool
) -> None:
    url = await server.create_database(f"once_{after_the_first}".lower())
    kills = Kills(tmp_path, url, seed=4)
    await kills.all_at_once(callers=64, after_the_first=after_the_first)


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
