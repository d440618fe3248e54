"""The kind `http`: one request, guarded, limited in every direction, and marked for who may get it twice."""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from urllib.parse import urldefrag, urljoin

import httpcore

from gnomon.core.values.document import JSON
from gnomon.errors import InvalidInput
from gnomon.handlers.base import Context, JobFailed
from gnomon.handlers.http.addresses import AllowedAddresses
from gnomon.handlers.http.answer import HttpAnswer, read_answer
from gnomon.handlers.http.guard import (
    BadUrl,
    ForbiddenAddress,
    Guard,
    GuardedBackend,
    Resolver,
    SystemResolver,
    Target,
    target_of,
)
from gnomon.handlers.http.payload import HttpPayload
from gnomon.handlers.payload import read, read_to_run
from gnomon.settings import HandlerSettings

REDIRECTS_MAX = 5
CONNECTIONS_MAX = 100
KEEPALIVE_SECONDS = 30
USER_AGENT = "gnomon"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
WORTH_ANOTHER_TRY = frozenset({408, 425, 429})
SAYS_WHEN = frozenset({429, 503})
# What may follow a redirect to another origin. All else could be a credential, and what we add says which
# execution this is: a stranger could use up its idempotency key, or get ahead of its fencing token.
HARMLESS_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent"})
ABOUT_THE_CONTENT = frozenset({"content-encoding", "content-language", "content-location", "content-type"})


@dataclass(frozen=True, slots=True)
class HttpCall:
    method: str
    target: Target
    own_headers: Mapping[str, str]  # Of the job.
    our_headers: Mapping[str, str]
    content: bytes | None

    def redirected(self, status: int, target: Target) -> HttpCall:
        """The next request, as browsers make it; without what only the first host may know."""
        changed = replace(self, target=target)
        if target.origin != self.target.origin:
            changed = changed._with_headers(lambda name: name in HARMLESS_HEADERS)
        if status == 303 or (status in (301, 302) and self.method == "POST"):
            method = "HEAD" if self.method == "HEAD" else "GET"
            changed = changed._with_headers(lambda name: name not in ABOUT_THE_CONTENT)
            return replace(changed, method=method, content=None)
        return changed

    def _with_headers(self, is_kept: Callable[[str], bool]) -> HttpCall:
        own = {name: value for name, value in self.own_headers.items() if is_kept(name.lower())}
        ours = {name: value for name, value in self.our_headers.items() if is_kept(name.lower())}
        return replace(self, own_headers=own, our_headers=ours)

    def headers(self) -> list[tuple[str, str]]:
        named = {name.lower() for name in self.own_headers}
        found = [("Host", self.target.host_header), *self.own_headers.items(), *self.our_headers.items()]
        for name, value in (("User-Agent", USER_AGENT), ("Accept", "*/*"), ("Accept-Encoding", "identity")):
            if name.lower() not in named:
                found.append((name, value))
        return found


