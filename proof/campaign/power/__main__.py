"""`python -m proof.campaign.power`, or `make power-cuts`: cut the power under an SQLite file, many times."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer
from rich.progress import track

from proof.campaign.power.cuts import cuts, traced


def main(
    count: Annotated[int, typer.Option("--cuts", min=1, help="How many power cuts.")] = 200,
    calls: Annotated[int, typer.Option(min=10, help="How much work is done meanwhile.")] = 600,
    seed: Annotated[int | None, typer.Option(help="Which moments, and which sectors survive.")] = None,
) -> None:
    """Cut the power under an SQLite file, and look whether all that was acknowledged is still there.

    A process works on a file; every write and every sync of it is traced. Each cut is a moment of the trace:
    what was synced is there, and of the rest some sectors and others not. The exit code is 0 if every file
    can be read, is whole, and has lost nothing that was acknowledged.

    Example:

        python -m proof.campaign.power --cuts 200 --seed 7
    """
    seed = secrets.randbelow(10**6) if seed is None else seed
    steps = traced(calls)
    found = list(track(cuts(steps, count, seed=seed), total=count, description="cutting"))
    broken = [one for one in found if not one.is_clean]
    for one in broken[:10]:
        typer.echo(f"at step {one.step}: integrity {one.integrity}; lost {len(one.lost)}: {one.lost[:3]}")
    typer.echo(
        f"seed {seed}: {count} cuts in {len(steps)} steps; up to {found[-1].acknowledged} acknowledged;"
        f" lost {sum(len(one.lost) for one in found)};"
        f" integrity ok in {sum(one.integrity == 'ok' for one in found)}"
    )
    raise typer.Exit(1 if broken else 0)


if __name__ == "__main__":
    typer.run(main)
