"""A line from a worker to its server: bytes out, bytes back, and trouble in the words of a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

import httpcore

from gnomon.client.remote.wire import TROUBLE, ServerAddress, answer_of, request_to, trusted
from gnomon.errors import ServerRefused, StoreUnavailable

PATIENCE = timedelta(seconds=15)
CONNECT_SECONDS = 5.0
CONNECTIONS_MAX = 8
KEEPALIVE_SECONDS = 30
ITEMS_MAX = 1000  # Of one call. The server takes no more.
BATCH_BYTES_MAX = 8 * 1024 * 1024  # Half of what the server reads at most, where nobody set that lower.
# What a store would say no to as well. All else may be better in a moment.
REFUSALS = frozenset({400, 403, 404, 409, 413})


class ServerLine:
    def __init__(self, address: ServerAddress) -> None:
        address.check()
        self.address = address
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=trusted(), max_connections=CONNECTIONS_MAX, keepalive_expiry=KEEPALIVE_SECONDS
        )

    async def close(self) -> None:
        await self._pool.aclose()

    async def post(self, path: str, content: bytes, *, patience: timedelta = PATIENCE) -> bytes:
        return await self._send("POST", path, content, patience)

    async def get(self, path: str) -> bytes:
        return await self._send("GET", path, None, PATIENCE)

    async def _send(self, method: str, path: str, content: bytes | None, patience: timedelta) -> bytes:
        """Raises ServerRefused for what can not be, and StoreUnavailable for what can not be now.

        A key that was revoked is of the second kind: somebody may be about to give the worker another.
        """
        request = request_to(self.address, method, path, content=content)
        seconds = patience.total_seconds()
        timeout = {"connect": CONNECT_SECONDS, "read": seconds, "write": seconds, "pool": seconds}
        try:
            answer = await self._pool.request(
                request.method,
                request.url,
                headers=request.headers,
                content=request.content,
                extensions={"timeout": timeout},
            )
        except TROUBLE as error:
            raise StoreUnavailable(
                f"No answer from {self.address.url}: {str(error) or type(error).__name__}"
            ) from error
        try:
            return answer_of(answer.status, answer.content)
        except ServerRefused as error:
            if error.http_status in REFUSALS:
                raise
            raise StoreUnavailable(f"{self.address.url} answers {error.code}: {error}") from error


def batches(items: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """As few as fit into a call each, in order."""
    start = size = 0
    for place, item in enumerate(items):
        if place > start and (place - start == ITEMS_MAX or size + len(item) > BATCH_BYTES_MAX):
            yield items[start:place]
            start, size = place, 0
        size += len(item) + 1
    if start < len(items):
        yield items[start:]
