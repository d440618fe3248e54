"""JSON text: what it says is what is kept, or it is refused with its place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.values.json_text import PARSED_NESTING_MAX, parse_json
from gnomon.errors import InvalidInput


@given(st.floats(allow_nan=False, allow_infinity=False).filter(bool))
def test_every_double_is_read_in_each_form_that_programs_write(number: float) -> None:
    for text in (repr(number), f"{number:.17g}"):
        assert parse_json(f"[{text}, 1]", field="x") == [json.loads(text), 1]


@pytest.mark.parametrize("digits", ["0.1", "0.10000000000000001", "1e22", "1E-7", "0.0", "5e-324", "0e5",
                                    "0.1000000000000000055511151231257827021181583404541015625"])  # fmt: skip
def test_what_a_double_stands_for_is_kept(digits: str) -> None:
    assert parse_json(digits, field="x") == float(digits)


@pytest.mark.parametrize("digits", ["1e-400", "100000000000000000000.5", "9007199254740993.0", "1.5e400",
                                    "0.1234567890123456789", "-1e-999999999999999999999", "0." + "3" * 5000,
                                    "1234567890.1234567890"])  # fmt: skip
def test_a_number_that_would_change_is_refused_with_its_place(digits: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_json(f'{{"a": [0.5, {{"b c": {digits}, "d": 1e-999}}]}}', field="payload")

    assert refused.value.field == "payload.a[1].b c"
    assert digits[:40] in refused.value.reason


def test_a_whole_number_of_any_size_that_is_kept_is_exact() -> None:
    for number in (2**53 + 1, 2**64 + 1, -(2**64) - 1, 10**299 + 1):
        assert parse_json(str(number), field="x") == number


@pytest.mark.parametrize(("said", "reason"), [
    ("-0", "-0 would come back as 0"), ("1" * 301, "an integer of more than 300 digits"),
    ("NaN", "NaN is not JSON"), ('1, "c": 2', "is there twice in one object"),
])  # fmt: skip
def test_whatever_is_refused_is_refused_with_its_place(said: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason) as refused:
        parse_json(f'{{"a": [0, {{"c": {said}}}], "b": -0}}', field="payload")

    assert refused.value.field == "payload.a[1].c"


@pytest.mark.parametrize(("rest", "reason"), [
    ("", "is not JSON"), (" x", "is not JSON"), (f', "b": {"[" * 200_000}', "nested deeper"),
])  # fmt: skip
def test_what_follows_a_number_that_would_change_may_be_no_json(rest: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason) as refused:
        parse_json(f'{{"a": 1e-400{rest}', field="payload")

    assert refused.value.field == "payload"


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_how_deep_a_text_may_be_does_not_depend_on_the_version_of_python(opening: str, closing: str) -> None:
    def nested(depth: int) -> str:
        return opening * depth + "0" + closing * depth

    assert json.dumps(parse_json(nested(PARSED_NESTING_MAX), field="x"), separators=(",", ":")) == nested(
        PARSED_NESTING_MAX
    )
    for depth in (PARSED_NESTING_MAX + 1, 5_000, 200_000):
        with pytest.raises(InvalidInput, match="nested deeper"):
            parse_json(nested(depth), field="x")
    flat = "[" + ",".join(["[0]"] * 5_000) + "]"
    assert parse_json(flat, field="x") == [[0]] * 5_000
