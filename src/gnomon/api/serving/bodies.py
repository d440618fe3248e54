"""The body of a request: how large it may be, how long it may take to arrive, and that there is none."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from litestar.types import Receive

from gnomon.api.forms.reading import read_json
from gnomon.errors import InvalidInput, PayloadTooLarge, RequestTimeout

WITH_BODY = frozenset({"POST", "PUT", "DELETE"})
# To say which field is refused, a body is read that is as long as this, and no longer one.
REFUSED_BYTES_MAX = 16 * 1024


class BodyLimits(NamedTuple):
    bytes_max: int
    seconds_max: float


def limited(scope: Any, receive: Receive, announced: bytes | None, limits: BodyLimits) -> Receive:
    """Refuses a body that is too large before it is read, or as soon as that shows; and a slow one."""
    if announced is not None and announced.isdigit() and int(announced) > limits.bytes_max:
        raise PayloadTooLarge("body", size_bytes=int(announced), size_bytes_max=limits.bytes_max)
    if scope.get("method") not in WITH_BODY:
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


async def without_body(receive: Receive) -> Receive:
    """For a call that takes none, but for an empty object: what a caller says is never ignored."""
    parts = []
    while (message := await receive())["type"] == "http.request":
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            break
    check_nothing_said(b"".join(parts))
    given: list[Any] = [message]

    async def again() -> Any:
        return given.pop() | {"body": b""} if given else await receive()

    return again


def check_nothing_said(body: bytes) -> None:
    if not body.strip():
        return
    said = read_json(body) if len(body) <= REFUSED_BYTES_MAX else body
    if isinstance(said, dict):
        for name in said:
            raise InvalidInput(name[:100], "is not a field here: this call takes no body.")
    elif said is not None:
        raise InvalidInput("body", "is not for this call, which takes none.")
