"""What the value of a setting may be: how it is read, what is accepted, how it is shown."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from gnomon.core.values.document import JSON, NAME_LENGTH_MAX

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

QUOTE_LENGTH_MAX = 100
ON, OFF = frozenset({"on", "true", "yes", "1"}), frozenset({"off", "false", "no", "0"})
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_DOTTED = r"[^\W\d]\w*(\.[^\W\d]\w*)*"

# Greedy: a password that was not escaped may hold an @ or a slash itself.
_PASSWORD_BEFORE_HOST = re.compile(r"(?<=://)([^/@:?]*):.*@")
_KEY_AND_VALUE = re.compile(r"\s*[a-z_]+\s*=")  # host=... password=...
_PASSWORD_IN_QUERY = re.compile(r"(?<=[?&]password=)[^&]*")


class ValueKind(ABC, Generic[T]):
    """One kind of value. Options and the environment bring text; a file may bring what TOML knows."""

    @property
    @abstractmethod
    def accepted(self) -> str:
        """What is accepted, in words that go on from "give …"."""

    @abstractmethod
    def read(self, written: object) -> T:
        """The value. Raises ValueError for what is not accepted."""

    def show(self, value: T) -> JSON:
        """The value as a person may see it, ready for JSON."""
        return str(value)

    def quote(self, written: object) -> str:
        """What was written, for an error."""
        quoted = repr(written)
        return quoted if len(quoted) <= QUOTE_LENGTH_MAX else quoted[: QUOTE_LENGTH_MAX - 1] + "…"


@dataclass(frozen=True, slots=True)
class Whole(ValueKind[int]):
    minimum: int
    maximum: int

    @property
    def accepted(self) -> str:
        return f"a whole number from {self.minimum} to {self.maximum}"

    def read(self, written: object) -> int:
        if isinstance(written, str) and _WHOLE.fullmatch(written.strip()):
            written = int(written)
        if type(written) is not int or not self.minimum <= written <= self.maximum:
            raise ValueError(written)
        return written

    def show(self, value: int) -> JSON:
        return value


@dataclass(frozen=True, slots=True)
class Seconds(ValueKind[timedelta]):
    minimum: float
    maximum: float

    @property
    def accepted(self) -> str:
        return f"a number of seconds from {self.minimum:g} to {self.maximum:.10g}"

    def read(self, written: object) -> timedelta:
        number = float(written) if isinstance(written, str) else written
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise ValueError(written)
        if not self.minimum <= number <= self.maximum:  # Neither does what is not a number.
            raise ValueError(written)
        return timedelta(seconds=number)

    def show(self, value: timedelta) -> JSON:
        seconds = value.total_seconds()
        return int(seconds) if seconds.is_integer() else seconds


@dataclass(frozen=True, slots=True)
class Switch(ValueKind[bool]):
    accepted = "on or off"

    def read(self, written: object) -> bool:
        word = str(written).strip().lower()  # TOML's own true and false too.
        if word not in ON | OFF:
            raise ValueError(written)
        return word in ON

    def show(self, value: bool) -> JSON:
        return value


@dataclass(frozen=True, slots=True)
class OneOf(ValueKind[E]):
    words: type[E]

    @property
    def accepted(self) -> str:
        return f"one of {', '.join(self.words)}"

    def read(self, written: object) -> E:
        return self.words(str(written).strip().lower())


@dataclass(frozen=True, slots=True)
class Text(ValueKind[str]):
    """A text in one line that a pattern fits, without blanks around it."""

    accepted: str
    pattern: re.Pattern[str] = re.compile(".+")

    def read(self, written: object) -> str:
        text = written.strip() if isinstance(written, str) else ""
        if not text.isprintable() or not self.pattern.fullmatch(text):
            raise ValueError(written)
        return text

    def quote(self, written: object) -> str:
        return ValueKind.quote(self, without_password(written) if isinstance(written, str) else written)


@dataclass(frozen=True, slots=True)
class Host(Text):
    """A machine by its name or number, alone or in an address such as https://gnomon.example:8484."""

    def read(self, written: object) -> str:
        text = Text.read(self, written)
        host = urlsplit(text).hostname if "://" in text else text
        # Whatever opens a connection does this, and raises UnicodeError for an empty or too long part.
        (host or "").encode("idna")
        return text


