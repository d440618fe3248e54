"""What should have become of every due time of a job, beside what did."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from proof.checker.calendar.targets import Target, is_closed, targets
from proof.checker.history.events import Fire, SchedSet, Skip

FIRST = datetime(1970, 1, 1, tzinfo=UTC)
FIRING = frozenset({"ACTIVE", "PAUSED"})
ENDED = frozenset({"CANCELLED", "DELETED"})
MISSED = frozenset({"misfire", "catchup_limit", "catchup_window"})


@dataclass(slots=True)
class Due:
    """One due time, the revision in force, and what became of it."""

    at: datetime
    lost: int
    shift: str
    is_closed: bool
    spec: SchedSet
    fires: list[Fire] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)

    @property
    def may_fire(self) -> bool:
        return not self.lost and not self.is_closed

    @property
    def outcomes(self) -> int:
        return len(self.fires) + len(self.skips)


@dataclass(slots=True)
class Ledger:
    """The due times of a job in order, and what was written for times that no revision names."""

    job: str
    specs: Sequence[SchedSet]
    dues: list[Due]
    named: list[Due]  # With those after the last run: the policies count them, though they never come.
    invented: list[Fire | Skip] = field(default_factory=list)
    miscounted: list[tuple[Skip, int]] = field(default_factory=list)
    _ats: list[datetime] = field(default_factory=list)
    _may: dict[int, list[datetime]] = field(default_factory=dict)

    def between(self, first: datetime, last: datetime) -> list[Due]:
        return self.dues[bisect_left(self._ats, first) : bisect_right(self._ats, last)]

    def state_at(self, instant: datetime) -> SchedSet | None:
        """What had been committed about the job by then."""
        found = [spec for spec in self.specs if spec.db is not None and spec.db <= instant]
        return max(found, key=lambda spec: spec.db or FIRST, default=None)

    def states_between(self, since: datetime, until: datetime) -> set[str | None]:
        """All that it was meanwhile; None: it did not exist."""
        first = self.state_at(since)
        later = [spec.state for spec in self.specs if spec.db is not None and since < spec.db <= until]
        return {None if first is None else first.state, *later}

    def could_fire(self, spec: SchedSet) -> list[datetime]:
        """The due times under this revision that neither a gap nor the calendar takes out, in order."""
        if spec.n not in self._may:
            self._may[spec.n] = [due.at for due in self.named if due.spec is spec and due.may_fire]
        return self._may[spec.n]

    def expected(self, due: Due, now: datetime) -> str | None:
        """Why the misfire policy keeps a due time from firing that is decided about `now`; None: it fires."""
        spec, could = due.spec, self.could_fire(due.spec)
        missed_before = now - timedelta(seconds=spec.grace)
        if due.at >= missed_before:
            return None
        match spec.misfire:
            case "FIRE_NOW":
                # A time that is still in time is the catch-up: then no missed one fires beside it.
                place = bisect_right(could, now)
                return None if place and could[place - 1] == due.at else "misfire"
            case "FIRE_ALL":
                window = spec.catchup_window
                if window is not None and due.at < now - timedelta(seconds=window):
                    return "catchup_window"
                newer = bisect_left(could, missed_before) - bisect_left(could, due.at)
                return None if newer <= spec.catchup_limit else "catchup_limit"
            case _:
                return "misfire"


def ledger_of(
    job: str, specs: Sequence[SchedSet], fires: Sequence[Fire], skips: Sequence[Skip], *, horizon: datetime
) -> Ledger:
    said = [*(fire.due for fire in fires), *(skip.last for skip in skips)]
    horizon = max([horizon, *said])
    dues = [
        Due(target.at, target.lost, target.shift, is_closed(spec, target.at), spec)
        for spec, target in _targets(specs, skips, horizon)
    ]
    ledger = Ledger(job, specs, _without_unused(dues, fires), dues)
    ledger._ats = [due.at for due in ledger.dues]
    for fire in fires:
        same = ledger.between(fire.due, fire.due)
        for due in same:
            due.fires.append(fire)
        if not same:
            ledger.invented.append(fire)
    for skip in skips:
        _enter(ledger, skip)
    return ledger


def decided_at(event: Fire | Skip) -> datetime:
    return event.due + timedelta(seconds=event.late)


def since(spec: SchedSet) -> datetime:
    return spec.since or spec.db or FIRST


def _enter(ledger: Ledger, skip: Skip) -> None:
    row = ledger.between(skip.due, skip.last)
    for due in row:
        due.skips.append(skip)
    if not row or row[0].at != skip.due or row[-1].at != skip.last:
        ledger.invented.append(skip)
    count = sum(max(1, due.lost) for due in row)
    if count != skip.count:
        ledger.miscounted.append((skip, count))


def _targets(
    specs: Sequence[SchedSet], skips: Sequence[Skip], horizon: datetime
) -> Iterator[tuple[SchedSet, Target]]:
    """Due times up to the instant of a change belong to the revision before it, later ones to the new one."""
    ordered = sorted(specs, key=since)
    for place, spec in enumerate(ordered):
        if spec.state not in FIRING:
            continue
        before = ordered[place - 1] if place else None
        begins = since(spec)
        ends = since(ordered[place + 1]) if place + 1 < len(ordered) else horizon
        if spec.at is not None and spec.at <= begins and (before is None or before.at != spec.at):
            begins = FIRST  # One instant counts even if it has passed: then it was missed.
        for low, high, anchor in _counts(spec, skips, begins, ends):
            for target in targets(spec, low, high, anchor=anchor):
                yield spec, target


def _counts(
    spec: SchedSet, skips: Sequence[Skip], begins: datetime, ends: datetime
) -> Iterator[tuple[datetime, datetime, datetime | None]]:
    """The spans in which an interval counts from one origin."""
    anchor = None
    if spec.every is not None:
        for moved in sorted(skip.anchor for skip in skips if skip.anchor is not None):
            if begins < moved < ends:
                yield begins, moved, anchor
                begins = anchor = moved
    yield begins, ends, anchor


def _without_unused(dues: list[Due], fires: Sequence[Fire]) -> list[Due]:
    """A schedule ends with its last run: the times after it do not belong to it any more."""
    if all(due.spec.max_runs is None for due in dues):
        return dues
    fired = {fire.due for fire in fires}
    used, kept = 0, []
    for due in dues:
        if due.spec.max_runs is None or used < due.spec.max_runs:
            kept.append(due)
            used += due.at in fired
    return kept
