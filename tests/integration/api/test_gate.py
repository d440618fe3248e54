"""What is refused at the gate, and what a refusal costs whom."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gnomon.api import application
from gnomon.api.application import ROUTES
from gnomon.app import open_store
from gnomon.app.processes.desk import desk_for
from gnomon.handlers.registry import Registry
from gnomon.store.sql_store import SqlStore
from tests.contract.grounds import SqliteGround
from tests.integration.api.asgi import Line
from tests.integration.api.conftest import UNLIMITED, Office, memory, problem

FEW = 3


@pytest.fixture
async def strict_office(handlers: Registry) -> AsyncIterator[Office]:
    """A few of everything."""
    few = replace(
        UNLIMITED,
        submissions_per_minute=FEW,
        queries_per_minute=FEW,
        refusals_per_minute=FEW,
        key_calls_per_minute=FEW,
        body=timedelta(seconds=0.05),
    )
    office = Office(await memory(), handlers, settings=few)
    await office.open()
    yield office
    await office.http.aclose()
    await office.store.close()


async def test_calls_that_a_key_may_not_make_use_up_its_own_budget_and_not_its_tenants(
    strict_office: Office,
) -> None:
    office = strict_office
    reader, other_reader = await office.key("read"), await office.key("read")

    async def forbidden(key: dict[str, str]) -> Any:
        return await office.http.post("/v1/jobs", json={"name": "x"}, headers=key)

    for _ in range(FEW):
        assert problem(await forbidden(reader)) == (403, "FORBIDDEN")
    assert problem(await forbidden(reader)) == (429, "RATE_LIMITED")
    assert problem(await forbidden(other_reader)) == (403, "FORBIDDEN")
    assert (await office.http.get("/v1/jobs", headers=reader)).status_code == 200
    await office.job()


async def test_calls_without_a_key_have_a_budget_that_keeps_no_valid_key_out(strict_office: Office) -> None:
    office = strict_office
    for _ in range(FEW):
        assert problem(await office.http.get("/v1/jobs", headers={"Authorization": ""}))[0] == 401
    late = await office.http.get("/v1/jobs", headers={"Authorization": ""})
    assert problem(late) == (429, "RATE_LIMITED")
    assert late.headers["x-ratelimit-limit"] == str(FEW)
    assert late.headers["x-ratelimit-remaining"] == "0"
    assert int(late.headers["x-ratelimit-reset"]) > office.clock.now().timestamp()

    elsewhere = Line(office, "/v1/jobs", client=("198.51.100.7", "1"))
    await elsewhere.call()
    assert (await elsewhere.message("http.response.start"))["status"] == 401
    assert (await office.http.get("/v1/jobs")).status_code == 200

    office.clock.advance(timedelta(minutes=1))
    assert (await office.http.get("/v1/jobs", headers={"Authorization": ""})).status_code == 401


async def test_an_admin_revokes_a_key_that_has_used_up_its_tenants_calls(strict_office: Office) -> None:
    office = strict_office
    bad = await office.client.keys.create("bad", ["write"])
    wild = {"Authorization": f"Bearer {bad.text}"}
    for _ in range(FEW + 1):
        last = await office.http.post("/v1/jobs", json={"name": "x", "kind": "dummy"}, headers=wild)
    assert problem(last) == (429, "RATE_LIMITED")
    assert last.headers["x-ratelimit-remaining"] == "0"

    revoked = await office.http.delete(f"/v1/keys/{bad.key.id}")

    assert revoked.json()["is_valid"] is False
    assert revoked.headers["x-ratelimit-limit"] == str(FEW)


async def test_two_authorization_headers_are_one_too_many(strict_office: Office) -> None:
    admin = strict_office.http.headers["authorization"]
    twice = [("Authorization", admin), ("Authorization", admin)]
    answer = await strict_office.http.get("/v1/jobs", headers=twice)
    assert problem(answer) == (400, "INVALID_INPUT")
    assert "sent 2 times" in answer.text


@pytest.mark.parametrize("path", ["/livez", "/v1/jobs", "/v1/jobs/00000000-0000-0000-0000-000000000000"])
async def test_head_is_get_without_the_body(office: Office, path: str) -> None:
    got, head = await office.http.get(path), await office.http.head(path)
    assert head.status_code == got.status_code
    assert head.headers["content-type"] == got.headers["content-type"]
    assert (head.content, head.headers["content-length"]) == (b"", got.headers["content-length"])


async def test_head_is_answered_wherever_get_is_also_beside_the_loop(
    tmp_path: Path, handlers: Registry
) -> None:
    """Long calls are served by a thread that reads the whole request before it begins."""
    ground = SqliteGround(tmp_path)
    await ground.prepare()
    store = await ground.fresh(rescan=timedelta(0))
    assert isinstance(store, SqlStore)
    office = Office(store, handlers)
    await office.open()
    open_here = partial(open_store, f"sqlite://{tmp_path / '1.db'}", rescan=timedelta(0))
    paths = {path for route in ROUTES if "GET" in getattr(route, "http_methods", ()) for path in route.paths}
    async with desk_for(office.api, office.announce, open_here) as desk:
        office.app = application(office.api, desk=desk)
        for path in sorted(paths):
            line = Line(office, re.sub(r"{\w+:\w+}", "1", path), await office.key("admin"), method="HEAD")
            line.incoming.put_nowait({"type": "http.request", "body": b"", "more_body": False})
            async with asyncio.timeout(10):
                await line.call()
            assert (await line.message("http.response.start"))["status"] in (200, 400, 404), path
    assert len(paths) > 30
    await office.http.aclose()
    await office.store.close()


async def test_head_of_a_stream_comes_to_an_end(small_office: Office) -> None:
    head = await small_office.http.head("/v1/events/stream")
    assert head.status_code == 200
    assert head.headers["content-type"].startswith("text/event-stream")


async def test_a_client_that_leaves_within_its_body_is_no_mistake_of_ours(
    small_office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    line = Line(small_office, "/v1/jobs", await small_office.key("write"), method="POST")
    line.incoming.put_nowait({"type": "http.request", "body": b'{"name":', "more_body": True})
    line.incoming.put_nowait({"type": "http.disconnect"})
    with caplog.at_level(logging.WARNING):
        await line.call()
    assert (await line.message("http.response.start"))["status"] == 499
    assert not caplog.records


async def test_a_body_that_never_ends_is_given_up(strict_office: Office) -> None:
    line = Line(strict_office, "/v1/jobs", await strict_office.key("write"), method="POST")
    line.incoming.put_nowait({"type": "http.request", "body": b'{"name":', "more_body": True})
    await line.call()
    start = await line.message("http.response.start")
    assert start["status"] == 408
    assert (b"connection", b"close") in start["headers"]
    assert b"did not arrive within 0.05 s" in (await line.message("http.response.body"))["body"]


async def test_an_address_with_too_many_requests_under_way_is_told_and_probes_are_answered(
    small_office: Office,
) -> None:
    office = small_office
    office.api.presence.per_address = 1
    key = await office.key("read")
    holding = Line(office, "/v1/events/stream", key)
    async with asyncio.TaskGroup() as group:
        group.create_task(holding.call())
        await holding.message("http.response.body")

        crowded = Line(office, "/v1/jobs", key, client=("192.0.2.1", "5001"))
        await crowded.call()
        assert (await crowded.message("http.response.start"))["status"] == 503
        assert b"192.0.2.1 holds 1 connections" in (await crowded.message("http.response.body"))["body"]
        probe = Line(office, "/livez", client=("192.0.2.1", "5002"))
        await probe.call()
        assert (await probe.message("http.response.start"))["status"] == 200
        elsewhere = Line(office, "/v1/jobs", key, client=("192.0.2.2", "5000"))
        await elsewhere.call()
        assert (await elsewhere.message("http.response.start"))["status"] == 200

        holding.incoming.put_nowait({"type": "http.disconnect"})
    assert not office.api.presence.busy
