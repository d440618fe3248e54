"""`gnomon key`: who may call."""

from __future__ import annotations

from typing import Annotated

import typer

from gnomon.cli.showing import Columns
from gnomon.cli.talking import Limit, Talk, Yes, confirm, path_of, talks

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", help="API keys: who may call.")

KEYS: Columns = {
    "ID": "key_id",
    "NAME": "name",
    "SCOPES": "scopes",
    "VALID": "is_valid",
    "CREATED": "created_at",
    "EXPIRES": "expires_at",
    "REVOKED": "revoked_at",
}


@app.command()
@talks
def create(
    talk: Talk,
    name: Annotated[str, typer.Argument(help="What it is for.")],
    scopes: Annotated[
        list[str], typer.Option("--scope", help="admin, write, read or worker. Several are possible.")
    ],
    expires_at: Annotated[
        str | None, typer.Option("--expires-at", metavar="TIME", help="Until when it is valid, RFC 3339.")
    ] = None,
) -> None:
    """Make a key. Its text is shown now and never again.

    Examples:
    ```
    gnomon key create deploys --scope write
    gnomon key create "worker 7" --scope worker -o json | jq -r .key
    ```
    """
    form = {"name": name, "scopes": scopes, "expires_at": expires_at}
    talk.show(talk.server.post("/v1/keys", form))


@app.command("list")
@talks
def list_keys(talk: Talk, limit: Limit = None) -> None:
    """The keys, newest first, revoked and expired ones too. Never their text."""
    talk.show_list("/v1/keys", "keys", KEYS, limit=limit)


@app.command()
@talks
def revoke(
    talk: Talk, key_id: Annotated[str, typer.Argument(metavar="ID", help="Its id.")], yes: Yes = False
) -> None:
    """For good. Every node refuses it within ten seconds. Asks first."""
    confirm(f"Revoke the key {key_id}?", yes=yes)
    talk.show_many([talk.server.delete(path_of("keys", key_id))], KEYS)
