"""Histories as files: a line of JSON for each event, written at once, and read even if the last is torn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

import msgspec
from msgspec import structs

from proof.checker.history.events import AnyEvent, Event

_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
# Names that many events share. Kept once, a long history takes a third less memory.
_NAMES = ("src", "run", "job", "worker", "tenant")

E = TypeVar("E", bound=Event)


class InvalidHistory(ValueError):
    """A file that is no history, or one that this release cannot read."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} {reason}")
        self.path = path


class Moment(NamedTuple):
    """True time, and the time of the monotonic clock of this process."""

    wall: datetime
    mono: float


class History:
    """Writes the events of one source, each on disk before `write` returns. Times come from `now`.

    A process that ends at any moment leaves a file that can be read: whole lines, and at most one torn one.
    """

    def __init__(self, path: Path, src: str, *, now: Callable[[], Moment] | None = None) -> None:
        self._file: BinaryIO = path.open("ab", buffering=0)
        self._src = src
        self._now = now
        self._n = 0

    def write(self, make: Callable[..., E], **fields: object) -> E:
        """`history.write(Start, run=..., attempt=1, token=1)`: the event as it was written."""
        if self._now is not None:
            moment = self._now()
            fields = {"wall": moment.wall, "mono": moment.mono, **fields}
        event = make(src=self._src, n=self._n + 1, **fields)
        self._file.write(line(event))
        os.fsync(self._file.fileno())
        self._n += 1
        return event

    def close(self) -> None:
        self._file.close()


def line(event: Event) -> bytes:
    return _ENCODER.encode(event) + b"\n"


def write(path: Path, events: Iterable[Event]) -> None:
    """A whole history at once, such as what the store kept in its table of events."""
    with path.open("wb") as file:
        file.writelines(map(line, events))


def read(paths: Sequence[Path]) -> list[AnyEvent]:
    """The events of all files, file by file. Raises `InvalidHistory`."""
    names: dict[str, str] = {}
    return [_with_shared_names(event, names) for path in paths for event in _read_file(path)]


def _read_file(path: Path) -> Iterator[AnyEvent]:
    try:
        with path.open("rb") as file:
            for number, text in enumerate(file, start=1):
                # Who was killed while it wrote leaves a line without an end. It was never said.
                if text.endswith(b"\n") and text != b"\n":
                    yield _decode(text, path, number)
    except OSError as error:
        raise InvalidHistory(path, f"cannot be read: {error.strerror}.") from None


def _decode(text: bytes, path: Path, number: int) -> AnyEvent:
    try:
        return _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidHistory(path, f"line {number} is no event: {error}.") from None


def _with_shared_names(event: AnyEvent, names: dict[str, str]) -> AnyEvent:
    for field in _NAMES:
        value = getattr(event, field, None)
        if value is not None:
            # The event is as old as this line: nobody has seen it change.
            structs.force_setattr(event, field, names.setdefault(value, value))
    return event
