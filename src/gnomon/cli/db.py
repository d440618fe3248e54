"""`gnomon db`: make the database, change it, look at it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gnomon.app import dialect_of, inspect, open_database
from gnomon.settings import Setting, settings, without_password
from gnomon.store.migrate import AppliedMigration, migrating, pending
from gnomon.store.script import migration_script

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Make the database, bring it up to this release, and check whether Gnomon may run on it.",
)

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        help="`postgresql://user@host/name`, `sqlite:///path/to/file`, or the path of a file.",
    ),
]


@app.command()
def migrate(
    database: Database = None,
    sql: Annotated[
        bool, typer.Option("--sql", help="Print the SQL that would be run, and touch nothing.")
    ] = False,
) -> None:
    """Run the migrations that the database lacks. Safe to run twice, and by many at once.

    Examples:
    ```
    gnomon db migrate
    gnomon db migrate --database postgresql://gnomon@db.example/gnomon
    gnomon db migrate --sql > migration.sql    # for psql or sqlite3, by hand
    ```
    """
    chosen = _chosen(database)
    asyncio.run(_print_script(chosen) if sql else _migrate(chosen))


@app.command()
def check(database: Database = None) -> None:
    """Connect, print what is there, and say whether Gnomon may run on it. Changes nothing.

    Exit code 0 if it may, 1 if not.

    Examples:
    ```
    gnomon db check
    gnomon db check --database sqlite:///var/lib/gnomon/gnomon.db
    ```
    """
    asyncio.run(_check(_chosen(database)))


def _chosen(option: str | None) -> Setting:
    return settings(database=option, environment=os.environ, folder=Path.cwd()).database


async def _migrate(chosen: Setting) -> None:
    screen = _screen()
    screen.print(_where(chosen))
    now = datetime.now(UTC)
    database = await open_database(chosen.value)
    try:
        count = 0
        async for migration in migrating(database, now=now):
            screen.print(f"{migration.number:04} {migration.name}: done")
            count += 1
    finally:
        await database.close()
    screen.print(f"{count} migration(s) run." if count else "Nothing to do: the schema is up to date.")


async def _print_script(chosen: Setting) -> None:
    found = await inspect(chosen.value)
    dialect = dialect_of(chosen.value)
    todo = pending(dialect, found.applied)
    if not todo:
        typer.echo("-- Nothing to do: the schema is up to date.")
        return
    typer.echo(migration_script(dialect, todo, now=datetime.now(UTC)), nl=False)


async def _check(chosen: Setting) -> None:
    screen = _screen()
    screen.print(_where(chosen))
    found = await inspect(chosen.value)
    screen.print(f"Server: {found.server}")
    screen.print(f"Schema: {_schema(found.applied)}")
    for reason in found.refusals:
        screen.print(f"Refused: {reason}")
    if found.refusals:
        raise typer.Exit(1)
    screen.print("Gnomon may run on this database.")


def _where(chosen: Setting) -> str:
    return f"Database: {without_password(chosen.value)} (from {chosen.origin})"


def _schema(applied: Sequence[AppliedMigration]) -> str:
    return f"at {applied[-1].number:04} ({applied[-1].name})" if applied else "none yet"


def _screen() -> Console:
    """Plain lines: paths and reasons are for copying, so nothing is wrapped, coloured or read as markup."""
    return Console(soft_wrap=True, markup=False, highlight=False, emoji=False)
