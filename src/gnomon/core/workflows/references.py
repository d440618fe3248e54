"""References to what a run knows: results of earlier tasks, its configuration, the item of a fan-out.

`${tasks.extract.result.rows}` stands for a value inside a payload. A string that is one reference becomes the
value, whatever its type; inside a longer string the value is written as text. Names that are no plain words
are quoted: `${tasks["it's"].result["a.b"][0]}`. `${run.time}` is the time that the run is for, `${run.day}`
its day. `$${` is a plain `${`. Braces that do not begin with one of our words (`run` with a dot) are not
ours: shells and secrets have them too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Protocol, TypeAlias, TypeGuard

from gnomon.core.values.choices import Choice
from gnomon.core.values.document import JSON
from gnomon.errors import InvalidInput

Step: TypeAlias = "str | int"

REFERENCE_LENGTH_MAX = 1000
RUN_FACTS = ("time", "day")

# Bounded, so that an unclosed quote costs no walk to the end of the text.
_QUOTED = rf'"(?:[^"\\]|\\.){{0,{REFERENCE_LENGTH_MAX}}}+"'
_OURS = r"\$\{(?=(?:tasks|config|item|index)\b|run\.)"
# Groups: the `$` that escapes it; what is between the braces; the closing brace, or nothing.
HOLE = re.compile(
    rf"(\$)?{_OURS}"
    rf'((?:{_QUOTED}|[^"}}]){{0,{REFERENCE_LENGTH_MAX}}}+)(\}}?)'
)
_BEGIN = re.compile(_OURS)
_STEP = re.compile(rf"\.(\w[\w-]*)|\[(\d{{1,9}})\]|\[({_QUOTED})\]")


class Source(StrEnum):
    TASKS = "tasks"
    CONFIG = "config"
    ITEM = "item"
    INDEX = "index"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a value comes from. `task` is the name of a task, exactly for references to a result."""

    source: Source
    task: str | None = None
    path: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        assert (self.source is Source.TASKS) == (self.task is not None)

    def __str__(self) -> str:
        """As somebody could write it."""
        begin = self.source if self.task is None else f"{self.source}{_written(self.task)}.result"
        return f"${{{begin}{''.join(map(_written, self.path))}}}"


def _written(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if re.fullmatch(r"\w[\w-]*", step) else f"[{json.dumps(step, ensure_ascii=False)}]"


class Unresolved(Exception):
    """A reference to something that is not there. The task that needs it fails with this text."""


class Values(Protocol):
    def of(self, reference: Reference) -> JSON:
        """The value at the beginning of the path. Raises Unresolved."""
        ...


@lru_cache(maxsize=4096)  # A task of a workflow has the same ones in each run.
def parse(text: str, *, field: str) -> Reference:
    """Read what stands between the braces. Raises InvalidInput."""
    word = re.match(r"\w+", text)
    assert word is not None
    source, steps = Source(word[0]), _steps(text, word.end(), field=field)
    if source is not Source.TASKS:
        return Reference(source, path=steps)
    if len(steps) < 2 or steps[1] != "result" or not isinstance(steps[0], str):
        raise InvalidInput(field, f"${{{text}}} is not of the form ${{tasks.name.result.path}}.")
    return Reference(source, steps[0], steps[2:])


def _steps(text: str, start: int, *, field: str) -> tuple[Step, ...]:
    steps: list[Step] = []
    while start < len(text):
        found = _STEP.match(text, start)
        if found is None:
            raise InvalidInput(field, f"${{{text}}} cannot be read from {text[start : start + 20]!r} on.")
        name, place, quoted = found.groups()
        steps.append(
            name if name is not None else int(place) if place is not None else _unquoted(quoted, field)
        )
        start = found.end()
    return tuple(steps)


def _unquoted(quoted: str, field: str) -> str:
    try:
        name = json.loads(quoted)
    except ValueError:
        raise InvalidInput(field, f"{quoted} is not a JSON string.") from None
    assert isinstance(name, str)
    return name


def references(value: JSON, *, field: str) -> Iterator[Reference]:
    """Every reference inside a value. Raises InvalidInput for one that cannot be read."""
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            todo.extend(item.values())
        elif isinstance(item, list):
            todo.extend(item)
        elif isinstance(item, str) and "${" in item:
            for hole in HOLE.finditer(item):
                if not hole[1]:
                    yield read_hole(hole, field=field)


def is_template(text: str) -> bool:
    """Whether a text, or JSON as text, has something to replace: a reference, or a `$${` in front of one."""
    return _BEGIN.search(text) is not None


def reference_count(text: str) -> int:
    """How many references a text, or JSON as text, has at most: a `$${` is counted, too."""
    return len(_BEGIN.findall(text))


def escaped(text: str) -> str:
    """The text as it is written where references are read, so that it stands for itself."""
    return _BEGIN.sub("$${", text)


def look_up(reference: Reference, values: Values) -> JSON:
    """Raises Unresolved."""
    value = values.of(reference)
    for step in reference.path:
        match value, step:
            case dict(), str() if step in value:
                value = value[step]
            case list(), int() if step < len(value):
                value = value[step]
            case _:
                raise Unresolved(f"{_shown(reference)} has no {step!r}.")
    return value


def read_hole(hole: re.Match[str], *, field: str) -> Reference:
    """What a match of HOLE that is not escaped refers to. Raises InvalidInput."""
    if not hole[3]:
        raise InvalidInput(field, f"{hole[0][:40]!r} has no closing brace.")
    return parse(hole[2], field=field)


def _shown(reference: Reference) -> str:
    return (
        f"The result of task {reference.task!r}" if reference.task is not None else f"The {reference.source}"
    )


# Conditions ----------------------------------------------------------------------------------------


class Comparison(Choice):
    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    IN = "in"
    EXISTS = "exists"


@dataclass(frozen=True, slots=True)
class Condition:
    """A question about a value of the run. What is not there, or does not compare, answers no."""

    reference: Reference
    comparison: Comparison
    value: JSON = None

    def holds(self, values: Values) -> bool:
        try:
            found = look_up(self.reference, values)
        except Unresolved:
            return False
        match self.comparison:
            case Comparison.EXISTS:
                return True
            case Comparison.EQUAL:
                return _equal(found, self.value)
            case Comparison.UNEQUAL:
                return not _equal(found, self.value)
            case Comparison.IN:
                return isinstance(self.value, list) and any(_equal(found, one) for one in self.value)
            case _:
                return self._orders(found)

    def _orders(self, found: JSON) -> bool:
        order = _order(found, self.value)
        if order is None:
            return False
        match self.comparison:
            case Comparison.LESS:
                return order < 0
            case Comparison.AT_MOST:
                return order <= 0
            case Comparison.MORE:
                return order > 0
            case _:
                return order >= 0


def _order(one: JSON, other: JSON) -> int | None:
    """Below, at or above zero; None if the two do not compare."""
    if _is_number(one) and _is_number(other):
        return (one > other) - (one < other)
    if isinstance(one, str) and isinstance(other, str):
        return (one > other) - (one < other)
    return None


def _is_number(value: JSON) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(one: JSON, other: JSON) -> bool:
    """JSON knows that true is not 1; Python does not."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other
