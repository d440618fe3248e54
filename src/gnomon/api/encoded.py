"""Answers that are bytes already."""

from __future__ import annotations

from typing import Any, Self, TypeVar

from litestar import Response
from litestar.types import Receive, Scope, Send

T = TypeVar("T")


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
