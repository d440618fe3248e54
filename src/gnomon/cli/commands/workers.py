"""`gnomon workers`: what runs jobs, and how to keep it from taking more."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gnomon.cli.output.tables import Columns
from gnomon.cli.session.names import guess_names, worker_names
from gnomon.cli.session.session import Limit, Session, path_of, with_session

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
@with_session
def list_workers(session: Session, limit: Limit = None) -> None:
    """List the workers by name. DEAD: it sent no heartbeat for a minute, and did not say good-bye."""
    session.show_list(*LIST, WORKERS, limit=limit)


@app.command()
@with_session
def show(session: Session, worker: Worker) -> None:
    """Show a worker."""
    with guess_names(session.server, *LIST, worker, field="worker_id"):
        session.show(session.server.get(path_of("workers", worker)))


@app.command()
@with_session
def drain(session: Session, worker: Worker) -> None:
    """Drain a worker: it takes nothing new. What it runs goes on, and its process; `undrain` undoes it."""
    _act(session, worker, "drain")


@app.command()
@with_session
def undrain(session: Session, worker: Worker) -> None:
    """Let a drained worker take work again."""
    _act(session, worker, "undrain")


def _act(session: Session, worker: str, verb: str) -> None:
    with guess_names(session.server, *LIST, worker, field="worker_id"):
        answer: dict[str, Any] = session.server.post(path_of("workers", worker, verb))
    session.show_many([answer], WORKERS)
