"""With a million rows in each big table, no verb of the engine and no page reads one of them whole."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus
from gnomon.core.executions.lease import LEASE
from gnomon.core.executions.lifecycle import LeaseExpired, Outcome
from gnomon.core.executions.records import Checkpoint, ExecutionFilter, JobFilter, LogLevel, LogLine
from gnomon.core.executions.retention import RetentionPolicy
from gnomon.core.executions.suspects import PATIENCE
from gnomon.core.jobs.job import Definition, JobId
from gnomon.core.schedules.firing import plan
from gnomon.core.time.schedule import Interval, Overlap, Schedule
from gnomon.core.values.document import Document
from gnomon.store.databases import statements
from gnomon.store.databases.postgres import PostgresDatabase
from gnomon.store.databases.postgres_connect import PLANNER_SETTINGS
from gnomon.store.schema.migrations import migrate
from gnomon.store.sql_store import SqlStore
from tests.concurrency import workflow_plans
from tests.concurrency.plans import Call, Mode, Overheard, plan_of, read_whole, scans_of
from tests.conftest import BUNDLED, MakeDatabase, StartServer
from tests.contract.given import (
    BOB,
    DONE,
    FAILED,
    MINUTE,
    NOW,
    ask,
    claim,
    create_one,
    decided,
    new_id,
    new_job,
    request,
    tries,
)
from tests.postgres import PostgresServer, bundled_server

ROWS, RUNS = 1_000_000, 30_000
DAY = timedelta(days=1)
BIG = {
    *("queue", "leases", "jobs", "job_revisions", "executions_2030_01", "endings_2030_01", "dead_letters"),
    *workflow_plans.LARGE,
}
# Reads the index of due times from its beginning, and only its first entry.
STOPS_AT_ONCE = {"next_due"}
# A job gets slots or somebody who depends on it: seldom, and an index for it would cost every run.
SELDOM = {"watch_running", "watch_waiting", "unwatched"}
MODES: tuple[Mode, ...] = ("force_custom_plan", "force_generic_plan")

# A million of each, beside a few that were made by the verbs. Replica: so many keys need no checking here.
LOAD = """
SET session_replication_role = replica;
CREATE TEMPORARY TABLE numbers AS
SELECT n, ('01b8dac5-b400-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id,
       ('01b8dac5-b400-7000-8000-' || lpad(to_hex(n % 1000 + 1), 12, '0'))::uuid AS job_id
FROM generate_series(1, {rows}) AS n;
-- In this transaction, so that what follows needs no log.
TRUNCATE executions, endings, queue, leases, dead_letters;
INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, due, created_at)
SELECT id, '{tenant}', job_id, 1, 'manual', n % 10, '{now}', '{now}' FROM numbers;
INSERT INTO endings (execution_id, tenant_id, outcome, claim, attempts, due, finished_at)
SELECT id, '{tenant}', CASE n % 20 WHEN 0 THEN 'FAILED' WHEN 1 THEN 'TIMEOUT' WHEN 2 THEN 'CANCELLED'
                                   ELSE 'COMPLETED' END, 1, 1, '{now}', '{now}'
FROM numbers;
INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, watched, waits_for)
SELECT id, '{tenant}', job_id, 1, n % 4 + 1, n % 10, timestamptz '{now}' + n % 1000 * interval '1 second',
       n % 5 = 0, CASE n % 10 WHEN 0 THEN 'slot' WHEN 5 THEN 'jobs' END
FROM numbers;
INSERT INTO leases (execution_id, tenant_id, job_id, revision, lane_id, priority, due, claim, attempts,
                    crashes, worker, started_at, lease_until, request_id, watched)
SELECT id, '{tenant}', job_id, 1, n % 4 + 1, n % 10, '{now}', 1, 0, 0, 'worker ' || n % 1000, '{now}',
       timestamptz '{now}' + n % 1000 * interval '1 second', id, n % 5 = 0
