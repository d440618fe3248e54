"""`make sim`, or `python -m proof.simulator`: simulated hours under faults, judged; failures made small."""

from __future__ import annotations

import secrets
import sys
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
from msgspec.structs import replace
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from gnomon.cli.output.terminal import Screen, say
from gnomon.errors import InvalidInput
from proof.simulator.judging.judge import Judgement, judge, uncovered
from proof.simulator.judging.many_worlds import Tally, judged
from proof.simulator.judging.shrinking import shrink
from proof.simulator.judging.tracing import trace_line
from proof.simulator.scenarios.scenario import Scenario, read_scenario, write_scenario
from proof.simulator.seeds.profiles import PROFILES, draw
from proof.simulator.world.world import World

REGRESSIONS = Path("tests/simulator/regressions")
SEED_MAX = 2**31
WRONG_SHOWN = 5
AROUND_SHOWN = 5
WRONG_USAGE = 2


app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def sim(
    seeds: Annotated[int, typer.Option(min=1, help="How many worlds.")] = 20,
    hours: Annotated[float, typer.Option(min=0.1, help="How long each of them lasts.")] = 0.5,
    profile: Annotated[str, typer.Option(help=f"What may go wrong: {', '.join(PROFILES)}.")] = "swarm",
    seed: Annotated[int | None, typer.Option(help="The first seed. Otherwise, chance decides.")] = None,
    replay: Annotated[str | None, typer.Option(metavar="SEED|FILE", help="Run one world again.")] = None,
    until: Annotated[float | None, typer.Option(metavar="SECONDS", help="With --replay: stop then.")] = None,
    trace: Annotated[bool, typer.Option("--trace", help="With --replay: tell every event.")] = False,
    processes: Annotated[int | None, typer.Option(min=1, help="As many as there are cores.")] = None,
    shrink_into: Annotated[
        Path, typer.Option("--shrink-into", metavar="FOLDER", help="Where a failure is kept, made small.")
    ] = REGRESSIONS,
) -> None:
    """Simulate Gnomon: the real scheduler, workers and SQL, in virtual time, with everything going wrong.

    A world follows from its seed: the same seed tells the same story. Ends with 1 if a promise was broken.

    Examples:
    ```
    python -m proof.simulator --seeds 100 --hours 0.5
    python -m proof.simulator --replay 81234 --until 1270 --trace
    make sim REPLAY=81234 UNTIL=1270 TRACE=1
    ```
    """
    console = Screen()
    if replay is not None:
        _replay(console, _scenario(replay, hours=hours, profile=profile), until=until, trace=trace)
        return
    first = secrets.randbelow(SEED_MAX) if seed is None else seed
    console.print(f"seeds {first} to {first + seeds - 1}, {hours:g} h each, profile {profile}")
    draw(first, hours=hours, profile=profile)  # A profile that does not exist is told before anything runs.
    failures = _campaign(console, range(first, first + seeds), hours, profile, processes)
    for failure in failures:
        _tell(console, failure, hours=hours)
    if failures:
        _keep_small(console, failures[0], shrink_into)
        raise typer.Exit(1)


def _campaign(
    console: Screen, seeds: range, hours: float, profile: str, processes: int | None
) -> list[Judgement]:
    tally, failures, began = Tally(), [], perf_counter()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("worlds", total=len(seeds))
        for one in judged(seeds, hours=hours, profile=profile, processes=processes):
            tally.add(one)
            progress.advance(task)
            if one.wrong:
                failures.append(one)
                progress.console.print(f"seed {one.scenario.seed}: {one.wrong[0]}", soft_wrap=True)
    seconds = perf_counter() - began
    console.print(
        f"{tally.hours:g} simulated hours in {timedelta(seconds=round(seconds))}, "
        f"{tally.hours / seconds * 60:.1f} a minute, {tally.hours / tally.cpu * 60:.1f} a minute per core; "
        f"{tally.runs} runs, {tally.faults} faults, {tally.events} events, {len(failures)} failures",
        soft_wrap=True,
    )
    missing = uncovered(tally.coverage)
    if missing and not failures:
        console.print(f"never seen: {', '.join(missing)}", soft_wrap=True)
    return failures


def _scenario(replay: str, *, hours: float, profile: str) -> Scenario:
    if replay.isdigit():
        return draw(int(replay), hours=hours, profile=profile)
    return read_scenario(Path(replay))


def _replay(console: Screen, scenario: Scenario, *, until: float | None, trace: bool) -> None:
    if until is not None:
        scenario = replace(scenario, seconds=until, healed_at=min(scenario.healed_at, until))
    if trace:
        world = World(scenario)
        world.on_event = lambda event: say(trace_line(event, scenario.start))
        say(f"history {world.run().digest}")
        return
    found = judge(scenario)
    console.print(f"seed {scenario.seed}: history {found.digest}", soft_wrap=True)
    if found.wrong:
        _tell(console, found, hours=scenario.hours)
        raise typer.Exit(1)
    console.print(f"{found.events} events, and nothing is wrong with them", soft_wrap=True)


def _tell(console: Screen, failure: Judgement, *, hours: float) -> None:
    scenario = failure.scenario
    console.print(
        f"\nSIM FAIL seed={scenario.seed} profile={scenario.profile} rules={','.join(sorted(failure.rules))}",
        soft_wrap=True,
    )
    for one in failure.wrong[:WRONG_SHOWN]:
        console.print(f"  {one}", soft_wrap=True, markup=False)
        for event in one.around[:AROUND_SHOWN]:
            console.print(f"    {trace_line(event, scenario.start)}", soft_wrap=True, markup=False)
    until = _latest(failure, scenario)
    console.print(
        f"replay: make sim REPLAY={scenario.seed} HOURS={hours:g} PROFILE={scenario.profile} "
        f"UNTIL={until:.0f} TRACE=1",
        soft_wrap=True,
    )


def _latest(failure: Judgement, scenario: Scenario) -> float:
    times = [event.when for event in failure.wrong[0].around if event.when is not None]
    return (max(times) - scenario.start).total_seconds() + 5 if times else scenario.seconds


def _keep_small(console: Screen, failure: Judgement, folder: Path) -> None:
    scenario = failure.scenario
    with console.status(f"making seed {scenario.seed} small"):
        small = shrink(scenario, failure.rules)
    path = folder / f"{'-'.join(sorted(failure.rules)).lower()}-{scenario.seed}.json"
    write_scenario(small, path)
    console.print(
        f"kept as {path}: {len(small.faults)} faults, {len(small.jobs)} jobs, {len(small.nodes)} nodes, "
        f"{small.seconds:.0f} s\nreplay: make sim REPLAY={path}",
        soft_wrap=True,
    )


def main() -> None:
    try:
        app(prog_name="python -m proof.simulator")
    except InvalidInput as error:
        say(str(error), err=True)
        sys.exit(WRONG_USAGE)


if __name__ == "__main__":
    main()
