"""`gnomon db`: make the database, change it, look at it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import typer

from gnomon.app import dialect_of, inspect, open_database
from gnomon.cli.output.exits import FAILED
from gnomon.cli.output.terminal import Screen, say
from gnomon.cli.session.options import Config, Database, chosen
from gnomon.errors import StoreRefused
from gnomon.settings import without_password
from gnomon.store.schema.migrations import AppliedMigration, is_newer, migrating, pending, unfit
from gnomon.store.schema.script import migration_script

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Make the database, bring it up to this release, and check whether Gnomon may run on it.",
)


@app.command()
def migrate(
    database: Database = None,
    config: Config = None,
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
    where = _where(database, config)
    asyncio.run(_print_script(where) if sql else _migrate(where))


@app.command()
def check(database: Database = None, config: Config = None) -> None:
    """Connect, print what is there, and say whether Gnomon may run on it. Changes nothing.

    Exit code 0 if it may, 1 if not.

    Examples:
    ```
    gnomon db check
    gnomon db check --database sqlite:///var/lib/gnomon/gnomon.db
    ```
    """
    asyncio.run(_check(_where(database, config)))


@dataclass(frozen=True, slots=True)
class _Where:
    """The database that was chosen, and where the choice came from."""

    url: str
    origin: str

    def __str__(self) -> str:
        return f"Database: {without_password(self.url)} (from {self.origin})"


def _where(database: str | None, config: str | None) -> _Where:
    settings, found = chosen(database=database, config=config)
    return _Where(settings.database, found.setting("database").origin)


async def _migrate(where: _Where) -> None:
    screen = _screen()
    screen.print(str(where))
    now = datetime.now(UTC)
    database = await open_database(where.url)
    try:
        count = 0
        async for migration in migrating(database, now=now):
            screen.print(f"{migration.number:04} {migration.name}: done")
            count += 1
        applied = await database.applied_migrations()
    finally:
        await database.close()
    screen.print(f"{count} migration(s) run." if count else _nothing_to_do(database.dialect, applied))


async def _print_script(where: _Where) -> None:
    found = await inspect(where.url)
    dialect = dialect_of(where.url)
    todo = pending(dialect, found.applied)
    if reason := unfit(dialect, found.applied):
        raise StoreRefused(reason)
    if not todo:
        say(f"-- {_nothing_to_do(dialect, found.applied)}")
        return
    say(migration_script(dialect, todo, now=datetime.now(UTC)), nl=False)


async def _check(where: _Where) -> None:
    screen = _screen()
    screen.print(str(where))
    found = await inspect(where.url)
    screen.print(f"Server: {found.server}")
    screen.print(f"Schema: {_schema(found.applied)}")
    for reason in found.refusals:
        screen.print(f"Refused: {reason}")
    if found.refusals:
        raise typer.Exit(FAILED)
    screen.print("Gnomon may run on this database.")


def _nothing_to_do(dialect: str, applied: Sequence[AppliedMigration]) -> str:
    if is_newer(dialect, applied):
        return f"Nothing to do: the schema is a later release's ({_schema(applied)}), and fits this one."
    return "Nothing to do: the schema is up to date."


def _schema(applied: Sequence[AppliedMigration]) -> str:
    return f"at {applied[-1].number:04} ({applied[-1].name})" if applied else "none yet"


def _screen() -> Screen:
    """Plain lines: paths and reasons are for copying, so nothing is wrapped, coloured or read as markup."""
    return Screen(soft_wrap=True, markup=False, highlight=False, emoji=False)
