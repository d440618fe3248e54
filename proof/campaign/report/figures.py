"""How long things took to come back, and how much was refused, read from the history alone."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from gnomon.core.jobs.job import JobId, shard_of
from proof.campaign.plan import SCHEDULERS, WORKERS, Kind
from proof.checker.faults import EVERYTHING, Fault
from proof.checker.history.events import (
    BeatRefused,
    Claim,
    Done,
    Elect,
    Expired,
    Fire,
    Heal,
    Refused,
    SubmitOk,
)
from proof.checker.index import Index
from proof.checker.verdict import Verdict

RESTARTS = (Kind.RESTART_FAST, Kind.RESTART_IMMEDIATE)
BIN = timedelta(seconds=5)
TAKEN_OVER = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds, sorted."""

    seconds: Sequence[float]

    def at(self, share: float) -> float | None:
        if not self.seconds:
            return None
        return self.seconds[min(len(self.seconds) - 1, int(len(self.seconds) * share))]


@dataclass(frozen=True, slots=True)
class Limit:
    """Something that must hold. `found` is None if nothing was measured."""

    what: str
    found: float | None
    limit: float
    is_least: bool = False
    unit: str = ""

    is_needed: bool = True  # If nothing was measured, that is not enough.

    @property
    def holds(self) -> bool:
        if self.found is None:
            return not self.is_needed
        return self.found >= self.limit if self.is_least else self.found <= self.limit


@dataclass(frozen=True, slots=True)
class Figures:
    faults: Mapping[str, int]
    reclaims: Times
    failovers: Times
    first_claims: Times
    refused: int
    broken: Mapping[str, int]  # Violations by invariant.
    acknowledged: int
    done: Sequence[tuple[float, float]]  # Seconds since the beginning, runs a second.
    bands: Sequence[tuple[str, str, float, float]]
    healed: float
    seconds: float


def figures_of(index: Index, verdict: Verdict) -> Figures:
    began = min(event.when for event in index.events if event.when is not None)
    healed = max((heal.wall for heal in index.of(Heal) if heal.wall), default=began)
    read_at = index.read_at or healed
    return Figures(
        faults=Counter(fault.kind for fault in index.faults.all if fault.target != EVERYTHING),
        reclaims=Times(sorted(_reclaims(index))),
        failovers=Times(sorted(_failovers(index))),
        first_claims=Times(sorted(_first_claims(index))),
        refused=len(index.of(Refused)) + len(index.of(BeatRefused)),
        broken={found.invariant: len(found.violations) for found in verdict.findings if found.violations},
        acknowledged=len(index.of(SubmitOk)),
        done=_rates(began, read_at, (done.db for done in index.of(Done) if done.db is not None)),
        bands=[
            (fault.kind, fault.target, (fault.begin - began).total_seconds(), _length(fault))
            for fault in index.faults.all
            if fault.target != EVERYTHING
        ],
        healed=(healed - began).total_seconds(),
        seconds=(read_at - began).total_seconds(),
    )


def _length(fault: Fault) -> float:
    return max(0.0, (fault.end_for_others - fault.begin).total_seconds())


def _reclaims(index: Index) -> Iterable[float]:
    """From the SIGKILL of a worker to the next claim of each run that it held."""
    kills = _kills(index, WORKERS)
    for run in index.runs.values():
        for segment, following in zip(run.segments, run.segments[1:], strict=False):
            held, end = segment.claim, segment.end
            if not isinstance(end, Expired) or held.db is None or end.db is None:
                continue
            for kill in kills[held.worker]:
                if held.db <= kill.begin <= end.db and following.claim.db is not None:
                    yield (following.claim.db - kill.begin).total_seconds()
                    break


def _failovers(index: Index) -> Iterable[float]:
    """From the SIGKILL of a scheduler, or from the due time after it, to the fire by another.

    For each kill, the slowest of the jobs that it looked after.
    """
    jobs: dict[str, list[str]] = defaultdict(list)
    for job in index.fires:
        jobs[f"shard {shard_of(JobId(UUID(job)))}"].append(job)
    elects: dict[str, list[Elect]] = defaultdict(list)
    for elect in index.of(Elect):
        elects[elect.scope].append(elect)
    times = {job: sorted(fires, key=lambda fire: fire.db or fire.due) for job, fires in index.fires.items()}
    for name, kills in _kills(index, SCHEDULERS).items():
        for kill in kills:
            delays = [
                delay
                for scope, held in elects.items()
                if _owner(held, kill.begin) == name
                for job in jobs[scope]
                if (delay := _next_fire(times[job], kill.begin)) is not None
            ]
            if delays:
                yield max(delays)


def _owner(elects: Sequence[Elect], at: datetime) -> str | None:
    place = bisect_right([elect.db for elect in elects if elect.db is not None], at)
    return elects[place - 1].who.partition("/")[0] if place else None


def _next_fire(fires: Sequence[Fire], at: datetime) -> float | None:
    """None if nothing was due before others must have taken over for good."""
    for fire in fires:
        if fire.db is not None and fire.db > at:
            is_affected = fire.due <= at + TAKEN_OVER
            return (fire.db - max(fire.due, at)).total_seconds() if is_affected else None
    return None


def _first_claims(index: Index) -> Iterable[float]:
    """From the moment that a restarted database accepts connections to the first claim on it."""
    claims = sorted(claim.db for claim in index.of(Claim) if claim.db is not None)
    for fault in index.faults.all:
        if fault.kind in RESTARTS:
            place = bisect_right(claims, fault.end)
            if place < len(claims):
                yield (claims[place] - fault.end).total_seconds()


def _kills(index: Index, names: Sequence[str]) -> Mapping[str, list[Fault]]:
    kills: dict[str, list[Fault]] = {name: [] for name in names}
    for fault in index.faults.all:
        if fault.kind == Kind.KILL and fault.target in kills:
            kills[fault.target].append(fault)
    return kills


def _rates(began: datetime, until: datetime, times: Iterable[datetime]) -> Sequence[tuple[float, float]]:
    counts = Counter((when - began) // BIN for when in times)
    seconds = BIN.total_seconds()
    return [(number * seconds, counts[number] / seconds) for number in range((until - began) // BIN)]
