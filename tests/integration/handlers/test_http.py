"""HTTP jobs against real servers: what is sent, what is kept, what is an error, and what is a limit."""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
import ssl
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from gnomon.core.values.document import JSON, Document
from gnomon.core.values.limits import RESULT_BYTES_MAX
from gnomon.handlers.base import JobFailed
from gnomon.handlers.http.answer import BODY_BYTES_MAX
from gnomon.handlers.http.handler import HttpHandler
from gnomon.settings import HandlerSettings
from tests.attempts import EXECUTION_ID, a_payload, an_attempt
from tests.integration.handlers.servers import Seen, reply, serving

TRUST = ssl.create_default_context()  # Takes a while to read, and is the same for all.


@pytest.fixture
async def handler() -> AsyncIterator[HttpHandler]:
    settings = HandlerSettings(http_allow=("127.0.0.2",), http_timeout=timedelta(seconds=10))
    handler = HttpHandler(settings, ssl_context=TRUST)
    yield handler
    await handler.aclose()


def to(url: str, **more: JSON) -> JSON:
    return a_payload({"url": url, **more})


async def failure(handler: HttpHandler, payload: JSON) -> JobFailed:
    with pytest.raises(JobFailed) as failed:
        await handler.run(payload, an_attempt())
    return failed.value


async def test_a_call_carries_who_it_is_for(handler: HttpHandler) -> None:
    async with serving(reply(200, b'{"ok": true}', content_type="application/json", x_secret="no")) as server:
        result = await handler.run(
            to(server.url("/hook?a=1"), json={"n": 1}, headers={"X-Own": "yes"}), an_attempt(attempt=2)
        )
    (seen,) = server.seen
    assert (seen.method, seen.path, json.loads(seen.body)) == ("POST", "/hook?a=1", {"n": 1})
    assert seen.headers["host"] == f"127.0.0.2:{server.port}"
    assert seen.headers["x-own"] == "yes"
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["idempotency-key"] == str(EXECUTION_ID)
    assert seen.headers["gnomon-execution-id"] == str(EXECUTION_ID)
    assert seen.headers["gnomon-attempt"] == "2"
    assert seen.headers["gnomon-fencing-token"] == f"{EXECUTION_ID}:3"
    assert result == {
        "status": 200,
        "headers": {"content-type": "application/json"},
        "json": {"ok": True},
        "truncated": False,
    }


async def test_the_input_of_the_execution_is_sent(handler: HttpHandler) -> None:
    async with serving(reply()) as server:
        await handler.run(to(server.url(), json={"a": 1, "b": 1}), an_attempt(input={"b": 2}))
        await handler.run(to(server.url(), method="GET"), an_attempt(input={"b": 2}))
    assert [seen.body for seen in server.seen] == [b'{"a":1,"b":2}', b""]


async def test_connections_are_used_again(handler: HttpHandler) -> None:
    async with serving(reply(200, b"x")) as server:
        for _ in range(5):
            await handler.run(to(server.url()), an_attempt())
    assert (server.connections, len(server.seen)) == (1, 5)


@pytest.mark.parametrize(
    ("status", "permanent"),
    [
        (302, True),
        (400, True),
        (404, True),
        (408, False),
        (425, False),
        (429, False),
        (500, False),
        (503, False),
    ],
)
async def test_some_errors_are_for_good(handler: HttpHandler, status: int, permanent: bool) -> None:
    async with serving(reply(status, b"sorry, not today")) as server:
        failed = await failure(handler, to(server.url()))
    assert (failed.kind, failed.permanent, failed.retry_after) == ("http_status", permanent, None)
    assert str(status) in str(failed)
    assert "sorry, not today" in str(failed)


async def test_a_server_may_say_when_to_come_back(handler: HttpHandler) -> None:
    async with serving(reply(503, b"", retry_after="120")) as server:
        failed = await failure(handler, to(server.url()))
    assert failed.retry_after == timedelta(minutes=2)


async def test_a_job_may_expect_another_status(handler: HttpHandler) -> None:
    async with serving(reply(404)) as server:
        result = await handler.run(to(server.url(), expected_status=[200, "400-404"]), an_attempt())
    assert isinstance(result, dict)
    assert result["status"] == 404


async def test_a_server_that_is_not_there_may_come_back(handler: HttpHandler) -> None:
    async with serving(reply()) as server:
        pass
    failed = await failure(handler, to(server.url()))
    assert (failed.kind, failed.permanent) == ("connection", False)


async def test_an_endless_answer_is_cut(handler: HttpHandler) -> None:
    sent = 0

    async def endless(seen: Seen, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 X\r\ncontent-length: 10000000000\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            sent += 65536
            await writer.drain()

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with serving(endless) as server:
        result = await handler.run(to(server.url()), an_attempt())
    assert isinstance(result, dict)
    assert result["truncated"] is True
    assert isinstance(result["body"], str)
    assert BODY_BYTES_MAX - 10 <= len(result["body"]) <= BODY_BYTES_MAX
    Document.of(result, field="result", bytes_max=RESULT_BYTES_MAX)
    assert sent < 50_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024


async def test_a_bomb_is_unpacked_up_to_the_limit(handler: HttpHandler) -> None:
    bomb = gzip.compress(b"\0" * 100_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with serving(reply(200, bomb, content_encoding="gzip")) as server:
        result = await handler.run(to(server.url()), an_attempt())
    assert isinstance(result, dict)
    assert result["truncated"] is True
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024


async def test_a_packed_answer_is_unpacked(handler: HttpHandler) -> None:
    async with serving(reply(200, gzip.compress(b"hello"), content_encoding="gzip")) as server:
        result = await handler.run(to(server.url()), an_attempt())
    assert isinstance(result, dict)
    assert result["body"] == "hello"
    assert server.seen[0].headers["accept-encoding"] == "identity"


async def test_a_giant_header_is_refused(handler: HttpHandler) -> None:
    async with serving(reply(200, b"", x_giant="x" * 1_000_000)) as server:
        failed = await failure(handler, to(server.url()))
    assert failed.kind == "protocol"


async def test_nonsense_is_refused(handler: HttpHandler) -> None:
    async def nonsense(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-nonsense\r\n\r\n")
        writer.close()

    async with serving(nonsense) as server:
        failed = await failure(handler, to(server.url()))
    assert failed.kind == "protocol"


async def test_an_answer_that_drips_ends_with_the_time(handler: HttpHandler) -> None:
    async def drip(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 X\r\ncontent-length: 1000000\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.01)

    async with serving(drip) as server:
        failed = await failure(handler, to(server.url(), timeout_seconds=0.2))
    assert (failed.kind, failed.permanent) == ("timeout", False)


async def test_cancelling_closes_the_connection(handler: HttpHandler) -> None:
    arrived = asyncio.Event()

    async def never(seen: Seen, writer: asyncio.StreamWriter) -> None:
        arrived.set()
        await writer.wait_closed()

    async with serving(never) as server:
        task = asyncio.create_task(handler.run(to(server.url()), an_attempt()))
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not handler._pool.connections
