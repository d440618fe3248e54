"""Large answers that are not read: a key has room for so many bytes of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from gnomon.api import application
from gnomon.api.serving.room import READ_AT_ONCE
from gnomon.app import open_store
from gnomon.app.processes.desk import desk_for
from gnomon.handlers.registry import Registry
from gnomon.store.sql_store import SqlStore
from tests.contract.grounds import SqliteGround
from tests.integration.api.asgi import Line
from tests.integration.api.conftest import UNLIMITED, Office, memory, problem

LARGE = {"kind": "http", "payload": {"url": "https://example.com", "body": "x" * 200_000}}
JOBS = "/v1/jobs"


@asynccontextmanager
async def small_room(office: Office) -> AsyncIterator[Office]:
    """Two jobs make a large answer; one of those fits."""
    await office.open()
    for name in ("one", "two"):
        await office.job(name=name, **LARGE)
    yield office
    await office.http.aclose()
    await office.store.close()


@asynccontextmanager
async def unread(office: Office, headers: dict[str, str]) -> AsyncIterator[Line]:
    """A page whose reader has seen the head of it. It must have ended when the block does."""
    line = Line(office, JOBS, headers)
    line.sent = asyncio.Queue(maxsize=1)
    async with asyncio.TaskGroup() as group:
        group.create_task(line.call())
        assert (await line.message("http.response.start"))["status"] == 200
        yield line
        while (await line.message("http.response.body"))["more_body"]:
            pass


async def test_a_key_that_reads_nothing_gets_no_second_large_answer(handlers: Registry) -> None:
    settings = replace(UNLIMITED, answer_bytes_per_key=600_000)
    async with small_room(Office(await memory(), handlers, settings=settings)) as office:
        key, another = await office.key("read"), await office.key("read")
        for asks in ({}, {"Accept-Encoding": "gzip"}):
            async with unread(office, key | asks):
                refused = await office.http.get(JOBS, headers=key)
                assert problem(refused) == (429, "TOO_MANY_ANSWERS")
                assert "Retry-After" in refused.headers
                assert (await office.http.get(f"{JOBS}?limit=1", headers=key)).status_code == 200
                assert (await office.http.get(JOBS, headers=another)).status_code == 200
            assert (await office.http.get(JOBS, headers=key)).status_code == 200


async def test_pages_that_are_being_sent_keep_no_other_from_being_read(handlers: Registry) -> None:
    settings = replace(UNLIMITED, answer_bytes_per_key=None)
    async with (
        small_room(Office(await memory(), handlers, settings=settings)) as office,
        AsyncExitStack() as all_of,
    ):
        key = await office.key("read")
        for _ in range(READ_AT_ONCE):
            await all_of.enter_async_context(unread(office, key))
        assert (await office.http.get(JOBS)).status_code == 200


async def test_a_page_that_is_served_beside_the_loop_is_measured_too(
    handlers: Registry, tmp_path: Path
) -> None:
    ground = SqliteGround(tmp_path)
    await ground.prepare()
    settings = replace(UNLIMITED, answer_bytes_per_key=600_000)
    store = await ground.fresh()
    assert isinstance(store, SqlStore)
    async with small_room(Office(store, handlers, settings=settings)) as office:
        opening = partial(open_store, f"sqlite://{tmp_path / '1.db'}")
        async with desk_for(office.api, office.announce, opening) as desk:
            office.app = application(office.api, desk=desk)
            key = await office.key("read")
            line = Line(office, JOBS, key, query=b"limit=1000")
            again = replace(line, sent=asyncio.Queue(), incoming=asyncio.Queue())
            line.sent = asyncio.Queue(maxsize=1)
            for one in (line, again):
                one.incoming.put_nowait({"type": "http.request", "body": b"", "more_body": False})
            async with asyncio.TaskGroup() as group:
                group.create_task(line.call())
                assert (await line.message("http.response.start"))["status"] == 200
                await again.call()
                assert (await again.message("http.response.start"))["status"] == 429
                while (await line.message("http.response.body"))["more_body"]:
                    pass
