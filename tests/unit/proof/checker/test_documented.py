"""The page about the proof names every event, every invariant and all that must have happened."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from proof.checker.coverage import COVERAGE
from proof.checker.history.events import AnyEvent, SchedSet
from proof.checker.judge import INVARIANTS

PAGE = (Path(__file__).parents[4] / "docs/reference/proof.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", INVARIANTS)
def test_an_invariant_has_its_row(name: str) -> None:
    assert f"| {name} | {(INVARIANTS[name].__doc__ or '').strip()} |" in PAGE


def test_every_event_and_its_fields_are_named() -> None:
    for kind in get_args(AnyEvent):
        tag = kind.__struct_config__.tag
        [row] = [line for line in PAGE.splitlines() if line.startswith("| `") and f"`{tag}`" in line][:1]
        if kind is not SchedSet:
            own = set(kind.__struct_fields__) - {"src", "n", "wall", "mono", "db", "tenant"}
            known = {field for field in own if f"`{field}`" in PAGE}
            assert own - known == set(), f"{tag}: {row}"
    for field in SchedSet.__struct_fields__:
        assert f"`{field}`" in PAGE


def test_all_that_must_happen_is_listed() -> None:
    for name in COVERAGE:
        assert f"\n- {name}\n" in PAGE + "\n"
