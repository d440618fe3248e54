"""Many who do the same at once."""

from __future__ import annotations

import asyncio

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Execution
from gnomon.core.executions.lifecycle import Released
from gnomon.core.executions.records import ExecutionFilter
from gnomon.store.sql_store import SqlStore
from tests.contract.given import NOW, claim, decided


async def claim_and_give_back(store: SqlStore, over: asyncio.Event) -> None:
    while not over.is_set():
        leased = await claim(store, limit=5)
        await store.executions.apply([decided(one, Released()) for one in leased], now=NOW)


async def all_of(store: SqlStore) -> list[Execution]:
    found: list[Execution] = []
    after = None
    while True:
        page = await store.executions.page(
            DEFAULT_TENANT, ExecutionFilter(), now=NOW, limit=1000, after=after
        )
        found += page.items
        if page.next is None:
            return found
        after = page.next
