"""Nothing holds the loop of an API node up: every route is called with the largest input that it takes.

A ticker on the loop notes how much processor time was used between two of its ticks: by the thread of the
loop itself, and by all threads of the process, one of which may not let go. Time in which a busy machine let
neither of them run does not count. Collections of garbage are switched off: they happen anywhere.
"""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import httpx
import pytest

from gnomon.api import application
from gnomon.api.application import ROUTES
from gnomon.app import open_store
from gnomon.app.processes.desk import desk_for
from gnomon.core.executions.lifecycle import Succeeded
from gnomon.core.values.document import Document
from gnomon.core.values.limits import RESULT_BYTES_MAX
from gnomon.engine.schedulers.conductor import Conductor
from gnomon.handlers.registry import Registry
from tests.conftest import BUNDLED, StartServer
from tests.contract.grounds import PostgresGround, SqliteGround
from tests.integration.api.asgi import Line
from tests.integration.api.conftest import BASE, Office

LOOP_SECONDS_MAX = 0.05
# Of all threads. Several times as much: on a busy machine, one may run for a while although the loop could.
PROCESS_SECONDS_MAX = 0.25
TICK_SECONDS = 0.001
# As many as there may be; fewer on PostgreSQL, where only what the store does differs.
THE_LARGEST = pytest.mark.thorough("No call holds the loop of an API node, with workflows of 20,000 tasks")
TASKS, EDGES_EACH = {"sqlite": 20_000, "postgres": 4000}, 5
BATCH = 1000
DOCUMENT = {"numbers": list(range(2500))}  # A thousand of them are nearly as large as a batch may be.
URL = "https://example.com"
PLAIN = {"Accept-Encoding": "identity", "Content-Type": "application/json"}


@dataclass
class Watchdog:
    """How long the loop was kept at most since `begin`, in seconds of its thread and of the process."""

    kept: float = 0.0
    kept_by_all: float = 0.0
    _thread_at: float = field(default_factory=time.thread_time)
    _process_at: float = field(default_factory=time.process_time)

    def begin(self) -> None:
        self._thread_at, self._process_at = time.thread_time(), time.process_time()
        self.kept, self.kept_by_all = 0.0, 0.0

    def tick(self) -> None:
        thread_at, process_at = time.thread_time(), time.process_time()
        self.kept = max(self.kept, thread_at - self._thread_at)
        self.kept_by_all = max(self.kept_by_all, process_at - self._process_at)
        self._thread_at, self._process_at = thread_at, process_at
        asyncio.get_running_loop().call_later(TICK_SECONDS, self.tick)

    @property
    def was_kept_too_long(self) -> bool:
        return self.kept > LOOP_SECONDS_MAX or self.kept_by_all > PROCESS_SECONDS_MAX


