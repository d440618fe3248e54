"""R: how often a run is tried, and how soon again."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from itertools import pairwise, takewhile

from proof.checker.calendar.ledger import FIRST
from proof.checker.faults import FOREVER
from proof.checker.history.events import Dead, Expired, Failed, Released, SchedSet
from proof.checker.index import Index
from proof.checker.runs import Run, Segment
from proof.checker.verdict import Findings

# Seconds are written with microseconds; the sum of some of them may be off by a little.
ROUNDING = 0.001
POWER_MAX = 64


def r1(index: Index) -> Findings:
    """Attempts are 1, 2, 3 and so on, and never more than the policy allows."""
    found = Findings("R1")
    for run in index.runs.values():
        before = 0
        for segment in run.segments:
            found.checked += 1
            attempt = segment.claim.attempt
            if not max(1, before) <= attempt <= before + 1:
                found.add(run.entity, f"attempt {attempt} came after attempt {before}.", segment.claim)
            elif run.spec is not None and attempt > run.spec.max_attempts:
                found.add(run.entity, f"attempt {attempt} of {run.spec.max_attempts}.", segment.claim)
            before = attempt
    return found


def r2(index: Index) -> Findings:
    """The last attempt that fails ends the run."""
    found = Findings("R2")
    for run, segment in index.segments():
        if run.spec is None or segment.end is None or segment.claim.attempt < run.spec.max_attempts:
            continue
        found.checked += 1
        if isinstance(segment.end, Failed | Expired):
            found.add(run.entity, "its last attempt failed, and it waits for another.", segment.end)
    return found


def r3(index: Index) -> Findings:
    """What is given back is not charged; what failed or expired is."""
    found = Findings("R3")
    for run in index.runs.values():
        for segment, following in pairwise(run.segments):
            charged = following.claim.attempt - segment.claim.attempt
            found.checked += 1
            if isinstance(segment.end, Released) and charged != 0:
                found.add(run.entity, "it was given back, and charged.", following.claim)
            elif isinstance(segment.end, Failed | Expired) and charged != 1:
                found.add(run.entity, "it failed or expired, and was not charged once.", following.claim)
    return found


def r4(index: Index) -> Findings:
    """A retry waits as long as the policy says, within its jitter."""
    found = Findings("R4")
    for run, segment in index.segments():
        end = segment.end
        if not isinstance(end, Failed) or run.spec is None or end.next_at is None:
            continue
        decided = end.at or end.db
        if decided is None:
            continue
        found.checked += 1
        low, high = bounds(run.spec, segment.claim.attempt, end.wish)
        waited = (end.next_at - decided).total_seconds()
        if not low - ROUNDING <= waited <= high + ROUNDING:
            found.add(run.entity, f"the retry waits {waited:.3f} s, not {low:.3f} to {high:.3f} s.", end)
    return found


def bounds(spec: SchedSet, attempt: int, wish: float | None) -> tuple[float, float]:
    """The least and the most seconds between a failed attempt and the next one."""
    wait = spec.backoff_base
    if spec.backoff == "exponential":
        wait = min(wait * spec.backoff_multiplier ** min(attempt - 1, POWER_MAX), spec.backoff_max)
    low = min(wait * (1 - spec.backoff_jitter), spec.backoff_max)
    high = min(wait * (1 + spec.backoff_jitter), spec.backoff_max)
    least = min(wish or 0.0, timedelta(days=7).total_seconds())
    return max(low, least), max(high, least)


def r5(index: Index) -> Findings:
    """A failure that no retry can help ends the run at once."""
    found = Findings("R5")
    for run, segment in index.segments():
        end = segment.end
        if not isinstance(end, Failed):
            continue
        found.checked += 1
        retry_on = run.spec.retry_on if run.spec else None
        if end.permanent or (retry_on is not None and end.kind not in retry_on):
            found.add(run.entity, f"{end.kind or 'it'} is not to be retried, and waits for a retry.", end)
    return found


def r6(index: Index) -> Findings:
    """A run whose worker died so many times in a row is given up as a crash loop, and none before."""
    found = Findings("R6")
    for run in index.runs.values():
        crashes, limit = 0, _crash_limit(run, index)
        for segment in run.segments:
            end = segment.end
            if not run.was_tried(segment):
                continue
            if isinstance(end, Expired):
                crashes += 1
                found.checked += 1
                if crashes >= limit:
                    found.add(run.entity, f"its worker died {crashes} times, and it waits for another.", end)
            elif isinstance(end, Dead) and end.why == "crash_loop":
                found.checked += 1
                if crashes + 1 != limit:
                    found.add(run.entity, f"given up after {crashes + 1} crashes, not {limit}.", end)
            else:
                crashes = 0
    return found


def _crash_limit(run: Run, index: Index) -> int:
    said = None if run.spec is None else run.spec.crash_limit
    return index.parameters.crashes if said is None else said


def r7(index: Index) -> Findings:
    """A run is given up as a crash loop only if it ran alone each time its worker died, but for the first."""
    found = Findings("R7")
    beside: dict[str, list[tuple[Run, Segment]]] = defaultdict(list)
    for run, segment in index.segments():
        beside[segment.claim.holder].append((run, segment))
    for run in index.runs.values():
        if not run.segments or not _is_crash_loop(run.segments[-1]):
            continue
        tried = [one for one in run.segments if run.was_tried(one)]
        row = list(takewhile(lambda one: isinstance(one.end, Expired), tried[-2::-1]))
        # Without the first: it was beside others, and then one of them may have been to blame.
        for segment in [run.segments[-1], *row[:-1]]:
            found.checked += 1
            for other, its in beside[segment.claim.holder]:
                if other is not run and _overlap(segment, its, index.parameters.clock):
                    found.add(
                        run.entity, f"run {other.id} ran beside it when its worker died.", segment.claim
                    )
                    break
    return found


def _is_crash_loop(segment: Segment) -> bool:
    return isinstance(segment.end, Dead) and segment.end.why == "crash_loop"


def _overlap(one: Segment, other: Segment, error: timedelta) -> bool:
    """Whether both were held at some moment, for longer than clocks may differ."""
    begun = max(segment.claim.when or FIRST for segment in (one, other))
    ended = min((segment.end and segment.end.when) or FOREVER for segment in (one, other))
    return begun + error < ended
