"""A request as our handlers see it: with its caller, and with words for what they need of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID

from litestar import Request

from gnomon.api.forms.reading import read_json
from gnomon.api.forms.words import in_words
from gnomon.api.serving.callers import Caller, Callers
from gnomon.client import Client
from gnomon.core.values.idempotency import Idempotency
from gnomon.errors import InvalidInput
from gnomon.health.vitals import Vitals
from gnomon.store.operations.events import SqlEvents
from gnomon.store.operations.reports import SqlReports

if TYPE_CHECKING:
    from gnomon.api.serving.streams import Streams
    from gnomon.health.metrics import Metrics

IF_MATCH = "If-Match"
IDEMPOTENCY_KEY = "Idempotency-Key"


class Call(Request[Any, Any, Any]):
    """There is a caller wherever the policy of the route asks for one."""

    @property
    def caller(self) -> Caller:
        caller: Caller = self.scope["gnomon.caller"]  # type: ignore[typeddict-item]
        return caller

    @property
    def verbs(self) -> Client:
        """What the caller may do, within the tenant of the key."""
        return self.caller.client

    async def check_key(self) -> None:
        """For a call that waits. Raises Unauthorized if its key was revoked or has expired meanwhile."""
        await self.callers.of(self.headers["Authorization"].encode("latin-1"))

    @property
    def vitals(self) -> Vitals:
        vitals: Vitals = self.app.state.api.vitals
        return vitals

    @property
    def callers(self) -> Callers:
        callers: Callers = self.app.state.callers
        return callers

    @property
    def streams(self) -> Streams:
        streams: Streams = self.app.state.streams
        return streams

    @property
    def closing(self) -> asyncio.Event:
        """Set when streams and long polls shall come to an end."""
        closing: asyncio.Event = self.app.state.api.closing
        return closing

    def new_id(self) -> UUID:
        return self.verbs.new_id()

    @property
    def events(self) -> SqlEvents:
        events: SqlEvents = self.app.state.api.events
        return events

    @property
    def reports(self) -> SqlReports:
        reports: SqlReports = self.app.state.api.reports
        return reports

    @property
    def metrics(self) -> Metrics:
        metrics: Metrics = self.app.state.api.metrics
        return metrics

    def description(self) -> dict[str, Any]:
        """The OpenAPI document, made at the first call."""
        document: dict[str, Any] = self.app.state.describe()
        return document

    @property
    def release(self) -> str:
        release: str = self.app.state.api.version
        return release

    def refused(self, count: int) -> None:
        """Late writes that the fence turned away are counted."""
        self.metrics.refused(count)

    @property
    def now(self) -> datetime:
        return self.verbs.now()

    async def idempotency(self) -> Idempotency | None:
        """The key of this call, and what it stands for. Raises InvalidInput."""
        key = self.headers.get(IDEMPOTENCY_KEY)
        if key is None:
            return None
        key = key[1:-1] if len(key) > 1 and key[0] == key[-1] == '"' else key
        what = sha256(f"{self.scope['method']} {self.scope['path']} ".encode())
        for part in _sorted_text(read_json(await self.body() or b"null")):
            what.update(part.encode())
        with in_words(lambda: {"idempotency_key": IDEMPOTENCY_KEY}):
            return Idempotency(key, what.hexdigest())

    def version(self, in_body: int | None) -> int | None:
        """Which version of a job the caller has seen, from the body or the header. Raises InvalidInput."""
        tag = self.headers.get(IF_MATCH)
        if tag is None or tag == "*":
            return in_body
        number = tag.removeprefix("W/").strip('"')
        if not number.isdecimal() or len(number) > 9:
            raise InvalidInput(IF_MATCH, f'{tag[:40]!r} is not the version of a job, such as "3".')
        if in_body is not None and in_body != int(number):
            raise InvalidInput("version", "the body and If-Match name different versions.")
        return int(number)


def _sorted_text(value: object) -> Iterator[str]:
    """What `json.dumps` with sorted keys makes of a value. In pieces: threads have turns between them."""
    match value:
        case dict():
            yield "{"
            for place, key in enumerate(sorted(value)):
                yield f"{', ' if place else ''}{json.dumps(key)}: "
                yield from _sorted_text(value[key]) if isinstance(value[key], list) else [_dumps(value[key])]
            yield "}"
        case list():
            yield "["
            for place, item in enumerate(value):
                yield f"{', ' if place else ''}{_dumps(item)}"
            yield "]"
        case _:
            yield _dumps(value)


_dumps = json.JSONEncoder(sort_keys=True).encode
