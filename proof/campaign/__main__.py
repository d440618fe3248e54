"""`python -m proof.campaign`, or `make campaign MINUTES=m`: the command line of the campaign."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.status import Status

from gnomon import __version__
from gnomon.store.protocols.changes import Applied
from proof.campaign import clock
from proof.campaign.campaign import Campaign, Options
from proof.campaign.cluster.nodes import FAKETIME
from proof.campaign.faults.disk import Disk, small_disk
from proof.campaign.faults.nemesis import Nemesis
from proof.campaign.opening import opened
from proof.campaign.plan import Fault, Kind, draw
from proof.campaign.report.report import Circumstances, Report, keep_circumstances, report_of
from proof.campaign.run import Tell, run
from tests.pooler import pgbouncer_program

LONG_MINUTES = 10
LEASE, SHORT_LEASE = 20.0, 5.0
FAULTS_A_MINUTE = 10
# What a kind of fault makes happen that nothing else does.
COVERS = {Kind.DISK_FULL: "disk full during complete", Kind.OUTAGE: "catch-up of more than 100 times"}

Minutes = Annotated[float, typer.Option(min=0.5, help="How long, with the quiet time at the end.")]
Seed = Annotated[int | None, typer.Option(help="What goes wrong, and when. The same seed, the same plan.")]
Lease = Annotated[
    float | None, typer.Option(help="Lease of the workers in seconds; by default 20, below 10 minutes 5.")
]
Rate = Annotated[float, typer.Option(help="How many runs a second the clients ask for.")]
Only = Annotated[str, typer.Option(metavar="KINDS", help=f"Only these faults, of: {', '.join(Kind)}.")]
Coverage = Annotated[
    int, typer.Option(min=0, help="How often each thing must have happened; 0: never mind, for a short one.")
]
Keep = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Keep histories and logs there.")]
Into = Annotated[Path | None, typer.Option("--report", metavar="FOLDER", help="Write the report there.")]
Again = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Run nothing; judge once more what was kept there.")
]


def main(
    minutes: Minutes = 5.0,
    seed: Seed = None,
    lease: Lease = None,
    rate: Rate = 10.0,
    only: Only = "",
    coverage: Coverage = 1,
    keep: Keep = None,
    report: Into = None,
    again: Again = None,
) -> None:
    """Break a real cluster on purpose for a while, and let the checker judge what it did.

    Three schedulers, four workers and two API nodes on a PostgreSQL, each behind a wire. They are killed,
    stopped, cut off, drained; clocks are set, the database restarts, its disk is full. Clients ask for work
    all the time, and ask again until they know. Then everything is healed, and after a quiet time it is read
    what is there: nothing acknowledged may be lost, nothing may have ended, fired or counted twice.

    The exit code is 0 if the checker is sure that all held and every limit was kept, else 1.

    Examples:
    ```
    python -m proof.campaign --minutes 5
    python -m proof.campaign --minutes 2 --seed 7 --only kill,pause --keep /tmp/broken
    python -m proof.campaign --again /tmp/broken
    make judge HISTORY=/tmp/broken/history SVG=pictures
    ```
    """
    folder = again or keep or Path(tempfile.mkdtemp(prefix="gnomon-campaign-"))
    if again is None:
        seed = secrets.randbelow(10**6) if seed is None else seed
        lease = lease or (LEASE if minutes >= LONG_MINUTES else SHORT_LEASE)
        _break(minutes, seed, lease, rate, only, coverage, folder)
    page = report_of(folder)
    _tell(page, report or folder)
    if again is None and keep is None and report is not None and page.is_clean:
        shutil.rmtree(folder)
    raise typer.Exit(0 if page.is_clean else 1)


def _break(
    minutes: float, seed: int, lease: float, rate: float, only: str, coverage: int, folder: Path
) -> None:
    """Run a campaign. What it leaves is in the folder."""
    clock.measure()
    with small_disk() as disk:
        skipped = _not_possible(disk)
        without = frozenset(skipped)
        if only:
            without = frozenset(Kind) - {Kind(word.strip()) for word in only.split(",")}
        quiet = _quiet(lease, minutes)
        options = Options(minutes * 60 - quiet, quiet, seed, lease, rate, folder, without)
        faults = draw(seed, seconds=options.seconds, lease=lease, without=without)
        skipped |= dict.fromkeys(without - skipped.keys(), "it was not asked for")
        if all(fault.kind is not Kind.OUTAGE for fault in faults):
            skipped[Kind.OUTAGE] = "the campaign is too short for it"
        campaign = asyncio.run(_run(options, disk, faults))
    command = f"make campaign MINUTES={minutes:g} SEED={seed}"
    keep_circumstances(folder, _circumstances(campaign, skipped, command, coverage))


def _quiet(lease: float, minutes: float) -> float:
    """Until the last fault is recovered from, and a job of three leases could run from then on."""
    return min(lease + 13 + 3.2 * lease + 30, minutes * 60 * 0.6)


def _not_possible(disk: Disk) -> dict[Kind, str]:
    skipped = {}
    if disk.why_not:
        skipped[Kind.DISK_FULL] = disk.why_not
    if FAKETIME is None:
        skipped[Kind.SKEW] = "there is no libfaketime here"
    if pgbouncer_program() is None:
        skipped[Kind.POOLER] = "there is no PgBouncer here"
    return skipped


async def _run(options: Options, disk: Disk, faults: Sequence[Fault]) -> Campaign:
    console = Console(stderr=True)
    console.print(
        f"Seed {options.seed}: {len(faults)} faults in {options.seconds:.0f} s. In {options.folder}"
    )
    with console.status("starting") as status:
        async with opened(options, disk) as campaign:
            await run(campaign, faults, _teller(status, len(faults)))
    return campaign


def _teller(status: Status, planned: int) -> Tell:
    began = time.monotonic()

    def tell(phase: str, nemesis: Nemesis, campaign: Campaign) -> None:
        acknowledged = sum(client.acknowledged for client in campaign.clients)
        up = sum(node.is_up for node in campaign.nodes.values())
        line = (
            f"{time.monotonic() - began:5.0f} s, {phase}: {nemesis.done.total()} of {planned} faults,"
            f" {nemesis.open} open, {up} processes up, {acknowledged} runs acknowledged"
        )
        status.update(line)
        if not status.console.is_terminal and int(time.monotonic() - began) % 30 == 0:
            status.console.print(line)

    return tell


def _circumstances(
    campaign: Campaign, skipped: Mapping[Kind, str], command: str, coverage: int
) -> Circumstances:
    options = campaign.options
    seconds = options.seconds + options.quiet
    facts = {
        "release": __version__,
        "time": f"{options.seconds:.0f} s of faults, {options.quiet:.0f} s of quiet",
        "seed": str(options.seed),
        "lease": f"{options.lease:g} s",
        "submissions without an answer, asked again": str(sum(one.unanswered for one in campaign.clients)),
        "every attempt replayed after the end": ", ".join(
            f"{count} {answer}" for answer, count in sorted(campaign.replayed.items())
        ),
        "boots that found no database and were started again": str(
            sum(node.false_starts for node in campaign.nodes.values())
        ),
        "processes that stood still, and nothing had stopped them": "; ".join(campaign.still.values())
        or "none",
        "wall clock of the machine moved by": f"{clock.drift().total_seconds():+.4f} s",
    }
    return Circumstances(
        command=command,
        lease=options.lease,
        faults_min=int(seconds / 60 * FAULTS_A_MINUTE) if seconds >= LONG_MINUTES * 60 else 1,
        coverage=coverage,
        stale_accepted=campaign.replayed[Applied.APPLIED],
        unexpected=campaign.unexpected,
        skipped={str(kind): why for kind, why in skipped.items()},
        not_covered=[COVERS[kind] for kind in skipped if kind in COVERS],
        facts=facts,
    )


def _tell(page: Report, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "campaign-report.md").write_text(page.markdown, encoding="utf-8")
    (folder / "campaign-report.html").write_text(page.html, encoding="utf-8")
    typer.echo(page.markdown)


if __name__ == "__main__":
    app = typer.Typer(pretty_exceptions_enable=False, add_completion=False, rich_markup_mode="markdown")
    app.command()(main)
    app(prog_name="python -m proof.campaign")
