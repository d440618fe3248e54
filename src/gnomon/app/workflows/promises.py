"""What stands for a value while a workflow is written down: nobody knows it before the workflow runs.

Whatever Python would want to know of it now is refused, with what to do instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import msgspec

from gnomon.core.values.document import JSON
from gnomon.core.workflows.references import Comparison, Reference, Source
from gnomon.errors import InvalidInput

_WORD = re.compile(r"\w[\w-]*")


class Owner(Protocol):
    """The workflow that is being written down."""

    def wait(self, task: str, others: Iterable[Promised]) -> None: ...


class Promised:
    """What a task will bring, or a part of it. Hand it to another job, and that one runs after it."""

    __slots__ = ("owner", "reference")

    def __init__(self, reference: Reference, owner: Owner) -> None:
        self.reference = reference
        self.owner = owner

    def __repr__(self) -> str:
        return f"<promise of {self.text}>"

    @property
    def text(self) -> str:
        """As it is written in a definition."""
        source, task = self.reference.source, self.reference.task
        begin = "" if task is None else f"{_step(task)}.result"
        return f"${{{source}{begin}{''.join(map(_step, self.reference.path))}}}"

    def after(self, *others: Promised) -> Promised:
        """Run it after these, too, whose results it does not need."""
        if self.reference.task is None:
            raise InvalidInput(self.text, "is there from the beginning; only a task can wait.")
        self.owner.wait(self.reference.task, others)
        return self

    def __getitem__(self, key: str | int) -> Promised:
        """What it has under this key, or at this place of a list."""
        if not (isinstance(key, str) or (type(key) is int and key >= 0)):
            raise InvalidInput(
                self.text, f"[{key!r}] is neither a key nor a place that is counted from the beginning."
            )
        source, task, path = self.reference.source, self.reference.task, self.reference.path
        return Promised(Reference(source, task, (*path, key)), self.owner)

    # Questions, for `when` -----------------------------------------------------------------------------

    def __eq__(self, other: Any) -> Question:  # type: ignore[override]
        return Question(self, Comparison.EQUAL, other)

    def __ne__(self, other: Any) -> Question:  # type: ignore[override]
        return Question(self, Comparison.UNEQUAL, other)

    def __lt__(self, other: Any) -> Question:
        return Question(self, Comparison.LESS, other)

    def __le__(self, other: Any) -> Question:
        return Question(self, Comparison.AT_MOST, other)

    def __gt__(self, other: Any) -> Question:
        return Question(self, Comparison.MORE, other)

    def __ge__(self, other: Any) -> Question:
        return Question(self, Comparison.AT_LEAST, other)

    def is_in(self, values: Iterable[Any]) -> Question:
        return Question(self, Comparison.IN, list(values))

    def exists(self) -> Question:
        return Question(self, Comparison.EXISTS)

    # What nobody can know yet --------------------------------------------------------------------------

    def __bool__(self) -> NoReturn:
        self._refuse(
            "whether it is true. The function of a workflow is called once, before any run; "
            "let the task decide: job.task(when=promise == value)(…)."
        )

    def __str__(self) -> NoReturn:
        self._refuse("what to write here. Hand it to a job as an argument, and make the text there.")

    def __format__(self, _: str) -> NoReturn:
        str(self)
        raise AssertionError

    def __iter__(self) -> NoReturn:
        self._refuse(
            "what is in it. For something with each item, write job.map(promise); "
            "for one of them, promise[0] or promise['key']."
        )

    def __len__(self) -> NoReturn:
        self._refuse("how long it is. Let a job count.")

    def __contains__(self, _: object) -> NoReturn:
        iter(self)
        raise AssertionError

    def _refuse(self, what: str) -> NoReturn:
        raise InvalidInput(self.text, f"nobody knows yet {what}")


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A comparison of what is promised. Given as `when`, the task runs if the answer is yes."""

    about: Promised
    comparison: Comparison
    value: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.value, Promised):
            raise InvalidInput(
                self.about.text, "is compared with what is not known either; let a job compare the two."
            )

    def __bool__(self) -> NoReturn:
        raise InvalidInput(
            self.about.text,
            "nobody knows yet how it compares. The function of a workflow is called once, before any run; "
            "let the task decide: job.task(when=…)(…), with a list where all must hold.",
        )

    def document(self) -> dict[str, Any]:
        return {"value_of": self.about, "is": self.comparison.value, "value": self.value}


def written(value: object, meet: Callable[[Promised], None], *, field: str) -> Any:
    """The value as JSON; what is promised is a reference. `meet` is told of each. Raises InvalidInput."""

    def write(other: object) -> str:
        if not isinstance(other, Promised):
            raise TypeError(f"a {type(other).__name__} is not JSON")
        meet(other)
        return other.text

    try:
        plain = msgspec.to_builtins(value, str_keys=True, enc_hook=write)
        return json.loads(json.dumps(plain))
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise InvalidInput(field, f"cannot be written as JSON: {error}.") from None


def config_value(name: str, owner: Owner) -> Promised:
    return Promised(Reference(Source.CONFIG, path=(name,)), owner)


def result_of(task: str, owner: Owner) -> Promised:
    return Promised(Reference(Source.TASKS, task), owner)


def is_known(value: JSON) -> bool:
    """Whether there is no reference in it, so that it is what a job will get."""
    return "${" not in json.dumps(value)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _WORD.fullmatch(step) else f"[{json.dumps(step, ensure_ascii=False)}]"
