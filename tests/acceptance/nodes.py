"""A real node of the program, started and stopped by a test, and a client that calls it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx

from tests.postgres import free_port

START_SECONDS_MAX = 30


class Node:
    """A `gnomon` process with an API. Its key is on the first line of stdout, the first time."""

    def __init__(self, folder: Path, *arguments: str, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gnomon.cli", *arguments, "--port", str(port)],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "GNOMON_API_SUBMISSIONS_PER_MINUTE": "off",
                "XDG_CONFIG_HOME": str(folder / "config"),
            },
        )

    def wait(self) -> None:
        """Until it listens, with TLS or without."""
        end = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise TimeoutError("the node does not listen")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def node(folder: Path, *arguments: str, port: int | None = None) -> Iterator[Node]:
    made = Node(folder, *arguments, port=port or free_port())
    try:
        yield made
    finally:
        if made.process.poll() is None:
            made.process.send_signal(signal.SIGTERM)
        try:
            made.process.communicate(timeout=40)
        except subprocess.TimeoutExpired:
            made.kill()
            raise


@asynccontextmanager
async def calling(url: str, key: str) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=30) as http:
        for _ in range(START_SECONDS_MAX * 20):
            try:
                if (await http.get("/livez")).status_code == 200:
                    break
            except httpx.TransportError:
                await asyncio.sleep(0.05)
        yield http


def first_key(made: Node) -> str:
    """The key of a first start, as soon as the node answers."""
    assert made.process.stdout is not None
    line = made.process.stdout.readline()
    assert line.startswith("API key, shown only now: gnm_"), line
    made.wait()
    return line.split()[-1]
