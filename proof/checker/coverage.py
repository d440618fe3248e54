"""What must have happened at least once, so that "nothing was wrong" means something."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from proof.checker.calendar.ledger import MISSED, decided_at
from proof.checker.calendar.targets import FOLD, GAP
from proof.checker.faults import DISK_FULL, DRAIN, LOST_REPLY
from proof.checker.history.events import Again, DagNode, Done, Elect, Expired, Refused, Released, Skip
from proof.checker.index import Index
from proof.checker.runs import Segment
from proof.checker.workflows.dags import ENDED

CATCH_UP_MIN = 100
LONG_LEASES = 3
RACE = timedelta(seconds=0.5)

# By name, how to count it.
COVERAGE: dict[str, Callable[[Index], int]] = {
    "refused completion": lambda index: sum(one.op not in ("beat", "renew") for one in index.of(Refused)),
    "claim answered again": lambda index: sum(one.op == "claim" for one in index.of(Again)),
    "expired lease": lambda index: len(index.of(Expired)),
    "leader change while a time is due": lambda index: _leader_changes(index),
    "lost reply to claim": lambda index: _lost_replies(index, "claim"),
    "lost reply to complete": lambda index: _lost_replies(index, "complete"),
    "lost reply to fire": lambda index: _lost_replies(index, "fire"),
    "lost reply to submit": lambda index: _lost_replies(index, "submit"),
    "job longer than three leases": lambda index: sum(_is_long(index, one) for _, one in index.segments()),
    "overlap skip": lambda index: sum(skip.why == "overlap" for skip in index.of(Skip)),
    "catch-up of more than 100 times": lambda index: _catch_ups(index),
    "cancel while running": lambda index: sum(one.cancel is not None for _, one in index.segments()),
    "join raced by two parents": lambda index: _races(index),
    "drain with leftovers": lambda index: _leftovers(index),
    "DST gap": lambda index: sum(
        due.shift == GAP and due.outcomes > 0 for ledger in index.ledgers.values() for due in ledger.dues
    ),
    "DST overlap": lambda index: sum(
        due.shift == FOLD and due.outcomes > 0 for ledger in index.ledgers.values() for due in ledger.dues
    ),
    "disk full during complete": lambda index: _disk_full(index),
}


def coverage_of(index: Index) -> dict[str, int]:
    return {name: count(index) for name, count in COVERAGE.items()}


def _lost_replies(index: Index, op: str) -> int:
    return sum(fault.kind == LOST_REPLY and fault.op == op for fault in index.faults.all)


def _leader_changes(index: Index) -> int:
    """Changes of a leader between a due time and its decision."""
    waits = [(fire.due, fire.db) for fires in index.fires.values() for fire in fires if fire.db is not None]
    changes = 0
    terms: dict[str, int] = {}
    for elect in sorted(index.of(Elect), key=lambda event: event.n):
        is_change = terms.setdefault(elect.scope, elect.term) != elect.term
        terms[elect.scope] = elect.term
        if is_change and elect.db is not None:
            changes += any(due <= elect.db <= fired for due, fired in waits)
    return changes


def _is_long(index: Index, segment: Segment) -> bool:
    end = segment.end
    if not isinstance(end, Done) or end.db is None or segment.claim.db is None:
        return False
    return end.db - segment.claim.db > LONG_LEASES * index.parameters.lease


def _catch_ups(index: Index) -> int:
    """Decisions that found more than so many times of one job to be due."""
    count = 0
    for job, fires in index.fires.items():
        found: dict[object, int] = {}
        for fire in fires:
            found[decided_at(fire)] = found.get(decided_at(fire), 0) + 1
        for skip in index.skips.get(job, ()):
            if skip.why in MISSED:
                found[decided_at(skip)] = found.get(decided_at(skip), 0) + skip.count
        count += sum(times > CATCH_UP_MIN for times in found.values())
    return count


def _races(index: Index) -> int:
    """Tasks of which two parents ended at nearly the same time, in two transactions."""
    count = 0
    for replay in index.replays.values():
        last: dict[str, DagNode] = {}
        for event in replay.dag.told:
            if not isinstance(event, DagNode) or event.state not in ENDED:
                continue
            for child in replay.plan.children.get(event.node, ()):
                before = last.get(child)
                last[child] = event
                if before is not None and before.tx != event.tx and before.when and event.when:
                    count += event.when - before.when <= RACE
    return count


def _leftovers(index: Index) -> int:
    drained = {fault.target for fault in index.faults.all if fault.kind == DRAIN}
    return sum(isinstance(one.end, Released) and one.claim.holder in drained for _, one in index.segments())


def _disk_full(index: Index) -> int:
    """Runs that were with a worker when the disk was full, and are done."""
    faults = [fault for fault in index.faults.all if fault.kind == DISK_FULL]
    return sum(
        isinstance(one.end, Done)
        and one.end.db is not None
        and one.claim.db is not None
        and one.claim.db < fault.begin < one.end.db
        for fault in faults
        for _, one in index.segments()
    )
