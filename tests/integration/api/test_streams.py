"""Streams: how many there may be, and that none outlives its key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest

from gnomon.api.serving import streams
from gnomon.api.serving.edge import ANSWERS
from gnomon.api.serving.failures import CLOSE_CODES
from gnomon.client.access.keys import NewKey
from tests.integration.api.asgi import Line
from tests.integration.api.conftest import UNLIMITED, Office

KINDS = ["http", "websocket"]
BEGUN = {"http": "http.response.body", "websocket": "websocket.accept"}
PATHS = {"http": "/v1/events/stream", "websocket": "/v1/events"}


@pytest.fixture(autouse=True)
def keys_are_proven_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "PROVEN_EVERY", timedelta(milliseconds=5))


@asynccontextmanager
async def following(office: Office, key: NewKey, kind: str) -> AsyncIterator[Line]:
    """A stream that has begun. It must have ended when the block does."""
    line = Line(office, PATHS[kind], {"Authorization": f"Bearer {key.text}"}, type=kind)
    async with asyncio.TaskGroup() as group:
        group.create_task(line.call())
        await line.message(BEGUN[kind])
        yield line


async def ended(line: Line) -> None:
    if line.type == "websocket":
        assert (await line.message("websocket.close"))["code"] == CLOSE_CODES + 401
    else:
        while (await line.message("http.response.body"))["more_body"]:
            pass


async def beside(office: Office) -> Office:
    """Another node on the same store."""
    other = Office(office.store, office.handlers, clock=office.clock, ids=office.ids, settings=UNLIMITED)
    await other.open()
    return other


@pytest.mark.parametrize("kind", KINDS)
async def test_a_revoked_key_loses_its_streams_on_every_node(office: Office, kind: str) -> None:
    other = await beside(office)
    key, innocent = [await office.client.keys.create(name, ["read"]) for name in ("a", "b")]
    async with following(other, innocent, kind) as staying:
        async with following(other, key, kind) as far, following(office, key, kind) as near:
            await office.http.delete(f"/v1/keys/{key.key.id}")
            await ended(near)
            await ended(far)
        told = [staying.sent.get_nowait() for _ in range(staying.sent.qsize())]  # The revocation, perhaps.
        assert not any(one["type"] == "websocket.close" or one.get("more_body") is False for one in told)
        staying.incoming.put_nowait({"type": f"{kind}.disconnect", "code": 1000})
    await other.http.aclose()


@pytest.mark.parametrize("kind", KINDS)
async def test_an_expired_key_loses_its_streams(small_office: Office, kind: str) -> None:
    office = small_office
    soon = office.clock.now() + timedelta(seconds=30)
    key = await office.client.keys.create("short", ["read"], expires_at=soon)
    async with following(office, key, kind) as line:
        office.clock.advance(timedelta(seconds=30))
        await ended(line)


async def test_a_stream_whose_reader_has_stopped_reading_ends_with_its_key(
    small_office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "FAREWELL_SECONDS", 0.01)
    office = small_office
    key = await office.client.keys.create("stuck", ["read"])
    line = Line(office, PATHS["http"], {"Authorization": f"Bearer {key.text}"})
    line.sent = asyncio.Queue(maxsize=1)  # The head is taken out below; then there is one piece, and no room.
    async with asyncio.TaskGroup() as group:
        group.create_task(line.call())
        await line.message("http.response.start")
        await office.job()
        await office.http.delete(f"/v1/keys/{key.key.id}")


@pytest.mark.parametrize(("limit", "of"), [("streams_per_key", "key"), ("streams_per_tenant", "tenant")])
@pytest.mark.parametrize("kind", KINDS)
async def test_the_next_stream_of_a_key_or_a_tenant_is_refused(
    small_office: Office, kind: str, limit: str, of: str
) -> None:
    office = Office(
        small_office.store,
        small_office.handlers,
        clock=small_office.clock,
        ids=small_office.ids,
        settings=replace(UNLIMITED, **cast("dict[str, Any]", {limit: 1})),
    )
    await office.open()
    key, another = [await office.client.keys.create(name, ["read"]) for name in ("a", "b")]
    async with following(office, key, kind) as first:
        asking = another if of == "tenant" else key
        next_one = Line(office, PATHS["http"], {"Authorization": f"Bearer {asking.text}"})
        await next_one.call()
        assert (await next_one.message("http.response.start"))["status"] == 429
        assert (
            f"This {of} holds 1 streams open".encode()
            in (await next_one.message("http.response.body"))["body"]
        )
        socket = replace(next_one, path=PATHS["websocket"], type="websocket")
        await socket.call()
        assert (await socket.message("websocket.close"))["code"] == CLOSE_CODES + 429
        answered = replace(socket, extensions={ANSWERS: {}})  # By a server that can: as a request is.
        await answered.call()
        head = await answered.message(f"{ANSWERS}.start")
        assert head["status"] == 429
        assert b"retry-after" in dict(head["headers"])
        told = (await answered.message(f"{ANSWERS}.body"))["body"]
        assert f"This {of} holds 1 streams open".encode() in told
        first.incoming.put_nowait({"type": f"{kind}.disconnect", "code": 1000})
    async with following(office, key, kind) as again:
        again.incoming.put_nowait({"type": f"{kind}.disconnect", "code": 1000})
    await office.http.aclose()


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/jobs", "/livez"])
async def test_a_websocket_where_there_is_none_is_answered(small_office: Office, path: str) -> None:
    socket = Line(small_office, path, type="websocket", extensions={ANSWERS: {}})
    await socket.call()
    assert (await socket.message(f"{ANSWERS}.start"))["status"] == 404
