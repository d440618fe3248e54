"""`gnomon workers`: what runs jobs, and how to keep it from taking more."""

from __future__ import annotations

from typing import Annotated

import typer

from gnomon.cli.showing import Columns
from gnomon.cli.talking import Limit, Talk, path_of, talks

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

Worker = Annotated[str, typer.Argument(metavar="WORKER", help="The name of a worker.")]


@app.command("list")
@talks
def list_workers(talk: Talk, limit: Limit = None) -> None:
    """List the workers by name. DEAD: it sent no heartbeat for a minute, and did not say good-bye."""
    talk.show_list("/v1/workers", "workers", WORKERS, limit=limit)


@app.command()
@talks
def show(talk: Talk, worker: Worker) -> None:
    """Show a worker."""
    talk.show(talk.server.get(path_of("workers", worker)))


@app.command()
@talks
def drain(talk: Talk, worker: Worker) -> None:
    """Drain a worker: it takes nothing new. What it runs goes on, and its process; `undrain` undoes it."""
    talk.show_many([talk.server.post(path_of("workers", worker, "drain"))], WORKERS)


@app.command()
@talks
def undrain(talk: Talk, worker: Worker) -> None:
    """Let a drained worker take work again."""
    talk.show_many([talk.server.post(path_of("workers", worker, "undrain"))], WORKERS)
