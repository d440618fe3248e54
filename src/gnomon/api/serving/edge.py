"""The outermost layer: every request gets an id, and every answer carries it.

Here the connection of a request is marked as busy, and HEAD becomes a GET of which only the head is sent.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import msgspec
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from gnomon.api.forms.ids import routable
from gnomon.api.serving.failures import RouteNotFound, envelope_of, headers_of
from gnomon.api.serving.presence import Presence, peer_of
from gnomon.errors import GnomonError
from gnomon.logs import REQUEST_ID

logger = logging.getLogger(__name__)

HEADER = b"x-request-id"
ID_LENGTH_MAX = 128
ANSWERS = "websocket.http.response"  # An extension of ASGI.
_ACCEPTED = re.compile(rb"[A-Za-z0-9._:-]{1,%d}" % ID_LENGTH_MAX)

# What was called, how it was answered, and how long that took.
Observer = Callable[[str, str, int, float], None]


class Edge:
    """`new_id` makes the id of a request that brings none that is fit for a log."""

    def __init__(
        self, app: ASGIApp, *, new_id: Callable[[], str], observe: Observer, presence: Presence
    ) -> None:
        self._app = app
        self._new_id = new_id
        self._observe = observe
        self._presence = presence

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        request_id = _given(scope) or self._new_id()
        header = (HEADER, request_id.encode())
        scope["path"] = routable(scope["path"])
        method = scope.get("method", "WS")
        if method == "HEAD":
            scope["method"] = "GET"
            receive, send = _only_the_head(send)
        began = time.perf_counter()
        status = int(HTTPStatus.INTERNAL_SERVER_ERROR)

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], header, *scope.get("gnomon.headers", ())]
            elif message["type"] == "websocket.accept":
                status = int(HTTPStatus.SWITCHING_PROTOCOLS)
            elif message["type"] == "websocket.close" and status != HTTPStatus.SWITCHING_PROTOCOLS:
                status, refusal = _refusal(scope, message, header)
                for part in refusal:
                    await send(part)
                return
            await send(message)

        mark, peer = REQUEST_ID.set(request_id), peer_of(scope)
        scope["gnomon.peer"] = peer
        self._presence.enter(peer, is_socket=scope["type"] == "websocket")
        try:
            await self._app(scope, receive, send_with_id)
        finally:
            self._presence.leave(peer)
            REQUEST_ID.reset(mark)
            route = scope.get("path_template") or "none"
            self._observe(method, route, status, time.perf_counter() - began)


def _refusal(scope: Any, message: Any, header: tuple[bytes, bytes]) -> tuple[int, list[Any]]:
    """What a client gets in place of a WebSocket: what a request would get, if the server can send that."""
    if ANSWERS not in (scope.get("extensions") or {}):
        return int(HTTPStatus.FORBIDDEN), [message]
    error = scope.get("gnomon.refusal")
    if error is None:  # The framework found no route, or a route failed.
        error = GnomonError() if "route_handler" in scope else RouteNotFound("of this path")
    body = msgspec.json.encode(envelope_of(error, header[1].decode()))
    told = [(name.lower().encode(), value.encode()) for name, value in headers_of(error).items()]
    headers = [(b"content-type", b"application/json"), *told, header, *scope.get("gnomon.headers", ())]
    return error.http_status, [
        {"type": f"{ANSWERS}.start", "status": error.http_status, "headers": headers},
        {"type": f"{ANSWERS}.body", "body": body, "more_body": False},
    ]


def _only_the_head(send: Send) -> tuple[Receive, Send]:
    """Sends what a GET would send, without its body. A stream then sees that its client has left.

    What serves the call may ask for the body of the request first: a HEAD has none.
    """
    is_over = asyncio.Event()
    unread = [{"type": "http.request", "body": b"", "more_body": False}]

    async def send_head(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
        elif not is_over.is_set():
            is_over.set()
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def receive_until_over() -> Any:
        if unread:
            return unread.pop()
        await is_over.wait()
        return {"type": "http.disconnect"}

    return receive_until_over, send_head


def _given(scope: Scope) -> str | None:
    for name, value in scope["headers"]:
        if name == HEADER:
            return value.decode() if _ACCEPTED.fullmatch(value) else None
    return None
