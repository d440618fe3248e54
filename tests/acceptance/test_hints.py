"""The server goes away and comes back: hints stop, announcing does not mind, and then they come again."""

from __future__ import annotations

import asyncio
from typing import Literal

import pytest

from gnomon.app import open_hints
from gnomon.store.databases.hints import Topic
from tests.postgres import PostgresServer, bundled_server

PATIENCE_SECONDS = 60


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_hints_survive_a_restart(
    mode: Literal["fast", "immediate"],
) -> None:
    heard: asyncio.Queue[Topic] = asyncio.Queue()
    with PostgresServer(bundled_server()) as server:
        url = await server.create_database("hints")
        listener, announcer = open_hints(url), open_hints(url)
        listener.listen(heard.put_nowait)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await everything(heard)
            announcer.announce(Topic.WORK)
            assert await heard.get() is Topic.WORK

            await asyncio.to_thread(server.stop, mode)
            announcer.announce(Topic.CANCEL)
            await asyncio.to_thread(server.start)

            # The listener looks at everything, whether it or the announcer was back first.
            await everything(heard)
            announcer.announce(Topic.SCHEDULE)
            while await heard.get() is not Topic.SCHEDULE:
                continue  # The one of the time in between.
        await listener.close()
        await announcer.close()


async def everything(heard: asyncio.Queue[Topic]) -> None:
    missing = set(Topic)
    while missing:
        missing.discard(await heard.get())
