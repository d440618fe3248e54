"""A server, for a program that asks one thing after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any
from uuid import uuid4

import httpcore
import msgspec

from gnomon.client.remote.wire import (
    TROUBLE,
    ServerAddress,
    ServerRequest,
    answer_of,
    request_to,
    trusted,
    unreachable,
)
from gnomon.core.values.limits import PAGE_LIMIT_MAX
from gnomon.errors import GnomonError, ServerRefused, ServerUnreachable

PATIENCE_SECONDS = 30.0
CONNECT_SECONDS = 5.0
# Between tries of a call that may be repeated. A node that starts anew is back by then.
PAUSES_SECONDS = (0.2, 0.5, 1.0)
WORTH_ANOTHER_TRY = frozenset({429, 502, 503, 504})


class Server:
    """Calls that may be repeated are, for a moment, when no answer comes: a node may be starting anew."""

    def __init__(
        self,
        address: ServerAddress,
        *,
        sleep: Callable[[float], None] = time.sleep,
        pauses: Sequence[float] = PAUSES_SECONDS,
        seconds_max: float = PATIENCE_SECONDS,
    ) -> None:
        address.check()
        self._pauses = pauses
        self._timeout = {
            "connect": min(CONNECT_SECONDS, seconds_max), "read": seconds_max, "write": seconds_max
        }  # fmt: skip
        self.address = address
        self._sleep = sleep
        self._pool = httpcore.ConnectionPool(ssl_context=trusted())

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.close()

    # Calls ---------------------------------------------------------------------------------------------

    def get(self, path: str, **query: object) -> Any:
        return self._insist(request_to(self.address, "GET", path, query=query))

    def post(self, path: str, body: object = None) -> Any:
        """Once: whether it may be repeated is not known here."""
        return self._once(self._with_body("POST", path, body))

    def send(self, method: str, path: str, body: object = None) -> Any:
        """With an idempotency key, so that it happens once, however often it has to be sent."""
        return self._insist(self._with_body(method, path, body, ("Idempotency-Key", str(uuid4()))))

    def delete(self, path: str, *, version: int | None = None) -> Any:
        headers = [] if version is None else [("If-Match", f'"{version}"')]
        return self._once(request_to(self.address, "DELETE", path, headers=headers))

    def pages(self, path: str, noun: str, *, limit: int | None, **query: object) -> Iterator[Any]:
        """The items of a list, page after page, up to `limit` of them or all."""
        cursor, left = None, limit
        while left is None or left > 0:
            size = PAGE_LIMIT_MAX if left is None else min(left, PAGE_LIMIT_MAX)
            page = self.get(path, limit=size, cursor=cursor, **query)
            yield from page[noun]
            cursor = page["next_cursor"]
            if cursor is None:
                return
            left = None if left is None else left - len(page[noun])

    def all_after(self, path: str, noun: str) -> list[Any]:
        """The items of a list whose pages are asked for by `after`, all of them."""
        found: list[Any] = []
        after: object = None
        while True:
            page = self.get(path, limit=PAGE_LIMIT_MAX, after=after)
            found += page[noun]
            after = page["next_after"]
            if after is None:
                return found

    # On the wire ---------------------------------------------------------------------------------------

    def _with_body(self, method: str, path: str, body: object, *headers: tuple[str, str]) -> ServerRequest:
        content = None if body is None else msgspec.json.encode(body)
        return request_to(self.address, method, path, content=content, headers=headers)

    def _insist(self, request: ServerRequest) -> Any:
        for pause in self._pauses:
            try:
                return self._once(request)
            except GnomonError as error:
                if not _is_worth_another_try(error):
                    raise
                wait = error.details.get("retry_after_seconds", pause)
            self._sleep(wait if isinstance(wait, int | float) else pause)
        return self._once(request)

    def _once(self, request: ServerRequest) -> Any:
        try:
            answer = self._pool.request(
                request.method,
                request.url,
                headers=request.headers,
                content=request.content,
                extensions={"timeout": self._timeout},
            )
        except TROUBLE as error:
            raise unreachable(self.address, error) from error
        return msgspec.json.decode(answer_of(answer.status, answer.content))


def _is_worth_another_try(error: GnomonError) -> bool:
    if isinstance(error, ServerRefused):
        return error.http_status in WORTH_ANOTHER_TRY
    return isinstance(error, ServerUnreachable)
