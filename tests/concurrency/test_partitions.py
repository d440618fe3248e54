"""Months are made while others make them too, and dropped only when all in them may go and nobody minds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from random import Random

import asyncpg
import pytest

from gnomon.app import open_store
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, NewExecution
from gnomon.core.executions.records import Checkpoint, LogLevel, LogLine
from gnomon.core.executions.retention import RetentionPolicy
from gnomon.core.jobs.job import Job
from gnomon.core.values.document import Document
from gnomon.core.values.ids import IdSource
from gnomon.errors import DeadLetterNotFound, ExecutionNotFound, StoreRefused, StoreUnavailable
from gnomon.store.protocols.operations import Forgotten
from gnomon.store.schema.partitions import PARTITIONED
from gnomon.store.sql_store import SqlStore
from tests.concurrency.conftest import Crowd
from tests.conftest import MakeDatabase
from tests.contract.given import (
    BROKEN,
    DONE,
    NOW,
    claim_one,
    create_one,
    end,
    new_job,
    seen,
    tries,
)
from tests.postgres import USER, PostgresServer

DAY = timedelta(days=1)
POLICY = RetentionPolicy(
    completed_days=30, failed_days=30, timeout_days=30, cancelled_days=30, skipped_days=30
)
CROWD = 4
FEBRUARY = NOW + 40 * DAY
AUTUMN = NOW + 270 * DAY  # Long after the months that the migration made.


@pytest.fixture
async def url(migrated_database: MakeDatabase, postgres_server: PostgresServer) -> str:
    return await migrated_database(postgres_server)


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    opened = await open_store(url)
    yield opened
    await opened.close()


async def enqueue_at(store: SqlStore, job: Job, at: datetime, *, due: datetime | None = None) -> ExecutionId:
    """Ids tell when an execution was made, and so its month."""
    execution_id = ExecutionId(IdSource(Random(at.toordinal())).next(at))
    await store.executions.enqueue(DEFAULT_TENANT, [NewExecution(execution_id, job.id, due=due)], now=at)
    return execution_id


async def partitions(store: SqlStore) -> set[str]:
    return {row["name"] for row in await store.database.read("partition_names")}


async def insist_on_months(store: SqlStore, now: datetime) -> list[str]:
    """As maintenance does: try again when others were in the way."""
    while True:
        try:
            return list(await store.upkeep.make_months(now=now))
        except StoreUnavailable:
            continue


async def test_many_make_the_same_months_and_each_is_made_once(crowd: Crowd) -> None:
    stores = await crowd(CROWD)

    made = await asyncio.gather(*(insist_on_months(store, AUTUMN) for store in stores))

    wanted = {f"{table}_2030_{month}" for table in PARTITIONED for month in ("09", "10", "11")}
    assert {name for names in made for name in names} <= wanted
    assert wanted <= await partitions(stores[0])
    assert await stores[0].upkeep.make_months(now=AUTUMN) == []


async def test_rows_of_a_month_that_was_made_ahead_go_there(url: str, store: SqlStore) -> None:
    await store.upkeep.make_months(now=AUTUMN)
    execution_id = await enqueue_at(store, await create_one(store), AUTUMN)

    connection = await asyncpg.connect(url)
    rows = await connection.fetch("SELECT id FROM executions_2030_09")
    await connection.close()
    assert [row["id"] for row in rows] == [execution_id]


async def test_a_month_that_comes_too_late_stays_in_the_default_partition(store: SqlStore) -> None:
    execution_id = await enqueue_at(store, await create_one(store), AUTUMN)

    made = await store.upkeep.make_months(now=AUTUMN)

    # Only what already has a row of that month: the other three tables get their month.
    assert "executions_2030_09" not in made
    assert {"endings_2030_09", "executions_2030_10"} <= set(made)
    assert (await seen(store, execution_id, now=AUTUMN)).id == execution_id
    await end(store, await claim_one(store, now=AUTUMN), now=AUTUMN)
    assert (await store.upkeep.forget_ended(POLICY, now=AUTUMN + 31 * DAY, limit=10)).gone == 1


async def test_a_spent_month_goes_whole_with_all_that_belongs_to_it(store: SqlStore) -> None:
    job = await create_one(store, new_job(definition=tries(1)))
    old = [await enqueue_at(store, job, NOW + n * DAY) for n in range(3)]
    for execution_id in old:
        leased = await claim_one(store, now=NOW + 5 * DAY)
        await store.checkpoints.save([Checkpoint(leased.claim, Document("1"), None, NOW)])
        await store.logs.append([LogLine(leased.claim, 1, NOW, LogLevel.INFO, "words")])
        await end(store, leased, BROKEN, now=NOW + 5 * DAY)
        assert (await store.dead_letters.get(DEFAULT_TENANT, execution_id)).execution_id == execution_id
    young = await enqueue_at(store, job, FEBRUARY)

    later = NOW + 100 * DAY
    answers = [await store.upkeep.drop_month(POLICY, now=later, limit=3) for _ in range(2)]

    assert answers == [Forgotten(0, more=True), Forgotten(1, more=True)]
    assert not {name for name in await partitions(store) if name.endswith("2030_01")}
    for execution_id in old:
        with pytest.raises(ExecutionNotFound):
            await seen(store, execution_id)
        with pytest.raises(DeadLetterNotFound):
            await store.dead_letters.get(DEFAULT_TENANT, execution_id)
    assert not await store.checkpoints.load(old)
    assert (await seen(store, young)).id == young
    # February holds something that waits; March is empty, and spent at its end and thirty days.
    assert await store.upkeep.drop_month(POLICY, now=NOW + 130 * DAY, limit=3) == Forgotten(1, more=True)
    assert await store.upkeep.drop_month(POLICY, now=NOW + 130 * DAY, limit=3) == Forgotten(0)
    assert {f"{table}_2030_02" for table in PARTITIONED} <= await partitions(store)


async def test_a_month_in_which_something_waits_runs_or_ended_late_is_kept(store: SqlStore) -> None:
    later = NOW + 70 * DAY
    await enqueue_at(store, await create_one(store), NOW, due=NOW + 60 * DAY)

    assert await store.upkeep.drop_month(POLICY, now=later, limit=10) == Forgotten(0)
    leased = await claim_one(store, now=NOW + 60 * DAY)
    assert await store.upkeep.drop_month(POLICY, now=later, limit=10) == Forgotten(0)
    await end(store, leased, DONE, now=NOW + 60 * DAY)
    assert await store.upkeep.drop_month(POLICY, now=later, limit=10) == Forgotten(0)
    assert await store.upkeep.drop_month(POLICY, now=later + 30 * DAY, limit=10) == Forgotten(1, more=True)


async def test_dropping_looks_again_once_it_is_alone(store: SqlStore) -> None:
    """An execution that came into the month after the first look, with a clock that is months behind."""
    partitions_of = store.database.partitions
    assert partitions_of is not None
    [january, *_] = await partitions_of.months()
    await enqueue_at(store, await create_one(store), NOW)

    assert not await partitions_of.drop(january)
    assert await claim_one(store)


async def test_upkeep_gives_way_to_a_long_reader_and_comes_back(url: str, store: SqlStore) -> None:
    reader = await asyncpg.connect(url)
    async with reader.transaction():
        await reader.fetch("SELECT count(*) FROM executions")
        with pytest.raises(StoreUnavailable, match="Somebody holds a lock"):
            await store.upkeep.drop_month(POLICY, now=NOW + 100 * DAY, limit=10)
        with pytest.raises(StoreUnavailable, match="Somebody holds a lock"):
            await store.upkeep.make_months(now=AUTUMN)
    await reader.close()

    assert (await store.upkeep.drop_month(POLICY, now=NOW + 100 * DAY, limit=10)).gone == 1
    assert await store.upkeep.make_months(now=AUTUMN)


async def test_a_role_that_does_not_own_the_tables_is_told_so(url: str) -> None:
    owner = await asyncpg.connect(url)
    await owner.execute("DROP ROLE IF EXISTS guest")
    await owner.execute("CREATE ROLE guest LOGIN")
    await owner.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO guest")
    guest = await open_store(url.replace(f"{USER}@", "guest@"))
    with pytest.raises(StoreRefused):
        await guest.upkeep.make_months(now=AUTUMN)
    assert await guest.upkeep.make_months(now=NOW) == []
    await guest.close()
    await owner.execute("DROP OWNED BY guest")
    await owner.execute("DROP ROLE guest")
    await owner.close()
