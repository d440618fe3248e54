"""L: one holder at a time, proven by its token, and time plays no part in who that is."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

from proof.checker.faults import PAUSE
from proof.checker.history.events import (
    Beat,
    Birth,
    CancelOk,
    Change,
    Claim,
    Ending,
    Expired,
    Failed,
    Refused,
    Released,
    name_of,
)
from proof.checker.index import Index
from proof.checker.runs import Run
from proof.checker.verdict import Findings

TAKEN_BACK = frozenset({"lease_expired", "crash_loop"})  # Kinds of failures.
REAP_SLACK = timedelta(seconds=2)
PAUSES_MIN = 50


def l1(index: Index) -> Findings:
    """A run is claimed only while it waits."""
    found = Findings("L1")
    for run in index.runs.values():
        waits = False
        for row in run.rows:
            if isinstance(row, Claim):
                found.checked += 1
                if not waits:
                    found.add(run.entity, "it was claimed while it did not wait.", row)
                waits = False
            elif isinstance(row, Failed | Expired | Released | Birth):
                waits = True
            elif isinstance(row, Ending):
                waits = False
    return found


def l2(index: Index) -> Findings:
    """The token of a claim is larger than every token of that run before it."""
    found = Findings("L2")
    for run in index.runs.values():
        highest = 0
        for segment in run.segments:
            found.checked += 1
            if segment.claim.token <= highest:
                found.add(
                    run.entity, f"token {segment.claim.token} came after token {highest}.", segment.claim
                )
            highest = max(highest, segment.claim.token)
    return found


def l3(index: Index) -> Findings:
    """A change of a running run is accepted only with the token of its latest claim."""
    found = Findings("L3")
    for run in index.runs.values():
        token: int | None = None
        for row in run.rows:
            if isinstance(row, Claim):
                token = row.token
            elif isinstance(row, Beat | Change):
                found.checked += 1
                if row.token != token:
                    what = f"`{name_of(row)}` with token {row.token} was accepted; the holder's is {token}."
                    found.add(run.entity, what, row)
                if isinstance(row, Change):
                    token = None
    return found


def l4(index: Index) -> Findings:
    """A run is taken back only after its lease has run out."""
    found = Findings("L4")
    for run, segment in index.segments():
        end = segment.end
        if end is None or not _is_expiry(end) or end.db is None:
            continue
        found.checked += 1
        if segment.lease_until >= end.db + index.parameters.clock:
            early = (segment.lease_until - end.db).total_seconds()
            found.add(run.entity, f"taken back {early:.3f} s before its lease ran out.", end)
    return found


def _is_expiry(end: object) -> bool:
    return isinstance(end, Expired) or (isinstance(end, Change) and end.kind in TAKEN_BACK)


def l5(index: Index) -> Findings:
    """A healthy worker does not lose a run."""
    found = Findings("L5")
    for run, segment in index.segments():
        since, end = segment.asked_since(index.parameters.lease), segment.end
        if end is None or since is None or end.db is None:
            continue
        if not index.faults.is_healthy(segment.claim.holder, since, end.db):
            continue
        found.checked += 1
        if _is_expiry(end):
            found.add(run.entity, f"taken from {segment.claim.holder}, which was healthy.", end)
    return found


def l6(index: Index) -> Findings:
    """A healthy worker starts what it claims, or gives it back."""
    found = Findings("L6")
    read_at = index.read_at
    for run, segment in index.segments():
        claim, end = segment.claim, segment.end
        if claim.db is None or read_at is None:
            continue
        until = claim.db + index.parameters.lease
        since = min(claim.db, claim.lease_until - index.parameters.lease)
        if until > read_at or not index.faults.is_healthy(claim.holder, since, until):
            continue
        found.checked += 1
        is_given_back = isinstance(end, Released) or (end is not None and name_of(end) == "cancelled")
        if not is_given_back and all(start.token != claim.token for start in run.starts):
            found.add(run.entity, f"{claim.holder} claimed it and never started it.", claim)
    return found


def l7(index: Index) -> Findings:
    """What a dead worker held is taken back as soon as its lease has run out."""
    found = Findings("L7")
    known, read_at = index.parameters, index.read_at
    for run, segment in index.segments():
        since, end = segment.last_sign, segment.end
        if since is None or read_at is None:
            continue
        # A claim or a renewal that was long on its way may be granted when its lease has run out already. One
        # that is granted for longer than a lease is no excuse.
        ran_out = max(since, min(segment.lease_until, since + known.lease + known.clock))
        deadline = ran_out + known.reaper + REAP_SLACK
        ended = end.db if end is not None and end.db is not None else read_at
        if ended <= ran_out or not index.is_scheduled(ran_out, deadline):
            continue
        found.checked += 1
        if ended > deadline:
            late = (ended - ran_out).total_seconds()
            found.add(run.entity, f"its lease ran out, and for {late:.1f} s nobody took it back.", end)
    return found


def l8(index: Index) -> Findings:
    """Two attempts of a run overlap only if a fault held the first, which is then refused."""
    found = Findings("L8")
    for run in index.runs.values():
        if len(run.starts) < 2:
            continue
        held = {segment.claim.token: segment for segment in run.segments}
        starts = sorted(run.starts, key=lambda start: start.token)
        for earlier, later in pairwise(starts):
            segment = held.get(earlier.token)
            if segment is None or earlier.when is None or later.when is None:
                continue
            found.checked += 1
            # Who has let go of it is no second holder, if it told its handler to stop.
            has_let_go = isinstance(segment.end, Failed | Released) and _was_told(index, run, earlier.token)
            if has_let_go or _end(index, run, earlier.token) <= later.when:
                continue
            # It may have been held from the moment it got the run: between the answer and the first step.
            # What was over, with the time to recover, when it last renewed did not keep it from the next one.
            since = min(earlier.when, segment.claim.db or earlier.when)
            sign = segment.last_sign or since
            was_held = index.faults.open_on(earlier.src, since, later.when)
            if not was_held or index.faults.is_healthy(earlier.src, sign, later.when):
                found.add(run.entity, f"it ran twice at once, and {earlier.src} was not broken.", later)
            elif _came_back(index, run, earlier.token) and not _was_refused(index, run, earlier.token):
                found.add(run.entity, f"{earlier.src} came back with it and was not refused.", later)
    return found


def _end(index: Index, run: Run, token: int) -> datetime:
    """When an attempt was over: it said so, or its process was killed."""
    exits = [one.when for one in run.exits if one.token == token and one.when is not None]
    [start] = [one for one in run.starts if one.token == token][:1]
    assert start.when is not None
    return min([*exits, index.faults.killed(start.src, start.when)])


def _came_back(index: Index, run: Run, token: int) -> bool:
    """Whether who ran it lived on until it could tell somebody: nothing was broken, for long enough."""
    for one in run.exits:
        if one.token == token and one.when is not None:
            heard = index.faults.recovered(one.src, one.when)
            if heard < index.faults.killed(one.src, one.when):
                return True
    return False


def _was_told(index: Index, run: Run, token: int) -> bool:
    return any(one.token == token for one in index.tolds.get(run.id, ()))


def _was_refused(index: Index, run: Run, token: int) -> bool:
    return any(one.token == token for one in index.refused.get(run.id, ()))


def l9(index: Index) -> Findings:
    """Nothing of an older boot of a worker is accepted after a newer one has claimed."""
    found = Findings("L9")
    newest: dict[str, list[tuple[datetime, int]]] = {}
    claims = sorted((claim for claim in index.of(Claim) if claim.db), key=lambda claim: claim.db or 0)
    for claim in claims:
        boots = newest.setdefault(claim.worker, [])
        assert claim.db is not None
        if not boots or claim.boot > boots[-1][1]:
            boots.append((claim.db, claim.boot))
    for run, segment in index.segments():
        end = segment.end
        for row in [*segment.beats, *([end] if end is not None and not _is_expiry(end) else [])]:
            if row.db is None or isinstance(row, CancelOk):
                continue
            found.checked += 1
            after = [boot for since, boot in newest[segment.claim.worker] if since < row.db]
            if any(boot > segment.claim.boot for boot in after):
                what = f"`{name_of(row)}` of boot {segment.claim.boot} after a claim of boot {max(after)}."
                found.add(run.entity, what, row)
    return found


def l11(index: Index) -> Findings:
    """A worker that is well before and after an outage of the database keeps its work."""
    found = Findings("L11")
    for run, segment in index.segments():
        since, granted = segment.asked_since(index.parameters.lease), segment.last_sign
        end, holder = segment.end, segment.claim.holder
        if end is None or since is None or granted is None or end.db is None:
            continue
        if index.faults.is_healthy(holder, since, end.db) or not index.faults.is_well(holder, since, end.db):
            continue  # There was no outage, or more than that.
        if granted - since > index.parameters.heartbeat:
            continue  # Asked for before the outage and done after it: the time it is granted for is over.
        found.checked += 1
        if _is_expiry(end):
            found.add(run.entity, f"taken from {holder}, to which nothing happened but an outage.", end)
    return found


def l10(index: Index) -> Findings:
    """Among so many pauses the fence was needed at least once; else nothing was tried."""
    found = Findings("L10")
    pauses = [fault for fault in index.faults.all if fault.kind == PAUSE]
    if len(pauses) >= PAUSES_MIN:
        found.checked += 1
        if not index.of(Refused):
            found.add("history", f"{len(pauses)} pauses, and nothing was ever refused.", pauses[-1].begun)
    return found