FROM numbers;
INSERT INTO jobs (id, tenant_id, name, status, version, revision, shard, next_run_time, created_at,
                  updated_at)
SELECT id, '{tenant}', 'job ' || n, 'ACTIVE', 1, 1, n % 64,
       timestamptz '{now}' + n % 10000 * interval '1 second', '{now}', '{now}'
FROM numbers;
INSERT INTO job_revisions (job_id, revision, tenant_id, lane_id, kind, queue, capabilities, priority,
                           delivery, payload, retry, schedule, created_at)
SELECT id, 1, '{tenant}', sample.lane_id, sample.kind, sample.queue, sample.capabilities, sample.priority,
       sample.delivery, sample.payload, sample.retry, sample.schedule, '{now}'
FROM numbers, (SELECT * FROM job_revisions WHERE job_id = '{sample}') AS sample;
INSERT INTO dead_letters (execution_id, tenant_id, job_id, reason, attempts, died_at)
SELECT id, '{tenant}', job_id, 'exhausted', 3, '{now}' FROM numbers WHERE n % 20 < 2;
"""

# Indexes are dropped before the load and made again after it: a sort is faster than a million insertions.
INDEXES = """
SELECT pg_get_indexdef(indexrelid) AS definition, indexrelid::regclass::text AS name
FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE indrelid IN ('executions'::regclass, 'endings'::regclass, 'queue'::regclass, 'leases'::regclass,
                   'jobs'::regclass, 'dead_letters'::regclass)
  AND NOT indisprimary AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)
