"""A worker that knows its server by address and key alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.acceptance.cli.conftest import Desk


@contextmanager
def worker(desk: Desk, queue: str, key: str) -> Iterator[subprocess.Popen[str]]:
    words = ["worker", "--server", desk.url, "--queues", queue, "--worker-name", f"remote-{queue}"]
    with subprocess.Popen(
        [sys.executable, "-m", "gnomon.cli", *words, "--log-format", "json"],
        cwd=desk.folder,
        env=os.environ | {"GNOMON_KEY": key},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)


def worker_key(desk: Desk) -> str:
    key: str = desk.json("key", "create", "a worker", "--scope", "worker")["key"]
    return key
