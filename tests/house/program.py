"""The commands of the program `gnomon`, as a reader of the documentation types them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import typer
from typer.core import TyperCommand, TyperGroup

import gnomon.cli


@cache
def leaf_commands() -> dict[str, TyperCommand]:
    """Every command in full, such as `gnomon job list`."""
    apps = [value for value in vars(gnomon.cli).values() if isinstance(value, typer.Typer)]
    assert apps, "src/gnomon/cli: no typer app in sight, so nobody can check its commands."
    return dict(_leaves(typer.main.get_command(apps[0]), "gnomon"))


def options_of(command: TyperCommand) -> set[str]:
    given = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    return {name for name in given if name.startswith("-")} | {"--help"}


def _leaves(command: object, name: str) -> Iterator[tuple[str, TyperCommand]]:
    if isinstance(command, TyperGroup):
        for word, child in command.commands.items():
            if not child.hidden:
                yield from _leaves(child, f"{name} {word}")
    elif isinstance(command, TyperCommand):
        yield name, command
