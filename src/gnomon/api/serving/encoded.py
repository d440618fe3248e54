"""Answers that are bytes already."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Self, TypeVar

import msgspec
from litestar import Response
from litestar.types import Receive, Scope, Send

PART_BYTES = 256 * 1024

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_encode_into = msgspec.json.Encoder().encode_into


class Encoded(Response[T]):
    """JSON that is sent as it is: what the framework does with other answers costs as much as to make one."""

    def __init__(self, body: bytes, *, etag: int) -> None:
        """`etag` is the version of what is shown, for `If-Match`."""
        self._body = body
        self._headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"etag", b'"%d"' % etag),
        ]

    def to_asgi_response(self, *_: Any, **__: Any) -> Self:  # type: ignore[override]
        return self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self._headers})
        await send({"type": "http.response.body", "body": self._body, "more_body": False})


class InParts(Response[T]):
    """JSON in parts, for answers that may be very large: the loop does other things between two of them."""

    def __init__(self, parts: Sequence[bytes]) -> None:
        self._parts = parts
        self._headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % sum(map(len, parts))),
        ]

    def to_asgi_response(self, *_: Any, **__: Any) -> Self:  # type: ignore[override]
        return self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self._headers})
        *first, last = self._parts
        for part in first:
            await send({"type": "http.response.body", "body": part, "more_body": True})
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": last, "more_body": False})


async def in_parts(about: T, items: Iterable[Any]) -> InParts[T]:
    """An answer whose first list is empty, with `items` in it. They are made, encoded and sent on the way."""
    begin, brackets, end = _encode(about).partition(b"[]")
    assert brackets
    parts, part = [], bytearray(begin + b"[")
    for number, item in enumerate(items):
        part += b"," if number else b""
        _encode_into(item, part, -1)
        if len(part) >= PART_BYTES:
            parts.append(bytes(part))
            part.clear()
            await asyncio.sleep(0)
    return InParts([*parts, bytes(part) + b"]" + end])
