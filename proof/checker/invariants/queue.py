"""Q: every run ends, once, and no sooner than it may begin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from heapq import heappop, heappush
from itertools import pairwise, takewhile
from typing import NamedTuple

from proof.checker.faults import EVERYTHING
from proof.checker.history.events import (
    Beat,
    Birth,
    CancelOk,
    Change,
    Claim,
    DagAgain,
    DagRelease,
    DagStart,
    Ending,
    Expired,
    Failed,
    Released,
    name_of,
)
from proof.checker.index import Index
from proof.checker.runs import Run
from proof.checker.verdict import Findings
from proof.checker.workflows.dags import was_held


def q1(index: Index) -> Findings:
    """At the final read, every run that had the time to end has ended."""
    found = Findings("Q1")
    read_at = index.read_at
    if read_at is None:
        return found
    for run in index.runs.values():
        if not run.births or run.id in index.deleted:
            continue
        since = None if _is_held(index, run) else _waiting_since(run)
        if since is not None and run.ending is None and run.spec is not None and run.spec.is_gated:
            since = _first_in_line_since(index, run, since)
        if since is None or _deadline(index, run, since) > read_at:
            continue
        found.checked += 1
        if run.ending is None and _has_starved(index, run, since, read_at):
            found.add(run.entity, "it had the time to end and did not.", run.rows[-1])
    return found


def _waiting_since(run: Run) -> datetime | None:
    """Since when somebody ought to do something about it."""
    last = run.rows[-1]
    if isinstance(last, DagStart | DagAgain):
        return None  # Its tasks are somebody's business, or V3's.
    if isinstance(last, Failed | Expired | Released):
        return last.next_at or last.db
    return run.run_at if isinstance(last, Birth) else last.db


def _is_held(index: Index, run: Run) -> bool:
    """Whether it belongs to a run of a workflow that waits for a person, or is inside of one that does."""
    birth = run.births[0]
    replay = index.replays.get(birth.dag) if isinstance(birth, DagRelease) else None
    while replay is not None and replay.held_at is None:
        replay = index.replays.get(replay.dag.outer or "")
    return replay is not None


def _deadline(index: Index, run: Run, since: datetime) -> datetime:
    known = index.parameters
    run_max = known.run_max_of(run.job, run.spec.timeout if run.spec else None)
    owed = known.tolerance_of(run.job) + known.forgiveness + run_max + known.recovered_after
    return index.faults.recovered(EVERYTHING, since) + owed


def _first_in_line_since(index: Index, run: Run, since: datetime) -> datetime | None:
    """Since when nobody is ahead of a run at a gate. None: somebody is, or it waits for other jobs.

    Who comes after it is no excuse, however much goes on there.
    """
    if run.spec is not None and run.spec.depends:
        return None
    for other in index.runs_of.get(run.job or "", ()):
        is_ahead = other.run_at is not None and (other.run_at <= since or _priority(other) > _priority(run))
        if other is run or not is_ahead:
            continue
        last = other.rows[-1]
        if isinstance(last, Claim | Beat | CancelOk | DagStart | DagAgain):
            return None
        # One that is to be tried again may keep its place in the line until then.
        if isinstance(last, Change) and (moved := last.next_at or last.db) is not None:
            since = max(since, moved)
    return since


def _has_starved(index: Index, run: Run, since: datetime, read_at: datetime) -> bool:
    if not _is_suspect(run):
        return _deadline(index, run, _room_since(index, run, since)) <= read_at
    # The suspect before it may run, and then another worker must become empty.
    longest = max(
        index.parameters.run_max_of(one.job, one.spec.timeout if one.spec else None)
        for one in index.runs.values()
    )
    return _deadline(index, run, _empty_worker_since(index, run, since)) + 2 * longest <= read_at


def _is_suspect(run: Run) -> bool:
    """Whether it waits after its worker died: for a worker that runs nothing else."""
    return bool(run.segments) and run.segments[-1].end is run.rows[-1] and run.suspicions[-1]


def _empty_worker_since(index: Index, run: Run, since: datetime) -> datetime:
    """Since when no suspect that is ahead of it takes an empty worker. Suspects go by their due time alone.

    That is no excuse if a suspect of its queue that is behind it had a turn meanwhile.
    """
    lane, room = _lane(run), since
    for due, other, claim in _claims_of_suspects(index):
        if claim.db is None or claim.db <= since + index.parameters.tolerance:
            continue
        if (due, other.id) < (since, run.id):
            room = max(room, claim.db)
        elif _lane(other) == lane:
            return since
    return room


def _claims_of_suspects(index: Index) -> Iterator[tuple[datetime, Run, Claim]]:
    for run in index.runs.values():
        for (before, segment), is_suspect in zip(pairwise(run.segments), run.suspicions, strict=False):
            end = before.end
            if is_suspect and isinstance(end, Expired | Released) and end.next_at is not None:
                yield end.next_at, run, segment.claim


def _room_since(index: Index, run: Run, since: datetime) -> datetime:
    """Since when nobody who is ahead of it takes the room: with more work than slots, the last wait for long.

    That is no excuse if somebody of its queue who is behind it had a turn meanwhile.
    """
    rank, lane, room = _Rank(-_priority(run), since, run.id), _lane(run), since
    of_suspects = {claim.n for _, _, claim in _claims_of_suspects(index)}
    for claim in index.of(Claim):
        other = index.runs[claim.run]
        if other is run or claim.db is None or claim.db <= since + index.parameters.tolerance:
            continue
        if _Rank(-_priority(other), _due(other, claim, claim.db), other.id) < rank:
            room = max(room, claim.db)
        elif _lane(other) == lane and claim.n not in of_suspects:
            return since  # A suspect takes a worker that is empty, whoever else waits.
    return room


def _due(run: Run, claim: Claim, at: datetime) -> datetime:
    """What a claim at that time went by: when the run, or its retry, was due."""
    due = run.run_at
    for row in takewhile(lambda row: row is not claim, run.rows):
        if isinstance(row, Failed | Expired | Released):
            due = row.next_at
    return due or at


def _lane(run: Run) -> tuple[object, ...] | None:
    return (run.births[0].tenant, run.spec.queue, run.spec.kind) if run.births and run.spec else None


def _priority(run: Run) -> int:
    asked = run.births[0].priority if run.births else None
    return asked if asked is not None else run.spec.priority if run.spec is not None else 0


def q2(index: Index) -> Findings:
    """A run ends at most once."""
    found = Findings("Q2")
    for run in index.runs.values():
        endings = [row for row in run.rows if isinstance(row, Ending)]
        mended = sum(isinstance(row, DagAgain) for row in run.rows)
        found.checked += len(endings)
        if len(endings) > 1 + mended:
            words = " and ".join(name_of(ending) for ending in endings)
            found.add(run.entity, f"it ended {len(endings)} times: {words}.", endings[1])
    return found


def q3(index: Index) -> Findings:
    """Nothing happens to a run that has ended."""
    found = Findings("Q3")
    for run in index.runs.values():
        ended = False
        for row in run.rows:
            if isinstance(row, Ending):
                found.checked += not ended
                ended = True
            elif isinstance(row, DagAgain):
                ended = False
            elif ended:
                found.add(run.entity, f"`{name_of(row)}` after its end.", row)
    return found


def q4(index: Index) -> Findings:
    """No run is claimed before its time, nor before the time of its retry."""
    found = Findings("Q4")
    early = index.parameters.clock
    for run in index.runs.values():
        not_before = run.run_at
        for row in run.rows:
            if isinstance(row, Claim):
                found.checked += 1
                if not_before is not None and row.db is not None and row.db < not_before - early:
                    found.add(run.entity, f"claimed {_ago(row.db, not_before)} s before its time.", row)
            elif isinstance(row, Failed | Expired | Released):
                not_before = row.next_at
    return found


def _ago(earlier: datetime, later: datetime) -> str:
    return f"{(later - earlier).total_seconds():.3f}"


class _Rank(NamedTuple):
    """The order of a queue: priority, then due time, then id."""

    priority: int
    due: datetime
    run: str


def q5(index: Index) -> Findings:
    """Requests that pass over the first of a queue are no more than the workers that may have been at it."""
    found = Findings("Q5")
    workers = {claim.worker for claim in index.of(Claim)}
    for lane in _lanes(index).values():
        ready: list[_Rank] = []
        taken: set[str] = set()
        passed: dict[str, set[str]] = defaultdict(set)
        for when, rank, claim in sorted(lane, key=lambda step: step[0]):
            if claim is None:
                heappush(ready, rank)
                continue
            taken.add(rank.run)
            found.checked += 1
            while ready and ready[0].run in taken:
                heappop(ready)
            if not ready or ready[0] > rank or not index.faults.is_all_healthy(when, when):
                continue
            first = ready[0].run
            passed[first].add(claim.req or str(claim.n))
            if len(passed[first]) == len(workers) + 1:
                found.add(f"run {first}", f"{len(workers) + 1} requests passed it over.", claim)
    return found


def _lanes(index: Index) -> dict[object, list[tuple[datetime, _Rank, Claim | None]]]:
    """For each queue, when runs became ready and when they were first claimed: a retry may wait."""
    lanes: dict[object, list[tuple[datetime, _Rank, Claim | None]]] = defaultdict(list)
    for run in index.runs.values():
        run_at, spec = run.run_at, run.spec
        if spec is None or spec.is_gated or run_at is None or not run.segments or _was_held(index, run):
            continue
        birth, claim = run.births[0], run.segments[0].claim
        if birth.db is None or claim.db is None:
            continue
        rank = _Rank(-_priority(run), run_at, run.id)
        lane = lanes[_lane(run)]
        lane.append((max(birth.db, run_at), rank, None))
        lane.append((claim.db, rank, claim))
    return lanes


def _was_held(index: Index, run: Run) -> bool:
    """Whether its run of a workflow ever waited for a person, or one around that run did, and it with it."""
    birth = run.births[0]
    dag = index.dags.get(birth.dag) if isinstance(birth, DagRelease) else None
    while dag is not None and not was_held(dag):
        dag = index.dags.get(dag.outer or "")
    return dag is not None
