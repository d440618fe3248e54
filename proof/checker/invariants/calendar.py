"""C1, C2, C3, C8, C9: every due time has one outcome, and nothing else does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from proof.checker.calendar.ledger import ENDED, MISSED, Due, Ledger
from proof.checker.faults import SCHEDULING
from proof.checker.history.events import Fire, Skip
from proof.checker.index import Index
from proof.checker.verdict import Findings

REASONS = frozenset({*MISSED, "overlap", "paused", "cancelled", "calendar", "dst_gap"})


def c1(index: Index) -> Findings:
    """Every due time that is long enough past has exactly one outcome, for a reason that holds."""
    found = Findings("C1")
    for ledger, due in _dues(index):
        found.checked += 1
        if due.outcomes == 0 and is_owed(index, ledger, due):
            found.add(_entity(ledger), f"{due.at.isoformat()} neither fired nor was skipped.", due.spec)
        elif due.outcomes > 1 and due.skips:
            found.add(_entity(ledger), f"{due.at.isoformat()} has {due.outcomes} outcomes.", due.skips[-1])
        elif due.fires and due.is_closed:
            found.add(_entity(ledger), f"{due.at.isoformat()} fired on a closed date.", due.fires[0])
    for ledger in index.ledgers.values():
        for skip, count in ledger.miscounted:
            found.add(_entity(ledger), f"a skip speaks for {skip.count} times; there are {count}.", skip)
        for due in ledger.dues:
            for skip in due.skips:
                if (what := _why_not(index, ledger, due, skip)) is not None:
                    found.add(_entity(ledger), what, skip)
    return found


def _why_not(index: Index, ledger: Ledger, due: Due, skip: Skip) -> str | None:
    """What is wrong with a reason that depends on the job alone."""
    if skip.why not in REASONS:
        return f"skipped for {skip.why!r}, which is no reason."
    if skip.why == "calendar" and not due.is_closed:
        return f"{due.at.isoformat()} was skipped for the calendar, which does not close it."
    if skip.why == "cancelled" and not _is_cancelled_after(index, ledger, skip):
        return f"{due.at.isoformat()} was skipped as cancelled, and the job goes on."
    return None


def _is_cancelled_after(index: Index, ledger: Ledger, skip: Skip) -> bool:
    """Who cancels decides about the due times first. If it dies between the two, the job goes on."""
    if skip.db is None or not index.faults.is_all_healthy(skip.db, skip.db):
        return True
    return any(spec.state in ENDED and spec.db is not None and spec.db >= skip.db for spec in ledger.specs)


def is_owed(index: Index, ledger: Ledger, due: Due) -> bool:
    """Whether there was time to decide about it before the final read."""
    known = index.parameters
    if index.read_at is None:
        return False
    allowed = known.tolerance_of(ledger.job) + known.forgiveness + known.recovered_after
    allowed += known.run_max_of(ledger.job, due.spec.timeout)
    return index.faults.recovered(SCHEDULING, due.at) + allowed <= index.read_at


def c2(index: Index) -> Findings:
    """A due time fires at most once, whoever fires it."""
    found = Findings("C2")
    for job, fires in index.fires.items():
        first: dict[object, Fire] = {}
        for fire in fires:
            found.checked += 1
            before = first.setdefault(fire.due, fire)
            if before is not fire:
                what = f"{fire.due.isoformat()} fired as run {before.run} and as run {fire.run}."
                found.add(f"job {job}", what, fire)
    return found


def c3(index: Index) -> Findings:
    """No time fires or is skipped that the revision in force does not name."""
    found = Findings("C3")
    for ledger in index.ledgers.values():
        for event in ledger.invented:
            found.add(_entity(ledger), f"{event.due.isoformat()} is no due time of the job.", event)
        for due in ledger.dues:
            for fire in due.fires:
                found.checked += 1
                if fire.rev != due.spec.rev:
                    what = f"{due.at.isoformat()} fired as revision {fire.rev}, not {due.spec.rev}."
                    found.add(_entity(ledger), what, fire)
                elif not _is_spread(due, fire):
                    what = f"{due.at.isoformat()} is held back by more than its jitter."
                    found.add(_entity(ledger), what, fire)
    return found


def _is_spread(due: Due, fire: Fire) -> bool:
    held_back = (fire.run_at or fire.due) - fire.due
    return timedelta(0) <= held_back <= timedelta(seconds=due.spec.jitter)


def c8(index: Index) -> Findings:
    """Where the clock on the wall jumps or repeats itself, the named policies decide, and nothing else."""
    found = Findings("C8")
    for ledger, due in _dues(index):
        if due.shift:
            found.checked += 1
            if due.lost and due.fires:
                what = f"{due.at.isoformat()} fired for a civil time that did not exist."
                found.add(_entity(ledger), what, due.fires[0])
            if due.outcomes == 0 and is_owed(index, ledger, due):
                found.add(_entity(ledger), f"{due.at.isoformat()} was left out at a shift.", due.spec)
        for skip in due.skips:
            # Everything else is a weaker reason, but for an interval that counts anew, which knows no gap.
            if (skip.why == "dst_gap") != bool(due.lost):
                what = f"{due.at.isoformat()} was skipped for {skip.why!r}; lost civil times: {due.lost}."
                found.add(_entity(ledger), what, skip)
    for ledger in index.ledgers.values():
        odd_days = {due.at.date() for due in ledger.dues if due.shift}
        for event in ledger.invented:
            if event.due.date() in odd_days:
                what = f"{event.due.isoformat()} has an outcome near a shift, and is no due time."
                found.add(_entity(ledger), what, event)
    return found


def c9(index: Index) -> Findings:
    """A paused job fires nothing, and only a paused job skips for it."""
    found = Findings("C9")
    slack = index.parameters.clock
    for ledger in index.ledgers.values():
        if all(spec.state == "ACTIVE" for spec in ledger.specs) and not _paused(ledger):
            continue
        for event in _written(index, ledger):
            if event.db is None:
                continue
            states = ledger.states_between(event.db - slack, event.db + slack)
            found.checked += 1
            if isinstance(event, Fire) and states == {"PAUSED"}:
                found.add(_entity(ledger), "it fired while it was paused.", event)
            elif isinstance(event, Skip) and event.why == "paused" and "PAUSED" not in states:
                found.add(_entity(ledger), "it skipped as paused, and was not.", event)
    return found


def _paused(ledger: Ledger) -> bool:
    return any(skip.why == "paused" for due in ledger.dues for skip in due.skips)


def _written(index: Index, ledger: Ledger) -> list[Fire | Skip]:
    return [*index.fires.get(ledger.job, ()), *index.skips.get(ledger.job, ())]


def _dues(index: Index) -> Iterator[tuple[Ledger, Due]]:
    for ledger in index.ledgers.values():
        for due in ledger.dues:
            yield ledger, due


def _entity(ledger: Ledger) -> str:
    return f"job {ledger.job}"