class HttpHandler:
    kind = "http"

    def __init__(
        self,
        settings: HandlerSettings,
        *,
        resolver: Resolver | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """Raises InvalidInput for a list of allowed hosts that cannot be read."""
        self._timeout_seconds = settings.http_timeout.total_seconds()
        self._guard = Guard(AllowedAddresses(settings.http_allow), resolver or SystemResolver())
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=ssl_context or httpcore.default_ssl_context(),
            max_connections=CONNECTIONS_MAX,
            max_keepalive_connections=CONNECTIONS_MAX // 5,
            keepalive_expiry=KEEPALIVE_SECONDS,
            network_backend=GuardedBackend(self._guard),
        )

    def check(self, payload: JSON) -> None:
        asked = read(payload, HttpPayload)
        asked.check()
        try:
            self._target(asked)
        except (BadUrl, ForbiddenAddress) as error:
            raise InvalidInput("payload.url", str(error)) from None

    async def run(self, payload: JSON, context: Context) -> JSON:
        asked = read_to_run(payload, HttpPayload)
        try:
            asked.check()
            target = self._target(asked)
        except (InvalidInput, BadUrl) as error:
            raise JobFailed(str(error), kind="bad_payload", permanent=True) from error
        except ForbiddenAddress as error:
            raise JobFailed(str(error), kind="forbidden_address", permanent=True) from error
        seconds = asked.timeout_seconds or self._timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                answer = await self._answer(asked, _request(asked, target, context))
        except TimeoutError:
            raise JobFailed(f"No whole answer within {seconds:g} seconds.", kind="timeout") from None
        return _outcome(asked, answer)

    async def aclose(self) -> None:
        await self._pool.aclose()

    def _target(self, asked: HttpPayload) -> Target:
        target = target_of(asked.url)
        self._guard.check(target)
        return target

    async def _answer(self, asked: HttpPayload, request: HttpCall) -> HttpAnswer:
        for _ in range(REDIRECTS_MAX + 1):
            answer = await self._send(request)
            if not (asked.follow_redirects and answer.status in REDIRECTS and "location" in answer.headers):
                return answer
            request = request.redirected(answer.status, self._next(request.target, answer))
        raise JobFailed(f"More than {REDIRECTS_MAX} redirects.", kind="too_many_redirects", permanent=True)

    def _next(self, target: Target, answer: HttpAnswer) -> Target:
        location = answer.headers["location"]
        try:
            following = target_of(urldefrag(urljoin(str(target), location)).url)
            self._guard.check(following)
            if (target.scheme, following.scheme) == ("https", "http"):
                raise ForbiddenAddress("it leads from https to http.")
        except (BadUrl, ForbiddenAddress, ValueError) as error:
            raise JobFailed(
                f"The redirect to {location[:200]!r} is not followed: {error}",
                kind="forbidden_redirect",
                permanent=True,
            ) from error
        return following

    async def _send(self, request: HttpCall) -> HttpAnswer:
        target = request.target
        url = httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
        try:
            async with self._pool.stream(
                request.method, url, headers=request.headers(), content=request.content
            ) as response:
                return await read_answer(response.status, response.headers, response.aiter_stream())
        except ForbiddenAddress as error:
            raise JobFailed(str(error), kind="forbidden_address", permanent=True) from error
        except (httpcore.ProtocolError, zlib.error) as error:
            raise JobFailed(
                f"The answer of {target.host} cannot be read: {error}", kind="protocol"
            ) from error
        except (httpcore.NetworkError, httpcore.TimeoutException, OSError) as error:
            reason = str(error) or type(error).__name__
            raise JobFailed(f"{target.host} cannot be reached: {reason}", kind="connection") from error


def _request(asked: HttpPayload, target: Target, context: Context) -> HttpCall:
    content = asked.content(context.input)
    ours = {
        "Idempotency-Key": str(context.execution_id),
        "Gnomon-Execution-Id": str(context.execution_id),
        "Gnomon-Attempt": str(context.attempt),
        "Gnomon-Fencing-Token": context.token,
    }
    if content is not None and asked.body is None:
        named = {name.lower() for name in asked.headers}
        if "content-type" not in named:
            ours["Content-Type"] = "application/json"
    method = asked.method or ("GET" if content is None else "POST")
    return HttpCall(method, target, asked.headers, ours, content)


def _outcome(asked: HttpPayload, answer: HttpAnswer) -> JSON:
    if asked.expects(answer.status):
        return answer.result()
    # A redirect nobody follows and most errors of the caller stay what they are, however often one asks.
    permanent = 300 <= answer.status < 500 and answer.status not in WORTH_ANOTHER_TRY
    raise JobFailed(
        f"The server answered {_named(answer.status)}: {answer.excerpt()}",
        kind="http_status",
        permanent=permanent,
        retry_after=answer.retry_after() if answer.status in SAYS_WHEN else None,
    )


def _named(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
