"""W: the history itself is whole, and every run goes through states that exist."""

from __future__ import annotations

from collections import defaultdict

from proof.checker.history.events import (
    Abandoned,
    Beat,
    Cancelled,
    CancelOk,
    Claim,
    DagAgain,
    DagEnd,
    DagStart,
    Dead,
    Done,
    Event,
    Expired,
    Failed,
    OfRun,
    Released,
    name_of,
)
from proof.checker.index import Index
from proof.checker.runs import Run
from proof.checker.verdict import Findings

UNBORN, WAITING, RUNNING, ENDED = "unborn", "waiting", "running", "ended"
# From where each change of a run may come, and where it leads. Births are all other store events.
EDGES: dict[type[OfRun], tuple[frozenset[str], str]] = {
    Claim: (frozenset({WAITING}), RUNNING),
    Beat: (frozenset({RUNNING}), RUNNING),
    CancelOk: (frozenset({RUNNING}), RUNNING),
    Failed: (frozenset({RUNNING}), WAITING),
    Expired: (frozenset({RUNNING}), WAITING),
    Released: (frozenset({RUNNING}), WAITING),
    Done: (frozenset({RUNNING}), ENDED),
    Dead: (frozenset({RUNNING}), ENDED),
    Abandoned: (frozenset({RUNNING}), ENDED),
    Cancelled: (frozenset({WAITING, RUNNING}), ENDED),
    DagStart: (frozenset({WAITING}), RUNNING),
    DagEnd: (frozenset({RUNNING}), ENDED),
    DagAgain: (frozenset({ENDED}), RUNNING),
}
BIRTH = (frozenset({UNBORN}), WAITING)


def w1(index: Index) -> Findings:
    """Each source numbers its events without a gap, and its monotonic clock does not go back."""
    found = Findings("W1")
    sources: dict[str, list[Event]] = defaultdict(list)
    for event in index.events:
        sources[event.src].append(event)
    for source, events in sources.items():
        events.sort(key=lambda event: event.n)
        mono = float("-inf")
        for number, one in enumerate(events, start=1):
            if one.n != number:
                found.add(f"source {source}", f"event {number} is missing or written twice.", one)
                break
            if one.mono is not None:
                if one.mono < mono:
                    found.add(f"source {source}", "the monotonic clock went back.", one)
                mono = one.mono
        found.checked += len(events)
    return found


def w2(index: Index) -> Findings:
    """The versions of a run are 1, 2, 3 and so on, and each change is a step that the states allow."""
    found = Findings("W2")
    for run in index.runs.values():
        found.checked += len(run.rows)
        state = UNBORN
        for number, row in enumerate(run.rows, start=1):
            if row.v != number:
                found.add(run.entity, f"version {number} is missing or written twice.", row)
                break
            come_from, leads_to = EDGES.get(type(row), BIRTH)
            if state not in come_from:
                found.add(run.entity, f"`{name_of(row)}` while it was {state}.", row)
                break
            state = leads_to
    return found


def w3(index: Index) -> Findings:
    """Every run was made by exactly one event."""
    found = Findings("W3")
    for run in index.runs.values():
        found.checked += 1
        if len(run.births) != 1:
            found.add(run.entity, f"it was made by {len(run.births)} events.", _some_event(run))
    return found


def _some_event(run: Run) -> Event | None:
    return next(iter([*run.births[1:], *run.rows, *run.starts, *run.exits]), None)
