"""C6 and C7: what the misfire and the overlap policy say is what becomes of a due time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise

from proof.checker.calendar.ledger import MISSED, Due, Ledger, decided_at
from proof.checker.faults import FOREVER
from proof.checker.history.events import CancelOk, Fire, Skip
from proof.checker.index import Index
from proof.checker.runs import Run
from proof.checker.verdict import Findings

# The live runs of a job are counted a moment before the decision: that long, if nothing is broken.
COUNTED = timedelta(seconds=1)


def c6(index: Index) -> Findings:
    """Of the due times that were missed, those fire that the misfire policy names."""
    found = Findings("C6")
    for ledger in index.ledgers.values():
        for due in ledger.dues:
            for fire in due.fires:
                found.checked += 1
                if due.may_fire and (why := ledger.expected(due, decided_at(fire))) is not None:
                    what = f"{due.at.isoformat()} fired; {due.spec.misfire} skips it as {why!r}."
                    found.add(f"job {ledger.job}", what, fire)
            for skip in due.skips:
                if skip.why in MISSED:
                    found.checked += 1
                    _check_missed(ledger, due, skip, found)
    return found


def _check_missed(ledger: Ledger, due: Due, skip: Skip, found: Findings) -> None:
    now, entity = decided_at(skip), f"job {ledger.job}"
    counts_anew = due.spec.every is not None and due.spec.misfire == "RESCHEDULE"
    if counts_anew:
        # All that is due goes along: it belongs to the count that ends here.
        is_missed = skip.due < now - timedelta(seconds=due.spec.grace)
        if not is_missed or skip.anchor is None or not skip.last <= skip.anchor <= now:
            found.add(
                entity, f"{due.at.isoformat()}: the interval was to count anew from the decision.", skip
            )
        return
    if not due.may_fire:
        return
    why = ledger.expected(due, now)
    if why != skip.why:
        expected = f"skips it as {why!r}" if why else "fires it"
        found.add(
            entity, f"{due.at.isoformat()} was skipped as {skip.why!r}; {due.spec.misfire} {expected}.", skip
        )


def c7(index: Index) -> Findings:
    """While a run is live, the overlap policy decides what another fire of its job does."""
    found = Findings("C7")
    for ledger in index.ledgers.values():
        runs = index.runs_of.get(ledger.job, [])
        fired = sorted((run for run in runs if isinstance(run.births[0], Fire)), key=_order)
        _check_fires(index, fired, found)
        _check_asked(index, runs, found)
        for due in ledger.dues:
            _check_due(index, ledger, due, runs, found)
    return found


def _counted(index: Index, decided: datetime) -> datetime:
    """Since when the runs may have been counted. The answer to a question may be long on its way."""
    since = decided - COUNTED
    is_healthy = index.faults.is_all_healthy(since, decided)
    return since if is_healthy else decided - index.parameters.recovered_after


def _check_due(index: Index, ledger: Ledger, due: Due, runs: list[Run], found: Findings) -> None:
    for skip in due.skips:
        if skip.why == "overlap":
            found.checked += 1
            if not _is_overlap(index, ledger, due, skip, runs):
                found.add(f"job {ledger.job}", "skipped for an overlap that was none.", skip)
    for fire in due.fires:
        if due.spec.overlap == "replace" and _is_replaced(ledger, due, decided_at(fire)):
            found.add(f"job {ledger.job}", f"{due.at.isoformat()} fired, and a later time was due.", fire)


def _order(run: Run) -> tuple[datetime, int]:
    assert run.run_at is not None
    return run.run_at, run.births[0].n


def _check_fires(index: Index, fired: list[Run], found: Findings) -> None:
    for earlier, later in pairwise(fired):
        if earlier.spec is None or earlier.spec is not later.spec or earlier.spec.overlap == "allow":
            continue
        found.checked += 1
        what = _conflict(index, earlier, later)
        if what is not None:
            found.add(f"job {later.job}", what, later.births[0])


def _check_asked(index: Index, runs: list[Run], found: Findings) -> None:
    """A fire under `skip` sees the runs that somebody asked for as well, unless they came a moment before."""
    live: list[Run] = []
    for run in sorted(runs, key=_born):
        birth = run.births[0]
        if isinstance(birth, Fire) and run.spec is not None and run.spec.overlap == "skip":
            live = [one for one in live if _ended(one) > _born(run) + index.parameters.clock]
            counted = _counted(index, decided_at(birth))
            seen = [one for one in live if _born(one) < counted]
            found.checked += bool(seen)
            if seen:
                found.add(f"job {run.job}", f"run {run.id} was fired while run {seen[0].id} was live.", birth)
        if not isinstance(birth, Fire):
            live.append(run)


def _born(run: Run) -> datetime:
    return run.births[0].db or FOREVER


def _conflict(index: Index, earlier: Run, later: Run) -> str | None:
    assert earlier.spec is not None
    slack = index.parameters.clock
    ended = _ended(earlier)
    claimed = later.segments[0].claim.db if later.segments else later.begun.db if later.begun else None
    match earlier.spec.overlap:
        case "skip":
            born = later.births[0].db
            if born is not None and ended > born + slack:
                return f"run {later.id} was fired while run {earlier.id} was live."
        case "queue":
            if claimed is not None and ended > claimed + slack:
                return f"run {later.id} was claimed before run {earlier.id} had ended."
        case "replace":
            asked = min(_asked(index, earlier), default=FOREVER)
            if claimed is not None and min(ended, asked) > claimed + slack:
                return f"run {later.id} was claimed, and run {earlier.id} was not asked to stop."
        case _:
            pass
    return None


def _asked(index: Index, run: Run) -> Iterator[datetime]:
    """When it was asked to stop. A run of a workflow is, by the act on the whole."""
    yield from (row.db for row in run.rows if isinstance(row, CancelOk) and row.db)
    replay = index.replays.get(run.id)
    yield from (stop.at for stop in replay.stops if stop.at) if replay is not None else ()


def _ended(run: Run) -> datetime:
    """For the first time. Who mends a run of a workflow does not ask what else is live."""
    return run.spans[0][1] if run.spans else FOREVER


def _is_overlap(index: Index, ledger: Ledger, due: Due, skip: Skip, runs: list[Run]) -> bool:
    now = decided_at(skip)
    if due.spec.overlap == "replace":
        return _is_replaced(ledger, due, now)
    if due.spec.overlap != "skip" or skip.db is None:
        return False
    since = min(due.at, _counted(index, now))
    return any(_is_live(run, since=since, until=skip.db) for run in runs)


def _is_replaced(ledger: Ledger, due: Due, now: datetime) -> bool:
    """A later one would replace it before it could start."""
    could = ledger.could_fire(due.spec)
    return bisect_right(could, now) > bisect_right(could, due.at)


def _is_live(run: Run, *, since: datetime, until: datetime) -> bool:
    return any(begin <= until and end >= since for begin, end in run.spans)
