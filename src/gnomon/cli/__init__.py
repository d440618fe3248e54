"""The program `gnomon`: words on a terminal in, words and an exit code out.

Answers go to stdout, errors to stderr, a line each.
"""

from __future__ import annotations

import os
import sys

import typer

from gnomon import __version__
from gnomon.cli import (
    applying,
    backfills,
    check,
    config,
    dag_runs,
    dags,
    db,
    dead_letters,
    doctor,
    importing,
    jobs,
    keys,
    login,
    running,
    runs,
    sim,
    workers,
)
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
    gnomon login         # keep the key of a server, then: gnomon job list

The database is the SQLite file `gnomon.db` in the current folder unless you say otherwise: with
`--database`, with GNOMON_DATABASE or DATABASE_URL in the environment, or in the file `gnomon.toml`.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage, or a database that another process holds,
3 cannot be sure (yet), 4 not found, 5 no answer from the server, 6 no key, or one that does not do.
""",
)
app.command()(running.up)
app.command()(running.api)
app.command()(running.scheduler)
app.command()(running.worker)
app.command()(sim.sim)
app.command()(check.check)
app.command()(doctor.doctor)
app.command()(login.login)
app.command()(applying.apply)
app.command()(applying.export)
app.add_typer(jobs.app, name="job")
app.add_typer(runs.app, name="run")
app.add_typer(dags.app, name="dag")
app.add_typer(dag_runs.app, name="dag-run")
app.add_typer(backfills.app, name="backfill")
app.add_typer(dead_letters.app, name="dlq")
app.add_typer(workers.app, name="workers")
app.add_typer(keys.app, name="key")
app.add_typer(importing.app, name="import")
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
