"""Between the route that matched and its handler: who calls, may they, how often, and with how much.

The policy is that of the matched route; nothing is decided by the text of a path. Refused calls have a budget
of their own: a key without rights, or no key at all, uses up nothing of a tenant's.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from litestar.types import ASGIApp, Receive, Send

from gnomon.api.bodies import WITH_BODY, BodyLimits, limited, without_body
from gnomon.api.callers import Caller, Callers
from gnomon.api.failures import closing_with_status
from gnomon.api.policy import Policy, Rate
from gnomon.api.presence import Presence, origin_of, peer_of
from gnomon.api.rates import Rates
from gnomon.api.streams import Streams
from gnomon.errors import Forbidden, InvalidInput, MethodNotAllowed, Unauthorized

BATCH_FACTOR = 16  # How much larger the body of a batch may be.
QUERY_BYTES_MAX = 4096


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
    ) -> None:
        self._app = app
        self._callers = callers
        self._rates = rates
        self._streams = streams
        self._presence = presence
        self._body = body

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            with closing_with_status(scope):
                receive = await self._admitted(scope, receive)
        else:
            receive = await self._admitted(scope, receive)
        if "is_stream" in scope["route_handler"].opt:
            await self._streams.run(self._app, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _admitted(self, scope: Any, receive: Receive) -> Receive:
        handler = scope["route_handler"]
        policy: Policy | None = handler.opt.get("policy")
        if policy is None:  # The framework answers OPTIONS by itself; we do not.
            raise MethodNotAllowed(scope["method"], allowed=handler.opt["offered"])
        asked = _asked(scope)
        if policy.scope is not None:
            self._presence.check(peer_of(scope))
            caller = await self._caller(scope, policy, asked)
            if policy.rate is not None:
                holder = caller.key.id if policy.rate is Rate.KEY else caller.key.tenant_id
                quota = self._rates.take(holder, policy.rate)
                if quota is not None:
                    scope["gnomon.headers"] = quota.headers
            scope["gnomon.caller"] = caller
        _check_query(scope, handler.opt["query"])
        bytes_max = self._body.bytes_max * (BATCH_FACTOR if policy.is_batch else 1)
        receive = limited(scope, receive, asked.announced, BodyLimits(bytes_max, self._body.seconds_max))
        if handler.opt["takes_body"] or scope.get("method") not in WITH_BODY:
            return receive
        return await without_body(receive)

    async def _caller(self, scope: Any, policy: Policy, asked: _Asked) -> Caller:
        """Raises Unauthorized, Forbidden, InvalidInput; RateLimited if that has happened too often."""
        assert policy.scope is not None
        try:
            if asked.authorizations > 1:
                raise InvalidInput("Authorization", f"sent {asked.authorizations} times. Send one.")
            caller = await self._callers.of(asked.authorization)
        except (Unauthorized, InvalidInput):
            self._rates.take(origin_of(peer_of(scope)[0]), Rate.REFUSAL)
            raise
        if not policy.lets(caller.key):
            self._rates.take(caller.key.id, Rate.REFUSAL)
            raise Forbidden(policy.scope)
        return caller


class _Asked(NamedTuple):
    """Of the headers: which key, how many of them, and how large a body was announced."""

    authorization: bytes
    authorizations: int
    announced: bytes | None


def _asked(scope: Any) -> _Asked:
    authorization, authorizations, announced = b"", 0, None
    for name, value in scope["headers"]:
        if name == b"authorization":
            authorization = value
            authorizations += 1
        elif name == b"content-length":
            announced = value
    return _Asked(authorization, authorizations, announced)


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
