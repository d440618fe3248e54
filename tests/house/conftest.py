"""A small tree to try a rule on."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

Plant = Callable[[str, str], Path]


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    """A function that writes one file of a small checkout and returns the root of the checkout."""

    def write(place: str, text: str) -> Path:
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return tmp_path

    return write
