"""A node to besiege, with deadlines that are a part of the usual ones."""

from __future__ import annotations

import asyncio
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from gnomon.settings import ApiSettings
from tests.acceptance.nodes import Node, node
from tests.fuzz.node import prepared_with_a_key

DEADLINES = ("first_byte", "head", "body", "idle")
OWN_FILES = 500


@contextmanager
def besieged_node(folder: Path, *, part: float) -> Iterator[tuple[Node, str, ApiSettings]]:
    """The node, a key that opens all of it, and its settings."""
    usual = ApiSettings()
    chosen = replace(usual, **{name: getattr(usual, name) * part for name in DEADLINES})
    path = folder / "gnomon.db"
    key = asyncio.run(prepared_with_a_key(path))
    seconds = {name: getattr(chosen, name).total_seconds() for name in DEADLINES}
    variables = {f"GNOMON_API_{name.upper()}_SECONDS": f"{value:g}" for name, value in seconds.items()}
    variables["GNOMON_API_QUERIES_PER_MINUTE"] = "off"
    os.environ |= variables
    try:
        with node(folder, "up", "--database", str(path), "--log-level", "warning") as one:
            one.wait()
            yield one, key, chosen
            assert one.process.poll() is None, "the node is gone"
    finally:
        for name in variables:
            del os.environ[name]


def room_for(crowd: int) -> int:
    """How large a crowd the limit of open files allows us."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return min(crowd, hard - OWN_FILES)
