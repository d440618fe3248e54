"""Probes and metrics of processes without an API: the same answers, from a few lines of HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from gnomon import __version__
from gnomon.app.processes.opening import open_database
from gnomon.app.processes.probes import probes_of
from gnomon.app.processes.process import Role, running_engine
from gnomon.errors import InvalidInput, StoreUnavailable
from gnomon.health import responder
from gnomon.health.responder import ProbePage, responding
from gnomon.settings import HealthSettings, Settings
from gnomon.store.schema.migrations import migrate
from gnomon.testing import ManualClock
from tests.postgres import free_port

HERE = "127.0.0.1"


@pytest.fixture
async def probes(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Of a scheduler with a worker on a file, which has got through its first steps."""
    url = f"sqlite://{tmp_path / 'gnomon.db'}"
    database = await open_database(url)
    await migrate(database, now=ManualClock().now())
    await database.close()
    chosen = HealthSettings(port=free_port())
    async with AsyncExitStack() as stack:
        roles = Role.SCHEDULER | Role.WORKER
        engine = await stack.enter_async_context(running_engine(Settings(database=url), roles))
        await stack.enter_async_context(probes_of(engine, chosen))
        running = asyncio.create_task(engine.node.run())
        while not sum(engine.telemetry.polled.counts):  # noqa: ASYNC110 - a step of a service.
            await asyncio.sleep(0.01)
        http = httpx.AsyncClient(base_url=f"http://{HERE}:{chosen.port}")
        yield await stack.enter_async_context(http)
        engine.node.drain()
        await running


async def test_it_answers_as_the_api_does(probes: httpx.AsyncClient) -> None:
    assert (await probes.get("/livez")).json() == {"status": "ok"}
    ready = (await probes.get("/readyz")).json()
    assert ready["checks"].keys() == {"store", "schema", "scheduler", "scheduler_step", "claim"}
    assert (await probes.get("/version")).json() == {"name": "gnomon", "version": __version__, "api": "v1"}
    figures = await probes.get("/metrics")
    assert figures.headers["content-type"].startswith("text/plain")
    assert "gnomon_queue_depth" in figures.text
    assert "gnomon_worker_last_poll_age_seconds" in figures.text
    [polled] = [line for line in figures.text.splitlines() if "polling_latency_seconds_count" in line]
    assert float(polled.split()[-1]) >= 1


async def test_what_it_does_not_have_is_refused_in_the_envelope(probes: httpx.AsyncClient) -> None:
    for method, path, status, code in [
        ("GET", "/v1/jobs", 404, "NOT_FOUND"),
        ("POST", "/livez", 405, "METHOD_NOT_ALLOWED"),
    ]:
        refused = await probes.request(method, path)
        assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)
        assert refused.json()["error"].keys() == {"code", "message", "details", "request_id"}
        assert refused.headers.get("allow") == ("GET, HEAD" if status == 405 else None)
    head = await probes.head("/livez?now=1")
    assert (head.status_code, head.content) == (200, b"")


async def page() -> ProbePage:
    return ProbePage(b"{}")


async def broken() -> ProbePage:
    raise StoreUnavailable("SQLite: /srv/gnomon.db: disk I/O error")


async def bug() -> ProbePage:
    raise ZeroDivisionError


async def sent(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(HERE, port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    return answer


def problem(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    told: dict[str, Any] = json.loads(body)["error"]
    return int(head.split()[1]), told["code"]


async def test_a_page_that_cannot_be_made_tells_neither_what_the_store_said_nor_of_a_bug() -> None:
    async with responding({"/broken": broken, "/bug": bug}, HERE, 0) as port:
        answer = await sent(port, b"GET /broken HTTP/1.1\r\n\r\n")
        assert problem(answer) == (503, "STORE_UNAVAILABLE")
        assert b"/srv" not in answer
        answer = await sent(port, b"GET /bug HTTP/1.1\r\n\r\n")
        assert problem(answer) == (500, "INTERNAL_ERROR")
        assert b"Zero" not in answer


@pytest.mark.parametrize(
    "request_bytes", [b"nonsense\r\n\r\n", b"GET\r\n\r\n", b"\xff\xfe / x\r\n\r\n", b"x" * 20_000]
)
async def test_what_is_no_request_gets_no_answer(request_bytes: bytes) -> None:
    async with responding({"/livez": page}, HERE, 0) as port:
        with suppress(ConnectionError):  # Closed while it was still sending.
            assert await sent(port, request_bytes) == b""
        assert (await sent(port, b"GET /livez HTTP/1.1\r\n\r\n")).endswith(b"\r\n\r\n{}")


async def test_silent_connections_are_closed_and_do_not_keep_a_probe_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(responder, "CONNECTIONS_MAX", 3)
    monkeypatch.setattr(responder, "HEAD_PATIENCE", timedelta(milliseconds=50))
    async with responding({"/livez": page}, HERE, 0) as port:
        silent = [await asyncio.open_connection(HERE, port) for _ in range(10)]
        for reader, _ in silent:
            assert await reader.read() == b""  # One too many at once, or too slow.
        assert (await sent(port, b"GET /livez HTTP/1.1\r\n\r\n")).endswith(b"{}")
        for _, writer in silent:
            writer.close()


async def test_a_port_that_is_taken_is_told_by_name() -> None:
    async with responding({}, HERE, 0) as port:
        with pytest.raises(InvalidInput, match=r"^health\.port: cannot listen at 127\.0\.0\.1"):
            async with responding({}, HERE, port):
                pass
