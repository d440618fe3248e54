"""C4, C5, C10: how soon a due time fires and starts, and never too soon."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from proof.checker.calendar.ledger import FIRST, Due, Ledger, decided_at
from proof.checker.faults import CLOCK, DATABASE, FOREVER, Span
from proof.checker.history.events import Effect, Up
from proof.checker.index import Index
from proof.checker.invariants.calendar import is_owed
from proof.checker.runs import Run
from proof.checker.verdict import Findings


def c4(index: Index) -> Findings:
    """While all is healthy, a due time fires and its run starts within the tolerance."""
    found = Findings("C4")
    delays: list[float] = []
    busy: dict[str, list[Span]] = {}
    suspected = _suspected(index)
    for job, fires in index.fires.items():
        tolerance = index.parameters.tolerance_of(job)
        for fire in fires:
            if fire.db is None or not index.is_scheduled(fire.due, fire.due + tolerance):
                continue
            since = _known_since(index, job, fire.due)
            if since >= fire.due:
                continue  # A time that had passed when the job got its schedule could not fire sooner.
            found.checked += 1
            delays.append((fire.db - fire.due).total_seconds())
            # A schedule that is new may have to wait until somebody looks; one that is known is expected.
            in_time = index.parameters.punctual if since + tolerance <= fire.due else tolerance
            if fire.db - fire.due > min(tolerance, in_time):
                found.add(f"job {job}", f"{fire.due.isoformat()} fired {delays[-1]:.3f} s late.", fire)
            else:
                run = index.runs[fire.run]
                if run.spec is not None and run.spec.queue not in busy:
                    busy[run.spec.queue] = _joined([*_saturated(index, run.spec.queue), *suspected])
                _check_start(index, run, tolerance, busy, found)
    if delays:
        delays.sort()
        found.measured = {"p50": _at(delays, 0.5), "p99": _at(delays, 0.99), "max": delays[-1]}
    return found


def _known_since(index: Index, job: str, due: datetime) -> datetime:
    """When the schedule that a time belongs to was set."""
    specs = [one.spec.db for one in index.ledgers[job].between(due, due)]
    return max((db for db in specs if db is not None), default=FIRST)


def _check_start(
    index: Index, run: Run, tolerance: timedelta, busy: Mapping[str, Sequence[Span]], found: Findings
) -> None:
    run_at = run.run_at
    if (
        run.spec is None
        or run.spec.is_gated
        or run_at is None
        or index.read_at is None
        or not _slots_are_known(index)
    ):
        return
    until = run_at + tolerance
    spans = busy[run.spec.queue]
    place = bisect_right(spans, (until, FOREVER))
    is_busy = place > 0 and spans[place - 1][1] >= run_at
    if is_busy or until > index.read_at or not index.faults.is_all_healthy(run_at, until):
        return
    begun = [*run.starts, run.begun] if run.begun is not None else run.starts
    first = min((start.when for start in begun if start.when is not None), default=FOREVER)
    ended = run.ending
    if first > until and not (ended is not None and ended.db is not None and ended.db <= until):
        found.add(run.entity, "a worker was free, and it did not start in time.", run.births[0])


def _slots_are_known(index: Index) -> bool:
    return any(up.slots for up in index.of(Up))


def _saturated(index: Index, queue: str) -> list[Span]:
    """When no worker that serves the queue had a free slot."""
    if not _slots_are_known(index):
        return []
    steps: list[tuple[datetime, int, int]] = []
    elsewhere = {up.src for up in index.of(Up) if up.queues and queue not in up.queues}
    for up in index.of(Up):
        if up.when is not None and up.slots and up.src not in elsewhere:
            steps.append((up.when, 0, up.slots))
            gone = index.faults.killed(up.src, up.when)
            if gone < FOREVER:
                steps.append((gone, 0, -up.slots))
    for _, segment in index.segments():
        if segment.claim.db is not None and segment.claim.holder not in elsewhere:
            steps.append((segment.claim.db, 1, 0))
            if segment.end is not None and segment.end.db is not None:
                steps.append((segment.end.db, -1, 0))
    return _spans(steps)


def _suspected(index: Index) -> list[Span]:
    """When a run whose worker died waits for an empty worker, or runs alone: workers hold back for it."""
    spans: list[Span] = []
    for run in index.runs.values():
        for place, (segment, is_suspect) in enumerate(zip(run.segments, run.suspicions, strict=True)):
            if is_suspect and segment.end is not None and segment.end.db is not None:
                later = run.segments[place + 1].end if place + 1 < len(run.segments) else None
                until = later.db if later is not None and later.db is not None else FOREVER
                spans.append((segment.end.db, until))
    return spans


def _joined(spans: list[Span]) -> list[Span]:
    """In order and apart from each other."""
    joined: list[Span] = []
    for since, until in sorted(spans):
        if joined and since <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], until))
        else:
            joined.append((since, until))
    return joined


def _spans(steps: list[tuple[datetime, int, int]]) -> list[Span]:
    running = slots = 0
    spans: list[Span] = []
    since: datetime | None = FIRST  # Before any worker is there, none is free.
    for when, more_running, more_slots in sorted(steps):
        running, slots = running + more_running, slots + more_slots
        if running >= slots and since is None:
            since = when
        elif running < slots and since is not None:
            spans.append((since, when))
            since = None
    return [*spans, (since, FOREVER)] if since is not None else spans


def _at(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def c5(index: Index) -> Findings:
    """Nothing fires before its time, whatever the clocks of the processes show."""
    found = Findings("C5")
    if any(fault.kind == CLOCK and fault.target == DATABASE for fault in index.faults.all):
        return found
    for job, fires in index.fires.items():
        for fire in fires:
            found.checked += 1
            if fire.db is not None and fire.db < fire.due - index.parameters.clock:
                early = (fire.due - fire.db).total_seconds()
                found.add(f"job {job}", f"{fire.due.isoformat()} fired {early:.3f} s early.", fire)
    return found


def c10(index: Index) -> Findings:
    """By the clock of the sink alone, without looking at any name: each due time has an effect of its own."""
    found = Findings("C10")
    effects = _effect_times(index)
    for job, ledger in index.ledgers.items():
        times = effects.get(job)
        if times is None or index.parameters.effect_of(job) not in ("sink", "fenced"):
            continue
        place = 0
        for due in ledger.dues:
            if not _owes_effect(index, ledger, due):
                continue
            found.checked += 1
            since, until = _window(index, job, due)
            place = max(place, bisect_left(times, since))
            if place < len(times) and times[place] <= until:
                place += 1
            else:
                found.add(f"job {job}", f"nothing happened for {due.at.isoformat()}.", due.spec)
    return found


def _effect_times(index: Index) -> dict[str, list[datetime]]:
    times: dict[str, list[datetime]] = {}
    for effect in index.of(Effect):
        job = index.runs[effect.run].job
        if effect.v is None and effect.when is not None and job is not None:
            times.setdefault(job, []).append(effect.when)
    for each in times.values():
        each.sort()
    return times


def _owes_effect(index: Index, ledger: Ledger, due: Due) -> bool:
    """A time that was to fire, at once and for good: nothing was broken, and nobody stopped it."""
    since, until = _window(index, ledger.job, due)
    if not due.may_fire or due.skips or not is_owed(index, ledger, due) or due.spec.is_gated:
        return False
    runs = [index.runs[fire.run] for fire in due.fires]
    is_plain = all(len(run.segments) == 1 and run.ending is not None for run in runs)
    is_on_time = all(decided_at(fire) <= until for fire in due.fires)
    is_done = all(run.ending is not None and run.ending.__struct_config__.tag == "done" for run in runs)
    return is_plain and is_on_time and is_done and index.faults.is_all_healthy(since, until)


def _window(index: Index, job: str, due: Due) -> tuple[datetime, datetime]:
    known = index.parameters
    slack = known.tolerance_of(job) + known.forgiveness + known.run_max_of(job, due.spec.timeout)
    return due.at - known.clock, due.at + timedelta(seconds=due.spec.jitter) + slack
