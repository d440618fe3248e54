"""PgBouncer in transaction mode between the store and the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest

from gnomon.app import open_store
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus
from gnomon.core.executions.lease import LEASE
from gnomon.core.jobs.job import Definition
from gnomon.core.schedules.firing import plan
from gnomon.core.time.schedule import Interval, Schedule
from gnomon.errors import StoreUnavailable
from gnomon.store.databases.postgres_connect import PLANNER_SETTINGS
from gnomon.store.sql_store import SqlStore
from tests.conftest import BUNDLED, MakeDatabase, StartServer
from tests.contract.given import MINUTE, NOW, claim, create_one, end, enqueue_one, new_id, new_job, seen
from tests.pooler import Pooler, pgbouncer_program

CLIENTS, SERVERS_MAX, LIVES = 8, 2, 5

pytestmark = pytest.mark.skipif(
    pgbouncer_program() is None, reason="pgbouncer is not installed (Debian: apt-get install pgbouncer)"
)


@pytest.fixture(params=[""])
async def pooled_url(
    request: pytest.FixtureRequest, postgres: StartServer, migrated_database: MakeDatabase
) -> AsyncIterator[str]:
    server = postgres(BUNDLED)
    name = urlsplit(await migrated_database(server)).path.removeprefix("/")
    with Pooler(server, servers_max=SERVERS_MAX, ignores=request.param) as pooler:
        yield pooler.dsn(name)


async def test_eight_clients_live_through_two_servers(pooled_url: str) -> None:
    stores = [await open_store(f"{pooled_url}?pooler=transaction") for _ in range(CLIENTS)]
    await asyncio.gather(
        *(live(store, f"kind {number}") for number, store in enumerate(stores) for _ in range(LIVES))
    )
    for store in stores:
        await store.close()


async def test_without_the_option_the_error_names_it(pooled_url: str) -> None:
    with pytest.raises(StoreUnavailable, match="Add pooler=transaction to the query part"):
        await open_store(pooled_url)


@pytest.mark.parametrize("pooled_url", [",".join(PLANNER_SETTINGS)], indirect=True)
async def test_a_pooler_that_swallows_our_settings_is_found_out_at_the_latest_by_its_first_mistake(
    pooled_url: str,
) -> None:
    outcomes = await asyncio.gather(
        *(open_and_live(pooled_url, f"kind {number}") for number in range(CLIENTS)), return_exceptions=True
    )
    # PgBouncer 1.18 confuses the prepared statements of its clients; a newer one may know about them, and
    # make no mistake at all.
    for outcome in outcomes:
        assert outcome is None or isinstance(outcome, StoreUnavailable)
        assert outcome is None or "Add pooler=transaction to the query part" in str(outcome)


async def open_and_live(url: str, kind: str) -> None:
    store = await open_store(url)
    try:
        await live(store, kind)
    finally:
        await store.close()


async def live(store: SqlStore, kind: str) -> None:
    """Create, enqueue, claim, renew, apply, fire, read."""
    definition = Definition(kind, schedule=Schedule(Interval(MINUTE, NOW)))
    job = await create_one(store, new_job(definition=definition, next_run_time=NOW))
    await enqueue_one(store, job)
    [leased] = await claim(store, limit=1, kinds=frozenset({kind}))
    [renewed] = await store.executions.renew([leased.claim], lease_until=NOW + LEASE * 2)
    assert not renewed.cancel_requested
    await end(store, leased)
    assert (await seen(store, leased)).status is ExecutionStatus.COMPLETED
    firing = plan(job, now=NOW, live=0, excluded_dates=frozenset(), new_id=lambda: ExecutionId(new_id()))
    assert await store.schedules.fire([firing], now=NOW) == [job.id]
    [fired] = await store.schedules.occurrences(DEFAULT_TENANT, job.id, limit=10)
    assert fired.nominal_time == NOW
