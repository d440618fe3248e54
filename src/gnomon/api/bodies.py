"""The body of a request: how large it may be, and how long it may take to arrive."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from litestar.types import Receive

from gnomon.errors import PayloadTooLarge, RequestTimeout

_WITH_BODY = frozenset({"POST", "PUT"})


class BodyLimits(NamedTuple):
    bytes_max: int
    seconds_max: float


def limited(scope: Any, receive: Receive, announced: bytes | None, limits: BodyLimits) -> Receive:
    """Refuses a body that is too large before it is read, or as soon as that shows; and a slow one."""
    if announced is not None and announced.isdigit() and int(announced) > limits.bytes_max:
        raise PayloadTooLarge("body", size_bytes=int(announced), size_bytes_max=limits.bytes_max)
    if scope.get("method") not in _WITH_BODY:
        # No handler reads a body here. A stream waits for its client to leave, however long that takes.
        return receive
    deadline = asyncio.get_running_loop().time() + limits.seconds_max
    seen, is_complete = 0, False

    async def watched() -> Any:
        nonlocal seen, is_complete
        if is_complete:
            return await receive()
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise RequestTimeout("body", limits.seconds_max) from None
        if message["type"] == "http.request":
            is_complete = not message.get("more_body", False)
            seen += len(message.get("body", b""))
            if seen > limits.bytes_max:
                raise PayloadTooLarge("body", size_bytes=seen, size_bytes_max=limits.bytes_max)
        return message

    return watched
