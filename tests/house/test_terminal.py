"""Whatever the program prints goes through one door, which makes control characters visible."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.house.conftest import Plant
from tests.house.tree import ROOT, must_be_empty, sources

DOOR = "src/gnomon/cli/output/terminal.py"
PAST_IT = {
    "print", "typer.echo", "typer.secho", "typer.confirm", "typer.prompt", "Console", "rich.print",
    "sys.stdout.write", "sys.stderr.write", "input", "pprint",
}  # fmt: skip


def test_commands_print_through_the_door() -> None:
    must_be_empty(past_the_door(ROOT))


def test_a_print_past_the_door_is_found(plant: Plant) -> None:
    root = plant("src/gnomon/cli/planted.py", 'import typer\ntyper.echo("name")\n')
    [found] = past_the_door(root)
    assert found.startswith("src/gnomon/cli/planted.py:2: typer.echo")


def past_the_door(root: Path) -> list[str]:
    return [
        f"{source.at(node)}: {ast.unparse(node.func)} prints past {DOOR}; use what is there."
        for source in sources(root, under="src/gnomon/cli")
        if source.place != DOOR
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in PAST_IT
    ]
