"""The API as users run it: real processes, a real server. Kills are in tests/kills."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
import websockets

from gnomon.app.connection import open_connection
from tests.acceptance.nodes import calling, first_key, node

DUMMY = {"kind": "dummy", "payload": {"output": 7}}


async def test_neither_a_job_nor_a_drain_ends_the_process(tmp_path: Path) -> None:
    with node(tmp_path, "up") as one:
        async with calling(one.url, first_key(one)) as http:
            crash = {"name": "crash", "kind": "dummy", "payload": {"crash": True}}
            assert (await http.post("/v1/jobs", json=crash)).status_code == 400
            job = (await http.post("/v1/jobs", json={"name": "a", **DUMMY})).json()
            [worker] = (await http.get("/v1/workers")).json()["workers"]
            path = f"/v1/workers/{worker['worker_id']}"

            await http.post(f"{path}/drain")
            run = (await http.post(f"/v1/jobs/{job['job_id']}/trigger")).json()
            assert (await http.get("/readyz")).status_code == 200
            assert (await http.post(f"{path}/undrain")).json()["status"] == "ACTIVE"

            stream = await http.get(f"/v1/executions/{run['execution_id']}/logs/stream")
            assert stream.text.endswith('data: {"status":"COMPLETED"}\n\n')
        assert one.process.poll() is None


async def test_everything_in_one_process(tmp_path: Path) -> None:
    with node(tmp_path, "up") as one:
        async with calling(one.url, first_key(one)) as http:
            job = (await http.post("/v1/jobs", json={"name": "a", **DUMMY})).json()
            run = (await http.post(f"/v1/jobs/{job['job_id']}/trigger")).json()
            stream = await http.get(f"/v1/executions/{run['execution_id']}/logs/stream")
            assert stream.text.endswith('data: {"status":"COMPLETED"}\n\n')
            shown = (await http.get(f"/v1/executions/{run['execution_id']}")).json()
            assert shown["result"] == 7
            ready = (await http.get("/readyz")).json()
            assert {"store", "schema", "scheduler", "scheduler_step", "claim"} == ready["checks"].keys()
            figures = (await http.get("/metrics")).text
            assert 'gnomon_runs_finished_total{status="completed"} 1.0' in figures
            assert "gnomon_run_duration_seconds_count 1.0" in figures
            assert "gnomon_jobs_enqueued_total 1.0" in figures
            assert "gnomon_worker_last_poll_age_seconds" in figures
        one.process.send_signal(signal.SIGTERM)
        out, log = one.process.communicate(timeout=40)
    assert one.process.returncode == 0
    assert "gnm_" not in out + log  # The line with the key has been read; it is nowhere else.


@pytest.mark.parametrize("command", ["up", "api"])
def test_who_listens_to_the_world_must_say_so(tmp_path: Path, command: str) -> None:
    with node(tmp_path, command, "--host", "0.0.0.0") as one:
        _, log = one.process.communicate(timeout=30)
    assert one.process.returncode == 2
    assert "--insecure-ack" in log


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with node(tmp_path, "up", port=taken.getsockname()[1]) as one:
            _, log = one.process.communicate(timeout=30)
    assert one.process.returncode == 2
    assert "Choose another with --port" in log


async def test_events_over_a_websocket_go_on_where_they_were(tmp_path: Path) -> None:
    with node(tmp_path, "up") as one:
        key = first_key(one)
        async with calling(one.url, key) as http:
            address = f"ws://127.0.0.1:{one.port}/v1/events?types=job.created"
            headers = {"Authorization": f"Bearer {key}"}
            with pytest.raises(websockets.InvalidStatus) as refused:
                await websockets.connect(address)
            assert refused.value.response.status_code == 401
            assert json.loads(refused.value.response.body or b"")["error"]["code"] == "UNAUTHORIZED"
            async with websockets.connect(address, additional_headers=headers) as socket_:
                await http.post("/v1/jobs", json={"name": "one", **DUMMY})
                first: dict[str, Any] = json.loads(await asyncio.wait_for(socket_.recv(), 10))
            await http.post("/v1/jobs", json={"name": "two", **DUMMY})
            again = f"{address}&after={first['id']}"
            async with websockets.connect(again, additional_headers=headers) as socket_:
                second = json.loads(await asyncio.wait_for(socket_.recv(), 10))
    assert [first["type"], second["type"]] == ["job.created"] * 2
    assert first["id"] != second["id"]


async def test_a_reader_that_does_not_read_costs_no_memory(tmp_path: Path) -> None:
    def rss(process: subprocess.Popen[str]) -> int:
        pages = Path(f"/proc/{process.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    with node(tmp_path, "api", "--database", str(await _migrated(tmp_path))) as one:
        key = first_key(one)
        async with calling(one.url, key) as http:
            job = (await http.post("/v1/jobs", json={"name": "a", **DUMMY})).json()
            batch: dict[str, list[dict[str, object]]] = {"executions": [{}] * 1000}

            async def follow() -> asyncio.StreamWriter:
                _, writer = await asyncio.open_connection("127.0.0.1", one.port)
                writer.write(b"GET /v1/events/stream?after=0-0-0 HTTP/1.1\r\nHost: x\r\n")
                writer.write(f"Authorization: Bearer {key}\r\n\r\n".encode())
                return writer

            readers = [await follow()]  # Where nobody follows, nothing is told.
            for _ in range(30):
                await http.post(f"/v1/jobs/{job['job_id']}/executions/batch", json=batch)
            before = rss(one.process)
            readers += [await follow() for _ in range(10)]
            await asyncio.sleep(3)  # Time to send them ten times the whole story, if nothing held it back.
            assert rss(one.process) - before < 64 * 1024 * 1024
            assert (await http.get("/livez")).status_code == 200
            for writer in readers:
                writer.close()


async def _migrated(folder: Path) -> Path:
    path = folder / "gnomon.db"
    await (await open_connection(f"sqlite://{path}", lambda _: None)).close()
    return path
