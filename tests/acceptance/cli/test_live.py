"""What goes on while it is watched: logs as they are written, a worker that is sent home, completion."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.acceptance.cli.completion import offered
from tests.acceptance.cli.conftest import Desk
from tests.acceptance.cli.remote_workers import worker, worker_key


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """One that scripts can look into: they may run as somebody else."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


def test_logs_are_followed_while_it_runs_and_end_with_it(desk: Desk, open_folder: Path) -> None:
    gate = open_folder / "gate"
    os.mkfifo(gate)
    gate.chmod(0o644)
    script = {"interpreter": "sh", "script": f"echo one; read line < {gate}; echo $line"}
    desk("job", "create", "told", "--kind", "script", "--payload", json.dumps(script))
    run = desk.json("job", "trigger", "told")["execution_id"]
    with subprocess.Popen(
        [sys.executable, "-m", "gnomon.cli", "run", "logs", run, "-f"],
        env=os.environ | {"GNOMON_SERVER": desk.url, "GNOMON_KEY": desk.key},
        stdout=subprocess.PIPE,
        text=True,
    ) as following:
        assert following.stdout is not None
        assert following.stdout.readline().endswith(" one\n")
        assert desk.json("run", "show", run)["status"] == "RUNNING"
        gate.write_text("two\n")
        out, _ = following.communicate(timeout=60)
    assert out.endswith(" two\n")
    assert following.returncode == 0


def test_a_drained_worker_takes_nothing_new_until_it_is_undrained(desk: Desk) -> None:
    desk("job", "create", "resting", "--kind", "dummy", "--queue", "resting")
    with worker(desk, "resting", worker_key(desk)) as process:
        desk("job", "trigger", "resting", "--wait")
        asked = desk.json("workers", "drain", "remote-resting")
        assert [one["status"] for one in asked] == ["DRAINING"]
        run = desk.json("job", "trigger", "resting")["execution_id"]
        assert [one["code"] for one in desk.json("run", "explain", run)] == ["no_worker"]
        desk("workers", "undrain", "remote-resting")
        desk("run", "wait", run, "--timeout", "60")
        assert process.poll() is None
    assert "remote-resting" in desk("workers", "list").stdout
    assert "[ILLEGAL_TRANSITION]" in desk("workers", "undrain", "remote-resting", exit_code=1).stderr
    assert "[WORKER_NOT_FOUND]" in desk("workers", "drain", "nobody", exit_code=4).stderr


def test_a_shell_completes_commands_and_options() -> None:
    assert {"job", "run", "dlq", "workers", "key"} <= offered("gnomon", "")
    assert offered("gnomon", "job", "tri") == {"trigger"}
    assert "--follow" in offered("gnomon", "run", "logs", "--f")
    assert offered("gnomon", "nonsense", "x") == set()
