"""X: cancelling, and how a worker leaves."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise

from proof.checker.faults import DRAIN, FOREVER, Fault
from proof.checker.history.events import CancelOk, Claim
from proof.checker.index import Index
from proof.checker.runs import Run, Segment
from proof.checker.verdict import Findings

NOTICE = timedelta(seconds=1)


def x1(index: Index) -> Findings:
    """A run that was asked to stop is not claimed again, is told within a heartbeat, and ends."""
    found = Findings("X1")
    for run in index.runs.values():
        asked: CancelOk | None = None
        for row in run.rows:
            if isinstance(row, CancelOk) and asked is None:
                asked = row
                found.checked += 1
            elif isinstance(row, Claim) and asked is not None:
                found.add(run.entity, "it was claimed after somebody cancelled it.", row)
        if asked is not None:
            _check_end(index, run, asked, found)
    return found


def _check_end(index: Index, run: Run, asked: CancelOk, found: Findings) -> None:
    known, read_at, since = index.parameters, index.read_at, asked.db
    segment = next((one for one in run.segments if one.cancel is asked), None)
    if since is None or read_at is None or segment is None:
        return
    ending, holder = run.ending, segment.claim.holder
    ended = ending.db if ending is not None and ending.db is not None else FOREVER
    to_tell = since + known.heartbeat + known.forgiveness
    told = [one.when for one in index.tolds.get(run.id, ()) if one.when is not None]
    was_told = any(when <= to_tell for when in told)
    if min(read_at, ended) > to_tell and index.faults.is_healthy(holder, since, to_tell) and not was_told:
        found.add(run.entity, "it was cancelled, and its handler was not told in time.", asked)
    to_end = since + known.grace + known.lease + known.reaper
    if read_at > to_end and index.faults.is_healthy(holder, since, to_end) and ended > to_end:
        found.add(run.entity, "it was cancelled, and did not end in time.", asked)


def x2(index: Index) -> Findings:
    """A worker that was asked to leave claims nothing more, and leaves nothing behind."""
    found = Findings("X2")
    for fault, segment, run in _drained(index):
        claim = segment.claim
        # A claim that was on its way, or whose answer got lost, may still be granted; it is given back.
        if claim.db is None or _other_fault(index, fault, claim.holder):
            continue
        found.checked += 1
        if claim.db > fault.begin + NOTICE:
            found.add(run.entity, f"claimed by {claim.holder}, which had been asked to leave.", claim)
            continue
        gone, end = index.faults.downs.get(claim.holder), segment.end
        if gone is None:
            continue
        ended = end.db if end is not None and end.db is not None else FOREVER
        known = index.parameters
        allowed = max(gone, segment.lease_until + known.reaper + known.forgiveness) + known.clock
        if ended > allowed and (index.read_at or gone) > allowed:
            found.add(run.entity, f"{claim.holder} left, and kept it.", claim)
    return found


def x3(index: Index) -> Findings:
    """A worker that leaves goes on beating until its last run has ended."""
    found = Findings("X3")
    known = index.parameters
    for fault, segment, run in _drained(index):
        end, holder = segment.end, segment.claim.holder
        if end is None or end.db is None or _other_fault(index, fault, holder):
            continue
        signs = [sign for row in (segment.claim, *segment.beats, end) if (sign := row.db) is not None]
        found.checked += 1
        for before, after in pairwise(signs):
            if after >= fault.begin and after - before > 2 * known.heartbeat + known.clock:
                silent = (after - before).total_seconds()
                found.add(run.entity, f"{holder} was leaving, and did not beat for {silent:.1f} s.", end)
                break
    return found


def _drained(index: Index) -> Iterator[tuple[Fault, Segment, Run]]:
    """Every hand-out to a worker that was asked to leave, unless it had ended before."""
    drains = [fault for fault in index.faults.all if fault.kind == DRAIN]
    for run, segment in index.segments() if drains else ():
        end = segment.end
        for fault in drains:
            is_over = end is not None and end.db is not None and end.db < fault.begin
            if fault.target == segment.claim.holder and not is_over:
                yield fault, segment, run


def _other_fault(index: Index, drain: Fault, holder: str) -> bool:
    """Whether something else went wrong with it while it left, or shortly before."""
    since, until = drain.begin - index.parameters.recovered_after, index.faults.downs.get(holder, drain.end)
    return any(fault is not drain and _overlap(fault, since, until) for fault in index.faults.on(holder))


def _overlap(fault: Fault, since: datetime, until: datetime) -> bool:
    return fault.begin <= until and fault.end >= since
