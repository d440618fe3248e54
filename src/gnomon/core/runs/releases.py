"""What a task begins with: its payload, its items or its deadline, from what the run knows by then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import assert_never

import msgspec
from msgspec.structs import replace as with_

from gnomon.core.runs.events import Release
from gnomon.core.runs.state import RunState, TaskState
from gnomon.core.time import zones
from gnomon.core.values.document import JSON, Document
from gnomon.core.values.instants import instant_text
from gnomon.core.values.limits import RESULT_BYTES_MAX
from gnomon.core.workflows.references import Reference, Source, Unresolved, look_up, reference_count
from gnomon.core.workflows.rendering import rendered
from gnomon.core.workflows.workflow import NESTING_MAX, Approval, AwaitEvent, Execute, FanOut, Plan, SubDag
from gnomon.errors import InvalidInput, PayloadTooLarge

FAN_OUT_BYTES_MAX = 16 * 1024 * 1024  # All payloads of a fan-out: they are written in one transaction.
# All that one event of a run lets begin, such as the end of a task. It is in memory at the same time.
RELEASE_BYTES_MAX = 64 * 1024 * 1024
# What counts even if it comes to nothing: an item is a row, and a reference takes time to read.
ITEM_BYTES_MIN = 512
REFERENCE_BYTES_MIN = 64


@dataclass(slots=True)
class Room:
    """For all that one event of a run lets begin. What was rendered counts, also if its task cannot begin."""

    bytes_left: int = RELEASE_BYTES_MAX

    def take(self, size_bytes: int) -> None:
        """For what was rendered. Raises InvalidInput if it does not fit, and then no more is rendered."""
        self.bytes_left -= size_bytes
        self.check(0)

    def check(self, size_bytes: int) -> None:
        """For what would be rendered. Raises InvalidInput."""
        if size_bytes > self.bytes_left:
            raise InvalidInput(
                "payload",
                "what begins at the same time is given more than "
                f"{RELEASE_BYTES_MAX} bytes together. Refer to parts of the configuration and of results, or "
                "let the tasks begin one after another.",
            )


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
    plan: Plan, place: int, state: TaskState, run: RunState, values: Known, *, room: Room, now: datetime
) -> Release:
    """Raises Unresolved or InvalidInput if what the task needs is not there, or not fit."""
    task, begin = plan.task(place), partial(Release, place, state.round + 1)
    is_template = plan.is_template[place]
    match task.work:
        case Execute(definition):
            if task.fan_out is not None:
                return begin(items=_items(task.fan_out, definition.payload, values, room))
            return begin(payload=_given(definition.payload, values, room) if is_template else None)
        case SubDag(config=config):
            if run.nesting >= NESTING_MAX:
                raise Unresolved(f"Workflows inside of each other are more than {NESTING_MAX} deep.")
            return begin(payload=_given(config, values, room, field="config") if is_template else None)
        case Approval(timeout):
            return begin(until=_until(timeout, now=now))
        case AwaitEvent(correlation=correlation, timeout=timeout):
            value, kept = _rendered(correlation, values, field="event.correlation")
            if is_template:
                room.take(len(kept.text))
            text = value if isinstance(value, str) else kept.text
            return begin(correlation=text, until=_until(timeout, now=now))
        case _ as other:
            assert_never(other)


def _items(fan_out: FanOut, payload: Document, values: Known, room: Room) -> tuple[Document, ...]:
    items = look_up(fan_out.over, values)
    if not isinstance(items, list):
        raise InvalidInput("fan_out.over", "is not a list.")
    if len(items) > fan_out.items_max:
        raise InvalidInput("fan_out.over", f"{len(items)} items; at most {fan_out.items_max} are allowed.")
    least = max(ITEM_BYTES_MIN, _size_bytes_min(payload))
    why = f" Each counts as at least {least}: {ITEM_BYTES_MIN}, or {REFERENCE_BYTES_MIN} for each reference."
    _check_fan_out(least * len(items), why=why)
    room.check(least * len(items))
    payloads, size, template = list[Document](), 0, payload.value
    for index, item in enumerate(items):
        payloads.append(_document(template, with_(values, item=item, index=index)))
        counted = max(least, len(payloads[-1].text))
        room.take(counted)
        size += counted
        _check_fan_out(size)
    return tuple(payloads)


def _check_fan_out(size_bytes: int, *, why: str = "") -> None:
    if size_bytes > FAN_OUT_BYTES_MAX:
        raise InvalidInput("fan_out", f"its payloads are together more than {FAN_OUT_BYTES_MAX} bytes.{why}")


def _given(template: Document, values: Known, room: Room, *, field: str = "payload") -> Document:
    least = _size_bytes_min(template)
    room.check(least)
    room.take(least)  # Before: it counts also if it fails.
    document = _document(template.value, values, field=field)
    room.take(max(0, len(document.text) - least))
    return document


def _size_bytes_min(template: Document) -> int:
    """What it counts as, whatever it comes to. All is counted in characters, which is enough to bound it."""
    return REFERENCE_BYTES_MIN * reference_count(template.text)


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
