"""JSON that every store can hold, and what is refused before it reaches one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.values.document import (
    DOCUMENT_BYTES_MAX,
    INTEGER_BITS_MAX,
    JSON,
    NESTING_MAX,
    Document,
    check_name,
    keepable_text,
)
from gnomon.errors import InvalidInput, PayloadTooLarge

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != 0)
VALUES: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@given(value=VALUES)
def test_a_value_comes_back_as_it_was(value: JSON) -> None:
    assert Document.of(value, field="payload").value == value


def test_documents_are_equal_if_their_values_are() -> None:
    assert Document('{"a":1,"b":2}') == Document('{ "b": 2, "a": 1 }')
    assert Document('{"a":1}') != Document('{"a":2}')
    assert Document("{}") != "{}"


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("payload.a[1].b", {"a": [1, {"b": float("nan")}]}),
        ("payload", float("inf")),
        ("payload.x", {"x": -0.0}),
        ("payload.x", {"x": 2 ** (INTEGER_BITS_MAX + 1)}),
        ("payload.x", {"x": "a\0b"}),
        ("payload.x", {"x": "\ud800"}),
        ("payload", {"\0": 1}),
        ("payload", {1: "one"}),
        ("payload.x", {"x": (1, 2)}),
        ("payload.x", {"x": {1, 2}}),
        ("payload.x", {"x": b"bytes"}),
        ("payload.x", {"x": object()}),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(place: str, value: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        Document.of(value, field="payload")
    assert refused.value.field == place


def test_a_whole_number_of_the_largest_size_is_exact() -> None:
    largest = 2**INTEGER_BITS_MAX - 1

    assert Document.of([largest, -largest, 9007199254740993], field="x").value == [
        largest,
        -largest,
        9007199254740993,
    ]


def test_depth_has_a_limit_and_costs_no_stack() -> None:
    assert Document.of(nested(NESTING_MAX), field="payload").value == nested(NESTING_MAX)
    for depth in (NESTING_MAX + 1, 100_000):
        with pytest.raises(InvalidInput, match="nested deeper"):
            Document.of(nested(depth), field="payload")


def test_size_is_counted_in_bytes_as_json() -> None:
    fits = "x" * (DOCUMENT_BYTES_MAX - 2)
    assert Document.of(fits, field="payload").value == fits
    for too_large in (fits + "x", "ü" * (DOCUMENT_BYTES_MAX // 2)):
        with pytest.raises(PayloadTooLarge) as refused:
            Document.of(too_large, field="payload")
        assert refused.value.size_bytes > refused.value.size_bytes_max == DOCUMENT_BYTES_MAX


@pytest.mark.parametrize("name", ["", "  \t", "x" * 256, "a\0", "\udfff", 5, None, ["a"]])
def test_a_name_is_text_of_a_sane_length(name: object) -> None:
    with pytest.raises(InvalidInput, match="name: "):
        check_name(name, field="name")


@pytest.mark.parametrize("name", ["x", "x" * 255, "Übersicht täglich", "<img onerror>", "=cmd|' /C calc'!A0"])
def test_what_a_name_says_is_the_business_of_its_owner(name: str) -> None:
    check_name(name, field="name")


def test_text_of_user_code_is_made_keepable() -> None:
    assert keepable_text("fine: ü", length_max=100) == "fine: ü"
    assert keepable_text("a\0b\ud800c", length_max=100) == "a\ufffdb?c"
    assert keepable_text("x" * 101, length_max=100) == "x" * 99 + "…"
