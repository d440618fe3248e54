"""What `make test` leaves to `make test-all` is a list, and the list says what each part proves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.conftest import Plant
from tests.house.pages import read
from tests.house.tree import ROOT, must_be_empty, sources

PAGE = "docs/internals/tests.md"
ROW = re.compile(r"^\| (?P<proves>[^|]+) \| `(?P<place>[^`]+)` \|$", re.MULTILINE)


def test_the_page_lists_every_thorough_part() -> None:
    must_be_empty(unlisted(ROOT))


def test_a_thorough_part_that_nobody_lists_is_found(plant: Plant) -> None:
    plant(PAGE, "| It is old | `tests/test_a.py` |\n| It holds | `tests/test_a.py` |\n")
    root = plant(
        "tests/test_a.py",
        """
        @pytest.mark.thorough("It holds")
        def test_a(): ...

        SLOW = pytest.mark.thorough("It is slow")

        @pytest.mark.thorough
        def test_b(): ...
        """,
    )
    assert unlisted(root) == [
        "tests/test_a.py:7: the mark does not say what the test proves: pytest.mark.thorough('...').",
        f"{PAGE}: the table lacks this row: | It is slow | `tests/test_a.py` |",
        f"{PAGE}: no test has the mark of this row: | It is old | `tests/test_a.py` |",
    ]


def unlisted(root: Path) -> list[str]:
    marks = list(thorough_marks(root))
    silent = [
        f"{where}: the mark does not say what the test proves: pytest.mark.thorough('...')."
        for where, proves in marks
        if proves is None
    ]
    marked = {(proves, where.partition(":")[0]) for where, proves in marks if proves is not None}
    listed = {(row["proves"], row["place"]) for row in ROW.finditer(read(root, PAGE))}
    lacking = [
        f"{PAGE}: the table lacks this row: | {proves} | `{place}` |"
        for proves, place in sorted(marked - listed)
    ]
    stale = [
        f"{PAGE}: no test has the mark of this row: | {proves} | `{place}` |"
        for proves, place in sorted(listed - marked)
    ]
    return silent + lacking + stale


def thorough_marks(root: Path) -> Iterator[tuple[str, str | None]]:
    """Where each mark stands, and the sentence in it."""
    for source in sources(root, under="tests"):
        calls = {
            id(node.func): node.args[0].value
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)
        }
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute) and ast.unparse(node) == "pytest.mark.thorough":
                proves = calls.get(id(node))
                yield source.at(node), proves if isinstance(proves, str) else None
