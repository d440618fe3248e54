"""Calls that may compute for long are served by a thread beside the loop, so that no other waits for them.

Routes that may take long whatever they are sent say `is_long`. The gate has let the call in. From there on,
the thread serves it with a store of its own: it reads the body, decides, writes and answers. Python takes
turns between threads every few milliseconds, so the loop of the node goes on meanwhile.
"""

from __future__ import annotations

import asyncio
from typing import Any, Protocol
from urllib.parse import parse_qsl

from litestar.handlers import HTTPRouteHandler
from litestar.types import ASGIApp, Receive, Send

from gnomon.api.serving.bodies import WITH_BODY
from gnomon.api.serving.callers import Caller
from gnomon.client import Client

BODY_BYTES_MAX = 64 * 1024  # Up to here, reading and checking a body takes a few milliseconds.
PAGE_LIMIT_MAX = 100
# What the framework of the thread needs of a call, and no more: it finds the route by itself.
_PASSED_ON = (
    "type", "asgi", "http_version", "method", "scheme", "path", "raw_path", "query_string", "root_path",
    "headers", "client", "server",
)  # fmt: skip


class Desk(Protocol):
    """A thread with a loop, a store and an application of its own."""

    async def open(self) -> tuple[asyncio.AbstractEventLoop, ASGIApp, Client]:
        """Its loop, what serves calls there, and the verbs of its store. Raises StoreError."""


def may_ever_take_long(handler: HTTPRouteHandler) -> bool:
    """Decided once for a route. Most reads never do, and do not pay for the question at each call."""
    opt = handler.opt
    return bool(opt["is_long"]) or "limit" in opt["query"] or not WITH_BODY.isdisjoint(handler.http_methods)


def may_take_long(scope: Any) -> bool:
    opt = scope["route_handler"].opt
    return bool(opt["is_long"]) or _has_large_body(scope["headers"]) or _is_long_page(scope, opt["query"])


def _has_large_body(headers: list[tuple[bytes, bytes]]) -> bool:
    """A body that does not say its size may have any."""
    for name, value in headers:
        if name == b"content-length":
            return value.isdigit() and int(value) > BODY_BYTES_MAX
        if name == b"transfer-encoding":
            return True
    return False


def _is_long_page(scope: Any, known: frozenset[str]) -> bool:
    query: bytes = scope.get("query_string", b"")
    if b"limit" not in query or "limit" not in known:
        return False
    asked = dict(parse_qsl(query.decode("latin-1"))).get("limit", "")
    return asked.isdecimal() and int(asked[:9]) > PAGE_LIMIT_MAX


async def served_by(desk: Desk, scope: Any, receive: Receive, send: Send) -> None:
    there, app, client = await desk.open()
    here = asyncio.get_running_loop()
    passed_on = {name: scope[name] for name in _PASSED_ON if name in scope}
    if (caller := scope.get("gnomon.caller")) is not None:
        passed_on["gnomon.caller"] = Caller(caller.key, client.of(caller.key.tenant_id))
    whole = [await _whole(receive)]

    async def receive_there() -> Any:
        return whole.pop() if whole else {"type": "http.disconnect"}

    async def send_here(message: Any) -> None:
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_sent(send, message), here))

    await asyncio.wrap_future(
        asyncio.run_coroutine_threadsafe(_handled(app, passed_on, receive_there, send_here), there)
    )


async def _whole(receive: Receive) -> Any:
    """The request with all of its body in one message; or that the caller has gone."""
    parts = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return message
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return {"type": "http.request", "body": b"".join(parts), "more_body": False}


# Coroutines of our own around what may be any awaitable.


async def _sent(send: Send, message: Any) -> None:
    await send(message)


async def _handled(app: ASGIApp, scope: Any, receive: Receive, send: Send) -> None:
    await app(scope, receive, send)
