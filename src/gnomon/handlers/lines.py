"""What a process writes, as lines of the log: cut, counted, and read on when nobody keeps it any more."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from itertools import islice
from weakref import WeakKeyDictionary

from gnomon.core.values.limits import (
    LOG_BYTES_MAX,
    LOG_CUT_MARKER,
    LOG_LINE_BYTES_MAX,
    LOG_LINES_MAX,
    cut_line,
)

CHUNK_BYTES = 64 * 1024
LINES_AT_ONCE = 50  # Then the loop does something else: a line that is logged costs up to 0.1 ms.


class ScriptLines:
    """Splits bytes into lines, whatever the bytes are. Holds no more than one line of the log."""

    __slots__ = ("_left_out_bytes", "_line")

    def __init__(self) -> None:
        self._line = bytearray()
        self._left_out_bytes = 0

    def feed(self, chunk: bytes) -> Iterator[str]:
        """The lines that are whole now. Read it to its end before the next chunk."""
        first, *rest = chunk.split(b"\n")
        self._extend(first)
        for part in rest:
            yield self._take()
            self._extend(part)

    def end(self) -> Iterator[str]:
        """The last line, if nobody ended it."""
        if self._line:
            yield self._take()

    def _extend(self, part: bytes) -> None:
        room = LOG_LINE_BYTES_MAX - len(self._line)
        self._line += part[:room]
        self._left_out_bytes += max(0, len(part) - room)

    def _take(self) -> str:
        raw, left_out = bytes(self._line), self._left_out_bytes
        self._line.clear()
        self._left_out_bytes = 0
        text = raw.removesuffix(b"\r").decode(errors="replace").replace("\0", "\ufffd")
        if not left_out:
            return cut_line(text)
        room = LOG_LINE_BYTES_MAX - len(LOG_CUT_MARKER.format(left_out=left_out + len(raw)))
        kept = text.encode()[:room].decode(errors="ignore")
        return kept + LOG_CUT_MARKER.format(left_out=left_out + max(0, len(raw) - room))


class Budget:
    """How much of the output of one execution is kept."""

    __slots__ = ("_bytes", "_lines")

    def __init__(self, *, lines_max: int = LOG_LINES_MAX, bytes_max: int = LOG_BYTES_MAX) -> None:
        self._lines = lines_max - 1  # The last one says that the rest is not kept.
        self._bytes = bytes_max

    @property
    def is_spent(self) -> bool:
        return self._lines <= 0 or self._bytes <= 0

    def is_spent_by(self, line: str) -> bool:
        """Take the line off, and say whether that was the last one."""
        self._lines -= 1
        self._bytes -= len(line)
        return self.is_spent


async def keep_lines(
    reader: asyncio.StreamReader, *, level: int, log: logging.Logger, budget: Budget
) -> None:
    """Log what comes, line by line, until it ends. Beyond the budget it is read and thrown away."""
    lines = ScriptLines()
    while chunk := await reader.read(CHUNK_BYTES):
        if budget.is_spent:
            continue
        whole = lines.feed(chunk)
        while some := list(islice(whole, LINES_AT_ONCE)):
            async with _turn():
                for line in some:
                    _keep(line, level=level, log=log, budget=budget)
                # Still our turn: of all that is written at this time, the loop takes one helping a round.
                await asyncio.sleep(0)
    for line in lines.end():
        _keep(line, level=level, log=log, budget=budget)


def _turn() -> asyncio.Lock:
    return _turns.setdefault(asyncio.get_running_loop(), asyncio.Lock())


def _keep(line: str, *, level: int, log: logging.Logger, budget: Budget) -> None:
    if budget.is_spent:
        return
    log.log(level, "%s", line)
    if budget.is_spent_by(line):
        log.warning("The output is longer than what is kept; the rest is left out.")


_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
