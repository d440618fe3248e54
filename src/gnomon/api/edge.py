"""The outermost layer: every request gets an id, and every answer carries it."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from litestar.types import ASGIApp, Message, Receive, Scope, Send

from gnomon.api.ids import routable
from gnomon.logs import REQUEST_ID

logger = logging.getLogger(__name__)

HEADER = b"x-request-id"
_ACCEPTED = re.compile(rb"[A-Za-z0-9._:-]{1,128}")

# What was called, how it was answered, and how long that took.
Observer = Callable[[str, str, int, float], None]


class Edge:
    """`new_id` makes the id of a request that brings none that is fit for a log."""

    def __init__(self, app: ASGIApp, *, new_id: Callable[[], str], observe: Observer) -> None:
        self._app = app
        self._new_id = new_id
        self._observe = observe

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        request_id = _given(scope) or self._new_id()
        header = (HEADER, request_id.encode())
        scope["path"] = routable(scope["path"])
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
                status = int(HTTPStatus.FORBIDDEN)
            await send(message)

        mark = REQUEST_ID.set(request_id)
        try:
            await self._app(scope, receive, send_with_id)
        finally:
            REQUEST_ID.reset(mark)
            route = scope.get("path_template") or "none"
            self._observe(scope.get("method", "WS"), route, status, time.perf_counter() - began)


def _given(scope: Scope) -> str | None:
    for name, value in scope["headers"]:
        if name == HEADER:
            return value.decode() if _ACCEPTED.fullmatch(value) else None
    return None
