"""`gnomon doctor`: does everything hold in the store that must?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import typer

from gnomon.app.processes.opening import inspect, open_store
from gnomon.cli.output.exits import FAILED
from gnomon.cli.output.tables import Output, show_plain
from gnomon.cli.output.terminal import printable, say
from gnomon.cli.session.options import Config, Database, chosen
from gnomon.cli.session.session import OutputOption
from gnomon.core.explain.unrunnable import Stuck
from gnomon.store.operations.diagnosis import INVARIANTS, PATIENCE, SqlDiagnosis
from gnomon.store.operations.unrunnable import COUNT_MAX


def doctor(
    database: Database = None,
    config: Config = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Look at the store itself: each invariant by name, whether it holds, and what to do if not.

    Only reads. It walks over whole tables, so it may take a while. Exit code 1 if something does not hold.

    Examples:
    ```
    gnomon doctor
    gnomon doctor --database postgresql://gnomon@db.example/gnomon -o json
    ```
    """
    settings, _ = chosen(database=database, config=config)
    found = asyncio.run(_examine(settings.database))
    if output is Output.TABLE:
        _tell(found)
    else:
        show_plain(found, output)
    if not all(one["holds"] for one in found):
        raise typer.Exit(FAILED)


async def _examine(url: str) -> list[dict[str, Any]]:
    refusals = list((await inspect(url)).refusals)
    first = _finding("database", "Gnomon may run on this database.", " ".join(refusals), refusals)
    if refusals:  # Whatever else there is to say, it would be about another schema.
        return [first]
    store = await open_store(url)
    try:
        diagnosis, now = SqlDiagnosis(store.database), await store.clock()
        kept = [
            _finding(
                one.name, one.meaning, one.advice, [str(id) for id in await diagnosis.look(one, now=now)]
            )
            for one in INVARIANTS
        ]
        stuck = await store.reports.unrunnable.find(now=now, due_before=now - PATIENCE)
        return [first, *kept, _runnable(stuck)]
    finally:
        await store.close()


def _runnable(stuck: Sequence[Stuck]) -> dict[str, Any]:
    return _finding(
        "runnable",
        "What has been due for a minute, some live worker can run.",
        "Start a worker that has what is missing, or mend the jobs. gnomon run explain tells more.",
        [_in_words(one) for one in stuck],
    )


def _in_words(one: Stuck) -> str:
    count = f"{COUNT_MAX} or more" if one.count >= COUNT_MAX else str(one.count)
    lane = one.lane
    needs = f" with {', '.join(sorted(lane.capabilities))}" if lane.capabilities else ""
    return f"{count} of kind {lane.kind} in queue {lane.queue}{needs}: {one.told} First: {one.first}"


def _finding(name: str, meaning: str, advice: str, found: list[str]) -> dict[str, Any]:
    return {
        "name": name,
        "holds": not found,
        "meaning": meaning,
        "advice": advice if found else None,
        "found": found,
    }


def _tell(findings: list[dict[str, Any]]) -> None:
    for one in findings:
        say(f"{'ok   ' if one['holds'] else 'WRONG'} {one['name']}: {one['meaning']}")
        if not one["holds"]:
            say(f"      Do: {one['advice']}")
            for found in one["found"]:
                say(f"      Found: {printable(found)}")
