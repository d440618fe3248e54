"""Names of a server's jobs and workflows: completed while they are typed, and guessed when mistyped."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches

import click

from gnomon.cli.options import chosen
from gnomon.cli.profiles import address_of
from gnomon.client.remote.server import Server
from gnomon.errors import GnomonError

COMPLETION_SECONDS = 1.0  # The shell waits for so long at most.
NAMES_MAX = 1000
_ASKED = ("server", "key", "profile")


def name_filter(text: str | None) -> dict[str, str | None]:
    """What a list is asked for: a name, a beginning (`night*`) or a part (`*report*`) of one."""
    if not text or "*" not in (text[0], text[-1]) or not text.strip("*"):
        return {"name": text}
    return {"name_prefix" if text[0] != "*" else "name_contains": text.strip("*")}


def did_you_mean(server: Server, path: str, noun: str, word: str) -> str | None:
    """A sentence with the nearest name among the newest ones."""
    names = [one["name"] for one in server.pages(path, noun, limit=NAMES_MAX)]
    close = get_close_matches(word, names, n=1) or [name for name in names if name.lower() == word.lower()]
    return f"Did you mean {close[0]!r}?" if close else None


def completing(path: str, noun: str, field: str) -> Callable[[click.Context, str], list[str]]:
    """For the shell. Without a server or a key there are no proposals, and no words."""

    def proposals(ctx: click.Context, incomplete: str) -> list[str]:
        try:
            settings, _ = chosen(**{name: ctx.params.get(name) for name in _ASKED})
            with Server(address_of(settings), pauses=(), seconds_max=COMPLETION_SECONDS) as server:
                found = list(server.pages(path, noun, limit=NAMES_MAX, **_narrowed(field, incomplete)))
        except GnomonError:
            return []
        return [one[field] for one in found if one[field].startswith(incomplete)]

    return proposals


def _narrowed(field: str, incomplete: str) -> dict[str, str]:
    return {"name_prefix": incomplete} if field == "name" and incomplete.strip() else {}


job_names = completing("/v1/jobs", "jobs", "name")
dag_names = completing("/v1/dags", "dags", "name")
run_ids = completing("/v1/executions", "executions", "execution_id")
