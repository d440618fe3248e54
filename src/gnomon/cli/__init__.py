"""The program `gnomon`: words on a terminal in, words and an exit code out.

Answers go to stdout, errors to stderr, a line each.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup, TyperOption

from gnomon import __version__
from gnomon.cli.output.exits import exit_code, line
from gnomon.cli.output.tables import note
from gnomon.cli.output.terminal import say
from gnomon.cli.session.own_arguments import hide_secrets
from gnomon.errors import GnomonError

HELP_OPTIONS = ["-h", "--help"]
OWNER_ONLY = 0o077  # What a umask takes away: all that others may do.

# What `gnomon` can do, and where it lives: a function, or the app of a group. Imported when asked for: one
# starts twice as fast without all the others.
COMMANDS = {
    "up": "gnomon.cli.commands.processes:up",
    "api": "gnomon.cli.commands.processes:api",
    "scheduler": "gnomon.cli.commands.processes:scheduler",
    "worker": "gnomon.cli.commands.processes:worker",
    "doctor": "gnomon.cli.commands.doctor:doctor",
    "login": "gnomon.cli.commands.login:login",
    "apply": "gnomon.cli.commands.apply:apply",
    "export": "gnomon.cli.commands.apply:export",
    "version": "gnomon.cli:version",
    "job": "gnomon.cli.commands.jobs:app",
    "run": "gnomon.cli.commands.runs:app",
    "dag": "gnomon.cli.commands.dags:app",
    "dag-run": "gnomon.cli.commands.dag_runs:app",
    "calendar": "gnomon.cli.commands.calendars:app",
    "backfill": "gnomon.cli.commands.backfills:app",
    "dlq": "gnomon.cli.commands.dead_letters:app",
    "workers": "gnomon.cli.commands.workers:app",
    "key": "gnomon.cli.commands.keys:app",
    "tenant": "gnomon.cli.commands.tenants:app",
    "import": "gnomon.cli.commands.imports:app",
    "config": "gnomon.cli.commands.config:app",
    "db": "gnomon.cli.commands.db:app",
}


class Commands(Mapping[str, Any]):
    """The commands by name, each made from its module when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = COMMANDS[name].partition(":")
        found = getattr(import_module(module), attribute)
        single = typer.Typer(add_completion=False, rich_markup_mode="markdown")
        if isinstance(found, typer.Typer):
            single.add_typer(found, name=name)
            return _without_types_of_flags(typer.main.get_group(single).commands[name])
        single.command(name)(found)
        return _without_types_of_flags(typer.main.get_command(single))

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


def _without_types_of_flags(command: Any) -> Any:
    """The help shows `--yes`, not `--yes <bool>`: a flag takes no value."""
    _name_no_type(command.get_params(typer.Context(command, help_option_names=HELP_OPTIONS)))
    if isinstance(command, TyperGroup):
        for inner in command.commands.values():
            _without_types_of_flags(inner)
    return command


def _name_no_type(parameters: Sequence[Any]) -> None:
    for parameter in parameters:
        if isinstance(parameter, TyperOption) and parameter.is_flag:
            parameter.metavar = ""


class Program(TyperGroup):
    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        self.commands = Commands()  # type: ignore[assignment]

    def get_params(self, ctx: Any) -> list[Any]:
        found = super().get_params(ctx)
        _name_no_type(found)
        return found


app = typer.Typer(
    cls=Program,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": HELP_OPTIONS},  # Every command below inherits it.
    help="""Gnomon: cron as a service, a durable job queue and DAG workflows in one program.

Start here:

    gnomon up --demo     # everything in one process, with sample jobs to watch
    gnomon db migrate    # make the database, or bring it up to this release
    gnomon db check      # may Gnomon run on it?
    gnomon config show   # every setting, and where it came from
    gnomon login         # keep the key of a server, then: gnomon job list

The database is the SQLite file `gnomon.db` in the current folder unless you say otherwise: with
`--database`, with GNOMON_DATABASE or DATABASE_URL in the environment, or in the file `gnomon.toml`.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage, or a database that another process holds,
3 cannot be sure (yet), 4 not found, 5 no answer from the server, 6 missing or invalid API key.
""",
)


def version() -> None:
    """Print the version of this program."""
    say(__version__)


def _version_asked(is_asked: bool) -> None:
    if is_asked:
        version()
        raise typer.Exit


@app.callback()
def gnomon(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version_asked, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None: ...


def main() -> None:
    os.umask(OWNER_ONLY)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # A terminal without UTF-8 shows escapes.
            stream.reconfigure(errors="backslashreplace")
    for warning in hide_secrets(sys.argv):
        note(f"warning: {warning}")
    try:
        app()
    except GnomonError as error:
        say(line(error), err=True)
        sys.exit(exit_code(error))
