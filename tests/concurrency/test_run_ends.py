"""A run ends with its last task, whatever else is done to its workflow in the same moment."""

from __future__ import annotations

import asyncio

import pytest

from gnomon.app import open_store
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus
from gnomon.core.runs.state import RunStatus
from gnomon.store.queue import gates
from tests.concurrency.waiting import until_somebody_waits_for
from tests.conftest import MakeDatabase
from tests.contract.flows import begun, chain, claimed, finish, run_of
from tests.contract.given import NOW
from tests.postgres import PostgresServer


@pytest.mark.parametrize("is_remembered", [False, True], ids=["the long way", "the short way"])
async def test_a_run_that_ends_while_its_workflow_becomes_watched_leaves_nothing_behind(
    migrated_database: MakeDatabase, postgres_server: PostgresServer, is_remembered: bool
) -> None:
    """Who ends it waits for the row of its execution, and must find it where it is then."""
    url = await migrated_database(postgres_server)
    store, other = await open_store(url), await open_store(url)
    try:
        run_id = await begun(store, chain(2))
        await finish(store, *(await claimed(store, run_id)).values())
        [last] = (await claimed(store, run_id)).values()
        ends = store if is_remembered else other

        async with other.database.transaction() as session:
            await gates.watch(session, last.job_id, awaited=True)
            ending = asyncio.create_task(finish(ends, last))
            await until_somebody_waits_for(session._connection)  # type: ignore[attr-defined]
            assert not ending.done()
        await ending

        assert (await run_of(store, run_id)).status is RunStatus.COMPLETED
        ended = await store.executions.get(DEFAULT_TENANT, ExecutionId(run_id), now=NOW)
        assert ended.status is ExecutionStatus.COMPLETED
    finally:
        await other.close()
        await store.close()
