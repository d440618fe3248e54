"""A line to one API node: plain HTTP over a connection that is kept.

A client for general use takes as much time as the node that it calls, and the node needs it.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

ANSWER_SECONDS_MAX = 30.0
ANSWER_BYTES_MAX = 16 * 1024 * 1024

# What a line raises when there is no answer: nobody listens, or the other end is gone, or it takes too long.
NO_ANSWER = (OSError, EOFError)

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Body

    @property
    def is_created(self) -> bool:
        return self.status == HTTPStatus.CREATED

    @property
    def says_ask_again(self) -> bool:
        """The node does not know whether it happened: the same as no answer."""
        return self.status == HTTPStatus.SERVICE_UNAVAILABLE


class Line:
    """For one call at a time. A connection that is broken is replaced at the next one."""

    def __init__(self, port: int, key: str) -> None:
        self._port = port
        self._headers = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {key}\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str) -> Answer:
        return await self._call(f"GET {path} HTTP/1.1\r\n{self._headers}\r\n".encode())

    async def post(
        self, path: str, body: Body, *, idempotency_key: str, patience_seconds: float = ANSWER_SECONDS_MAX
    ) -> Answer:
        """Raises one of NO_ANSWER. A call that takes too long is given up, and its connection cut."""
        content = json.dumps(body)
        head = (
            f"POST {path} HTTP/1.1\r\n{self._headers}Idempotency-Key: {idempotency_key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        return await self._call((head + content).encode(), patience_seconds)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _call(self, request: bytes, patience_seconds: float = ANSWER_SECONDS_MAX) -> Answer:
        try:
            async with asyncio.timeout(patience_seconds):
                reader, writer = await self._connected()
                writer.write(request)
                return await _read(reader)
        except BaseException:
            self.close()  # An answer may still come, and is not for the next call.
            raise

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is not None and (self._streams[0].at_eof() or self._streams[1].is_closing()):
            self.close()
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, limit=ANSWER_BYTES_MAX)
        return self._streams


async def _read(reader: asyncio.StreamReader) -> Answer:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    status, *headers = head.split("\r\n")
    lengths = [line.partition(":")[2] for line in headers if line.lower().startswith("content-length:")]
    content = await reader.readexactly(int(lengths[0]))
    return Answer(int(status.split()[1]), json.loads(content))
