"""A node with an API and nothing else: whatever it is told to run, nobody does."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from gnomon.app.connection import open_connection
from tests.acceptance.test_api import node

LIMITS = ("SUBMISSIONS", "QUERIES", "HEARTBEATS")
START_SECONDS_MAX = 30


@contextmanager
def quiet_node(folder: Path) -> Iterator[tuple[str, str]]:
    """Where it is, and a key that opens all of it."""
    path = folder / "gnomon.db"
    key = asyncio.run(_prepared(path))
    os.environ |= {f"GNOMON_API_{limit}_PER_MINUTE": "off" for limit in LIMITS}
    try:
        with node(folder, "api", "--database", str(path), "--log-level", "error") as one:
            _await(one.url)
            yield one.url, key
            assert one.process.poll() is None, "the node is gone"
    finally:
        for limit in LIMITS:
            del os.environ[f"GNOMON_API_{limit}_PER_MINUTE"]


async def _prepared(path: Path) -> str:
    connection = await open_connection(f"sqlite://{path}", lambda _: None)
    key = await connection.client.keys.create("fuzz", ["admin"])
    await connection.close()
    return key.text


def _await(url: str) -> None:
    end = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < end:
        try:
            httpx.get(f"{url}/livez").raise_for_status()
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError("the node does not answer")
