"""Lines of log: for people, for programs, and with anything at all in them."""

from __future__ import annotations

import io
import json
import logging
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from gnomon.logs import LogFormat, LogLevel, configure

log = logging.getLogger("gnomon.engine.workers.worker")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("I have no words.")

    __repr__ = __str__


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    level = root.level
    yield
    root.handlers.clear()
    root.setLevel(level)
    logging.captureWarnings(False)


def test_a_program_gets_an_object_a_line() -> None:
    stream = logging_to(io.StringIO())
    log.info("claimed %d", 3, extra={"worker": "ada", "seconds": timedelta(seconds=1.5)})
    [line] = objects(stream)
    time = datetime.fromisoformat(line.pop("time"))
    assert time.tzinfo == UTC
    assert line == {
        "level": "info",
        "logger": "gnomon.engine.workers.worker",
        "message": "claimed 3",
        "worker": "ada",
        "seconds": 1.5,
    }


def test_a_person_gets_a_line_to_read() -> None:
    stream = logging_to(Terminal(), NO_COLOR="1")
    log.warning("lease lost", extra={"worker": "ada", "note": "two words", "empty": "", "n": 3})
    time, rest = stream.getvalue().split(" ", 1)
    datetime.strptime(time, "%H:%M:%S.%fZ")  # noqa: DTZ007 - only the form matters.
    assert rest == 'WARNING worker lease lost worker=ada note="two words" empty="" n=3\n'


