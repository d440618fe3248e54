"""Calls over keep-alive connections, as fast as they are answered, on plain sockets: they cost little."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

CONNECTIONS = 32
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)

# The bytes of the n-th call.
Request = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class Load:
    count: int
    seconds: float
    latencies: list[float]

    @property
    def rate(self) -> float:
        return self.count / self.seconds

    @property
    def p99_ms(self) -> float:
        return sorted(self.latencies)[int(len(self.latencies) * 0.99)] * 1000


def call(method: str, path: str, key: str, body: bytes = b"") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def load(port: int, request: Request, *, seconds: float, connections: int = CONNECTIONS) -> Load:
    latencies: list[float] = []
    began = perf_counter()
    numbers = iter(range(1 << 60))

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while perf_counter() - began < seconds:
            sent = perf_counter()
            writer.write(request(next(numbers)))
            head = await reader.readuntil(b"\r\n\r\n")
            assert head[9:10] == b"2", head
            length = _LENGTH.search(head)
            assert length is not None
            await reader.readexactly(int(length[1]))
            latencies.append(perf_counter() - sent)
        writer.close()
        await writer.wait_closed()

    await asyncio.gather(*(one() for _ in range(connections)))
    return Load(len(latencies), perf_counter() - began, latencies)
