"""The tables that are written most have their CHECKs in tests, and pay for none where Gnomon runs."""

from __future__ import annotations

import asyncpg
import pytest

from tests.checks import HOT_TABLES, hot_checks
from tests.conftest import MakeDatabase
from tests.migration.grounds import gnomon

CHECKS = """
SELECT count(*) FROM pg_constraint
WHERE contype = 'c' AND conrelid = $1::regclass
"""


async def test_a_database_of_ours_pays_for_no_checks_where_most_is_written(
    fresh_database: MakeDatabase,
) -> None:
    url = await fresh_database()
    assert gnomon("db", "migrate", "--database", url).returncode == 0
    connection = await asyncpg.connect(url)
    assert [await connection.fetchval(CHECKS, table) for table in HOT_TABLES] == [0] * len(HOT_TABLES)
    await connection.close()


async def test_a_database_of_the_tests_has_the_checks_that_sqlite_has(
    migrated_database: MakeDatabase,
) -> None:
    connection = await asyncpg.connect(await migrated_database())
    counts = {table: await connection.fetchval(CHECKS, table) for table in HOT_TABLES}
    assert counts == {table: len(checks) for table, checks in hot_checks().items()}
    # None of them gets lost on the way: these are as many as migration 0005 took away, at least.
    assert sum(counts.values()) >= 37
    with pytest.raises(asyncpg.CheckViolationError, match="task_instances_parents_left_check"):
        await connection.execute(
            "INSERT INTO task_instances (dag_run_id, task, tenant_id, status, parents_left, parents_failed,"
            " parents_skipped, round, items_left, items_failed, items_cancelled)"
            " SELECT gen_random_uuid(), 0, id, 'WAITING', -1, 0, 0, 0, 0, 0, 0 FROM tenants"
        )
    await connection.close()
