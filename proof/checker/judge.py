"""The judge: every invariant over one history, what happened often enough, and one verdict."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from proof.checker.calendar.targets import tzdata_version
from proof.checker.coverage import COVERAGE, coverage_of
from proof.checker.faults import FOREVER
from proof.checker.history.events import AnyEvent, Event, SchedSet
from proof.checker.index import Index, index_of, stories
from proof.checker.invariants import (
    calendar,
    effects,
    leadership,
    leases,
    liveness,
    policies,
    punctual,
    queue,
    retries,
    stopping,
    submitted,
    well_formed,
    workflows,
)
from proof.checker.parameters import Parameters
from proof.checker.verdict import Findings, Outcome, Told, Verdict, Violation

AROUND = 5
TOLD_MAX = 100

Invariant = Callable[[Index], Findings]

# In the order in which they are told. T (tenants and limits) comes with what it judges.
INVARIANTS: dict[str, Invariant] = {
    "W1": well_formed.w1,
    "W2": well_formed.w2,
    "W3": well_formed.w3,
    "S1": submitted.s1,
    "S2": submitted.s2,
    "S3": submitted.s3,
    "S4": submitted.s4,
    "S5": submitted.s5,
    "C1": calendar.c1,
    "C2": calendar.c2,
    "C3": calendar.c3,
    "C4": punctual.c4,
    "C5": punctual.c5,
    "C6": policies.c6,
    "C7": policies.c7,
    "C8": calendar.c8,
    "C9": calendar.c9,
    "C10": punctual.c10,
    "Q1": queue.q1,
    "Q2": queue.q2,
    "Q3": queue.q3,
    "Q4": queue.q4,
    "Q5": queue.q5,
    "L1": leases.l1,
    "L2": leases.l2,
    "L3": leases.l3,
    "L4": leases.l4,
    "L5": leases.l5,
    "L6": leases.l6,
    "L7": leases.l7,
    "L8": leases.l8,
    "L9": leases.l9,
    "L10": leases.l10,
    "L11": leases.l11,
    "E1": effects.e1,
    "E2": effects.e2,
    "E3": effects.e3,
    "E4": effects.e4,
    "E5": effects.e5,
    "R1": retries.r1,
    "R2": retries.r2,
    "R3": retries.r3,
    "R4": retries.r4,
    "R5": retries.r5,
    "R6": retries.r6,
    "R7": retries.r7,
    "D1": leadership.d1,
    "D2": leadership.d2,
    "D3": leadership.d3,
    "D4": leadership.d4,
    "D5": leadership.d5,
    "G1": workflows.g1,
    "G2": workflows.g2,
    "G3": workflows.g3,
    "G4": workflows.g4,
    "G5": workflows.g5,
    "G6": workflows.g6,
    "G7": workflows.g7,
    "G8": workflows.g8,
    "X1": stopping.x1,
    "X2": stopping.x2,
    "X3": stopping.x3,
    "V1": liveness.v1,
    "V2": liveness.v2,
    "V3": liveness.v3,
}


def check(
    events: Sequence[AnyEvent],
    parameters: Parameters | None = None,
    *,
    coverage_min: int = 1,
    without: Collection[str] = (),
) -> Verdict:
    """Judge a history. `without` names what this campaign could not make happen."""
    return judge(index_of(events, parameters), coverage_min=coverage_min, without=without)


def judge(index: Index, *, coverage_min: int = 1, without: Collection[str] = ()) -> Verdict:
    assert set(without) <= COVERAGE.keys()
    findings = [invariant(index) for invariant in INVARIANTS.values()]
    violations = [violation for one in findings for violation in one.violations]
    coverage = coverage_of(index)
    missing = _doubts(index) + [
        f"{name}: seen {count} times, {coverage_min} needed."
        for name, count in coverage.items()
        if count < coverage_min and name not in without
    ]
    outcome = Outcome.INVALID if violations else Outcome.UNKNOWN if missing else Outcome.VALID
    return Verdict(outcome, findings, _tell(index, violations), coverage, missing, len(index.events))


def _doubts(index: Index) -> list[str]:
    """What keeps the checker from being sure, whatever happened."""
    doubts = []
    if index.read_at is None:
        doubts.append("there is no final read, so nothing was ever owed.")
    doubts += [
        f"the fault {fault.kind} of {fault.target} never ended, so little was owed after it."
        for fault in index.faults.all
        if fault.end_for_others == FOREVER
    ]
    known = {spec.tzdata for spec in index.of(SchedSet) if spec.cron is not None and spec.tzdata is not None}
    if known - {tzdata_version()}:
        doubts.append(
            f"time zones are those of tzdata {', '.join(sorted(known))}, and here is {tzdata_version()}."
        )
    return doubts


def _tell(index: Index, violations: Sequence[Violation]) -> list[Told]:
    """The first of them, each with the events of its entity that stand around it."""
    if not violations:
        return []
    known = stories(index)
    return [Told(one, _around(known.get(one.entity, []), one.event)) for one in violations[:TOLD_MAX]]


def _around(story: Sequence[Event], event: Event | None) -> Sequence[Event]:
    place = next((n for n, one in enumerate(story) if one is event), None)
    if place is None:
        return [event] if event is not None else story[:AROUND]
    begin = max(0, min(place - AROUND // 2, len(story) - AROUND))
    return story[begin : begin + AROUND]
