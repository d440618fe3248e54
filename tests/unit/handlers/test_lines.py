"""Bytes become lines of the log."""

from __future__ import annotations

import asyncio
import logging
from itertools import chain

import pytest

from gnomon.core.values.limits import LOG_LINE_BYTES_MAX
from gnomon.handlers.lines import LINES_AT_ONCE, Budget, ScriptLines, keep_lines


def lines_of(*chunks: bytes) -> list[str]:
    lines = ScriptLines()
    return [*chain.from_iterable(lines.feed(chunk) for chunk in chunks), *lines.end()]


def test_lines_are_put_together_from_chunks() -> None:
    assert lines_of(b"on", b"e\ntw", b"o\r\n\nlast") == ["one", "two", "", "last"]


def test_what_is_not_text_gets_a_mark() -> None:
    assert lines_of(b"a\xffb\0c\n") == ["a\ufffdb\ufffdc"]


def test_a_character_over_two_chunks_is_whole() -> None:
    assert lines_of("é".encode()[:1], "é".encode()[1:]) == ["é"]


def test_a_line_without_an_end_is_cut_and_says_by_how_much() -> None:
    (line,) = lines_of(*[b"x" * 10_000] * 10)
    assert len(line) <= LOG_LINE_BYTES_MAX
    kept = line.count("x")
    assert line.endswith(f" [cut: {100_000 - kept} bytes left out]")


async def test_output_beyond_the_budget_is_read_and_thrown_away(caplog: pytest.LogCaptureFixture) -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(b"y\n" * (5000))
    reader.feed_eof()
    with caplog.at_level(logging.INFO, "gnomon.job"):
        log, budget = logging.getLogger("gnomon.job"), Budget(lines_max=100)
        await keep_lines(reader, level=logging.INFO, log=log, budget=budget)
    assert len(caplog.records) == 100
    assert "left out" in caplog.messages[-1]
    assert reader.at_eof()


async def test_however_many_processes_write_the_loop_takes_one_helping_a_round() -> None:
    logger, loop = logging.getLogger("gnomon.test_lines"), asyncio.get_running_loop()
    helpings, logged = [0], 0

    class Counting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            nonlocal logged
            logged += 1
            helpings[-1] += 1

    def next_round() -> None:
        helpings.append(0)
        loop.call_soon(next_round)

    counting = Counting()
    logger.addHandler(counting)
    logger.setLevel(logging.INFO)
    readers = [asyncio.StreamReader() for _ in range(8)]
    for reader in readers:
        reader.feed_data(b"y\n" * 2000)
        reader.feed_eof()
    next_round()
    await asyncio.gather(
        *(keep_lines(reader, level=logging.INFO, log=logger, budget=Budget()) for reader in readers)
    )
    logger.removeHandler(counting)
    assert logged == 8 * 2000
    assert max(helpings) <= LINES_AT_ONCE