"""

# Nothing here outlives the test, so nothing need be safe; but the planner's own settings are the usual ones.
THROWAWAY = {
    "fsync": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "4GB",
    "autovacuum": "off",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
}


@pytest.fixture
async def million() -> AsyncIterator[tuple[SqlStore, Overheard, str]]:
    with PostgresServer(bundled_server(), THROWAWAY) as server:
        database = await PostgresDatabase.open(await server.create_database("million"))
        await migrate(database, now=NOW)
        overheard = Overheard(database)
        store = SqlStore(overheard)
        definition = Definition("echo", schedule=Schedule(Interval(MINUTE, NOW)))
        sample = await create_one(store, new_job(definition=definition, next_run_time=NOW))
        await load(server.dsn("million"), sample.id)
        yield store, overheard, server.dsn("million")
        await store.close()


async def load(url: str, sample: JobId) -> None:
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            indexes = await connection.fetch(INDEXES)
            for index in indexes:
                await connection.execute(f"DROP INDEX {index['name']}")
            rows = {"rows": ROWS, "runs": RUNS, "tenant": DEFAULT_TENANT, "now": NOW.isoformat()}
            await connection.execute((LOAD + workflow_plans.LOAD).format(**rows, sample=sample))
            for index in indexes:
                # Of a partitioned table it says ON ONLY, which leaves the partitions without.
                await connection.execute(index["definition"].replace(" ON ONLY ", " ON "))
        await connection.execute("ANALYZE")
    finally:
        await connection.close()


@pytest.mark.thorough("With a million rows in each big table, no verb reads one of them whole")
async def test_no_verb_reads_a_million_rows_whole(million: tuple[SqlStore, Overheard, str]) -> None:
    store, overheard, url = million
    overheard.calls.clear()
    await use_every_hot_verb(store)
    await workflow_plans.use_every_verb_of_workflows(store)
    await keep_up(store)
    hot = [call for call in overheard.calls if call.statement not in STOPS_AT_ONCE | SELDOM]
    asked = {call.statement for call in hot}
    assert asked >= {"claim", "apply", "apply_endings", "renew", "expired", "fire", "jobs_due"}
    assert asked >= {
        "run_begin",
        "run_add",
        "runs_lock_of",
        "tasks_load",
        "runs_go_on",
        "tasks_end",
        "task_handover",
        "runs_end",
        "runs_wait_for_us",
    }
    assert asked >= {"claim_suspect", "suspect_reserve"}
    assert asked >= {"ended_walk", "ended_forget", "occurrences_forget"}
    overheard.calls.clear()
    await read_every_page(store)
    bad = await whole_reads(url, PLANNER_SETTINGS, hot + overheard.calls)
    # A pooler does not pass our settings on. The hot verbs do without; a page may then join by hashing.
    bad += await whole_reads(url, {}, hot)
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize("statement", ["task_handover", "tasks_end"])
async def test_a_task_is_found_by_its_place_before_there_are_statistics(
    migrated_database: MakeDatabase, postgres_server: PostgresServer, statement: str
) -> None:
    """A plan that is made then is kept, and a run may have twenty thousand tasks."""
    url = await migrated_database(postgres_server)
    connection = await asyncpg.connect(url, server_settings=PLANNER_SETTINGS)
    _, names = statements.numbered(statements.load("postgres")[statement])

    plan = await plan_of(connection, Call(statement, dict.fromkeys(names)), "force_generic_plan")

    await connection.close()
    [scan] = [node for node in scans_of(plan, "task_instances") if node["Node Type"] != "ModifyTable"]
    assert "(dag_run_id =" in scan["Index Cond"]
    assert "(task =" in scan["Index Cond"]


async def test_a_name_and_a_prefix_are_found_by_the_index_of_names(
    migrated_database: MakeDatabase, postgres_server: PostgresServer
) -> None:
    url = await migrated_database(postgres_server)
    connection = await asyncpg.connect(url, server_settings=PLANNER_SETTINGS)
    for statement in ("jobs_page_by_name", "job_named"):
        _, names = statements.numbered(statements.load("postgres")[statement])

        plan = await plan_of(connection, Call(statement, dict.fromkeys(names)), "force_generic_plan")

        by_name = [one for one in scans_of(plan, "jobs") if one.get("Index Name") == "jobs_live_name"]
        assert by_name or "jobs_live_name" in json.dumps(plan), (statement, plan)
        assert "name" in json.dumps([one.get("Index Cond") for one in by_name] or plan)
    await connection.close()


@pytest.mark.parametrize("statement", ["run_hold", "run_take", "run_waiting_end"])
async def test_what_waits_of_a_run_is_found_by_key_before_there_are_statistics(
    migrated_database: MakeDatabase, postgres_server: PostgresServer, statement: str
) -> None:
    """A run may have twenty thousand of them. The list of all that waits is not read for each."""
    url = await migrated_database(postgres_server)
    connection = await asyncpg.connect(url, server_settings=PLANNER_SETTINGS)
    _, names = statements.numbered(statements.load("postgres")[statement])

    plan = await plan_of(connection, Call(statement, dict.fromkeys(names)), "force_generic_plan")

    await connection.close()
    found = [node for node in scans_of(plan, "queue") if node["Node Type"] != "ModifyTable"]
    assert found
    for scan in found:
        assert "execution_id =" in scan.get("Index Cond", scan.get("Recheck Cond", "")), scan


async def whole_reads(url: str, settings: dict[str, str], calls: list[Call]) -> list[str]:
    connection = await asyncpg.connect(url, server_settings=settings)
    try:
        return [
            f"{call.statement} ({mode}, {settings}) reads {', '.join(whole)} whole"
            for call in calls
            for mode in MODES
            if (whole := sorted(set(read_whole(await plan_of(connection, call, mode), BIG))))
        ]
    finally:
        await connection.close()


async def use_every_hot_verb(store: SqlStore) -> None:
    job = await create_one(store)
    await store.executions.enqueue(DEFAULT_TENANT, [ask(job) for _ in range(3)], now=NOW)
    leased = await claim(store, limit=3)
    await store.executions.next_due(request(), after=NOW)
    await store.executions.renew([one.claim for one in leased], lease_until=NOW + LEASE * 2)
    outcomes: list[Outcome] = [DONE, DONE, FAILED]
    ended, *decisions = [decided(one, outcome) for one, outcome in zip(leased, outcomes, strict=True)]
    await store.executions.apply([ended], now=NOW)
    await store.executions.apply(decisions, now=NOW)
    await store.executions.apply(decisions, now=NOW)  # Again, for the question what became of it.
    assert await store.executions.expired(now=NOW + MINUTE, limit=100)
    await pass_the_gates(store)
    await try_suspects_alone(store)
    await store.schedules.next_due()
    await store.schedules.due(now=NOW, limit=100, shards=[1, 2, 3])
    due = (await store.schedules.due(now=NOW, limit=100)).jobs
    firings = [
        plan(one, now=NOW, live=0, excluded_dates=frozenset(), new_id=lambda: ExecutionId(new_id()))
        for one in due
    ]
    assert await store.schedules.fire(firings, now=NOW)


async def keep_up(store: SqlStore) -> None:
    """What maintenance does, a step of each. Dropping a month reads the month, and is not here."""
    later = NOW + 91 * DAY
    assert (await store.upkeep.forget_ended(RetentionPolicy(), now=later, limit=100)).gone == 100
    await store.upkeep.forget_occurrences(before=later, limit=100)
    await store.upkeep.forget_checkpoints(ended_before=later, limit=100)
    await store.upkeep.forget_requests(before=later, limit=100)
    await store.upkeep.forget_idempotency_keys(before=later, limit=100)
    await store.upkeep.forget_workers(before=later, limit=100)


async def try_suspects_alone(store: SqlStore) -> None:
    for kind in ("first", "second", "third", "fourth"):  # The lanes of the million rows are four.
        await create_one(store, new_job(kind, definition=Definition(kind)))
    job = await create_one(store, new_job(definition=tries(9, "suspect")))
    offer = request(kinds=frozenset({"suspect"}))
    await store.executions.enqueue(DEFAULT_TENANT, [ask(job)], now=NOW)
    [leased] = await claim(store, limit=1, kinds=offer.kinds)
    await store.executions.apply([decided(leased, LeaseExpired(), now=NOW + LEASE * 2)], now=NOW + LEASE * 2)
    later = NOW + LEASE * 2 + PATIENCE
    assert await store.executions.hold_back(leased.worker, offer, now=later)
    [suspect] = await claim(store, BOB, now=later, is_alone=True, kinds=offer.kinds)
    assert suspect.claim.execution_id == leased.claim.execution_id


async def pass_the_gates(store: SqlStore) -> None:
    needed = await create_one(store)
    narrow = Definition(
        "http", schedule=Schedule(Interval(MINUTE, NOW), overlap=Overlap.REPLACE), max_concurrent=1
    )
    job = await create_one(store, new_job(definition=narrow, next_run_time=NOW, dependencies=[needed.id]))
    await store.executions.enqueue(DEFAULT_TENANT, [ask(job), ask(job)], now=NOW)
    firing = plan(job, now=NOW, live=0, excluded_dates=frozenset(), new_id=lambda: ExecutionId(new_id()))
    assert await store.schedules.fire([firing], now=NOW)
    await store.executions.enqueue(DEFAULT_TENANT, [ask(needed, priority=9)], now=NOW)
    await store.schedules.live([job.id])
    await store.executions.admit([needed.id], now=NOW, limit=100)
    assert (await store.executions.gated(now=NOW, limit=100)).next
    await store.executions.next_gated(after=NOW)


async def read_every_page(store: SqlStore) -> None:
    job_id = JobId(UUID(f"01b8dac5-b400-7000-8000-{7:012x}"))
    middle = UUID(f"01b8dac5-b400-7000-8000-{ROWS // 2:012x}")
    for status in [None, *ExecutionStatus]:
        for wanted in (ExecutionFilter(status=status), ExecutionFilter(job_id, status)):
            await store.executions.page(DEFAULT_TENANT, wanted, now=NOW, limit=50, after=middle)
    some_jobs = [JobId(UUID(f"01b8dac5-b400-7000-8000-{n:012x}")) for n in range(1, 101)]
    assert len(await store.executions.recent(DEFAULT_TENANT, some_jobs, limit=10)) == 100
    await store.executions.progress(DEFAULT_TENANT, [ExecutionId(one) for one in some_jobs])
    for some in (
        JobFilter(),
        JobFilter(name="job 7"),
        JobFilter(name_prefix="job 77777"),
        JobFilter(tag="x"),
    ):
        await store.jobs.page(DEFAULT_TENANT, some, limit=50, after=middle)
    await store.dead_letters.page(DEFAULT_TENANT, limit=50, after=middle)
    await store.dead_letters.page(DEFAULT_TENANT, limit=50, job_id=job_id, after=middle)
    await store.schedules.occurrences(DEFAULT_TENANT, job_id, limit=50)
    await store.executions.latest_attempts(DEFAULT_TENANT, ExecutionId(middle), limit=50)
    await workflow_plans.read_every_page_of_workflows(store)
    await store.reports.unrunnable.find(now=NOW, due_before=NOW + MINUTE)


# Takes a snapshot, lets ten thousand rows come and go, and tells the planner that nothing is left.
EMPTIED = """
INSERT INTO leases (execution_id, tenant_id, job_id, revision, lane_id, priority, due, claim, attempts,
                    crashes, worker, started_at, lease_until, request_id)
