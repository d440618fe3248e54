"""The bytes of a request: the quick way to read them says what the careful one says, or nothing."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gnomon.api.forms import reading
from gnomon.api.forms.reading import document_of, read_json
from gnomon.core.values.document import Document
from gnomon.errors import GnomonError, InvalidInput

TEXTS = st.text(st.sampled_from('ab:"\\{}[],-0\n\té\u2028\ud800\0'), max_size=6)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-(10**4), 10**4),
    st.integers(10**290, 10**310),
    st.floats(allow_nan=True),
    TEXTS,
)
# Objects as lists of pairs, so that a key may be there twice.
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(st.tuples(TEXTS, inner), max_size=4).map(lambda pairs: ("{", pairs)),
    ),
    max_leaves=12,
)


def written(value: Any, separators: tuple[str, str], ascii_only: bool) -> str:
    comma, colon = separators
    if isinstance(value, tuple):
        pairs = (
            f"{json.dumps(key, ensure_ascii=ascii_only)}{colon}{written(inner, separators, ascii_only)}"
            for key, inner in value[1]
        )
        return "{" + comma.join(pairs) + "}"
    if isinstance(value, list):
        return "[" + comma.join(written(inner, separators, ascii_only) for inner in value) + "]"
    return json.dumps(value, ensure_ascii=ascii_only)


def said(body: bytes) -> Any:
    """What is read, or what is wrong. As text, since 1, 1.0 and True are equal otherwise."""
    try:
        return repr(read_json(body))
    except InvalidInput as error:
        return error.details, str(error)


@given(
    value=VALUES,
    separators=st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t: ")]),
    ascii_only=st.booleans(),
)
@example(value=("{", [("a", 1), ("a", 1)]), separators=(",", ":"), ascii_only=False)
def test_both_ways_of_reading_agree(value: Any, separators: tuple[str, str], ascii_only: bool) -> None:
    body = written(value, separators, ascii_only).encode(errors="surrogatepass")
    with patch.object(reading, "_read_quickly", lambda _: msgspec.UNSET):
        careful = said(body)
    assert said(body) == careful


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":1}',
        '{"a":1,"\\u0061":2}',
        '{"x":{"a:":1,"a:":2}}',
        "-0",
        "[-0]",
        '{"a": -0}',
        "1e999",
        "1" * 301,
        "NaN",
        "[1,]",
        '{"a":1} x',
        "[" * 5000 + "]" * 5000,
        "",
    ],
)
def test_what_is_wrong_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_json(text.encode())


@pytest.mark.parametrize("text", ['{"at":"2026-01-02T03:04:05Z","n":-1}', "-0.5", '["-0", ":"]', "[ -0.25 ]"])
def test_what_only_looks_wrong_is_read(text: str) -> None:
    assert read_json(text.encode()) == json.loads(text)


@given(value=VALUES)
def test_a_document_is_the_same_on_both_ways(value: Any) -> None:
    try:
        read = read_json(written(value, (",", ":"), ascii_only=True).encode())
    except InvalidInput:
        return

    def made(make: Any) -> Any:
        try:
            return make(read, field="input").text
        except GnomonError as error:
            return str(error)

    assert made(document_of) == made(Document.of)
