"""However a schema came about, it is the same schema."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from gnomon.app import open_database, open_store
from gnomon.store.schema.migrations import migrate, migrations
from tests.migration.conftest import NewGround
from tests.migration.grounds import Ground, gnomon

# The month in which the tests run: the program reads the clock, and makes the partitions of this month.
NOW = datetime.now(UTC)


async def test_one_by_one_equals_all_at_once(new_ground: NewGround) -> None:
    at_once, one_by_one = await new_ground(), await new_ground()
    database = await open_database(at_once.url)
    assert await migrate(database, now=NOW) == list(migrations(at_once.dialect))
    await database.close()
    database = await open_database(one_by_one.url)
    for migration in migrations(one_by_one.dialect):
        assert await database.apply_migration(migration, now=NOW)
    await database.close()

    assert await one_by_one.shape() == await at_once.shape()


async def test_what_the_script_makes_equals_what_the_program_makes(new_ground: NewGround) -> None:
    by_program, by_hand = await new_ground(), await new_ground()
    assert gnomon("db", "migrate", "--database", by_program.url).returncode == 0
    script = gnomon("db", "migrate", "--sql", "--database", by_hand.url)
    assert script.returncode == 0, script.stderr
    by_hand.run_script(script.stdout)

    assert await by_hand.shape() == await by_program.shape()
    check = gnomon("db", "check", "--database", by_hand.url)
    assert check.returncode == 0, check.stdout
    assert "Nothing to do" in gnomon("db", "migrate", "--database", by_hand.url).stdout
    assert "Nothing to do" in gnomon("db", "migrate", "--sql", "--database", by_hand.url).stdout


async def test_printing_the_script_touches_nothing(ground: Ground) -> None:
    before = await ground.shape()
    assert gnomon("db", "migrate", "--sql", "--database", ground.url).returncode == 0
    assert gnomon("db", "check", "--database", ground.url).returncode == 1
    assert await ground.shape() == before


async def test_migrating_twice_changes_nothing(ground: Ground) -> None:
    database = await open_database(ground.url)
    await migrate(database, now=NOW)
    first = await ground.shape()
    assert await migrate(database, now=NOW) == []
    await database.close()
    assert await ground.shape() == first


async def test_tasks_that_migrate_at_once_do_it_once(ground: Ground) -> None:
    databases = [await open_database(ground.url) for _ in range(4)]
    done = await asyncio.gather(*(migrate(database, now=NOW) for database in databases))
    for database in databases:
        await database.close()
    assert sorted(one.number for ran in done for one in ran) == [
        one.number for one in migrations(ground.dialect)
    ]
    await (await open_store(ground.url)).close()


async def test_processes_that_migrate_at_once_do_it_once(ground: Ground) -> None:
    command = ["db", "migrate", "--database", ground.url]
    answers = await asyncio.gather(*(asyncio.to_thread(gnomon, *command) for _ in range(3)))
    assert [answer.returncode for answer in answers] == [0, 0, 0], answers
    assert sum("0001 foundation: done" in answer.stdout for answer in answers) == 1
    await (await open_store(ground.url)).close()
