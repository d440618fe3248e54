"""`gnomon login`: keep a server and its key for later."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

import typer

from gnomon.cli.output.terminal import say, secret
from gnomon.cli.session.options import chosen
from gnomon.cli.session.profiles import SERVER_DEFAULT, names_the_key, write_profile
from gnomon.cli.session.session import KeyOption, ProfileOption, ServerOption
from gnomon.client.remote.server import Server
from gnomon.client.remote.wire import ServerAddress


def login(
    server: ServerOption = None,
    key: KeyOption = None,
    profile: ProfileOption = None,
    check: Annotated[bool, typer.Option(help="Try the key before it is kept.")] = True,
) -> None:
    """Keep a server and its API key in the profile file, which is for you alone (0600).

    Without `--key` and GNOMON_KEY it asks for the key, or reads it from stdin, so that it is in no history.

    Examples:
    ```
    gnomon login --server https://gnomon.example:8484
    gnomon login --profile staging --server https://staging.example:8484 < key.txt
    ```
    """
    settings, found = chosen(server=server, key=key, profile=profile)
    given = settings.key or (secret("API key") if sys.stdin.isatty() else sys.stdin.readline())
    address = ServerAddress(settings.server or SERVER_DEFAULT, given.strip())
    address.check()
    if check:
        with Server(address) as connected, names_the_key(address.url, replace(settings, key=given), found):
            connected.get("/v1/jobs", limit=1)
    say(f"Kept in {write_profile(settings.profile, address)} as {settings.profile!r}.")
