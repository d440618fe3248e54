"""Refusals in the caller's words.

A form has more than one word for some of its fields. The core knows one of them, and names it when it refuses
a value. A caller finds that value under the word that the call used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from gnomon.errors import CalendarNotFound, InvalidInput, JobNotFound, NotFound

# What a form may name that does not exist, and by which field.
_NAMED_BY: dict[type[NotFound], str] = {CalendarNotFound: "calendar", JobNotFound: "dependencies"}

# From the path that the core names to the path in the call.
Words = dict[str, str]

Given = TypeVar("Given")
Read = TypeVar("Read")


@contextmanager
def in_words(words: Callable[[], Mapping[str, str]], *, under: str = "") -> Iterator[None]:
    """`words` is asked only if something is refused. `under` is where the form stands in the call."""
    try:
        yield
    except InvalidInput as error:
        raise error.at(under + said_as(error.field, words())) from None
    except tuple(_NAMED_BY) as error:
        error.field = under + said_as(_NAMED_BY[type(error)], words())
        raise


def read_each(items: Iterable[Given], read: Callable[[Given], Read], *, field: str) -> list[Read]:
    """What `read` makes of each item of a list in the call. A refusal says which item it is about."""
    found: list[Read] = []
    try:
        for one in items:
            found.append(read(one))  # noqa: PERF401 - how many there are says which one is refused.
    except InvalidInput as error:
        raise error.at(f"{field}[{len(found)}].{error.field}") from None
    return found


def said_as(field: str, words: Mapping[str, str]) -> str:
    """The path of a field in the caller's words: those of the longest path that leads to it."""
    known = [ours for ours in words if field == ours or field.startswith((f"{ours}.", f"{ours}["))]
    if not known:
        return field
    ours = max(known, key=len)
    return words[ours] + field[len(ours) :]


def words_of_tasks(tasks: list[dict[str, Any]]) -> Words:
    """`dependencies` is `depends_on`, and `retry_config` is `retry_policy`."""
    words = {}
    for task in tasks:
        path = f"tasks.{task.get('name')}"
        for ours, theirs in (("depends_on", "dependencies"), ("retry_policy", "retry_config")):
            if theirs in task and ours not in task:
                words[f"{path}.{ours}"] = f"{path}.{theirs}"
        policy = "retry_config" if "retry_config" in task else "retry_policy"
        said = task.get(policy)
        if isinstance(said, dict) and "initial_delay_seconds" in said:
            words[f"{path}.retry_policy.backoff_seconds"] = f"{path}.{policy}.initial_delay_seconds"
    return words
