"""`gnomon tenant`: how much may run at once."""

from __future__ import annotations

from typing import Annotated

import typer

from gnomon.cli.session.session import Session, with_session

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", help="The tenant: how much may run at once."
)

NO_LIMIT = "none"


@app.command()
@with_session
def show(session: Session) -> None:
    """Show the tenant that the key belongs to, and its limit."""
    session.show(session.server.get("/v1/tenant"))


@app.command()
@with_session
def limit(
    session: Session,
    max_concurrent: Annotated[
        str, typer.Argument(metavar="NUMBER", help=f"How many runs at once, or `{NO_LIMIT}`.")
    ],
) -> None:
    """Limit how many runs there are at once, over all jobs and workers. What runs goes on.

    Examples:
    ```
    gnomon tenant limit 50
    gnomon tenant limit none
    ```
    """
    if max_concurrent != NO_LIMIT and not max_concurrent.isdecimal():
        raise typer.BadParameter(f"{max_concurrent!r} is neither a whole number nor `{NO_LIMIT}`.")
    form = {"max_concurrent": None if max_concurrent == NO_LIMIT else int(max_concurrent)}
    session.show(session.server.send("PUT", "/v1/tenant", form))
