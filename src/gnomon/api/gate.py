"""Between the route that matched and its handler: who calls, may they, how often, and with how much.

The policy is that of the matched route; nothing is decided by the text of a path.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from litestar.types import ASGIApp, Receive, Send

from gnomon.api.callers import Callers
from gnomon.api.failures import closing_with_status
from gnomon.api.policy import Policy
from gnomon.api.rates import Rates
from gnomon.errors import Forbidden, InvalidInput, MethodNotAllowed, PayloadTooLarge

BATCH_FACTOR = 16  # How much larger the body of a batch may be.
QUERY_BYTES_MAX = 4096


class Gate:
    def __init__(self, app: ASGIApp, *, callers: Callers, rates: Rates, body_bytes_max: int) -> None:
        self._app = app
        self._callers = callers
        self._rates = rates
        self._body_bytes_max = body_bytes_max

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            with closing_with_status():
                receive = await self._admitted(scope, receive)
        else:
            receive = await self._admitted(scope, receive)
        await self._app(scope, receive, send)

    async def _admitted(self, scope: Any, receive: Receive) -> Receive:
        handler = scope["route_handler"]
        policy: Policy | None = handler.opt.get("policy")
        if policy is None:  # The framework answers OPTIONS by itself; we do not.
            raise MethodNotAllowed(scope.get("method", "this"))
        authorization, announced = _headers(scope)
        if policy.scope is not None:
            caller = await self._callers.of(authorization)
            if policy.rate is not None:
                quota = self._rates.take(caller.key.tenant_id, policy.rate)
                if quota is not None:
                    scope["gnomon.headers"] = quota.headers
            if not policy.lets(caller.key):
                raise Forbidden(policy.scope)
            scope["gnomon.caller"] = caller
        _check_query(scope, handler.opt["query"])
        bytes_max = self._body_bytes_max * (BATCH_FACTOR if policy.is_batch else 1)
        return _limited(receive, announced, bytes_max)


def _headers(scope: Any) -> tuple[bytes, bytes | None]:
    """Who says to be calling, and how much they announce."""
    authorization, announced = b"", None
    for name, value in scope["headers"]:
        if name == b"authorization":
            authorization = value
        elif name == b"content-length":
            announced = value
    return authorization, announced


def _check_query(scope: Any, known: frozenset[str]) -> None:
    """A filter that is misspelt would otherwise be no filter at all."""
    query: bytes = scope.get("query_string", b"")
    if not query:
        return
    if len(query) > QUERY_BYTES_MAX:
        raise InvalidInput("query", f"longer than {QUERY_BYTES_MAX} bytes.")
    for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name not in known:
            accepted = ", ".join(sorted(known)) or "nothing"
            raise InvalidInput(name[:100], f"is not a parameter of this call. Accepted: {accepted}.")


def _limited(receive: Receive, announced: bytes | None, bytes_max: int) -> Receive:
    """Refuses a body that is too large before it is read, or as soon as that shows."""
    if announced is not None and announced.isdigit() and int(announced) > bytes_max:
        raise PayloadTooLarge("body", size_bytes=int(announced), size_bytes_max=bytes_max)
    if announced is not None:
        return receive  # The server reads no more than was announced.
    seen = 0

    async def counted() -> Any:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > bytes_max:
                raise PayloadTooLarge("body", size_bytes=seen, size_bytes_max=bytes_max)
        return message

    return counted
