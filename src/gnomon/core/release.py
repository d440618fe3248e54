"""What a task begins with: its payload, its items or its deadline, from what the run knows by then."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import assert_never

import msgspec
from msgspec.structs import replace as with_

from gnomon.core import zones
from gnomon.core.document import JSON, Document
from gnomon.core.instants import instant_text
from gnomon.core.limits import RESULT_BYTES_MAX
from gnomon.core.reference import Reference, Source, Unresolved, look_up
from gnomon.core.rendering import rendered
from gnomon.core.run_events import Release
from gnomon.core.run_state import RunState, TaskState
from gnomon.core.workflow import NESTING_MAX, Approval, AwaitEvent, Execute, FanOut, Plan, SubDag
from gnomon.errors import InvalidInput, PayloadTooLarge

FAN_OUT_BYTES_MAX = 16 * 1024 * 1024  # All payloads of a fan-out: they are written in one transaction.
# All that one event of a run lets begin, such as the end of a task. It is in memory at the same time.
RELEASE_BYTES_MAX = 64 * 1024 * 1024


class Known(msgspec.Struct, frozen=True):
    """What the references of one task may refer to."""

    plan: Plan
    config: Document
    results: Mapping[int, Document | None]
    too_large: frozenset[int]
    time: datetime | None = None
    item: JSON = None
    index: int = 0
    # What was read once, for all items of a fan-out: a large result is decoded once and not for each of them.
    decoded: dict[str, JSON] = msgspec.field(default_factory=dict)
    # The same for all tasks that begin together: the configuration, by its text.
    decoded_config: dict[str, JSON] = msgspec.field(default_factory=dict)

    def of(self, reference: Reference) -> JSON:
        match reference.source:
            case Source.CONFIG:
                return _once(self.decoded_config, self.config.text, self.config)
            case Source.ITEM:
                return self.item
            case Source.INDEX:
                return self.index
            case Source.RUN:
                return self._day() if reference.path[:1] == ("day",) else self._time()
            case Source.TASKS:
                assert reference.task is not None
                return self._result(reference.task)
            case _ as other:
                assert_never(other)

    def _time(self) -> JSON:
        return {"time": None if self.time is None else instant_text(self.time)}

    def _day(self) -> JSON:
        try:
            zone = zones.zone(self.plan.workflow.timezone)
        except InvalidInput as error:  # It has left tzdata since.
            raise Unresolved(str(error)) from None
        return {"day": None if self.time is None else self.time.astimezone(zone).date().isoformat()}

    def _result(self, name: str) -> JSON:
        place = self.plan.graph.places[name]
        if place in self.too_large:
            raise Unresolved(f"The results of {name!r} are together more than {RESULT_BYTES_MAX} bytes.")
        result = self.results[place]
        if result is None:
            raise Unresolved(f"Task {name!r} has no result.")
        return _once(self.decoded, name, result)


def _once(decoded: dict[str, JSON], key: str, document: Document) -> JSON:
    if key not in decoded:
        decoded[key] = document.value
    return decoded[key]


def release_of(
    plan: Plan, place: int, state: TaskState, run: RunState, values: Known, *, now: datetime
) -> Release:
    """Raises Unresolved or InvalidInput if what the task needs is not there, or not fit."""
    task, begin = plan.task(place), partial(Release, place, state.round + 1)
    is_template = plan.is_template[place]
    match task.work:
        case Execute(definition):
            if task.fan_out is not None:
                return begin(items=_items(task.fan_out, definition.payload, values))
            return begin(payload=_document(definition.payload.value, values) if is_template else None)
        case SubDag(config=config):
            if run.nesting >= NESTING_MAX:
                raise Unresolved(f"Workflows inside of each other are more than {NESTING_MAX} deep.")
            return begin(payload=_document(config.value, values, field="config") if is_template else None)
        case Approval(timeout):
            return begin(until=_until(timeout, now=now))
        case AwaitEvent(correlation=correlation, timeout=timeout):
            value, kept = _rendered(correlation, values, field="event.correlation")
            text = value if isinstance(value, str) else kept.text
            return begin(correlation=text, until=_until(timeout, now=now))
        case _ as other:
            assert_never(other)


def size_bytes(release: Release) -> int:
    """What was made for it from templates. In characters, which is enough to bound it."""
    payloads = release.items if release.items is not None else (release.payload,)
    return sum(len(payload.text) for payload in payloads if payload is not None)


def check_room(room_bytes: int) -> None:
    if room_bytes < 0:
        raise InvalidInput(
            "payload",
            "what begins at the same time is given more than "
            f"{RELEASE_BYTES_MAX} bytes together. Refer to parts of the configuration and of results, or let "
            "the tasks begin one after another.",
        )


def _items(fan_out: FanOut, payload: Document, values: Known) -> tuple[Document, ...]:
    items = look_up(fan_out.over, values)
    if not isinstance(items, list):
        raise InvalidInput("fan_out.over", "is not a list.")
    if len(items) > fan_out.items_max:
        raise InvalidInput("fan_out.over", f"{len(items)} items; at most {fan_out.items_max} are allowed.")
    payloads, room, template = list[Document](), FAN_OUT_BYTES_MAX, payload.value
    for index, item in enumerate(items):
        payloads.append(_document(template, with_(values, item=item, index=index)))
        room -= len(payloads[-1].text)
        if room < 0:
            raise InvalidInput("fan_out", f"its payloads are together more than {FAN_OUT_BYTES_MAX} bytes.")
    return tuple(payloads)


def _rendered(template: JSON, values: Known, *, field: str) -> tuple[JSON, Document]:
    try:
        return rendered(template, values, field=field)
    except PayloadTooLarge as error:
        raise InvalidInput(
            field,
            f"{error.size_bytes} bytes as JSON with what it refers to; a task is given at most "
            f"{error.size_bytes_max}. Refer to a part of the result, or let the task before keep its data "
            "elsewhere and return a path or an id.",
        ) from None


def _document(template: JSON, values: Known, *, field: str = "payload") -> Document:
    return _rendered(template, values, field=field)[1]


def _until(timeout: timedelta | None, *, now: datetime) -> datetime | None:
    return None if timeout is None else now + timeout
