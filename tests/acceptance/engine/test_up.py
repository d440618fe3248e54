"""`gnomon up` as a newcomer meets it."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from gnomon.app import open_database
from gnomon.app.demo import demo_jobs
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.store.schema.migrations import migrations
from tests.acceptance.engine.processes import Cluster, GnomonProcess

GNOMON = Path(sys.executable).with_name("gnomon")
SEEN_WITHIN_SECONDS = 30.0  # The promise is ten; this machine may be busy.


async def test_up_fires_and_finishes_sample_jobs_and_drains(tmp_path: Path) -> None:
    process = await GnomonProcess.start("up", "--demo", "--database", str(tmp_path / "gnomon.db"))
    try:
        await process.says("is up")
        for what in ("fired", "started", "completed"):
            assert (await process.says(what))["job"] in demo_jobs()
        process.send(signal.SIGINT)
        assert await process.ended() == 0
    finally:
        await process.kill()
    assert "has ended" in process.lines[-2]["message"]


async def test_up_says_that_it_migrates_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "gnomon.db")
    database = await open_database(path)
    for migration in migrations("sqlite")[:-1]:
        await database.apply_migration(migration, now=datetime.now(UTC))
    await database.close()

    process = await GnomonProcess.start("up", "--database", path)
    try:
        told = await process.says("migrated the database")
        assert migrations("sqlite")[-1].name in told["message"]
        await process.says("is up")
    finally:
        await process.kill()


async def test_a_second_up_on_the_same_file_says_that_it_is_taken(tmp_path: Path) -> None:
    path = str(tmp_path / "gnomon.db")
    first = await GnomonProcess.start("up", "--database", path)
    try:
        await first.says("is up")
        second = await GnomonProcess.start("up", "--database", path)
        assert await second.ended() == 2
        told = "\n".join(line["message"] for line in second.lines)
        assert "taken" in told
        assert str(first.pid) in told
        assert not first.has_ended
    finally:
        await first.kill()


async def test_a_worker_starts_itself_anew_after_so_many_jobs(cluster: Cluster) -> None:
    worker = await cluster.start(
        "worker",
        "--app",
        "tests.acceptance.engine.jobs:functions",
        environment={"GNOMON_WORKER_RECYCLE_AFTER_JOBS": "3"},
    )
    await worker.says("is up")
    job = await cluster.job("noop")
    for run in await cluster.enqueue(job, 4):
        assert (await cluster.ended(run)).status is ExecutionStatus.COMPLETED

    await worker.says("starting anew:")
    await worker.says("is up", times=2)
    [later] = await cluster.enqueue(job)

    assert (await cluster.ended(later)).status is ExecutionStatus.COMPLETED
    assert not worker.has_ended


def test_on_a_terminal_there_is_a_calm_table(tmp_path: Path) -> None:
    with on_a_terminal([str(GNOMON), "up", "--demo"], tmp_path) as (process, screen):
        seen = read_until(screen, [b"heartbeat", b"sync-orders", b"completed", b"Ctrl-C drains"])
        process.send_signal(signal.SIGINT)
        seen += read_until(screen, [b"Drained"])
        assert process.wait(30) == 0
    assert b'{"time"' not in seen
    assert b"Line 1 of" not in seen  # What jobs write would tear the table apart.


@contextmanager
def on_a_terminal(command: list[str], folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    ours, theirs = pty.openpty()
    environment = {
        **os.environ,
        "TERM": "xterm-256color",
        "COLUMNS": "120",
        "LINES": "40",
        "GNOMON_API_PORT": "off",
    }
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True
    )
    os.close(theirs)
    try:
        yield process, ours
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def read_until(screen: int, wanted: list[bytes]) -> bytes:
    seen, deadline = b"", time.monotonic() + SEEN_WITHIN_SECONDS
    while not all(word in seen for word in wanted):
        assert time.monotonic() < deadline, seen[-2000:].decode(errors="replace")
        seen += os.read(screen, 65536)
    return seen


async def test_an_app_that_cannot_be_had_is_refused_with_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "needy.py").write_text("import no_such_library\n")
    (tmp_path / "late.py").write_text(
        "from gnomon import Gnomon\napp = Gnomon()\n@app.job(cron='61 * * * *')\ndef tidy(): ...\n"
    )
    path = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    for app, words in {
        "nowhere:app": "there is no module 'nowhere'",
        "broken:app": "SyntaxError: invalid syntax (broken.py, line 1)",
        "needy:app": "No module named 'no_such_library'",
        "late:app": "about the job 'tidy' in 'late'",
    }.items():
        process = await GnomonProcess.start(
            "up", "--app", app, "--database", str(tmp_path / "gnomon.db"), environment=path
        )
        assert await process.ended() == 2
        [told] = [line["message"] for line in process.lines if line["message"].startswith("gnomon: ")]
        assert words in told
