"""V: nothing stands still."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from datetime import datetime, timedelta
from itertools import pairwise

from proof.checker.history.events import Act, Claim, Elect, Heal, Up
from proof.checker.index import Index
from proof.checker.invariants.workflows import when_stuck
from proof.checker.verdict import Findings

LEASES_MAX = 10
STUCK_AFTER = timedelta(seconds=60)
# A process waits half a minute for an answer of the database, however short the leases are, and may have
# asked just before the faults were over. It tells every few seconds that it lives.
SILENT_MAX = timedelta(seconds=35)


def v1(index: Index) -> Findings:
    """After the faults are over, every process goes on by itself."""
    found = Findings("V1")
    read_at = index.read_at
    if read_at is None or not index.of(Heal):
        return found
    signs = _signs(index)
    for heal in index.of(Heal):
        if heal.when is None:
            continue
        until = heal.when + max(index.parameters.recovered_after, SILENT_MAX)
        for up in index.of(Up):
            if up.when is None or up.when > heal.when or until > read_at:
                continue
            if index.faults.gone(up.src, until):
                continue
            found.checked += 1
            place = bisect_left(signs[up.src], heal.when)
            if place == len(signs[up.src]) or signs[up.src][place] > until:
                found.add(f"source {up.src}", "it gave no sign of life after all was healed.", up)
    return found


def _signs(index: Index) -> dict[str, list[datetime]]:
    """When each process did something: by its own account, or by that of the store."""
    signs: dict[str, list[datetime]] = defaultdict(list)
    for event in index.events:
        if event.when is None:
            continue
        signs[event.src].append(event.when)
        if isinstance(event, Claim):
            signs[event.holder].append(event.when)
        elif isinstance(event, Elect | Act):
            signs[event.who].append(event.when)
    for times in signs.values():
        times.sort()
    return signs


def v2(index: Index) -> Findings:
    """No run stays with a worker for long without a sign, while there is a database to give it to."""
    found = Findings("V2")
    longest = LEASES_MAX * index.parameters.lease
    for run, segment in index.segments():
        signs = [row.db for row in (segment.claim, *segment.beats) if row.db is not None]
        end = segment.end
        last = end.db if end is not None else index.read_at
        if last is not None:
            signs.append(last)
        found.checked += 1
        for before, after in pairwise(signs):
            if after - before <= longest:
                continue
            silent = after - before - index.faults.outage(before, after)
            if silent > longest:
                message = f"it ran for {silent.total_seconds():.0f} s without a sign."
                found.add(run.entity, message, segment.claim)
                break
    return found


def v3(index: Index) -> Findings:
    """A run of a workflow that waits for nobody goes on."""
    found = Findings("V3")
    read_at = index.read_at
    for replay in index.replays.values() if read_at is not None else ():
        found.checked += 1
        since = when_stuck(index, replay)
        if since is not None and read_at is not None and since + STUCK_AFTER < read_at:
            found.add(
                replay.dag.entity, "nothing of it is under way, and it has not ended.", replay.dag.told[-1]
            )
    return found
