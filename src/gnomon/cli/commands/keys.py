"""`gnomon key`: who may call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from gnomon.app.lost_keys import key_in
from gnomon.cli.output.tables import Columns, Output, show_one
from gnomon.cli.session.options import chosen
from gnomon.cli.session.session import (
    KeyOption,
    Limit,
    OutputOption,
    ProfileOption,
    ServerOption,
    Session,
    Yes,
    confirm,
    path_of,
    with_session,
)
from gnomon.core.values.instants import instant_text, parse_instant

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", help="API keys: who may call.")

KEYS: Columns = {
    "ID": "key_id",
    "NAME": "name",
    "SCOPES": "scopes",
    "VALID": "is_valid",
    "CREATED": "created_at",
    "EXPIRES": "expires_at",
    "REVOKED": "revoked_at",
    "USED": "last_used_at",
    "MADE": "created_through",
}


InDatabase = Annotated[
    str | None,
    typer.Option(
        "--database", metavar="URL", help="Write it to this database directly. Needs no server and no key."
    ),
]


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="What it is for.")],
    scopes: Annotated[
        list[str],
        typer.Option("--scope", help="admin, write (runs code), read or worker. Several are possible."),
    ],
    expires_at: Annotated[
        str | None, typer.Option("--expires-at", metavar="TIME", help="Until when it is valid, RFC 3339.")
    ] = None,
    database: InDatabase = None,
    server: ServerOption = None,
    key: KeyOption = None,
    profile: ProfileOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Make an API key. Its text is shown now and never again.

    read: sees jobs, payloads, inputs, results and logs. write: also makes and changes jobs, which is the
    right to run code on the workers. worker: runs what it claims, and is given payloads of all tenants.
    admin: all of these, and keys.

    If the last admin key is lost, `--database` makes another one, for those who can write the database.

    Examples:
    ```
    gnomon key create deploys --scope write
    gnomon key create "worker 7" --scope worker -o json | jq -r .key
    gnomon key create rescue --scope admin --database gnomon.db
    ```
    """
    form = {"name": name, "scopes": scopes, "expires_at": expires_at}
    if database is None:
        _create_by_call(server=server, key=key, profile=profile, output=output, form=form)
    elif server or key or profile:
        raise typer.BadParameter(
            "writes to the database; leave out --server, --key and --profile.", param_hint="--database"
        )
    else:
        settings, _ = chosen(database=database)
        show_one(asyncio.run(_create_in(settings.database, form)), output)


@with_session
def _create_by_call(session: Session, form: Any) -> None:
    session.show(session.server.post("/v1/keys", form))


async def _create_in(url: str, form: Any) -> Mapping[str, Any]:
    """What the API would answer."""
    ends = form["expires_at"]
    until = None if ends is None else parse_instant(ends, field="expires_at")
    (key, text), now = await key_in(url, form["name"], form["scopes"], expires_at=until)
    return {
        "key_id": str(key.id),
        "name": key.name,
        "scopes": sorted(key.scopes),
        "created_at": instant_text(key.created_at),
        "expires_at": None if key.expires_at is None else instant_text(key.expires_at),
        "revoked_at": None,
        "last_used_at": None,
        "created_through": key.created_through,
        "is_valid": key.is_valid(now),
        "key": text,
    }


@app.command("list")
@with_session
def list_keys(session: Session, limit: Limit = None) -> None:
    """List the API keys: newest first, revoked and expired ones too. Never their text."""
    session.show_list("/v1/keys", "keys", KEYS, limit=limit)


@app.command()
@with_session
def revoke(
    session: Session, key_id: Annotated[str, typer.Argument(metavar="ID", help="Its id.")], yes: Yes = False
) -> None:
    """Revoke an API key for good. Every node refuses it within ten seconds. Asks first.

    The last valid admin key cannot be revoked.
    """
    confirm(f"Revoke the key {key_id}?", yes=yes)
    session.show_many([session.server.delete(path_of("keys", key_id))], KEYS)