@pytest.mark.parametrize(
    ("stream", "environment", "coloured"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    stream: io.StringIO, environment: dict[str, Any], coloured: bool
) -> None:
    logging_to(stream, LogFormat.HUMAN, **environment)
    log.error("odd")
    assert ("\x1b[31m" in stream.getvalue()) is coloured


def test_the_format_can_be_said_and_a_level_hides_what_is_below_it() -> None:
    stream = logging_to(Terminal(), LogFormat.JSON, LogLevel.WARNING)
    log.info("hidden")
    log.warning("seen")
    assert [line["message"] for line in objects(stream)] == ["seen"]


def test_a_level_hides_the_lines_of_a_logger_that_has_a_level_of_its_own(
    request: pytest.FixtureRequest,
) -> None:
    talkative = logging.getLogger("talkative")
    request.addfinalizer(lambda: talkative.setLevel(logging.NOTSET))
    talkative.setLevel(logging.DEBUG)
    stream = logging_to(io.StringIO(), level=LogLevel.ERROR)
    talkative.info("for somebody else")
    assert objects(stream) == []


def test_a_second_call_replaces_the_first() -> None:
    first, second = logging_to(io.StringIO()), logging_to(io.StringIO())
    log.info("once")
    assert first.getvalue() == ""
    assert len(objects(second)) == 1


def test_an_exception_stays_in_its_line_of_json() -> None:
    stream = logging_to(io.StringIO())
    fail("line one\nline two")
    [line] = objects(stream)
    assert line["message"] == "it failed"
    assert line["exception"].startswith("Traceback")
    assert line["exception"].endswith("ValueError: line one\nline two")


def test_an_exception_stands_below_its_line_for_people() -> None:
    stream = logging_to(io.StringIO(), LogFormat.HUMAN)
    fail("with \x1b[31m colour\u202e")
    first, *below = stream.getvalue().splitlines()
    assert first.endswith("ERROR   worker it failed")
    assert below[0] == "Traceback (most recent call last):"
    assert below[-1] == r"ValueError: with \x1b[31m colour\u202e"


ODD = [
    "a\nb",
    "a\r\nb",
    "\x1b[2J",
    "\x00",
    "\u2028",
    "\u202eb",
    "\u2066b",
    "\x9b2J",
    "\x85",
    "\ud800",
    "é😀",
    '"\\',
    "x" * 100_000,
    "",
]


@pytest.mark.parametrize("text", ODD, ids=ascii)
def test_no_text_breaks_a_line(text: str) -> None:
    for form in (LogFormat.JSON, LogFormat.HUMAN):
        for encoding in ("utf-8", "ascii"):
            raw = io.BytesIO()
            stream = io.TextIOWrapper(raw, encoding=encoding, write_through=True)
            logging_to(stream, form)
            log.info("%s", text, extra={"text": text, f"key {text}": {text: [text]}})
            written = raw.getvalue().decode(encoding)
            assert len(written.splitlines()) == 1, written
            assert written.removesuffix("\n").isprintable()
            assert len(written) < 100_000
            if form is LogFormat.JSON:
                assert json.loads(written)["level"] == "info"


def test_json_keeps_what_is_text() -> None:
    stream = logging_to(io.StringIO())
    log.info("%s", "é\n😀\u2028", extra={"bad": "\ud800"})
    [line] = objects(stream)
    assert line["message"] == "é\n😀\u2028"
    assert line["bad"] == "\\ud800"


def test_any_context_can_be_written() -> None:
    stream = logging_to(io.StringIO())
    circle: list[object] = []
    circle.append(circle)
    log.info(
        "odd",
        extra={
            "id": UUID(int=7),
            "path": Path("/tmp"),
            "when": datetime(2030, 1, 1, tzinfo=UTC),
            "nan": float("nan"),
            "huge": 10**5000,
            "set": {1},
            "mapping": {1: {2: b"x"}},
            "circle": circle,
            "long": list(range(1000)),
            "unprintable": Unprintable(),
            "level": "mine",
        },
    )
    [line] = objects(stream)
    assert line["id"] == "00000000-0000-0000-0000-000000000007"
    assert line["path"] == "/tmp"
    assert line["when"] == "2030-01-01 00:00:00+00:00"
    assert (line["nan"], line["huge"], line["unprintable"]) == ("nan", "<int>", "<Unprintable>")
    assert (line["set"], line["mapping"]) == ([1], {"1": {"2": "b'x'"}})
    assert len(line["long"]) == 100
    assert (line["level"], line["level_"]) == ("info", "mine")


def test_a_message_that_does_not_fit_its_arguments_is_written_all_the_same() -> None:
    stream = logging_to(io.StringIO())
    log.info("%d of %s", "three")
    log.info("%s", Unprintable())
    log.info(Unprintable())
    assert [line["message"] for line in objects(stream)] == [
        "%d of %s ('three',)",
        "%s <tuple>",
        "<Unprintable> ()",
    ]


def test_a_context_that_bites_costs_its_line_and_nothing_else() -> None:
    class Biting(dict[str, object]):
        def items(self) -> Any:
            raise RuntimeError("no")

    stream = logging_to(io.StringIO())
    log.info("lost", extra={"biting": Biting(a=1)})
    log.info("next")
    first, second = objects(stream)
    assert first["message"].startswith("A line from ")
    assert first["message"].endswith(" could not be written: RuntimeError")
    assert second["message"] == "next"


def test_a_stream_that_is_gone_raises_nothing() -> None:
    stream = logging_to(io.StringIO())
    stream.close()
    log.info("nobody hears this")
    logging_to(stream)
    log.info("nor this")


def test_a_warning_of_python_is_a_line_too() -> None:
    stream = logging_to(io.StringIO())
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn("old", stacklevel=1)
        logging.captureWarnings(False)
    [line] = objects(stream)
    assert line["logger"] == "py.warnings"
    assert "UserWarning: old" in line["message"]


def fail(words: str) -> None:
    try:
        raise ValueError(words)
    except ValueError:
        log.exception("it failed")


def logging_to(
    stream: Any, form: LogFormat = LogFormat.AUTO, level: LogLevel = LogLevel.INFO, **environment: str
) -> Any:
    root = logging.getLogger()
    for handler in root.handlers[:]:
        if (
            "pytest" in type(handler).__module__
        ):  # It raises for what we must bear. It is back for the next test.
            root.removeHandler(handler)
    configure(form, level, stream, environment=environment)
    return stream


def objects(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]
