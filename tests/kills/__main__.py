"""`make api-kills`: see tests/kills/killing.py. Ends with 1 if anything is lost or doubled."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import uvloop
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tests.kills.killing import Kills, drawn
from tests.kills.nursery import Nursery
from tests.kills.tally import Tally, Victim
from tests.postgres import PostgresServer, bundled_server

WRONG_SHOWN = 10

KillsOn = Callable[[int, Nursery], AbstractAsyncContextManager[Kills]]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make api-kills")
    parser.add_argument("--rounds", type=int, default=100, help="Kills, half of them on each store.")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32), help="When and whom to kill.")
    chosen = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 150, highlight=False)
    console.print(f"seed {chosen.seed}")
    return uvloop.run(_run(chosen.rounds, chosen.seed, console))


async def _run(rounds: int, seed: int, console: Console) -> int:
    """Both stores at a time: a node that starts keeps one processor busy, and others wait for it."""
    began = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Nursery() as nursery, Progress(*columns, console=console) as progress:

        async def half(kills_on: KillsOn, store: str, share: int) -> Tally:
            task = progress.add_task(store, total=share)
            async with kills_on(seed, nursery) as kills:
                victims = drawn(seed, rounds=share, with_server=kills.server is not None)
                await kills.run(victims, done=lambda: progress.advance(task))
            return kills.tally

        async with asyncio.TaskGroup() as halves:
            running = {
                "SQLite": halves.create_task(half(_on_file, "SQLite", rounds - rounds // 2)),
                "PostgreSQL": halves.create_task(half(_on_server, "PostgreSQL", rounds // 2)),
            }
    tallies = {store: half.result() for store, half in running.items()}
    for store, tally in tallies.items():
        console.print(_told(store, tally), soft_wrap=True)
    total = sum(tally.rounds for tally in tallies.values())
    lost = sum(len(tally.lost) for tally in tallies.values())
    doubled = sum(len(tally.doubled) for tally in tallies.values())
    took = timedelta(seconds=round(time.monotonic() - began))
    console.print(f"{total} rounds in {took}: lost {lost}, doubled {doubled} (seed {seed})")
    return 0 if all(tally.is_clean for tally in tallies.values()) else 1


@asynccontextmanager
async def _on_file(seed: int, nursery: Nursery) -> AsyncIterator[Kills]:
    with TemporaryDirectory() as folder:
        yield Kills(Path(folder), f"sqlite://{Path(folder) / 'gnomon.db'}", seed, nursery)


@asynccontextmanager
async def _on_server(seed: int, nursery: Nursery) -> AsyncIterator[Kills]:
    with TemporaryDirectory() as folder, PostgresServer(bundled_server()) as server:
        url = await server.create_database("kills")
        yield Kills(Path(folder), url, seed, nursery, server=server)


def _told(store: str, tally: Tally) -> str:
    kills = ", ".join(f"{victim} {tally.kills[victim]}" for victim in Victim if tally.kills[victim])
    unanswered = f"{tally.unanswered} unanswered ({tally.timed_out} of them timed out)"
    lines = [
        f"{store}: {tally.rounds} rounds; kills: {kills}",
        f"  {tally.posts} POSTs: {tally.acknowledged} acknowledged before the kill, {unanswered}",
        f"  {tally.retries} retries; {tally.done_unheard} found what was done before the kill",
        f"  lost {len(tally.lost)}, doubled {len(tally.doubled)}, refused {len(tally.refused)}",
        *[f"  lost: {name}, {job_id}" for name, job_id in sorted(tally.lost)[:WRONG_SHOWN]],
        *[f"  doubled: {name}, {job_id}" for name, job_id in sorted(tally.doubled)[:WRONG_SHOWN]],
        *[f"  refused: {what}" for what in tally.refused[:WRONG_SHOWN]],
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
