"""A key for those who can write the database: how an admin key that was lost is replaced."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime
from random import Random

from gnomon.app.processes.opening import inspect, open_store
from gnomon.client import Client
from gnomon.client.access.keys import NewKey
from gnomon.client.context import ClientContext
from gnomon.core.access.keys import KeySource
from gnomon.core.values.ids import IdSource
from gnomon.engine.clock import StoreClock
from gnomon.errors import StoreRefused


async def key_in(
    url: str, name: str, scopes: Collection[str], *, expires_at: datetime | None
) -> tuple[NewKey, datetime]:
    """The key, and what time it is for the database. Processes that run on it accept the key at once.

    Raises StoreRefused if there is no database, or its schema is not ours; InvalidInput.
    """
    if reasons := (await inspect(url)).refusals:
        raise StoreRefused(" ".join(reasons))
    store = await open_store(url)
    try:
        clock = StoreClock(store.clock)
        await clock.learn()
        ids = IdSource(Random(secrets.randbits(128)))  # noqa: S311 - ids, no secrets.
        keys = Client(ClientContext(store, clock, ids)).keys
        new = await keys.create(name, scopes, expires_at=expires_at, through=KeySource.DATABASE)
        return new, clock.now()
    finally:
        await store.close()
