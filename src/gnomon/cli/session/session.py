"""Commands that talk to a server: the options that all of them take, and what they get for them."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints
from urllib.parse import quote
from uuid import UUID

import typer

from gnomon.cli.output.tables import Columns, Output, note, show_many, show_one
from gnomon.cli.output.terminal import Screen, ask
from gnomon.cli.session.names import (
    job_and_dag_names,
    job_names,
    nearest,
    newest_names,
    with_guess,
)
from gnomon.cli.session.options import chosen, option
from gnomon.cli.session.profiles import address_of, names_the_key
from gnomon.client.remote.server import Server
from gnomon.errors import DagNotFound, JobNotFound, NotFound

ServerOption = Annotated[str | None, option("server", "URL")]
KeyOption = Annotated[str | None, option("key", "KEY")]
ProfileOption = Annotated[str | None, option("profile", "NAME")]
OutputOption = Annotated[
    Output, typer.Option("--output", "-o", help="For people, or for programs.", case_sensitive=False)
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="How many at most.")]

Job = Annotated[
    str, typer.Argument(metavar="JOB", help="The name of a job, or its id.", autocompletion=job_names)
]
JobOrDag = Annotated[
    str,
    typer.Argument(
        metavar="JOB", help="The name of a job or workflow, or its id.", autocompletion=job_and_dag_names
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Only this name, those that begin with `night*`, or those with `*report*`."
    ),
]

LIMIT = 50
_JOBS = ("/v1/jobs", "jobs", "job_id")
_DAGS = ("/v1/dags", "dags", "dag_id")
_COMMON: Mapping[str, tuple[Any, Any]] = {
    "server": (ServerOption, None),
    "key": (KeyOption, None),
    "profile": (ProfileOption, None),
    "output": (OutputOption, Output.TABLE),
}


@dataclass(frozen=True, slots=True)
class Session:
    """A command's line to its server, and to the person who asked."""

    server: Server
    output: Output

    def show(self, answer: Mapping[str, Any]) -> None:
        show_one(answer, self.output)

    def show_many(self, rows: Sequence[Any], columns: Columns) -> None:
        show_many(rows, columns, self.output)

    def show_list(
        self, path: str, noun: str, columns: Columns, *, limit: int | None, **query: object
    ) -> None:
        """Up to `limit`, and a note if there are more."""
        limit = limit or LIMIT
        rows = list(self.server.pages(path, noun, limit=limit + 1, **query))
        show_many(rows[:limit], columns, self.output)
        if len(rows) > limit:
            note(f"there are more than these {limit}; ask for more with --limit.")

    def act(self, *path: str, body: object = None) -> None:
        """Call a verb of the server, and show what it answers."""
        self.show(self.server.post(path_of(*path), body))

    def job_id(self, word: str) -> str:
        """From a name or an id to an id. Raises JobNotFound."""
        return self._id_of(word, JobNotFound, _JOBS)

    def dag_id(self, word: str) -> str:
        """Raises DagNotFound."""
        return self._id_of(word, DagNotFound, _DAGS)

    def job_or_dag_id(self, word: str) -> str:
        """Of a job or of a workflow: where only its times and runs matter. Raises JobNotFound."""
        return self._id_of(word, JobNotFound, _JOBS, _DAGS)

    def job_path(self, word: str, *more: str) -> str:
        return path_of("jobs", self.job_id(word), *more)

    def job_or_dag_path(self, word: str, *more: str) -> str:
        return path_of("jobs", self.job_or_dag_id(word), *more)

    def dag_path(self, word: str, *more: str) -> str:
        return path_of("dags", self.dag_id(word), *more)

    def _id_of(self, word: str, missing: Callable[[str], NotFound], *lists: tuple[str, str, str]) -> str:
        if _is_id(word):
            return word
        for path, noun, id_field in lists:
            found = self.server.get(path, name=word)[noun]
            if found:
                return str(found[0][id_field])
        names = [name for path, noun, _ in lists for name in newest_names(self.server, path, noun)]
        raise with_guess(missing(word), nearest(word, names))

    @contextmanager
    def working(self, words: str) -> Iterator[None]:
        """A sign of life on a terminal, while something takes longer than a moment."""
        console = Screen(stderr=True)
        if not console.is_terminal:
            yield
            return
        with console.status(words):
            yield


def path_of(*parts: str) -> str:
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def _is_id(word: str) -> bool:
    try:
        return str(UUID(word)) == word.lower()
    except ValueError:
        return False


def with_session(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose first argument is a session. On the command line it has the common options instead."""
    hints = get_type_hints(command, include_extras=True)
    own = list(inspect.signature(command).parameters.values())[1:]

    @wraps(command)
    def with_options(
        *, server: str | None, key: str | None, profile: str | None, output: Output, **rest: Any
    ) -> None:
        settings, found = chosen(server=server, key=key, profile=profile)
        address = address_of(settings)
        with Server(address) as connected, names_the_key(address.url, settings, found):
            command(Session(connected, output), **rest)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [each.replace(kind=keyword, annotation=hints[each.name]) for each in own]
    parameters += [
        inspect.Parameter(name, keyword, annotation=annotation, default=default)
        for name, (annotation, default) in _COMMON.items()
    ]
    # What typer reads.
    del with_options.__wrapped__
    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_options


def confirm(question: str, *, yes: bool) -> None:
    """Ask on a terminal. Without a terminal, `--yes` is needed."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter("no terminal to ask on; pass --yes to confirm.", param_hint="--yes")
    ask(question)


Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def pause(seconds: float) -> None:
    """Between two looks at something that goes on elsewhere."""
    time.sleep(seconds)