SELECT gen_random_uuid(), '{tenant}', gen_random_uuid(), 1, 1, 5, '{now}', 1, 0, 0, 'worker', '{now}',
       '{now}', gen_random_uuid()
FROM generate_series(1, 10000);
INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due)
SELECT execution_id, tenant_id, job_id, 1, 1, 5, due FROM leases;
DELETE FROM leases;
DELETE FROM queue;
"""
HOT = {"claim", "apply", "apply_endings", "renew", "checkpoints_save", "logs_append"}
ON_REQUEST = {"executions_stop", "executions_end_waiting"}


async def test_no_hot_verb_reads_dead_rows_that_an_old_snapshot_keeps(postgres: StartServer) -> None:
    """The planner believes a table empty that is full of dead rows, and would begin every join with it."""
    url = await postgres(BUNDLED).create_database("emptied")
    database = await PostgresDatabase.open(url)
    await migrate(database, now=NOW)
    overheard = Overheard(database)
    store = SqlStore(overheard)
    await use_leases(store)
    holder, other = await asyncpg.connect(url), await asyncpg.connect(url)
    async with holder.transaction(isolation="repeatable_read"):
        await holder.fetch("SELECT count(*) FROM jobs")
        await other.execute(EMPTIED.format(tenant=DEFAULT_TENANT, now=NOW.isoformat()))
        await other.execute("VACUUM ANALYZE queue")
        await other.execute("VACUUM ANALYZE leases")
        calls = [call for call in overheard.calls if call.statement in HOT | ON_REQUEST]
        assert {call.statement for call in calls} == HOT | ON_REQUEST
        bad = await whole_reads(url, PLANNER_SETTINGS, calls) + await whole_reads(url, {}, calls)
    await holder.close()
    await other.close()
    await store.close()
    assert not bad, "\n".join(bad)


async def use_leases(store: SqlStore) -> None:
    job = await create_one(store)
    runs = [ask(job) for _ in range(3)]
    await store.executions.enqueue(DEFAULT_TENANT, runs, now=NOW)
    [ended, failed] = await claim(store, limit=2)
    await store.executions.renew([ended.claim, failed.claim], lease_until=NOW + LEASE * 2)
    await store.checkpoints.save([Checkpoint(ended.claim, Document("{}"), 0.5, NOW)])
    await store.logs.append([LogLine(ended.claim, 1, NOW, LogLevel.INFO, "half")])
    await store.executions.apply([decided(ended, DONE)], now=NOW)
    await store.executions.apply([decided(failed, FAILED)], now=NOW)
    await store.executions.cancel(DEFAULT_TENANT, [run.id for run in runs], now=NOW)
