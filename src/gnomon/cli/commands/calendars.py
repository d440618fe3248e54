"""`gnomon calendar`: dates on which schedules do not fire."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from gnomon.cli.files.job_options import read_text
from gnomon.cli.output.tables import Columns
from gnomon.cli.session.names import calendar_names, guess_names
from gnomon.cli.session.session import Limit, Session, Yes, confirm, path_of, with_session

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Calendars: named dates on which the schedules that name them do not fire.",
)

CALENDARS: Columns = {
    "NAME": "name",
    "DATES": "date_count",
    "VERSION": "version",
    "UPDATED": "updated_at",
}

LIST = ("/v1/calendars", "calendars")

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="The name of the calendar.", autocompletion=calendar_names),
]
Version = Annotated[
    int | None, typer.Option("--if-version", min=1, help="Only if it is still at this version.")
]


@app.command("list")
@with_session
def list_calendars(session: Session, limit: Limit = None) -> None:
    """List the calendars by name, with the number of their dates."""
    session.show_list(*LIST, CALENDARS, limit=limit)


@app.command()
@with_session
def show(session: Session, name: Name) -> None:
    """Show a calendar with its dates."""
    with guess_names(session.server, *LIST, name):
        session.show(session.server.get(path_of("calendars", name)))


@app.command("set")
@with_session
def set_dates(
    session: Session,
    name: Name,
    dates: Annotated[list[str] | None, typer.Argument(metavar="DATE...", help="Such as 2030-12-25.")] = None,
    file: Annotated[
        str | None, typer.Option("--file", "-f", metavar="FILE", help="One date a line; - is stdin.")
    ] = None,
    version: Version = None,
) -> None:
    """Make a calendar, or replace its dates.

    It counts for every fire time to come, also of jobs that name the calendar already. In a file, the rest of
    a line after `#` is a comment.

    Examples:
    ```
    gnomon calendar set holidays 2030-01-01 2030-12-25
    gnomon calendar set holidays -f holidays.txt
    ```
    """
    if not dates and file is None:
        raise typer.BadParameter("give dates, or a file of them with --file.", param_hint="DATE")
    words = [*(dates or ()), *_lines(file)]
    session.show(session.server.send("PUT", path_of("calendars", name), {"dates": words, "version": version}))


@app.command()
@with_session
def delete(session: Session, name: Name, version: Version = None, yes: Yes = False) -> None:
    """Delete a calendar. Refused while the schedule of a job or workflow names it. Asks first."""
    confirm(f"Delete the calendar {name}?", yes=yes)
    with guess_names(session.server, *LIST, name):
        session.show(session.server.delete(path_of("calendars", name), version=version))


def _lines(file: str | None) -> Iterator[str]:
    for line in read_text(file, field="--file").splitlines() if file is not None else ():
        word = line.partition("#")[0].strip()
        if word:
            yield word
