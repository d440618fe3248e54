"""The program `gnomon`: words on a terminal in, words and an exit code out.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage. Answers go to stdout, errors to stderr, a line each.
"""

from __future__ import annotations

import sys

import typer

from gnomon import __version__
from gnomon.cli import db
from gnomon.errors import GnomonError, InvalidInput

FAILED, WRONG_USAGE = 1, 2

app = typer.Typer(
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="""Gnomon: cron as a service, a durable job queue and DAG workflows in one program.

Start here:

    gnomon db migrate    # make the database, or bring it up to this release
    gnomon db check      # may Gnomon run on it?

The database is the SQLite file `gnomon.db` in the current folder unless you say otherwise: with
`--database`, with GNOMON_DATABASE or DATABASE_URL in the environment, or in the file `gnomon.toml`.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
""",
)
app.add_typer(db.app, name="db")


@app.command()
def version() -> None:
    """Print the version of this program."""
    typer.echo(__version__)


@app.callback()
def gnomon() -> None:
    """Keeps `gnomon version` a command with a name, however few commands there are."""


def main() -> None:
    try:
        app()
    except GnomonError as error:
        typer.echo(f"gnomon: {' '.join(str(error).split())}", err=True)
        sys.exit(WRONG_USAGE if isinstance(error, InvalidInput) else FAILED)
