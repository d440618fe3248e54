"""Jobs from before migration 0002 keep the limits that they had asked for."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from gnomon.app import open_database
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, NewExecution, WaitsFor
from gnomon.core.jobs.job import JobId
from gnomon.store.schema.migrations import migrations
from gnomon.store.sql_store import SqlStore
from tests.migration.grounds import Ground

NOW = datetime(2030, 1, 1, tzinfo=UTC)
JOB, RUNNING, NEW = (UUID(f"01b8dac5-b400-7000-8000-00000000000{n}") for n in (1, 2, 3))

BEFORE = """
INSERT INTO lanes (tenant_id, queue, kind, capabilities) VALUES ({tenant}, 'default', 'echo', '[]');
INSERT INTO jobs (id, tenant_id, name, status, version, revision, shard, created_at, updated_at)
VALUES ({job}, {tenant}, 'narrow', 'ACTIVE', 1, 1, 0, {now}, {now});
INSERT INTO job_revisions (job_id, revision, tenant_id, lane_id, kind, queue, capabilities, priority,
                           max_concurrent, delivery, payload, retry, schedule, created_at)
VALUES ({job}, 1, {tenant}, 1, 'echo', 'default', '[]', 5, 1, 'at_least_once', '{{}}', '{{}}',
        '{{"type": "manual"}}', {now});
INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, due, created_at)
VALUES ({running}, {tenant}, {job}, 1, 'manual', 5, {now}, {now});
INSERT INTO leases (execution_id, tenant_id, job_id, revision, lane_id, priority, due, claim, attempts,
                    crashes, worker, started_at, lease_until, request_id)
VALUES ({running}, {tenant}, {job}, 1, 1, 5, {now}, 1, 0, 0, 'ada', {now}, {now}, {running});
"""


async def test_what_runs_of_a_job_with_a_limit_takes_its_slot(ground: Ground) -> None:
    database = await open_database(ground.url)
    first, *later = migrations(ground.dialect)
    await database.apply_migration(first, now=NOW)
    await ground.execute(before(ground.dialect))
    for migration in later:
        await database.apply_migration(migration, now=NOW)

    store = SqlStore(database)
    assert await store.schedules.live([JobId(JOB)]) == {JOB: 1}
    await store.executions.enqueue(DEFAULT_TENANT, [NewExecution(ExecutionId(NEW), JobId(JOB))], now=NOW)
    new = await store.executions.get(DEFAULT_TENANT, ExecutionId(NEW), now=NOW)
    assert new.waits_for is WaitsFor.SLOT
    await database.close()


def before(dialect: str) -> str:
    ids = {"tenant": DEFAULT_TENANT, "job": JOB, "running": RUNNING}
    if dialect == "sqlite":
        blobs = {name: f"x'{one.hex}'" for name, one in ids.items()}
        return BEFORE.format(**blobs, now=int(NOW.timestamp()) * 1_000_000)
    return BEFORE.format(**{name: f"'{one}'" for name, one in ids.items()}, now=f"'{NOW.isoformat()}'")
