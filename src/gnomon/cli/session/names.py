"""Names of a server's jobs and workflows: completed while they are typed, and guessed when mistyped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches

import typer

from gnomon.cli.session.options import chosen
from gnomon.cli.session.profiles import address_of
from gnomon.client.remote.server import Server
from gnomon.errors import GnomonError, ServerRefused

COMPLETION_SECONDS = 1.0  # The shell waits for so long at most.
NAMES_MAX = 1000
NOT_FOUND = 404
_HAVE_AN_INDEX = ("/v1/jobs", "/v1/dags")
_ASKED = ("server", "key", "profile")
# The shell puts a proposal into the line as it is. Any other name would be words, a pattern or a command.
_PLAIN = re.compile(r"\w[\w@%+=:,./-]*")

Completion = Callable[[typer.Context, str], list[str]]


def name_filter(text: str | None) -> dict[str, str | None]:
    """What a list is asked for: a name, a beginning (`night*`) or a part (`*report*`) of one."""
    if not text or "*" not in (text[0], text[-1]) or not text.strip("*"):
        return {"name": text}
    return {"name_prefix" if text[0] != "*" else "name_contains": text.strip("*")}


def did_you_mean(server: Server, path: str, noun: str, word: str, *, field: str = "name") -> str | None:
    """A sentence with the nearest name among the newest ones."""
    return nearest(word, newest_names(server, path, noun, field=field))


def newest_names(server: Server, path: str, noun: str, *, field: str = "name") -> list[str]:
    return [one[field] for one in server.pages(path, noun, limit=NAMES_MAX)]


def nearest(word: str, names: Sequence[str]) -> str | None:
    close = get_close_matches(word, names, n=1) or [name for name in names if name.lower() == word.lower()]
    return f"Did you mean {close[0]!r}?" if close else None


@contextmanager
def guess_names(server: Server, path: str, noun: str, word: str, *, field: str = "name") -> Iterator[None]:
    """If what is named in this block does not exist, the error proposes the nearest name."""
    try:
        yield
    except ServerRefused as error:
        if error.http_status == NOT_FOUND:
            with_guess(error, did_you_mean(server, path, noun, word, field=field))
        raise


def with_guess(error: GnomonError, guess: str | None) -> GnomonError:
    if guess is not None:
        error.add_note(guess)
    return error


def completion_of(path: str, noun: str, field: str) -> Completion:
    """For the shell. Without a server or a key there are no proposals, and no words."""

    def proposals(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            settings, _ = chosen(**{name: ctx.params.get(name) for name in _ASKED})
            with Server(address_of(settings), pauses=(), seconds_max=COMPLETION_SECONDS) as server:
                found = list(server.pages(path, noun, limit=NAMES_MAX, **_narrowed(path, incomplete)))
        except GnomonError:
            return []
        words = dict.fromkeys(one[field] or "" for one in found)
        return [word for word in words if word.startswith(incomplete) and _PLAIN.fullmatch(word)]

    return proposals


def _narrowed(path: str, incomplete: str) -> dict[str, str]:
    return {"name_prefix": incomplete} if path in _HAVE_AN_INDEX and incomplete.strip() else {}


job_names = completion_of("/v1/jobs", "jobs", "name")
dag_names = completion_of("/v1/dags", "dags", "name")
run_ids = completion_of("/v1/executions", "executions", "execution_id")
dag_run_ids = completion_of("/v1/executions", "executions", "dag_run_id")
dead_run_ids = completion_of("/v1/dlq", "dead_letters", "execution_id")
calendar_names = completion_of("/v1/calendars", "calendars", "name")
worker_names = completion_of("/v1/workers", "workers", "worker_id")


def job_and_dag_names(ctx: typer.Context, incomplete: str) -> list[str]:
    return job_names(ctx, incomplete) + dag_names(ctx, incomplete)
