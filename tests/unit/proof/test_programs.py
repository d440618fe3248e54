"""What proves Gnomon can be started: each option of its programs is documented, and `make` passes it on."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import typer

from proof.checker.__main__ import app as judge
from proof.simulator.__main__ import app as sim
from tests.house.tree import ROOT

PAGE = (ROOT / "docs/reference/proof.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PROGRAMS = {"The checker": (judge, "judge"), "The simulator": (sim, "sim")}
ROW = re.compile(
    r"^\| `(?P<option>--[a-z-]+)[^|]*(?:\\\|[^|]*)*\| (?:`(?P<variable>[A-Z]+)=1?`)? ?\|", re.MULTILINE
)


def options(program: typer.Typer) -> Iterator[str]:
    for one in typer.main.get_command(program).params:
        yield from (name for name in one.opts if name.startswith("--"))


def rows(heading: str) -> dict[str, str | None]:
    """Of a section of the page: the options, each with the variable of `make` for it, if there is one."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return {found["option"]: found["variable"] for found in ROW.finditer(section)}


def recipe(verb: str) -> str:
    return MAKEFILE.partition(f"\n{verb}: ")[2].partition("\n\n")[0]


@pytest.mark.parametrize("heading", PROGRAMS)
def test_every_option_has_its_row(heading: str) -> None:
    program, _ = PROGRAMS[heading]
    assert set(rows(heading)) == set(options(program))


@pytest.mark.parametrize("heading", PROGRAMS)
def test_make_passes_on_what_the_page_promises(heading: str) -> None:
    _, verb = PROGRAMS[heading]
    for option, variable in rows(heading).items():
        if variable is not None:
            assert f"$({variable})" in recipe(verb), variable
            assert option in recipe(verb), option
