"""Many processes keep house at the same time, while others work: all that may go goes, and nothing else."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.executions.records import ExecutionFilter
from gnomon.core.executions.retention import RetentionPolicy
from gnomon.store.sql_store import SqlStore
from tests.concurrency.conftest import Crowd
from tests.contract.given import (
    BROKEN,
    DONE,
    MINUTE,
    NOW,
    ask,
    claim,
    create_one,
    decided,
    new_job,
    tries,
)

CROWD, OLD, YOUNG = 4, 300, 50
LATER = NOW + timedelta(days=91)


async def test_many_forget_the_same_executions_while_others_end(crowd: Crowd) -> None:
    stores = await crowd(CROWD + 1)
    worker, *keepers = stores
    job = await create_one(worker, new_job(definition=tries(1)))
    await worker.executions.enqueue(DEFAULT_TENANT, [ask(job) for _ in range(OLD)], now=NOW)
    leased = await claim(worker, limit=OLD)
    outcomes = [DONE if number % 2 else BROKEN for number in range(OLD)]
    decisions = [decided(one, outcome) for one, outcome in zip(leased, outcomes, strict=True)]
    await worker.executions.apply(decisions, now=NOW)
    await worker.executions.enqueue(DEFAULT_TENANT, [ask(job) for _ in range(YOUNG)], now=LATER)

    await asyncio.gather(work(worker), *(keep_house(store) for store in keepers))

    page = await worker.executions.page(DEFAULT_TENANT, ExecutionFilter(), now=LATER, limit=1000)
    assert [one.status for one in page.items] == [ExecutionStatus.COMPLETED] * YOUNG
    assert not (await worker.dead_letters.page(DEFAULT_TENANT, limit=10)).items


async def work(store: SqlStore) -> None:
    while leased := await claim(store, limit=5, now=LATER):
        await store.executions.apply([decided(one, DONE, now=LATER) for one in leased], now=LATER)


async def keep_house(store: SqlStore) -> None:
    position = None
    while True:
        forgotten = await store.upkeep.forget_ended(RetentionPolicy(), now=LATER, limit=20, after=position)
        await store.upkeep.forget_requests(before=NOW + MINUTE, limit=20)
        if not forgotten.more:
            return
        position = forgotten.after
