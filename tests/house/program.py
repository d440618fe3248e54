"""The commands of the program `gnomon`, as a reader of the documentation types them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import typer
from typer.core import TyperCommand, TyperGroup

import gnomon.cli

Options = tuple[frozenset[str], ...]  # Of a command: the names of each option, such as `--file` and `-f`.


@cache
def program() -> TyperGroup:
    apps = [value for value in vars(gnomon.cli).values() if isinstance(value, typer.Typer)]
    assert apps, "src/gnomon/cli: no typer app in sight, so nobody can check its commands."
    group = typer.main.get_command(apps[0])
    assert isinstance(group, TyperGroup)
    return group


@cache
def leaf_commands() -> dict[str, TyperCommand]:
    """Every command in full, such as `gnomon job list`."""
    return dict(_leaves(program(), "gnomon"))


def options_of(command: TyperCommand | TyperGroup) -> Options:
    named = (frozenset((*one.opts, *one.secondary_opts)) for one in command.params)
    return tuple(names for names in named if any(name.startswith("-") for name in names))


def _leaves(command: object, name: str) -> Iterator[tuple[str, TyperCommand]]:
    if isinstance(command, TyperGroup):
        for word, child in command.commands.items():
            if not child.hidden:
                yield from _leaves(child, f"{name} {word}")
    elif isinstance(command, TyperCommand):
        yield name, command
