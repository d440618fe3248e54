"""`make api-kills`: see tests/kills/killing.py."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.kills.killing import Kills
from tests.postgres import PostgresServer, bundled_server


def main() -> None:
    parser = argparse.ArgumentParser(prog="make api-kills")
    parser.add_argument("--rounds", type=int, default=100, help="half of them on each store")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    chosen = parser.parse_args()
    sys.stdout.write(f"seed {chosen.seed}\n")
    asyncio.run(_run(chosen.rounds // 2, chosen.seed))


async def _run(rounds: int, seed: int) -> None:
    with TemporaryDirectory() as folder:
        on_file = Kills(Path(folder), f"sqlite://{Path(folder) / 'gnomon.db'}", seed)
        await on_file.run(rounds=rounds)
        _tell("SQLite", on_file)
    with TemporaryDirectory() as folder, PostgresServer(bundled_server()) as server:
        url = await server.create_database("kills")
        on_server = Kills(Path(folder), url, seed, server=server)
        await on_server.run(rounds=rounds)
        _tell("PostgreSQL", on_server)


def _tell(store: str, kills: Kills) -> None:
    counts = (
        f"{kills.rounds} rounds, {kills.kills} kills, {len(kills.posts)} POSTs, {kills.struck} of them struck"
    )
    sys.stdout.write(f"{store}: {counts}; none lost, none doubled\n")


main()
