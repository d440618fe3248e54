"""What happens, as it happens: server-sent events and a WebSocket, in one order, to be resumed anywhere.

Each follower reads from the store at its own pace, a page at a time, and nothing is kept for it here: one
that reads slowly waits for itself.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any

import msgspec
from litestar import WebSocket, get, websocket
from litestar.exceptions import WebSocketDisconnect
from litestar.params import FromQuery, HeaderParameter
from litestar.response import Stream

from gnomon.api.forms.ids import job_id as read_job_id
from gnomon.api.serving.call import Call
from gnomon.api.serving.failures import closing_with_status
from gnomon.api.serving.policy import READS
from gnomon.api.serving.streams import event_of, paused
from gnomon.core.access.tenants import TenantId
from gnomon.core.jobs.job import JobId
from gnomon.core.values.events import EventType
from gnomon.core.values.forms import Answer
from gnomon.errors import InvalidInput
from gnomon.store.operations.events import Happened, Position, SqlEvents

PAGE = 200
NOW = timedelta(0)  # There may be more already.
PAUSE = timedelta(milliseconds=250)
SEEN_EVERY = timedelta(minutes=10)
KEEP_ALIVE = timedelta(seconds=15)
KEEP_ALIVE_LINE = b": still here\n\n"
_POSITION = re.compile(r"([0-9]{1,18})-([0-9]{1,18})-([0-9]{1,9})")


class CloudEvent(Answer):
    """CloudEvents 1.0, as JSON. Its `id` is what `after` takes."""

    specversion: str
    id: str
    source: str
    type: str
    subject: str
    time: datetime
    datacontenttype: str
    data: Any


class Follower:
    """One who follows: from where, and what of it."""

    def __init__(
        self,
        events: SqlEvents,
        tenant_id: TenantId,
        *,
        after: str | None,
        types: str | None,
        job_id: str | None,
        now: Callable[[], datetime],
    ) -> None:
        self._events = events
        self._now = now
        self._seen: datetime | None = None
        self._tenant_id = tenant_id
        self._after = None if after is None else _position(after)
        self._types = _types(types)
        self._job_id: JobId | None = None if job_id is None else read_job_id(job_id)

    async def start(self) -> None:
        """Raises EventsGone if what comes next is no longer kept."""
        await self._be_seen()
        if self._after is None:
            self._after = await self._events.end()
        elif self._after > Position():
            await self._events.check_kept(self._after)

    async def page(self) -> Sequence[CloudEvent]:
        """The next events. Those that are filtered out are passed by."""
        assert self._after is not None
        await self._be_seen()
        while True:
            found = await self._events.after(self._tenant_id, self._after, limit=PAGE, types=self._types)
            if not found:
                return []
            self._after = found[-1].position
            shown = [_shown(one) for one in found if self._wants(one)]
            if shown:
                return shown

    async def _be_seen(self) -> None:
        now = self._now()
        if self._seen is None or now - self._seen >= SEEN_EVERY:
            await self._events.follow(self._tenant_id, now=now)
            self._seen = now

    def _wants(self, one: Happened) -> bool:
        if self._job_id is None:
            return True
        told = one.event.data.value
        return isinstance(told, dict) and told.get("job_id") == str(self._job_id)


@get("/v1/events/stream", policy=READS, is_stream=True)
async def stream_events(
    request: Call,
    after: FromQuery[str | None] = None,
    types: FromQuery[str | None] = None,
    job_id: FromQuery[str | None] = None,
    last_event_id: Annotated[str | None, HeaderParameter(name="Last-Event-ID")] = None,
) -> Stream:
    """Server-sent events, from now on or after the event with that id. `0-0-0` is the oldest that is kept."""
    follower = Follower(
        request.events,
        request.verbs.tenant_id,
        after=after or last_event_id,
        types=types,
        job_id=job_id,
        now=request.verbs.now,
    )
    await follower.start()
    return Stream(_stream(request, follower), media_type="text/event-stream")


async def _stream(request: Call, follower: Follower) -> AsyncIterator[bytes]:
    yield KEEP_ALIVE_LINE
    quiet = timedelta(0)
    while True:
        shown = await follower.page()
        for one in shown:
            yield event_of(one.type, one.id, msgspec.json.encode(one))
            quiet = timedelta(0)
        if await paused(request, NOW if shown else PAUSE):
            return
        quiet += PAUSE
        if quiet >= KEEP_ALIVE:
            yield KEEP_ALIVE_LINE
            quiet = timedelta(0)


@websocket("/v1/events", policy=READS, is_stream=True)
async def follow_events(
    socket: WebSocket[Any, Any, Any],
    after: FromQuery[str | None] = None,
    types: FromQuery[str | None] = None,
    job_id: FromQuery[str | None] = None,
) -> None:
    """The same over a WebSocket: each event is a text message. What the client sends is not read."""
    caller, api = socket.scope["gnomon.caller"], socket.app.state.api  # type: ignore[typeddict-item]
    with closing_with_status(socket.scope):
        follower = Follower(
            api.events,
            caller.client.tenant_id,
            after=after,
            types=types,
            job_id=job_id,
            now=caller.client.now,
        )
        await follower.start()
    await socket.accept()
    gone = asyncio.create_task(_until_gone(socket))
    closing = asyncio.create_task(api.closing.wait())
    try:
        while not gone.done() and not closing.done():
            shown = await follower.page()
            for one in shown:
                await socket.send_data(msgspec.json.encode(one).decode())
            pause = NOW if shown else PAUSE
            await asyncio.wait([gone, closing], timeout=pause.total_seconds(), return_when="FIRST_COMPLETED")
        if not gone.done():
            await socket.close(1001)
    except WebSocketDisconnect:
        pass  # It went away while we were sending: there is nobody left to tell.
    finally:
        gone.cancel()
        closing.cancel()


async def _until_gone(socket: WebSocket[Any, Any, Any]) -> None:
    try:
        while True:
            await socket.receive_data(mode="text")
    except WebSocketDisconnect:
        return


def _position(text: str) -> Position:
    found = _POSITION.fullmatch(text)
    if found is None:
        raise InvalidInput("after", f"{text[:60]!r} is not the id of an event.")
    return Position(int(found[1]), int(found[2]), int(found[3]))


def _types(words: str | None) -> frozenset[EventType] | None:
    """Names with commas between; `execution.*` is all of a noun."""
    if words is None:
        return None
    wanted: set[EventType] = set()
    for word in words.split(","):
        found = {
            one for one in EventType if one == word or (word.endswith(".*") and one.startswith(word[:-1]))
        }
        if not found:
            raise InvalidInput("types", f"{word[:60]!r} is not one of {', '.join(EventType)}.")
        wanted |= found
    return frozenset(wanted)


def _shown(one: Happened) -> CloudEvent:
    event = one.event
    return CloudEvent(
        specversion=event.specversion,
        id="-".join(map(str, one.position)),
        source=event.source,
        type=event.type,
        subject=event.subject,
        time=event.time,
        datacontenttype=event.datacontenttype,
        data=event.data.value,
    )


ROUTES: list[Any] = [stream_events, follow_events]
