"""A few pages over HTTP, for probes: small on purpose, since a web framework takes half a second to import.

One request a connection, GET or HEAD, no body. What is slow, large or one too many is closed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from http import HTTPStatus
from random import Random
from typing import NamedTuple

import msgspec

from gnomon.errors import GnomonError, InvalidInput, MethodNotAllowed, NotFound, StoreError

logger = logging.getLogger(__name__)

CONNECTIONS_MAX = 64
HEAD_BYTES_MAX = 8 * 1024
# For the whole of a call, from the connection to the last byte.
PATIENCE = timedelta(seconds=10)
# For its head, which a probe sends at once. What connects and is silent holds its place for no longer.
HEAD_PATIENCE = timedelta(seconds=2)
METHODS = ("GET", "HEAD")
JSON = "application/json"


class ProbePage(NamedTuple):
    body: bytes
    content_type: str = JSON
    status: int = HTTPStatus.OK


Pages = Mapping[str, Callable[[], Awaitable[ProbePage]]]


class _PageNotFound(NotFound):
    noun = "page"


@asynccontextmanager
async def responding(pages: Pages, host: str, port: int) -> AsyncIterator[int]:
    """Answer until the end of the block. Yields the port. Raises InvalidInput if it cannot listen there."""
    responder = _Responder(pages)
    try:
        server = await asyncio.start_server(responder.serve, host, port, limit=HEAD_BYTES_MAX)
    except OSError as error:
        reason = f"cannot listen at {host}:{port}: {error.strerror or error}. Choose another port or host."
        raise InvalidInput("health.port", reason) from None
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        responder.hang_up()


class _Responder:
    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._open: set[asyncio.Task[None]] = set()
        self._random = Random()  # noqa: S311 - ids of requests, no secrets.

    def hang_up(self) -> None:
        for task in self._open:
            task.cancel()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            if len(self._open) < CONNECTIONS_MAX:
                self._open.add(task)
                async with asyncio.timeout(PATIENCE.total_seconds()):
                    await self._answer(reader, writer)
        except (OSError, TimeoutError, asyncio.CancelledError):
            logger.debug("a probe went away, or was too slow")
        finally:
            self._open.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_PATIENCE.total_seconds()):
                head = await reader.readuntil(b"\r\n\r\n")
            method, target, _ = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            return  # Not a request that a probe makes.
        page = await self._page(method, target.split("?", 1)[0])
        writer.write(_head(page) + (b"" if method == "HEAD" else page.body))
        await writer.drain()

    async def _page(self, method: str, path: str) -> ProbePage:
        try:
            if path not in self._pages:
                raise _PageNotFound(path[:100])
            if method not in METHODS:
                raise MethodNotAllowed(method[:10], allowed=METHODS)
            return await self._pages[path]()
        except GnomonError as error:
            return self._problem(error)
        except Exception:
            logger.exception("%s failed", path)
            return self._problem(GnomonError("internal error"))

    def _problem(self, error: GnomonError) -> ProbePage:
        """In the envelope of the API, and like there without what the database said."""
        is_store = isinstance(error, StoreError)
        if is_store:
            logger.warning("the store did not serve a probe: %s", error)
        told = {
            "code": error.code,
            "message": StoreError.TOLD if is_store else str(error),
            "details": {} if is_store else error.details,
            "request_id": f"req_{self._random.getrandbits(64):016x}",
        }
        return ProbePage(msgspec.json.encode({"error": told}), status=error.http_status)


def _head(page: ProbePage) -> bytes:
    lines = [
        f"HTTP/1.1 {page.status} {HTTPStatus(page.status).phrase}",
        f"Content-Type: {page.content_type}",
        f"Content-Length: {len(page.body)}",
        "Cache-Control: no-store",
        "Connection: close",
    ]
    if page.status == HTTPStatus.METHOD_NOT_ALLOWED:
        lines.append(f"Allow: {', '.join(METHODS)}")
    return "\r\n".join([*lines, "", ""]).encode("ascii")
