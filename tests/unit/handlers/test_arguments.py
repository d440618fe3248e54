"""Typed arguments from JSON, and JSON from results."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, TypedDict
from uuid import UUID

import msgspec
import pytest

from gnomon.core.values.document import JSON
from gnomon.errors import InvalidInput
from gnomon.handlers.base import Context, JobFailed
from gnomon.handlers.python.arguments import as_json, signature_of


class Colour(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: int = 0


class Row(TypedDict):
    name: str


class Item(msgspec.Struct):
    price: Decimal


def typed(
    day: date,
    at: datetime,
    id: UUID,
    colour: Colour,
    point: Point,
    row: Row,
    item: Item,
    wait: timedelta = timedelta(0),
    tags: list[str] = ["default"],  # noqa: B006 - users write such things.
) -> None: ...


GIVEN: dict[str, JSON] = {
    "day": "2026-03-01",
    "at": "2026-03-01T09:00:00Z",
    "id": "01890000-0000-7000-8000-000000000001",
    "colour": "red",
    "point": {"x": 1},
    "row": {"name": "a"},
    "item": {"price": "9.99"},
}


def test_arguments_arrive_as_annotated() -> None:
    assert signature_of(typed).arguments(GIVEN) == {
        "day": date(2026, 3, 1),
        "at": datetime(2026, 3, 1, 9, tzinfo=UTC),
        "id": UUID("01890000-0000-7000-8000-000000000001"),
        "colour": Colour.RED,
        "point": Point(1, 0),
        "row": {"name": "a"},
        "item": Item(Decimal("9.99")),
    }


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"day": "tomorrow"}, "day"),
        ({"point": {"x": "1"}}, "point"),
        ({"tags": [1]}, "tags"),
        ({"more": 1}, "more"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_a_wrong_argument_is_named_when_it_runs_and_when_it_is_saved(change: Any, named: str) -> None:
    signature = signature_of(typed)
    with pytest.raises(JobFailed) as failed:
        signature.arguments(GIVEN | change)
    assert (failed.value.kind, failed.value.permanent) == ("bad_arguments", True)
    assert str(failed.value).startswith(f"Argument {named}: ")
    with pytest.raises(InvalidInput) as refused:
        signature.check(change, field="payload.arguments")
    assert refused.value.field == f"payload.arguments.{named}"


def test_a_missing_argument_is_named_when_it_runs_but_may_be_missing_when_saved() -> None:
    signature = signature_of(typed)
    with pytest.raises(JobFailed, match="Argument day: "):
        signature.arguments({})
    signature.check({}, field="payload.arguments")


def test_the_context_is_found_by_name_or_by_annotation() -> None:
    def by_name(context, a: int): ...  # type: ignore[no-untyped-def]
    def by_type(a: int, ctx: Context) -> None: ...

    assert signature_of(by_name).context_name == "context"
    assert signature_of(by_type).context_name == "ctx"
    assert signature_of(by_type).names == ("a",)


def test_a_function_may_take_anything_more() -> None:
    def open_minded(a: int, **more: object) -> None: ...

    assert signature_of(open_minded).arguments({"a": 1, "b": [2]}) == {"a": 1, "b": [2]}


def test_a_partial_is_a_function_too() -> None:
    def add(a: int, b: int) -> int:
        return a + b

    signature = signature_of(functools.partial(add, b=1))
    assert signature.arguments({"a": 1}) == {"a": 1}


def test_what_cannot_be_called_with_json_is_refused_when_registered() -> None:
    def positional(a: int, /) -> None: ...
    def odd(a: int | Exception) -> None: ...

    for function in (positional, odd):
        with pytest.raises(InvalidInput):
            signature_of(function)


def test_results_become_json() -> None:
    assert as_json({"a": (1, 2)}) == {"a": [1, 2]}
    assert as_json(Point(1, 2)) == {"x": 1, "y": 2}
    assert as_json([date(2026, 3, 1), Colour.RED]) == ["2026-03-01", "red"]
    assert as_json({1: 2**70}) == {"1": 2**70}


@pytest.mark.parametrize("result", [object(), float("nan"), {"a": "\0"}, {("a",): 1}])
def test_a_result_that_cannot_be_kept_fails_for_good(result: object) -> None:
    with pytest.raises(JobFailed) as failed:
        as_json(result)
    assert (failed.value.kind, failed.value.permanent) == ("bad_result", True)
