"""A worker without a database, over HTTP: the same worker, with the same promises."""

from __future__ import annotations

import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from gnomon.client.remote.wire import ServerAddress
from gnomon.client.remote.work_store import RemoteStore
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import Failure, WorkerId
from gnomon.core.executions.lease import ClaimRequest, Leased
from gnomon.core.executions.lifecycle import Failed, Released, Succeeded, after
from gnomon.core.executions.records import Checkpoint, LogLevel, LogLine
from gnomon.core.operations.workers import Registration
from gnomon.core.values.document import Document
from gnomon.store.protocols.changes import Applied
from tests.acceptance.cli.conftest import Desk
from tests.acceptance.cli.remote_workers import worker, worker_key
from tests.acceptance.nodes import first_key, node
from tests.postgres import free_port

LATER = datetime(2100, 1, 1, tzinfo=UTC)


def test_it_serves_probes_where_it_is_told_to(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("GNOMON_HEALTH_PORT", str(port))
    with worker(desk, "probed", worker_key(desk)) as process:
        assert process.stderr is not None
        while "probes and metrics at" not in process.stderr.readline():
            assert process.poll() is None
        ready = httpx.get(f"http://127.0.0.1:{port}/readyz").json()
        assert ready["checks"].keys() == {"server", "claim"}
        assert "gnomon_runs_started_total" in httpx.get(f"http://127.0.0.1:{port}/metrics").text


def test_it_runs_what_fits_and_drains(desk: Desk) -> None:
    script = {"interpreter": "sh", "script": 'echo "token $GNOMON_FENCING_TOKEN"; echo 7 > "$GNOMON_RESULT"'}
    desk("job", "create", "far", "--kind", "script", "--payload", json.dumps(script), "--queue", "far")
    with worker(desk, "far", worker_key(desk)) as process:
        run = desk.json("job", "trigger", "far", "--wait")
        assert (run["status"], run["worker_id"], run["result"]) == ("COMPLETED", "remote-far", 7)
        assert "token " in desk("run", "logs", run["execution_id"]).stdout
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)
    assert process.returncode == 0, log
    assert "Traceback" not in log
    assert desk.json("workers", "show", "remote-far")["status"] == "GONE"


def test_a_key_that_does_not_do_is_told_at_the_start(desk: Desk) -> None:
    words = ("worker", "--server", desk.url)
    assert "[UNAUTHORIZED]" in desk(*words, GNOMON_KEY="gnm_nobody", exit_code=6).stderr
    nowhere = f"http://127.0.0.1:{free_port()}"
    away = desk("worker", "--server", nowhere, exit_code=1, GNOMON_STARTUP_WAIT_SECONDS="0")
    assert f"No answer from {nowhere}" in away.stderr
    desk(*words, "--database", "x.db", exit_code=2)


def test_it_outlives_the_death_of_its_server(tmp_path: Path) -> None:
    port = free_port()
    with node(tmp_path, "up", port=port) as first:
        desk = Desk(tmp_path, first.url, first_key(first))
        slow = json.dumps({"sleep_seconds": 5, "output": 7})
        desk("job", "create", "long", "--kind", "dummy", "--payload", slow, "--queue", "far")
        with worker(desk, "far", worker_key(desk)) as process:
            run = desk.json("job", "trigger", "long")["execution_id"]
            while desk.json("run", "show", run)["status"] != "RUNNING":
                pass
            first.kill()
            with node(tmp_path, "up", port=port) as second:
                second.wait()
                desk("run", "wait", run, "--timeout", "60")
                assert desk.json("run", "show", run)["attempts"] == 1
                process.send_signal(signal.SIGTERM)  # While there is a server: a claim may be on its way.
                process.communicate(timeout=60)


@asynccontextmanager
async def remote(desk: Desk, name: str) -> AsyncIterator[tuple[RemoteStore, ClaimRequest]]:
    store = RemoteStore(ServerAddress(desk.url, desk.key), WorkerId(name))
    registration = Registration(WorkerId(name), uuid4(), "here", 5, frozenset({"elsewhere"}))
    try:
        assert await store.workers.introduce(registration) > timedelta(0)
        await store.workers.beat(registration.id, registration.boot, now=LATER)
        yield store, ClaimRequest(uuid4(), WorkerId(name), registration.kinds, limit=5)
    finally:
        await store.workers.leave(registration.id, registration.boot, now=LATER)
        await store.close()


async def test_the_store_over_http_keeps_the_promises_of_a_store(desk: Desk) -> None:
    desk(
        "job",
        "create",
        "kept",
        "--kind",
        "elsewhere",
        "--allow-unknown-kind",
        "--payload",
        '{"a": [1, "ü"]}',
        "--retries",
        "5",
    )
    desk("job", "trigger", "kept", "--input", '{"b": 2}')
    async with remote(desk, "promises") as (store, request):
        [leased] = await store.executions.claim(request, now=LATER, lease_until=LATER)
        assert leased.revision.definition.payload.value == {"a": [1, "ü"]}
        assert leased.revision.definition.retry.max_attempts == 6
        assert leased.input == Document('{"b":2}')
        again = ClaimRequest(request.id, request.worker, request.kinds, limit=request.limit, is_repeat=True)
        assert await store.executions.claim(again, now=LATER, lease_until=LATER) == [leased]

        state = Checkpoint(leased.claim, Document('{"at":3}'), 0.5, LATER)
        assert await store.checkpoints.save([state]) == [leased.claim]
        line = LogLine(leased.claim, 1, leased.started_at, LogLevel.INFO, "hello")
        assert await store.logs.append([line]) == [leased.claim]
        [renewed] = await store.executions.renew([leased.claim], lease_until=LATER)
        assert not renewed.cancel_requested

        assert await _end(store, leased, Released()) == [Applied.APPLIED]
        assert await _end(store, leased, Released()) == [Applied.REPLAYED]
        next_request = ClaimRequest(uuid4(), request.worker, request.kinds, limit=5)
        [second] = await store.executions.claim(next_request, now=LATER, lease_until=LATER)
        kept = await store.checkpoints.load([second.claim.execution_id])
        assert kept[second.claim.execution_id].state == state.state

        # The old claim has no say any more, in nothing.
        assert await _end(store, leased, Succeeded()) == [Applied.LOST]
        assert await store.executions.renew([leased.claim], lease_until=LATER) == []
        assert await store.checkpoints.save([state]) == []
        assert await store.logs.append([line]) == []

        failed = Failed(Failure("bad", "no"), retry_after=timedelta(hours=2))
        assert await _end(store, second, failed) == [Applied.APPLIED]
    run = desk.json("run", "show", str(second.claim.execution_id))
    assert (run["status"], run["attempts"], run["error"]["kind"]) == ("PENDING", 1, "bad")
    wait = datetime.fromisoformat(run["due"]) - datetime.fromisoformat(run["created_at"])
    assert wait > timedelta(minutes=119)


async def _end(store: RemoteStore, leased: Leased, outcome: Succeeded | Failed | Released) -> list[Applied]:
    now = leased.started_at
    change = after(leased, outcome, now=now, jitter=0.5)
    return list(await store.executions.apply([Decision(leased.claim, change)], now=now))
