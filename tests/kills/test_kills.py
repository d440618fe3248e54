"""Many POSTs with one key and a kill; short runs of `make api-kills`; and that its check can fail."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kills.killing import Kills, drawn
from tests.kills.nursery import Nursery
from tests.kills.posting import Post
from tests.kills.tally import Difference, Tally, Victim, difference
from tests.postgres import PostgresServer, bundled_server


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as opened:
        yield opened


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server of our own, since it will be stopped."""
    with PostgresServer(bundled_server()) as started:
        yield started


@pytest.fixture
def on_file(tmp_path: Path, nursery: Nursery) -> Kills:
    return Kills(tmp_path, f"sqlite://{tmp_path / 'gnomon.db'}", seed=3, nursery=nursery)


@pytest.mark.parametrize("after_the_first", [False, True])
async def test_on_a_file_many_posts_with_one_key_make_one_job(on_file: Kills, after_the_first: bool) -> None:
    await on_file.all_at_once(callers=64, after_the_first=after_the_first)
    assert on_file.tally.is_clean


@pytest.mark.parametrize("after_the_first", [False, True])
async def test_on_postgresql_many_posts_with_one_key_make_one_job(
    tmp_path: Path, nursery: Nursery, server: PostgresServer, after_the_first: bool
) -> None:
    url = await server.create_database(f"once_{after_the_first}".lower())
    kills = Kills(tmp_path, url, seed=4, nursery=nursery)
    await kills.all_at_once(callers=64, after_the_first=after_the_first)
    assert kills.tally.is_clean


async def test_on_a_file_what_was_acknowledged_stays_and_what_was_not_ends_as_one_job(on_file: Kills) -> None:
    victims = [Victim.NODE, Victim.NODES]
    await on_file.run(victims)
    _must_be_clean(on_file.tally, victims)


async def test_on_postgresql_what_was_acknowledged_stays_and_what_was_not_ends_as_one_job(
    tmp_path: Path, nursery: Nursery, server: PostgresServer
) -> None:
    victims = [Victim.DATABASE, Victim.NODE, Victim.DATABASE]
    kills = Kills(tmp_path, await server.create_database("kills"), seed=2, nursery=nursery, server=server)
    await kills.run(victims)
    _must_be_clean(kills.tally, victims)


def _must_be_clean(tally: Tally, victims: list[Victim]) -> None:
    assert tally.is_clean
    assert tally.rounds == len(victims)
    assert tally.kills >= Counter(victims)
    assert tally.acknowledged >= len(victims)
    assert tally.unanswered >= len(victims)


async def test_a_job_that_goes_and_one_that_comes_behind_our_back_are_told(on_file: Kills) -> None:
    def rename_one() -> None:
        with sqlite3.connect(on_file.folder / "gnomon.db") as database:
            found = database.execute("UPDATE jobs SET name = 'ghost' WHERE name = '0 0 0' RETURNING id")
            assert len(found.fetchall()) == 1

    await on_file.run([Victim.NODE], done=rename_one)
    assert [name for name, _ in on_file.tally.lost] == ["0 0 0"]
    assert [name for name, _ in on_file.tally.doubled] == ["ghost"]
    assert not on_file.tally.is_clean


def test_what_was_told_and_is_not_there_is_lost() -> None:
    assert difference([("a", "1"), ("b", "2")], [("a", "1")]) == Difference(lost=[("b", "2")], doubled=[])


def test_a_second_job_of_one_key_is_doubled() -> None:
    assert difference([("a", "1")], [("a", "1"), ("a", "2")]) == Difference(lost=[], doubled=[("a", "2")])


def test_a_job_under_another_id_than_was_told_is_both() -> None:
    assert difference([("a", "1")], [("a", "2")]) == Difference(lost=[("a", "1")], doubled=[("a", "2")])


def test_a_key_that_is_not_known_again_is_told() -> None:
    tally = Tally()
    tally.add(Victim.NODE, [Post("a", tries=2, refusal="409 the name is taken")])
    assert not tally.is_clean


def test_the_seed_decides_whom_to_kill() -> None:
    assert drawn(7, rounds=50, with_server=True) == drawn(7, rounds=50, with_server=True)
    assert set(drawn(7, rounds=50, with_server=True)) == set(Victim)
    assert Victim.DATABASE not in drawn(7, rounds=50, with_server=False)
