"""The program `gnomon`: words on a terminal in, words and an exit code out.

Answers go to stdout, errors to stderr, a line each.
"""

from __future__ import annotations

import os
import sys

import typer

from gnomon import __version__
from gnomon.cli import check, config, db, running, sim
from gnomon.cli.exits import exit_code, line
from gnomon.errors import GnomonError

OWNER_ONLY = 0o077  # What a umask takes away: all that others may do.

app = typer.Typer(
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="""Gnomon: cron as a service, a durable job queue and DAG workflows in one program.

Start here:

    gnomon up --demo     # everything in one process, with sample jobs to watch
    gnomon db migrate    # make the database, or bring it up to this release
    gnomon db check      # may Gnomon run on it?
    gnomon config show   # every setting, and where it came from

The database is the SQLite file `gnomon.db` in the current folder unless you say otherwise: with
`--database`, with GNOMON_DATABASE or DATABASE_URL in the environment, or in the file `gnomon.toml`.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage, or a database that another process holds.
`gnomon check` has one more, 3: it cannot be sure.
""",
)
app.command()(running.up)
app.command()(running.scheduler)
app.command()(running.worker)
app.command()(sim.sim)
app.command()(check.check)
app.add_typer(config.app, name="config")
app.add_typer(db.app, name="db")


@app.command()
def version() -> None:
    """Print the version of this program."""
    typer.echo(__version__)


@app.callback()
def gnomon() -> None:
    """Keeps `gnomon version` a command with a name, however few commands there are."""


def main() -> None:
    os.umask(OWNER_ONLY)
    try:
        app()
    except GnomonError as error:
        typer.echo(line(error), err=True)
        sys.exit(exit_code(error))
