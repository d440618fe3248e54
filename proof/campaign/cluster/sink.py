"""The outside world: a process of its own that writes down what jobs did, and trusts nobody.

`python -m proof.campaign.cluster.sink SOCKET FILE` answers one line of JSON with one word: `ok` once the
effect is on disk, `late` if the sink looks at tokens and has seen the work of this run before.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from pathlib import Path
from typing import Any

from proof.campaign import clock
from proof.checker.history import events
from proof.checker.history.files import History

PATIENCE = 10.0  # Seconds.


class Sink:
    def __init__(self, path: Path) -> None:
        self._history = History(path, "sink", now=clock.now)
        self._done: set[str] = set()

    def take(self, told: dict[str, Any]) -> str:
        if told.pop("fenced"):
            if told["run"] in self._done:
                return "late"
            self._done.add(told["run"])
        self._history.write(events.Effect, **told)
        return "ok"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                writer.write(self.take(json.loads(line)).encode() + b"\n")
        except ConnectionError:
            pass  # Whoever told us was killed; what it told is written down.
        finally:
            writer.close()


async def tell(path: str, **told: object) -> str:
    """Returns when it is on disk. Raises OSError or TimeoutError if that is not known."""
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_unix_connection(path)
        try:
            writer.write(json.dumps(told).encode() + b"\n")
            answer = await reader.readline()
        finally:
            writer.close()
    return _word(answer)


def tell_and_wait(path: str, **told: object) -> str:
    """The same from a thread."""
    with socket.socket(socket.AF_UNIX) as wire:
        wire.settimeout(PATIENCE)
        wire.connect(path)
        wire.sendall(json.dumps(told).encode() + b"\n")
        return _word(wire.makefile("rb").readline())


def _word(answer: bytes) -> str:
    if not answer:
        raise ConnectionError("the sink said nothing")
    return answer.decode().strip()


async def main(address: str, path: str) -> None:
    sink = Sink(Path(path))
    async with await asyncio.start_unix_server(sink.serve, address) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
