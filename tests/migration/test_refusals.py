"""A schema that this release does not fit is refused, with words that say what to do."""

from __future__ import annotations

import pytest

from gnomon.app import open_database, open_store
from gnomon.errors import StoreRefused
from gnomon.store.schema.migrations import migrate, migrations
from tests.contract.given import NOW, create_one
from tests.migration.grounds import Ground, gnomon

ROW = (
    "INSERT INTO schema_migrations (number, name, kind, checksum, applied_at)"
    " VALUES (9999, 'later', '{kind}', 'x', {time})"
)


async def test_an_empty_database_must_be_migrated(ground: Ground) -> None:
    with pytest.raises(StoreRefused, match=r"no schema of Gnomon yet.* gnomon db migrate"):
        await open_store(ground.url)


async def test_what_a_later_release_removed_is_too_new(ground: Ground) -> None:
    await prepare(ground, ROW.format(kind="contract", time=time_in(ground)))
    with pytest.raises(StoreRefused, match=r"too new: migration 9999 \(later\) .* newer release"):
        await open_store(ground.url)
    check = gnomon("db", "check", "--database", ground.url)
    assert check.returncode == 1
    assert "Refused: The schema is too new" in check.stdout
    for words in (("migrate",), ("migrate", "--sql")):
        told = gnomon("db", *words, "--database", ground.url)
        assert told.returncode == 1
        assert "The schema is too new" in told.stderr
        assert "Nothing to do" not in told.stdout


async def test_what_a_later_release_added_is_accepted(ground: Ground) -> None:
    await prepare(ground, ROW.format(kind="expand", time=time_in(ground)))
    store = await open_store(ground.url)
    await create_one(store)
    await store.close()
    assert gnomon("db", "check", "--database", ground.url).returncode == 0
    told = gnomon("db", "migrate", "--database", ground.url)
    assert told.returncode == 0
    assert "the schema is a later release's (at 9999 (later)), and fits this one." in told.stdout


async def test_a_row_that_is_missing_is_named_and_can_be_put_back(ground: Ground) -> None:
    await prepare(ground, "DELETE FROM schema_migrations WHERE number = 2")
    lost = migrations(ground.dialect)[1]

    told = gnomon("db", "migrate", "--database", ground.url)

    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    assert "no row for migration 0002 (gates)" in told.stderr
    assert lost.checksum in told.stderr
    with pytest.raises(StoreRefused, match="no row for migration 0002"):
        await open_store(ground.url)

    values = f"2, '{lost.name}', '{lost.kind}', '{lost.checksum}', {time_in(ground)}"
    await ground.execute(
        f"INSERT INTO schema_migrations (number, name, kind, checksum, applied_at) VALUES ({values})"
    )
    assert gnomon("db", "migrate", "--database", ground.url).returncode == 0


async def test_a_schema_without_its_book_of_migrations_is_refused(ground: Ground) -> None:
    await prepare(ground, "DELETE FROM schema_migrations")

    told = gnomon("db", "migrate", "--database", ground.url)

    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    assert "Migration 0001 (foundation) cannot be run" in told.stderr
    assert "Nothing of it was kept" in told.stderr


async def test_a_migration_with_another_text_is_refused(ground: Ground) -> None:
    await prepare(ground, "UPDATE schema_migrations SET checksum = 'another' WHERE number = 1")
    with pytest.raises(StoreRefused, match=r"Migration 0001 \(foundation\) was applied with another text"):
        await open_store(ground.url)
    database = await open_database(ground.url)
    with pytest.raises(StoreRefused, match="another text"):
        await migrate(database, now=NOW)
    await database.close()


@pytest.mark.parametrize("table", ["job_revisions", "dag_revisions"])
async def test_revisions_are_immutable(ground: Ground, table: str) -> None:
    await prepare(ground)
    store = await open_store(ground.url)
    job = await create_one(store)
    await store.close()
    if table == "dag_revisions":
        await ground.execute(dag_of(job.id.hex, ground))
    with pytest.raises(Exception, match=f"{table} rows are immutable"):
        await ground.execute(f"UPDATE {table} SET revision = 2")


async def prepare(ground: Ground, *more: str) -> None:
    database = await open_database(ground.url)
    await migrate(database, now=NOW)
    await database.close()
    for sql in more:
        await ground.execute(sql)


def time_in(ground: Ground) -> str:
    return "0" if ground.dialect == "sqlite" else "'2030-01-01'"


def dag_of(job: str, ground: Ground) -> str:
    def id_of(text: str) -> str:
        return f"X'{text}'" if ground.dialect == "sqlite" else f"'{text}'"

    tenant, time = id_of("00000000000070008000000000000000"), time_in(ground)
    return (
        f"INSERT INTO dags (id, tenant_id, revision) VALUES ({id_of(job)}, {tenant}, 1);"
        f"INSERT INTO dag_revisions (dag_id, revision, tenant_id, base, tasks, definition, created_at)"
        f" VALUES ({id_of(job)}, 1, {tenant}, 1, 1, '{{}}', {time});"
    )
