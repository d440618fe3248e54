"""`gnomon workers`: what runs jobs, and how to keep it from taking more."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gnomon.cli.output.tables import Columns
from gnomon.cli.session.names import guessing_among, worker_names
from gnomon.cli.session.session import Limit, Talk, path_of, talks

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", help="List the workers, drain and undrain them."
)

WORKERS: Columns = {
    "WORKER": "worker_id",
    "STATUS": "status",
    "RUNNING": lambda one: f"{one['current_jobs']}/{one['capacity']}",
    "KINDS": "kinds",
    "QUEUES": "queues",
    "LAST SEEN": "last_heartbeat",
}

LIST = ("/v1/workers", "workers")

Worker = Annotated[
    str, typer.Argument(metavar="WORKER", help="The name of a worker.", autocompletion=worker_names)
]


@app.command("list")
@talks
def list_workers(talk: Talk, limit: Limit = None) -> None:
    """List the workers by name. DEAD: it sent no heartbeat for a minute, and did not say good-bye."""
    talk.show_list(*LIST, WORKERS, limit=limit)


@app.command()
@talks
def show(talk: Talk, worker: Worker) -> None:
    """Show a worker."""
    with guessing_among(talk.server, *LIST, worker, field="worker_id"):
        talk.show(talk.server.get(path_of("workers", worker)))


@app.command()
@talks
def drain(talk: Talk, worker: Worker) -> None:
    """Drain a worker: it takes nothing new. What it runs goes on, and its process; `undrain` undoes it."""
    _act(talk, worker, "drain")


@app.command()
@talks
def undrain(talk: Talk, worker: Worker) -> None:
    """Let a drained worker take work again."""
    _act(talk, worker, "undrain")


def _act(talk: Talk, worker: str, verb: str) -> None:
    with guessing_among(talk.server, *LIST, worker, field="worker_id"):
        answer: dict[str, Any] = talk.server.post(path_of("workers", worker, verb))
    talk.show_many([answer], WORKERS)