@dataclass
class Node:
    """An API with a desk for long calls, and what each call kept its loop for."""

    office: Office
    tasks: int
    watchdog: Watchdog = field(default_factory=Watchdog)
    too_long: dict[str, tuple[float, float]] = field(default_factory=dict)
    good_below: int = 300

    async def call(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        content = None if body is None else json.dumps(body).encode()
        request = self.office.http.build_request(method, path, content=content, headers=PLAIN | headers)
        self.watchdog.begin()
        # Not read here: what a caller does with the answer is not the node's.
        answer = await asyncio.create_task(self.office.http.send(request))
        await asyncio.sleep(2 * TICK_SECONDS)
        if self.watchdog.was_kept_too_long:
            self.too_long[f"{method} {path[:60]}"] = (self.watchdog.kept, self.watchdog.kept_by_all)
        assert answer.status_code < self.good_below, f"{method} {path[:60]}: {answer.text[:300]}"
        return answer.json() if "json" in answer.headers["content-type"] else None

    def routes_left(self) -> set[tuple[str, str]]:
        """Routes that nobody has called yet, as they are counted."""
        called = {(method, route) for method, route, _ in self.office.api.metrics._requests}
        known = {
            (method, path)
            for route in ROUTES
            if not route.opt.get("is_stream")
            for method in getattr(route, "http_methods", ())
            if method != "HEAD"
            for path in route.paths
        }
        return {(method, _bare(path)) for method, path in known} - {(m, _bare(p)) for m, p in called}


def _bare(path: str) -> str:
    return path.replace(":str}", "}")


@pytest.fixture(params=[pytest.param("sqlite", marks=THE_LARGEST), "postgres"])
async def node(
    request: pytest.FixtureRequest, tmp_path: Path, postgres: StartServer, handlers: Registry
) -> AsyncIterator[Node]:
    ground: Any
    if request.param == "sqlite":
        ground = SqliteGround(tmp_path)
        await ground.prepare()
        url = f"sqlite://{tmp_path / '1.db'}"
    else:
        ground = PostgresGround(postgres(BUNDLED), f"loop_{uuid4().hex[:8]}")
        await ground.prepare()
        url = ground._dsn
    office = Office(await ground.fresh(rescan=timedelta(0)), handlers)
    await office.open()
    async with desk_for(office.api, office.announce, partial(open_store, url, rescan=timedelta(0))) as desk:
        await office.http.aclose()
        office.http = httpx.AsyncClient(
            transport=httpx.ASGITransport(cast("Any", application(office.api, desk=desk))),
            base_url=BASE,
            headers=await office.key("admin"),
            timeout=None,
        )
        node = Node(office, TASKS[request.param])
        with _without_collections():
            node.watchdog.tick()
            yield node
        await office.http.aclose()
    await office.store.close()


@contextmanager
def _without_collections() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def workflow(tasks: int, path: str) -> dict[str, Any]:
    names = [f"task{place}" for place in range(tasks)]
    payload = {"url": f"https://example.com/{path}"}
    return {
        "name": "large",
        "cron_expression": "*/5 * * * *",
        "tasks": [
            {
                "name": own,
                "kind": "http",
                "payload": payload,
                "depends_on": names[max(0, at - EDGES_EACH) : at],
            }
            for at, own in enumerate(names)
        ],
    }


async def test_no_call_holds_the_loop(node: Node) -> None:
    await _call_workflows(node)
    await _call_with_batches(node)
    await _call_the_rest(node)
    assert not node.too_long


async def test_a_claim_of_large_payloads_does_not_hold_the_loop(node: Node) -> None:
    """A hundred megabytes: each lease brings the payload of its job."""
    count, call, office = 400, node.call, node.office
    large = {"name": "large", "kind": "http", "payload": {"url": URL, "body": "x" * 250_000}}
    job = (await call("POST", "/v1/jobs", large))["job_id"]
    await call("POST", f"/v1/jobs/{job}/executions/batch", {"executions": [{}] * count})
    await office.enrol("ada", capacity=BATCH, kinds=["http"])
    asked = {"request_id": str(uuid4()), "worker_id": "ada", "limit": BATCH}

    answer = await _gzipped(node, "POST", "/v1/leases/claim", asked)

    assert [len(one["payload"]["body"]) for one in answer["leases"]] == [250_000] * count
    assert not node.too_long


async def test_a_page_of_large_results_does_not_hold_the_loop(node: Node) -> None:
    """Of the usual length: fifty of a megabyte each."""
    office, count = node.office, 50
    job = (await node.call("POST", "/v1/jobs", {"name": "large", "kind": "http", "payload": {"url": URL}}))[
        "job_id"
    ]
    await node.call("POST", f"/v1/jobs/{job}/executions/batch", {"executions": [{}] * count})
    await office.register("ada", slots=count, kinds=frozenset({"http"}))
    result = Document.of(["x" * 1000] * 1000, field="result", bytes_max=RESULT_BYTES_MAX)
    for leased in await office.claim(limit=count, kinds=["http"]):
        await office.end(leased, Succeeded(result))

    for path in ("/v1/executions", f"/v1/jobs/{job}/executions"):
        shown = (await _gzipped(node, "GET", path))["executions"]
        assert [len(one["result"]) for one in shown] == [1000] * count
    assert not node.too_long


async def test_a_batch_of_small_jobs_with_rare_schedules_does_not_hold_the_loop(node: Node) -> None:
    """Each looks for its next time years ahead, and a thousand are a small body."""
    jobs = [
        {"name": f"j{at}", "kind": "dummy", "cron": f"{at % 60} {at // 60} 29 2 *"} for at in range(BATCH)
    ]
    await node.call("POST", "/v1/jobs/batch", {"jobs": jobs})
    assert not node.too_long


@pytest.mark.parametrize("outcome", ["succeeded", "failed"])
async def test_an_end_that_concerns_many_tasks_does_not_hold_the_loop(node: Node, outcome: str) -> None:
    """All tasks of a workflow wait for one, whose end releases them, or keeps them from beginning."""
    call, office = node.call, node.office
    follower = {"kind": "http", "payload": {"url": URL}, "depends_on": ["first"]}
    followers = [{"name": f"task{at}", **follower} for at in range(TASKS["sqlite"] - 1)]
    first = {"name": "first", "kind": "http", "payload": {"url": URL}}
    dag = (await call("POST", "/v1/dags", {"name": "wide", "tasks": [first, *followers]}))["dag_id"]
    await call("POST", f"/v1/dags/{dag}/trigger")
    await Conductor(runs=office.store.runs, clock=office.clock, released=lambda: None).step()
    await office.enrol("ada", kinds=["http"])
    [leased] = await office.claim(limit=1, kinds=["http"])
    end = {"execution_id": str(leased.claim.execution_id), "claim": 1, "outcome": outcome, "permanent": True}

    ended = await call("POST", "/v1/leases/complete", {"worker_id": "ada", "completions": [end]})

    assert ended["results"][0]["answer"] == "applied"
    assert not node.too_long


async def _gzipped(node: Node, method: str, path: str, body: object = None) -> Any:
    """Not by the client of the others, which puts the answer together on this loop."""
    asks = {"accept-encoding": "gzip", "content-type": "application/json"}
    line = Line(node.office, path, {**node.office.http.headers, **asks}, method=method)
    line.incoming.put_nowait(
        {"type": "http.request", "body": b"" if body is None else json.dumps(body).encode()}
    )
    node.watchdog.begin()
    await asyncio.create_task(line.call())
    await asyncio.sleep(2 * TICK_SECONDS)
    if node.watchdog.was_kept_too_long:
        node.too_long[f"{method} {path[:60]}"] = (node.watchdog.kept, node.watchdog.kept_by_all)
    parts = [line.sent.get_nowait() for _ in range(line.sent.qsize())]
    return json.loads(gzip.decompress(b"".join(part.get("body", b"") for part in parts)))


async def _call_workflows(node: Node) -> None:
    call = node.call
    dag = (await call("POST", "/v1/dags", workflow(node.tasks, "n" * 300)))["dag_id"]
    await call("PUT", f"/v1/dags/{dag}", workflow(node.tasks, "n"), **{"Idempotency-Key": "again"})
    for path in ("", "/diff", "/revisions?limit=1000", "/revisions/1", "/runs?limit=1000", "/backfills"):
        await call("GET", f"/v1/dags/{dag}{path}")
    await call("GET", "/v1/dags?limit=1000")
    month = {"start": "2025-12-01", "end": "2026-01-01", "existing": "all"}
    await call("POST", f"/v1/dags/{dag}/backfills/preview", month)
    backfill = (await call("POST", f"/v1/dags/{dag}/backfills", month | {"existing": "skip_existing"}))[
        "backfill_id"
    ]
    await call("GET", f"/v1/backfills/{backfill}")
    await call("GET", f"/v1/backfills/{backfill}/runs?limit=1000")
    for act in ("pause", "resume", "cancel"):
        await call("POST", f"/v1/backfills/{backfill}/{act}")
    for act in ("pause", "resume"):
        await call("POST", f"/v1/dags/{dag}/{act}")
    run = (await call("POST", f"/v1/dags/{dag}/trigger"))["dag_run_id"]
    await call("GET", f"/v1/dag-runs/{run}")
    await call("GET", f"/v1/dag-runs/{run}/tasks?limit=1000")
    await call("GET", f"/v1/executions/{run}/explain")
    await call("GET", f"/v1/jobs/{dag}/explain")
    for act in ("pause", "resume", "cancel", "rerun"):
        await call("POST", f"/v1/dag-runs/{run}/{act}", {} if act == "rerun" else None)
    await call("DELETE", f"/v1/dags/{dag}")


async def _call_with_batches(node: Node) -> None:
    call, office = node.call, node.office
    jobs = [
        {"name": f"job{at}", "kind": "http", "payload": {"url": URL, "json": DOCUMENT}} for at in range(BATCH)
    ]
    await call("POST", "/v1/jobs/batch", {"jobs": jobs}, **{"Idempotency-Key": "jobs"})
    await call("GET", "/v1/jobs?limit=1000")
    job = (await call("POST", "/v1/jobs", {"name": "report", "kind": "http", "payload": {"url": URL}}))[
        "job_id"
    ]
    wishes = {"executions": [{"input": DOCUMENT}] * BATCH}
    await call("POST", f"/v1/jobs/{job}/executions/batch", wishes, **{"Idempotency-Key": "runs"})
    await call("GET", "/v1/executions?limit=1000")
    await call("GET", f"/v1/jobs/{job}/executions?limit=1000")

    await office.enrol("ada", capacity=BATCH, kinds=["http"])
    asked = {"request_id": str(uuid4()), "worker_id": "ada", "limit": BATCH}
    leases = (await call("POST", "/v1/leases/claim", asked))["leases"]
    assert len(leases) == BATCH
    held = [{"execution_id": one["execution_id"], "claim": one["claim"]} for one in leases[: BATCH - 1]]
    await call("POST", "/v1/leases/renew", {"worker_id": "ada", "leases": held})
    states = [one | {"state": DOCUMENT, "progress": 0.5} for one in held]
    await call("POST", "/v1/leases/checkpoint", {"worker_id": "ada", "checkpoints": states})
    lines = [
        held[at % len(held)] | {"number": at + 1, "level": "info", "message": "m" * 1300}
        for at in range(10_000)
    ]
    await call("POST", "/v1/leases/logs", {"worker_id": "ada", "lines": lines})
    results = [one | {"outcome": "succeeded", "result": DOCUMENT} for one in held]
    await call("POST", "/v1/leases/complete", {"worker_id": "ada", "completions": results})
    rare = {"cron_expression": "0 0 29 2 1", "timezone": "America/New_York", "limit": 1000}
    await call("POST", "/v1/schedules/preview", rare)
    for path in ("/openapi.json", "/docs", "/metrics", "/livez", "/readyz", "/version"):
        await call("GET", path)


async def _call_the_rest(node: Node) -> None:
    """Each with as much as it reads. Most of it is refused, which takes reading it."""
    node.good_below = 500
    large = {"metadata": "m" * 1_000_000}
    for method, path in sorted(node.routes_left()):
        some_id = str(uuid4())
        filled = "/".join(some_id if part.startswith("{") else part for part in path.split("/"))
        await node.call(method, filled, large if method in ("POST", "PUT") else None)
    assert not node.routes_left()
