"""Between the route that matched and its handler: who calls, may they, how often, and with how much.

The policy is that of the matched route; nothing is decided by the text of a path. Refused calls have a budget
of their own: a key without rights, or no key at all, uses up nothing of a tenant's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl

from litestar.types import ASGIApp, Receive, Send

from gnomon.api.serving.aside import Desk, may_take_long, served_by
from gnomon.api.serving.bodies import WITH_BODY, BodyLimits, limited, without_body
from gnomon.api.serving.callers import Caller, Callers
from gnomon.api.serving.compression import compressed
from gnomon.api.serving.failures import closing_with_status
from gnomon.api.serving.policy import Policy, Rate
from gnomon.api.serving.presence import Presence, origin_of
from gnomon.api.serving.rates import Rates
from gnomon.api.serving.streams import Streams
from gnomon.errors import Forbidden, InvalidInput, MethodNotAllowed, Unauthorized

BATCH_FACTOR = 16  # How much larger the body of a batch may be.
QUERY_BYTES_MAX = 4096
_NO_BODY = (None, b"0")


class Gate:
    def __init__(
        self,
        app: ASGIApp,
        *,
        callers: Callers,
        rates: Rates,
        streams: Streams,
        presence: Presence,
        body: BodyLimits,
        desk: Desk | None,
    ) -> None:
        self._app = app
        self._compressed = compressed(app)
        self._desk = desk
        self._callers = callers
        self._rates = rates
        self._streams = streams
        self._presence = presence
        self._body = body
        self._batch_body = BodyLimits(body.bytes_max * BATCH_FACTOR, body.seconds_max)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            with closing_with_status(scope):
                receive, _ = await self._admitted(scope, receive)
            await self._streams.run(self._app, scope, receive, send)
            return
        receive, app = await self._admitted(scope, receive)
        opt = scope["route_handler"].opt
        if "is_stream" in opt:
            await self._streams.run(app, scope, receive, send)
        elif opt["may_take_long"] and self._desk is not None and may_take_long(scope):
            await served_by(self._desk, scope, receive, send)
        else:
            await app(scope, receive, send)

    async def _admitted(self, scope: Any, receive: Receive) -> tuple[Receive, ASGIApp]:
        """Returns what goes on with the call."""
        handler = scope["route_handler"]
        policy: Policy | None = handler.opt.get("policy")
        if policy is None:  # The framework answers OPTIONS by itself; we do not.
            raise MethodNotAllowed(scope["method"], allowed=handler.opt["offered"])
        keys, announced, accepts_gzip = _asked(scope)
        if policy.scope is not None:
            self._presence.check(scope["gnomon.peer"])
            caller = self._callers.remembered(keys[0]) if len(keys) == 1 else None
            if caller is None:
                caller = await self._caller(scope, keys)
            if not policy.lets(caller.key):
                self._rates.take(caller.key.id, Rate.REFUSAL)
                raise Forbidden(policy.scope)
            if policy.rate is not None:
                holder = caller.key.id if policy.rate is Rate.KEY else caller.key.tenant_id
                quota = self._rates.take(holder, policy.rate)
                if quota is not None:
                    scope["gnomon.headers"] = quota.headers
            scope["gnomon.caller"] = caller
        _check_query(scope, handler.opt["query"])
        has_body = scope.get("method") in WITH_BODY
        if has_body or announced not in _NO_BODY:
            limits = self._batch_body if policy.is_batch else self._body
            receive = limited(scope, receive, announced, limits)
        if has_body and not handler.opt["takes_body"]:
            receive = await without_body(receive)
        return receive, self._compressed if accepts_gzip else self._app

    async def _caller(self, scope: Any, keys: Sequence[bytes]) -> Caller:
        """Raises Unauthorized, InvalidInput; RateLimited if that has happened too often."""
        try:
            if len(keys) > 1:
                raise InvalidInput("Authorization", f"sent {len(keys)} times. Send one.")
            return await self._callers.of(keys[0] if keys else b"")
        except (Unauthorized, InvalidInput):
            self._rates.take(origin_of(scope["gnomon.peer"][0]), Rate.REFUSAL)
            raise


def _asked(scope: Any) -> tuple[list[bytes], bytes | None, bool]:
    """Of the headers: which keys, how large a body was announced, and whether the answer may be gzip."""
    keys, announced, accepts_gzip = [], None, False
    for name, value in scope["headers"]:
        if name == b"authorization":
            keys.append(value)
        elif name == b"content-length":
            announced = value
        elif name == b"accept-encoding":
            accepts_gzip = b"gzip" in value
    return keys, announced, accepts_gzip


def _check_query(scope: Any, known: frozenset[str]) -> None:
    """A filter that is misspelt would otherwise be no filter at all, and one of two would not count."""
    query: bytes = scope.get("query_string", b"")
    if not query:
        return
    if len(query) > QUERY_BYTES_MAX:
        raise InvalidInput("query", f"longer than {QUERY_BYTES_MAX} bytes.")
    seen: set[str] = set()
    for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name not in known:
            accepted = ", ".join(sorted(known)) or "nothing"
            raise InvalidInput(name[:100], f"is not a parameter of this call. Accepted: {accepted}.")
        if name in seen:
            raise InvalidInput(name, "is there twice.")
        seen.add(name)
