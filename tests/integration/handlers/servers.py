"""Small real servers on the loopback interface: one that answers as told, one that counts who comes."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Seen:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Answering = Callable[[Seen, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Server:
    host: str
    port: int
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0

    def url(self, path: str = "/", *, host: str | None = None) -> str:
        return f"http://{host or self.host}:{self.port}{path}"


def reply(status: int = 200, body: bytes = b"", **headers: str) -> Answering:
    """An answer that is always the same. Underscores in names of headers stand for hyphens."""
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())

    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\n{head}\r\n".encode() + body)

    return answer


@asynccontextmanager
async def serving(
    answer: Answering, *, host: str = "127.0.0.2", port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Server]:
    server = Server(host, port)
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        try:
            while seen := await _request(reader):
                server.seen.append(seen)
                await answer(seen, writer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listener = await asyncio.start_server(connected, host, port, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _request(reader: asyncio.StreamReader) -> Seen | None:
    line = await reader.readline()
    if not line:
        return None
    method, path, _ = line.decode().split(" ")
    headers = {}
    while (line := await reader.readline()).strip():
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Seen(method, path, headers, body)
