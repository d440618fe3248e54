"""G: what a run of a workflow does follows from its definition, and from nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from proof.checker.faults import EVERYTHING
from proof.checker.history.events import Claim, DagAct, Start
from proof.checker.index import Index
from proof.checker.verdict import Findings
from proof.checker.workflows.dag_state import REPAIRS, Stop
from proof.checker.workflows.dags import Plan
from proof.checker.workflows.replay import Replay


def _found(index: Index, rule: str) -> Findings:
    """What the replays of all runs say about one rule."""
    found = Findings(rule)
    for replay in index.replays.values():
        found.checked += replay.checked[rule]
        for problem in replay.problems:
            if problem.rule == rule:
                found.add(replay.dag.entity, problem.what, problem.event)
    return found


def g1(index: Index) -> Findings:
    """Nothing of a task is handed out before the runs that its trigger rule asks for have ended."""
    return _found(index, "G1")


def g2(index: Index) -> Findings:
    """A task begins once in a round, by the transaction that ends the last of what it waits for."""
    return _found(index, "G2")


def g3(index: Index) -> Findings:
    """A task begins, is skipped or is blocked exactly when its trigger rule says so."""
    return _found(index, "G3")


def g4(index: Index) -> Findings:
    """A task is given the results of accepted attempts, and of those that its release could see."""
    found = Findings("G4")
    for replay in index.replays.values():
        for name, expected in replay.given.items():
            for start in index.runs[name].starts:
                _check_inputs(replay, start, expected, found)
    return found


def _check_inputs(
    replay: Replay, start: Start, expected: Mapping[str, tuple[str, ...]], found: Findings
) -> None:
    for parent, marks in (start.inputs or {}).items():
        if parent not in expected:
            continue
        found.checked += 1
        wanted = expected[parent]
        item = replay.births[start.run].item
        if item is not None and len(marks) == 1 and "#" in marks[0]:
            wanted = tuple(f"{mark}#{item}" for mark in wanted)
        if marks != wanted:
            what = f"it was given {', '.join(marks)} of {parent!r}, not {', '.join(wanted)}."
            found.add(f"run {start.run}", what, start)


def g5(index: Index) -> Findings:
    """A task ends as its runs did; a run ends once, with its last task, and as its tasks make it."""
    return _found(index, "G5")


def g6(index: Index) -> Findings:
    """Of a run that was stopped nothing is handed out, and all of it ends; nor is of one that is paused."""
    found = _found(index, "G6")
    for replay in index.replays.values():
        for claim, birth in replay.claims:
            if any(_forbids(index, replay, stop, claim) for stop in _stops(index, replay)):
                what = f"{birth.node!r} was handed out after the run had been stopped."
                found.add(replay.dag.entity, what, claim)
        _check_stopped(index, replay, found)
    return found


def _stops(index: Index, replay: Replay) -> Iterator[Stop]:
    """Its own, and those of the runs around it: whoever stops a run stops all that is in it."""
    yield from replay.stops
    mended = max((event.n for event in replay.dag.told if _is_repair(event)), default=0)
    outer = index.replays.get(replay.dag.outer or "")
    while outer is not None:
        yield from (stop for stop in outer.stops if stop.n > mended)
        outer = index.replays.get(outer.dag.outer or "")


def _is_repair(event: object) -> bool:
    return isinstance(event, DagAct) and event.act in REPAIRS


def _forbids(index: Index, replay: Replay, stop: Stop, claim: Claim) -> bool:
    if not stop.n < claim.n < (stop.until or claim.n + 1) or stop.at is None or claim.db is None:
        return False
    birth = replay.births[claim.run]
    if birth.n > stop.n and replay.dag.start is not None and replay.dag.start.n > stop.n:
        return False  # An inner run that began in a later round of the outer one.
    return claim.db > stop.at + index.parameters.clock


def _check_stopped(index: Index, replay: Replay, found: Findings) -> None:
    known, read_at, stop = index.parameters, index.read_at, replay.stop
    if stop is None or stop.at is None or read_at is None:
        return
    found.checked += 1
    allowed = known.run_max + known.grace + known.recovered_after
    if replay.ended is None and index.faults.recovered(EVERYTHING, stop.at) + allowed < read_at:
        found.add(replay.dag.entity, "it was stopped, and has not ended.", stop.by)


def g7(index: Index) -> Findings:
    """A run stays on the revision that it was born with, however often its workflow is changed."""
    found = _found(index, "G7")
    for replay in index.replays.values():
        start = replay.dag.start
        if start is not None:
            found.checked += 1
            if start.rev != replay.plan.new.rev:
                what = f"it was made of revision {replay.plan.new.rev} and began with {start.rev}."
                found.add(replay.dag.entity, what, start)
    return found


def g8(index: Index) -> Findings:
    """A workflow that was accepted has no circle, and waits for nothing that it does not have."""
    found = Findings("G8")
    for (job, rev), plan in index.plans.items():
        found.checked += 1
        left = _left(plan)
        if left:
            names = ", ".join(repr(node) for node in sorted(left)[:5])
            found.add(f"job {job}", f"revision {rev}: {names} can never begin.", plan.new)
    return found


def _left(plan: Plan) -> set[str]:
    """The tasks that are left when those without parents are taken away, again and again."""
    waits = {node: set(edge.parents) for node, edge in plan.nodes.items()}
    free = [node for node, parents in waits.items() if not parents]
    while free:
        node = free.pop()
        del waits[node]
        for child in plan.children.get(node, ()):
            if child in waits and node in waits[child]:
                waits[child].discard(node)
                if not waits[child]:
                    free.append(child)
    return set(waits)


def when_stuck(index: Index, replay: Replay) -> datetime | None:
    """Since when nothing of a run moves that could, by itself; None if it has ended or waits for somebody."""
    is_live = any(run not in replay.ends for run in replay.births)
    waits = replay.held_at is not None or "HELD" in replay.states.values()
    if replay.ended is not None or not replay.states or is_live or waits:
        return None
    times = [event.when for event in replay.dag.told if event.when is not None]
    return index.faults.recovered(EVERYTHING, max(times)) if times else None
