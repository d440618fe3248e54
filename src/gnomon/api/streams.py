"""Answers that go on: server-sent events, and when they must come to an end."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from gnomon.api.call import Call


def event_of(name: str, id: str | None, data: bytes) -> bytes:
    """One server-sent event. The data is JSON in one line."""
    head = f"event: {name}\n" + (f"id: {id}\n" if id is not None else "")
    return head.encode() + b"data: " + data + b"\n\n"


async def paused(request: Call, pause: timedelta) -> bool:
    """Wait. True if the server wants to end: then a stream ends, and its reader comes again elsewhere."""
    try:
        await asyncio.wait_for(request.closing.wait(), pause.total_seconds())
    except TimeoutError:
        return False
    return True
