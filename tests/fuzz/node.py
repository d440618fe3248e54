"""A node with an API and nothing else: whatever it is told to run, nobody does."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gnomon.app.connection import open_connection
from tests.acceptance.nodes import node

LIMITS = ("SUBMISSIONS", "QUERIES", "HEARTBEATS")


@contextmanager
def quiet_node(folder: Path) -> Iterator[tuple[str, str]]:
    """Where it is, and a key that opens all of it."""
    path = folder / "gnomon.db"
    key = asyncio.run(prepared_with_a_key(path))
    os.environ |= {f"GNOMON_API_{limit}_PER_MINUTE": "off" for limit in LIMITS}
    try:
        with node(folder, "api", "--database", str(path), "--log-level", "error") as one:
            one.wait()
            yield one.url, key
            assert one.process.poll() is None, "the node is gone"
    finally:
        for limit in LIMITS:
            del os.environ[f"GNOMON_API_{limit}_PER_MINUTE"]


async def prepared_with_a_key(path: Path) -> str:
    connection = await open_connection(f"sqlite://{path}", lambda _: None)
    key = await connection.client.keys.create("fuzz", ["admin"])
    await connection.close()
    return key.text
