"""Answers that go on, over server-sent events or a WebSocket: how many there may be, and when they end.

A stream is as good as its key. While a key has streams, the store is asked about it every few seconds, once
for all of them. When it is revoked or has expired, its streams end, also those whose reader no longer reads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from litestar.types import ASGIApp, Receive, Send

from gnomon.api.serving.call import Call
from gnomon.api.serving.failures import CLOSE_CODES, closing_with_status
from gnomon.core.access.keys import ApiKey, KeyId
from gnomon.core.access.tenants import TenantId
from gnomon.errors import StoreError, TooManyStreams, Unauthorized

# Streams of a key that was revoked elsewhere end within ten seconds; this leaves room for a slow store.
PROVEN_EVERY = timedelta(seconds=3)
FAREWELL_SECONDS = 1.0  # A reader that does not read is not waited for.
_BEGINNINGS = frozenset({"http.response.start", "websocket.accept"})
_END: Any = {"type": "http.response.body", "body": b"", "more_body": False}
_REVOKED_SOCKET: Any = {"type": "websocket.close", "code": CLOSE_CODES + Unauthorized.http_status}


@dataclass(slots=True)
class _Held:
    """The streams of one key: an alarm for each, and the task that proves the key."""

    key: ApiKey
    alarms: set[asyncio.Timeout] = field(default_factory=set)
    proving: asyncio.Task[None] | None = None

    def end(self) -> None:
        now = asyncio.get_running_loop().time()
        for alarm in self.alarms:
            alarm.reschedule(now)


class Streams:
    """`is_valid` asks the store about a key. None: no limit."""

    def __init__(
        self,
        is_valid: Callable[[KeyId], Awaitable[bool]],
        *,
        per_key: int | None,
        per_tenant: int | None,
    ) -> None:
        self._is_valid = is_valid
        self._per_key = per_key
        self._per_tenant = per_tenant
        self._held: dict[KeyId, _Held] = {}

    @contextmanager
    def _held_open(self, key: ApiKey, alarm: asyncio.Timeout) -> Iterator[None]:
        """For the time of a stream. `alarm` goes off when the key is no longer valid."""
        held = self._held.get(key.id)
        if held is None:
            held = self._held[key.id] = _Held(key)
            held.proving = asyncio.create_task(self._prove(held), name=f"streams of {key.id}")
        held.alarms.add(alarm)
        try:
            yield
        finally:
            held.alarms.discard(alarm)
            if not held.alarms:
                del self._held[key.id]
                assert held.proving is not None
                held.proving.cancel()

    async def run(self, app: ASGIApp, scope: Any, receive: Receive, send: Send) -> None:
        """Until the stream ends by itself, or its key is no longer valid. Raises TooManyStreams."""
        is_socket = scope["type"] == "websocket"
        has_begun = False

        async def watched(message: Any) -> None:
            nonlocal has_begun
            has_begun = has_begun or message["type"] in _BEGINNINGS
            await send(message)

        try:
            with closing_with_status(scope) if is_socket else nullcontext():
                self._check(scope["gnomon.caller"].key)
            async with asyncio.timeout(None) as alarm:
                with self._held_open(scope["gnomon.caller"].key, alarm):
                    await app(scope, receive, watched)
        except TimeoutError:
            if not alarm.expired():
                raise
            if has_begun:
                with suppress(TimeoutError):
                    async with asyncio.timeout(FAREWELL_SECONDS):
                        await send(_REVOKED_SOCKET if is_socket else _END)

    def end(self, key_id: KeyId) -> None:
        """Revoked through this node: its streams end at once."""
        held = self._held.get(key_id)
        if held is not None:
            held.end()

    def _check(self, key: ApiKey) -> None:
        limit = self._per_key
        if limit is not None and key.id in self._held and len(self._held[key.id].alarms) >= limit:
            raise TooManyStreams(limit, of="key", setting="api.streams_per_key")
        limit = self._per_tenant
        if limit is not None and self._count(key.tenant_id) >= limit:
            raise TooManyStreams(limit, of="tenant", setting="api.streams_per_tenant")

    def _count(self, tenant_id: TenantId) -> int:
        return sum(len(held.alarms) for held in self._held.values() if held.key.tenant_id == tenant_id)

    async def _prove(self, held: _Held) -> None:
        while True:
            await asyncio.sleep(PROVEN_EVERY.total_seconds())
            try:
                is_valid = await self._is_valid(held.key.id)
            except StoreError:
                continue  # It says nothing about the key; the stream itself finds out about the store.
            if not is_valid:
                held.end()
                return


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