INTERFACE = Host("the address of an interface of this machine, such as 127.0.0.1 or 0.0.0.0")
URL = Host(
    "an address such as https://gnomon.example:8484, without user and password",
    re.compile(r"(?i)https?://[^\s/?#@]+(/[^\s?#]*)?"),
)
NAME = Text(f"a name of at most {NAME_LENGTH_MAX} characters", re.compile(f".{{1,{NAME_LENGTH_MAX}}}"))
APP = Text("a module and what is in it, such as shop.jobs:app", re.compile(rf"{_DOTTED}:{_DOTTED}"))


@dataclass(frozen=True, slots=True)
class ListenAddress(ValueKind[str]):
    """The address of a database. Who opens it finds out what else is wrong with it."""

    accepted = "an address such as sqlite://gnomon.db or postgresql://user@host/name"

    def read(self, written: object) -> str:
        text = Text(self.accepted).read(written)
        if _KEY_AND_VALUE.match(text):  # It would be taken for the path of a file.
            raise ValueError(written)
        return text

    def show(self, value: str) -> JSON:
        return without_password(value)

    def quote(self, written: object) -> str:
        if isinstance(written, str) and _KEY_AND_VALUE.match(written):
            return "a list of words and values, as libpq has it"
        return ValueKind.quote(self, without_password(written) if isinstance(written, str) else written)


@dataclass(frozen=True, slots=True)
class Secret(ValueKind[str]):
    """A text that is never shown, not even in an error."""

    accepted: str

    def read(self, written: object) -> str:
        return Text(self.accepted).read(written)

    def show(self, value: str) -> JSON:
        return "***"

    def quote(self, written: object) -> str:
        return "what was given"


@dataclass(frozen=True, slots=True)
class FilePath(ValueKind[Path]):
    """A file or a folder. A relative one is below the current folder."""

    accepted = "the path of a file or a folder"

    def read(self, written: object) -> Path:
        try:
            return Path(Text(self.accepted).read(written)).expanduser()
        except RuntimeError as error:  # There is no such user, or nobody knows where theirs is.
            raise ValueError(written) from error


@dataclass(frozen=True, slots=True)
class Many(ValueKind[tuple[str, ...]]):
    """Words with commas between them, or a list of TOML. What is written twice counts once."""

    one: ValueKind[str]

    @property
    def accepted(self) -> str:
        return f"a list, with commas between, each of it {self.one.accepted}"

    def read(self, written: object) -> tuple[str, ...]:
        if isinstance(written, str):
            written = [part for part in written.split(",") if part.strip()]
        if not isinstance(written, list | tuple):
            raise ValueError(written)
        return tuple(dict.fromkeys(self.one.read(part) for part in written))

    def show(self, value: tuple[str, ...]) -> JSON:
        return list(value)


@dataclass(frozen=True, slots=True)
class Names(ValueKind[frozenset[str]]):
    """As Many, where the order says nothing."""

    at_least: int = 0
    in_any_case: bool = False  # Read in any case, kept in lower case.

    @property
    def accepted(self) -> str:
        return "names with commas between" + (f", at least {self.at_least}" if self.at_least else "")

    def read(self, written: object) -> frozenset[str]:
        names = frozenset(Many(NAME).read(written))
        if len(names) < self.at_least:
            raise ValueError(written)
        return frozenset(name.lower() for name in names) if self.in_any_case else names

    def show(self, value: frozenset[str]) -> JSON:
        return [*sorted(value)]


@dataclass(frozen=True, slots=True)
class Maybe(ValueKind[T | None]):
    """A kind with a word for "nothing"."""

    word: str
    kind: ValueKind[T]

    @property
    def accepted(self) -> str:
        return f"{self.kind.accepted}, or {self.word}"

    def read(self, written: object) -> T | None:
        is_word = isinstance(written, str) and written.strip().lower() == self.word
        return None if is_word else self.kind.read(written)

    def show(self, value: T | None) -> JSON:
        return self.word if value is None else self.kind.show(value)

    def quote(self, written: object) -> str:
        return self.kind.quote(written)


def without_password(url: str) -> str:
    """A database address as it may be shown."""
    return _PASSWORD_IN_QUERY.sub("***", _PASSWORD_BEFORE_HOST.sub(r"\1:***@", url))
