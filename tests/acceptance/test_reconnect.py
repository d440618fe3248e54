"""The server goes away and comes back: callers ask again, and nothing is lost or doubled."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Literal, TypeVar

import asyncpg
import pytest

from gnomon.app import open_database, open_store
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionStatus, WorkerId
from gnomon.core.executions.lease import LEASE
from gnomon.errors import StoreUnavailable
from gnomon.store.databases import postgres_connect
from gnomon.store.protocols.changes import Applied
from gnomon.store.schema.migrations import migrate
from gnomon.store.sql_store import SqlStore
from tests.checks import add_checks
from tests.contract.given import DONE, NOW, ask, create_one, decided, enqueue, request, seen
from tests.postgres import PostgresServer, bundled_server, free_port

Answer = TypeVar("Answer")
TRIES_MAX = 50
EXECUTIONS, WORKERS, CALLS_BETWEEN_KILLS = 200, 4, 5


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server of our own, since it will be stopped."""
    with PostgresServer(bundled_server()) as started:
        yield started


@pytest.fixture
async def store(server: PostgresServer) -> AsyncIterator[SqlStore]:
    url = await server.create_database("reconnect")
    database = await open_database(url)
    await migrate(database, now=NOW)
    await database.close()
    await add_checks(url)
    opened = await open_store(url)
    yield opened
    await opened.close()
    await server.drop_database("reconnect")


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_an_open_store_survives_a_restart(
    server: PostgresServer, store: SqlStore, mode: Literal["fast", "immediate"]
) -> None:
    job = await create_one(store)
    [execution_id] = await enqueue(store, ask(job))
    # Several connections, so that more than the first one is found dead.
    await asyncio.gather(*(store.jobs.get(DEFAULT_TENANT, job.id) for _ in range(5)))

    await asyncio.to_thread(server.restart, mode)

    found = await insist(lambda: seen(store, execution_id), tries=2)
    assert found.status is ExecutionStatus.QUEUED
    await asyncio.gather(*(store.jobs.get(DEFAULT_TENANT, job.id) for _ in range(5)))


async def test_a_server_that_is_down_is_told_and_the_store_works_when_it_is_back(
    server: PostgresServer, store: SqlStore
) -> None:
    job = await create_one(store)
    await asyncio.to_thread(server.stop)
    for _ in range(3):
        with pytest.raises(StoreUnavailable, match="PostgreSQL does not answer: "):
            await store.jobs.get(DEFAULT_TENANT, job.id)
    await asyncio.to_thread(server.start)
    assert await store.jobs.get(DEFAULT_TENANT, job.id) == job


async def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(StoreUnavailable, match=r"PostgreSQL does not answer: .*Connect call failed"):
        await open_store(f"postgresql://gnomon@127.0.0.1:{free_port()}/gnomon")


async def test_a_server_that_takes_connections_and_says_nothing_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(postgres_connect, "CONNECT_TIMEOUT", timedelta(milliseconds=50))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://gnomon@127.0.0.1:{silent.getsockname()[1]}/gnomon"
        with pytest.raises(StoreUnavailable, match=r"^PostgreSQL does not answer: it says nothing$"):
            await open_store(address)


async def test_nothing_is_lost_or_doubled_when_connections_are_cut_in_the_middle(
    server: PostgresServer, store: SqlStore
) -> None:
    ids = await enqueue(store, *(ask(job) for job in [await create_one(store)] for _ in range(EXECUTIONS)))
    cutter = await asyncpg.connect(server.dsn())
    answers: list[Applied] = []
    calls = cuts = 0
    over = asyncio.Event()
    turn = asyncio.Event()

    async def cut() -> None:
        nonlocal cuts
        while not over.is_set():
            await turn.wait()
            turn.clear()
            cuts += await cutter.fetchval(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = 'reconnect'"
            )

    async def call(verb: Callable[[], Awaitable[Answer]]) -> Answer:
        nonlocal calls
        calls += 1
        if calls % CALLS_BETWEEN_KILLS == 0:
            turn.set()  # The cut and the call are now on their way at the same time.
        return await insist(verb)

    async def work(worker: WorkerId) -> None:
        while True:
            asked = request(worker, limit=5)
            leased = await call(partial(store.executions.claim, asked, now=NOW, lease_until=NOW + LEASE))
            if not leased and len(answers) >= EXECUTIONS:
                return
            decisions = [decided(one, DONE) for one in leased]
            answers.extend(await call(partial(store.executions.apply, decisions, now=NOW)))

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        cutting = group.create_task(cut())
        async with asyncio.TaskGroup() as workers:
            for number in range(WORKERS):
                workers.create_task(work(WorkerId(f"worker {number}")))
        over.set()
        turn.set()
        await cutting
    await cutter.close()

    assert cuts > 10
    assert len(answers) == EXECUTIONS
    assert set(answers) <= {Applied.APPLIED, Applied.REPLAYED}
    ended = [await insist(partial(seen, store, one)) for one in ids]
    assert {(one.status, one.claim, one.attempts) for one in ended} == {(ExecutionStatus.COMPLETED, 1, 1)}


async def insist(verb: Callable[[], Awaitable[Answer]], *, tries: int = TRIES_MAX) -> Answer:
    """Ask, and ask the same again while the store is unavailable. Any other error is a failure."""
    for _ in range(tries - 1):
        try:
            return await verb()
        except StoreUnavailable:
            continue
    return await verb()
