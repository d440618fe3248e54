"""Callers that go away while SQLite works for them, and a store that has been closed."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from gnomon.errors import StoreUnavailable
from gnomon.store.sqlite import SqliteDatabase


async def test_a_caller_cancelled_while_its_transaction_begins_stops_nobody(tmp_path: Path) -> None:
    database = SqliteDatabase(str(tmp_path / "gnomon.db"))
    go_on = threading.Event()
    busy = asyncio.create_task(database.on_writer(go_on.wait))

    async def begin() -> None:
        async with database.transaction():
            pass

    waiting = asyncio.create_task(begin())
    await asyncio.sleep(0)  # One turn of the loop: it has asked for its BEGIN and waits for the thread.
    waiting.cancel()
    await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await busy

    await database.fetch("migrations_table")
    await database.close()


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    database = SqliteDatabase(str(tmp_path / "gnomon.db"))
    await database.close()

    with pytest.raises(StoreUnavailable):
        await database.fetch("migrations_table")
