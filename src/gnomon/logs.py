"""Lines of log: for people on a terminal, as JSON for programs.

Everything goes through the logging of the standard library. The fields of `extra={…}` become the context of a
line. Writing one never raises, whatever the message and its context are and wherever the line goes.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from math import isfinite
from types import TracebackType
from typing import TextIO

from gnomon.core.values.document import INTEGER_BITS_MAX, JSON
from gnomon.core.values.limits import cut_line

NESTING_MAX = 6
ITEMS_MAX = 100  # Of one list or mapping in the context.

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]

# Which request this code works for: its lines carry it.
REQUEST_ID: ContextVar[str | None] = ContextVar("gnomon_request_id", default=None)

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_RESERVED = frozenset({"time", "level", "logger", "message", "exception", "stack"})
_COLOURS = {logging.DEBUG: "2", logging.INFO: "32", logging.WARNING: "33", logging.ERROR: "31"}


class LogFormat(StrEnum):
    AUTO = "auto"
    HUMAN = "human"
    JSON = "json"


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def configure(form: LogFormat, level: LogLevel, stream: TextIO, *, environment: Mapping[str, str]) -> None:
    """From now on every logger writes to `stream`. Called again, it replaces what it did before.

    `environment` is asked for NO_COLOR and TERM.
    """
    on_terminal = _is_terminal(stream)
    formatter: logging.Formatter
    if form is LogFormat.HUMAN or (form is LogFormat.AUTO and on_terminal):
        plain = environment.get("NO_COLOR") or environment.get("TERM") == "dumb"
        formatter = ColouredLines() if on_terminal and not plain else HumanLines()
    else:
        formatter = JsonLines()
    handler = _Quiet(stream)
    handler.setFormatter(formatter)
    handler.setLevel(level.upper())  # A logger may have a level of its own, because somebody else listens.
    root = logging.getLogger()
    for old in root.handlers[:]:
        if isinstance(old, _Quiet):
            root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level.upper())
    logging.captureWarnings(True)


def raised(error: BaseException) -> ExcInfo:
    """For `exc_info`: the error, and from where in somebody else's code it came. How we got there is cut."""
    traceback = error.__traceback__
    while traceback is not None and _is_ours(traceback.tb_frame.f_globals.get("__name__", "")):
        traceback = traceback.tb_next
    if traceback is None and not isinstance(error, SyntaxError):  # Which says itself where it is.
        traceback = error.__traceback__
    return type(error), error, traceback


def _is_ours(module: str) -> bool:
    return module.startswith(("gnomon.", "importlib")) or module == "concurrent.futures.thread"


class JsonLines(logging.Formatter):
    """One object of JSON a line, in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, JSON] = {
            "time": _time(record).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
        }
        line |= _context(record)
        if record.exc_info:
            line["exception"] = _text(self.formatException(record.exc_info))
        if record.stack_info:
            line["stack"] = _text(record.stack_info)
        return json.dumps(line, allow_nan=False)


class HumanLines(logging.Formatter):
    """Time in UTC, level, the last word of the logger, the message, and the context as key=value."""

    def format(self, record: logging.LogRecord) -> str:
        when = _time(record).strftime("%H:%M:%S.%f")[:-3] + "Z"
        logger = record.name.rpartition(".")[2]
        words = [when, self.level(record), logger, _harmless(_message(record))]
        words += [f"{_harmless(key)}={_shown(value)}" for key, value in _context(record).items()]
        below = [self.formatException(record.exc_info)] if record.exc_info else []
        below += [record.stack_info] if record.stack_info else []
        return "\n".join([" ".join(words), *(_harmless(_text(text), but="\t\n") for text in below)])

    def level(self, record: logging.LogRecord) -> str:
        return f"{record.levelname:<7}"


class ColouredLines(HumanLines):
    def level(self, record: logging.LogRecord) -> str:
        colour = _COLOURS.get(record.levelno, "1;31")
        return f"\x1b[{colour}m{super().level(record)}\x1b[0m"


class _Quiet(logging.StreamHandler[TextIO]):
    """Writes whole lines, and loses one rather than raise: a log must not take down what it tells of."""

    def format(self, record: logging.LogRecord) -> str:
        try:
            line = super().format(record)
        except Exception as error:  # An object in the context may do anything when it is looked at.
            line = super().format(_instead_of(record, error))
        encoding = getattr(self.stream, "encoding", None) or "utf-8"
        return line.encode(encoding, "backslashreplace").decode(encoding)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - named by the standard library.
        """The stream is closed, full or gone. There is nobody left to tell."""


def _instead_of(record: logging.LogRecord, error: Exception) -> logging.LogRecord:
    message = f"A line from {record.pathname}:{record.lineno} could not be written: {type(error).__name__}"
    return logging.makeLogRecord({
        "name": record.name, "levelname": record.levelname, "levelno": record.levelno, "msg": message
    })  # fmt: skip


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # It is closed.
        return False


def _time(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _message(record: logging.LogRecord) -> str:
    try:
        return _text(record.getMessage())
    except Exception:  # The arguments do not fit the message, or one of them cannot be printed.
        return _text(f"{_printed(record.msg)} {_printed(record.args)}")


def _context(record: logging.LogRecord) -> dict[str, JSON]:
    request_id = REQUEST_ID.get()
    own: dict[str, JSON] = {} if request_id is None else {"request_id": request_id}
    return own | {
        f"{key}_" if key in _RESERVED else _text(str(key)): _plain(value)
        for key, value in vars(record).items()
        if key not in _OWN
    }


def _plain(value: object, depth: int = 0) -> JSON:
    """The value in JSON's own types, cut where it is too deep or too long."""
    match value:
        case None | bool():
            return value
        case str():
            return _text(str.__str__(value))
        case int() if value.bit_length() <= INTEGER_BITS_MAX:
            return int(value)
        case float() if isfinite(value):
            return float(value)
        case timedelta():
            return value.total_seconds()
        case Mapping() if depth < NESTING_MAX:
            some = islice(value.items(), ITEMS_MAX)
            return {_printed(key): _plain(inner, depth + 1) for key, inner in some}
        case list() | tuple() | set() | frozenset() if depth < NESTING_MAX:
            return [_plain(inner, depth + 1) for inner in islice(value, ITEMS_MAX)]
        case _:
            return _printed(value)


def _printed(value: object) -> str:
    try:
        return _text(str(value))
    except Exception:  # It is the object's own code that runs here.
        return f"<{type(value).__name__}>"


def _text(text: str) -> str:
    """Cut to a sane length, with lone surrogates spelled out."""
    return cut_line(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def _shown(value: JSON) -> str:
    """A value of the context in one word, quoted where it would not be one."""
    if isinstance(value, str) and value.isprintable() and value and not set(value) & set(" =\"'"):
        return value
    return _harmless(json.dumps(value, ensure_ascii=False))


def _harmless(text: str, *, but: str = "") -> str:
    """With what could break a line, steer a terminal or turn the order of letters around spelled out."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in but else ascii(one)[1:-1] for one in text)
