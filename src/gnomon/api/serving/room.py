"""How much of large answers a key may have under way: each is in memory until its reader has taken it.

It is measured before it is compressed, when its head is sent. A few at a time are read from the store: what
waits for its turn holds nothing yet. Only reads are refused: a change has happened when its answer is sent.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import msgspec
from litestar.types import ASGIApp, Receive, Send

from gnomon.api.serving.failures import envelope_of, headers_of
from gnomon.core.access.keys import KeyId
from gnomon.errors import GnomonError, TooManyAnswers
from gnomon.logs import REQUEST_ID

LARGE_FROM_BYTES = 256 * 1024
READ_AT_ONCE = 8
# Of pages of up to a thousand items, beside the loop: a gigabyte, where each item is a megabyte.
LONG_READ_AT_ONCE = 2


class AnswerRoom:
    """For one loop. `bytes_per_key` None: no limit. One answer may be larger than that."""

    def __init__(self, bytes_per_key: int | None, *, at_once: int) -> None:
        self._bytes_per_key = bytes_per_key
        self._taken: dict[KeyId, int] = {}
        self._turns = asyncio.Semaphore(at_once)

    async def run(self, app: ASGIApp, scope: Any, receive: Receive, send: Send) -> None:
        """An answer for which there is no room is replaced by a refusal."""
        key_id: KeyId = scope["gnomon.caller"].key.id
        size_bytes, is_refused = 0, False

        async def measured(message: Any) -> None:
            nonlocal size_bytes, is_refused
            if message["type"] == "http.response.start":
                await turn.aclose()
                try:
                    size_bytes = self._take(key_id, _announced(message))
                except TooManyAnswers as error:
                    is_refused = True
                    for part in _refusal(error):
                        await send(part)
            if not is_refused:
                await send(message)

        try:
            async with AsyncExitStack() as turn:
                await turn.enter_async_context(self._turns)
                await app(scope, receive, measured)
        finally:
            self._give_back(key_id, size_bytes)

    def _take(self, key_id: KeyId, size_bytes: int) -> int:
        """Returns how much must be given back. Raises TooManyAnswers."""
        if size_bytes < LARGE_FROM_BYTES:
            return 0
        taken, limit = self._taken.get(key_id, 0), self._bytes_per_key
        if limit is not None and taken and taken + size_bytes > limit:
            raise TooManyAnswers(limit, size_bytes=size_bytes)
        self._taken[key_id] = taken + size_bytes
        return size_bytes

    def _give_back(self, key_id: KeyId, size_bytes: int) -> None:
        if size_bytes:
            self._taken[key_id] -= size_bytes
            if not self._taken[key_id]:
                del self._taken[key_id]


class Measured:
    """The middleware around routes whose answers may be large: pages and whole workflows."""

    def __init__(self, app: ASGIApp, *, room: AnswerRoom) -> None:
        self._app = app
        self._room = room

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope.get("method") == "GET" and scope["route_handler"].opt.get("answers_at_length"):
            await self._room.run(self._app, scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _refusal(error: GnomonError) -> list[Any]:
    """The framework takes no exception any more once an answer has begun."""
    body = msgspec.json.encode(envelope_of(error, REQUEST_ID.get() or "none"))
    told = [(name.lower().encode(), value.encode()) for name, value in headers_of(error).items()]
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *told]
    return [
        {"type": "http.response.start", "status": error.http_status, "headers": headers},
        {"type": "http.response.body", "body": body, "more_body": False},
    ]


def _announced(message: Any) -> int:
    for name, value in message["headers"]:
        if name.lower() == b"content-length":
            return int(value)
    return 0
