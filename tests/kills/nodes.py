"""The API nodes of a run: which process each of them is, how it is killed, and when it listens again."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.kills.nursery import LOG, Nursery

NODES = (0, 1)
# Below those that the system gives to who calls: a node that comes back would find its port taken, and who
# looks for it might be connected to itself.
PORTS = range(20_000, 32_000)
START_SECONDS_MAX = 30.0
POLL_SECONDS = 0.005
LOG_CHARACTERS_SHOWN = 4000


class Nodes:
    """Each has a port for good, and a process for a while."""

    def __init__(self, nursery: Nursery, folder: Path, database: str) -> None:
        self.ports = [_port_of_its_own() for _ in NODES]
        self._nursery = nursery
        self._folder = folder
        self._database = database
        self._process_ids: dict[int, int] = {}

    async def kill(self, chosen: Sequence[int]) -> None:
        """Until they are gone. Raises if one had ended by itself."""
        process_ids = [self._process_ids.pop(number) for number in chosen if number in self._process_ids]
        for process_id in process_ids:
            os.kill(process_id, signal.SIGKILL)
        codes = await asyncio.to_thread(self._nursery.bury, *process_ids)
        assert set(codes) <= {-signal.SIGKILL}, f"a node ended by itself, {codes}; its log:\n{self._log()}"

    async def start(self, chosen: Sequence[int]) -> None:
        """Until they listen."""
        for number in chosen:
            words = ("api", "--database", self._database, "--port", str(self.ports[number]))
            process_id = await asyncio.to_thread(
                self._nursery.start, self._folder, *words, "--log-level", "error"
            )
            self._process_ids[number] = process_id
        for number in chosen:
            await self._listening(self.ports[number])

    async def _listening(self, port: int) -> None:
        end = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            await asyncio.sleep(POLL_SECONDS)
        raise TimeoutError(f"the node does not listen; its log:\n{self._log()}")

    def _log(self) -> str:
        return (self._folder / LOG).read_text()[-LOG_CHARACTERS_SHOWN:]


def _port_of_its_own() -> int:
    while True:
        port = secrets.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
