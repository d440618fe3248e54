"""S: what a client was told is what is kept."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

from proof.checker.history.events import Kept, Look, SubmitFail, SubmitInfo, SubmitInvoke, SubmitOk
from proof.checker.index import Index
from proof.checker.verdict import Findings


def s1(index: Index) -> Findings:
    """What was acknowledged exists at the final read, or was deleted by somebody who may."""
    found = Findings("S1")
    if index.read_at is None:
        return found
    kept = {row.run for row in index.kept}
    for ok in index.of(SubmitOk):
        found.checked += 1
        if ok.run not in kept and ok.run not in index.deleted:
            found.add(f"key {ok.key}", f"run {ok.run} was acknowledged and is lost.", ok)
    for read in index.reads[-1:]:
        if read.kept is not None and read.kept != len(index.kept):
            found.add("history", f"the read found {read.kept} runs and wrote down {len(index.kept)}.", read)
    return found


def s2(index: Index) -> Findings:
    """What was refused, and only refused, does not exist."""
    found = Findings("S2")
    kept = {row.key for row in index.kept}
    maybe = {event.key for event in (*index.of(SubmitOk), *index.of(SubmitInfo))}
    for fail in index.of(SubmitFail):
        found.checked += 1
        if fail.key in kept and fail.key not in maybe:
            found.add(f"key {fail.key}", "it was refused and exists.", fail)
    return found


def s3(index: Index) -> Findings:
    """A key stands for one run and one body, however often it is sent."""
    found = Findings("S3")
    rows: dict[str, list[Kept]] = defaultdict(list)
    for row in index.kept:
        if row.key is not None:
            rows[row.key].append(row)
    for key, same in rows.items():
        found.checked += 1
        if len({row.run for row in same}) > 1:
            found.add(f"key {key}", f"it exists {len(same)} times.", same[1])
    first: dict[str, SubmitOk] = {}
    for ok in index.of(SubmitOk):
        found.checked += 1
        before = first.setdefault(ok.key, ok)
        if ok.run != before.run:
            found.add(f"key {ok.key}", f"it was answered with {before.run} and with {ok.run}.", ok)
        elif ok.body != before.body:
            found.add(f"key {ok.key}", "it was accepted with two different bodies.", ok)
    return found


def s4(index: Index) -> Findings:
    """Nothing exists that nobody asked for."""
    found = Findings("S4")
    invoked = {event.key for event in index.of(SubmitInvoke)}
    for row in index.kept:
        found.checked += 1
        run = index.runs[row.run]
        if not run.births:
            found.add(run.entity, "it exists, and nothing made it.", row)
        elif row.key is not None and row.key not in invoked:
            found.add(f"key {row.key}", "it exists, and nobody sent it.", row)
    return found


def s5(index: Index) -> Findings:
    """Who looks after an acknowledgement sees what was acknowledged."""
    found = Findings("S5")
    acknowledged: dict[str, datetime] = {}
    for ok in index.of(SubmitOk):
        if ok.run is not None and ok.when is not None:
            acknowledged[ok.run] = min(ok.when, acknowledged.get(ok.run, ok.when))
    for look in index.of(Look):
        since = acknowledged.get(look.run)
        if look.when is None or since is None or look.when <= since + index.parameters.clock:
            continue
        if look.run in index.deleted or not index.faults.is_healthy(look.via or look.src, since, look.when):
            continue
        found.checked += 1
        if not look.found:
            found.add(f"run {look.run}", "it was acknowledged before, and was not found.", look)
    return found
