"""The one door to the terminal: no control character of a server's data gets through it as a command.

A name, a log line or an error may hold an escape sequence, a C1 control or a bidi override. Each is shown as
its escape, such as `\\x1b`. Line ends and tabs pass; a text of one line makes them visible with `printable`.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from shutil import which

import msgspec
import typer
import yaml  # type: ignore[import-untyped]
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_LAYOUT = "\n\t"


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    typer.echo(visible(text), err=err, nl=nl)


def program() -> str:
    """How to call it from here: by its path, where the shell does not find it by its name."""
    called = sys.argv[0]
    return "gnomon" if Path(called).name != "gnomon" or which("gnomon") else shlex.quote(called)


def ask(question: str) -> None:
    """Raises Abort for a no."""
    typer.confirm(visible(question), abort=True, err=True)


def secret(question: str) -> str:
    """What is typed is not shown."""
    typed: str = typer.prompt(visible(question), hide_input=True, err=True)
    return typed


class Screen(Console):
    """A console of rich. What rich itself does to the terminal passes; what a text holds does not."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def visible(text: str) -> str:
    """A text of many lines, with all else that would steer a terminal as its escape."""
    if text.isprintable():
        return text
    return "".join(one if one in _LAYOUT or one.isprintable() else _escape(one) for one in text)


def printable(text: str) -> str:
    """For one line: what would move the cursor, change the terminal or break the line, as its escape."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else _escape(one) for one in text)


def json_text(value: object, *, indent: int | None = 2) -> str:
    """The same value to a program, and harmless on a terminal: JSON has escapes of its own."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return "".join(_in_json(text))


def yaml_text(value: object) -> str:
    text = msgspec.yaml.encode(value).decode()
    if text == visible(text):
        return text
    escaped: str = yaml.safe_dump(msgspec.to_builtins(value), allow_unicode=False, sort_keys=False)
    return escaped


def _escape(one: str) -> str:
    return repr(one)[1:-1]


def _in_json(text: str) -> Iterator[str]:
    for one in text:
        yield one if one == "\n" or one.isprintable() else json.dumps(one)[1:-1]
