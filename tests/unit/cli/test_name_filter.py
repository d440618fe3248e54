"""Names at a terminal: whole, or with a star."""

from __future__ import annotations

import pytest

from gnomon.cli.session.names import name_filter


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (None, {"name": None}),
        ("report", {"name": "report"}),
        ("night*", {"name_prefix": "night"}),
        ("*report*", {"name_contains": "report"}),
        ("*report", {"name_contains": "report"}),
        ("a*b", {"name": "a*b"}),
        ("*", {"name": "*"}),
        ("", {"name": ""}),
    ],
)
def test_a_star_asks_for_names_that_begin_so_or_contain_it(
    text: str | None, asked: dict[str, str | None]
) -> None:
    assert name_filter(text) == asked
