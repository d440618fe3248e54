"""What the invariants measure with: tolerances, the times of leases, and what is known of single jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from proof.checker.history.events import Event, Expect

_DURATIONS = ("tolerance", "run_max", "lease", "reaper", "recovery", "grace")


@dataclass(frozen=True, slots=True)
class Parameters:
    """The defaults are those of the engine. A history says what its campaign changed, with `expect`."""

    tolerance: timedelta = timedelta(seconds=5)  # ε: how late a start may be.
    forgiveness: timedelta = timedelta(seconds=2)  # f.
    tick: timedelta = timedelta(seconds=3)  # After so long, any scheduler fires what is due.
    lease: timedelta = timedelta(seconds=20)  # L.
    reaper: timedelta = timedelta(seconds=3)  # ρ.
    recovery: timedelta | None = None  # R; by default L + ρ + 10 s.
    run_max: timedelta = timedelta(seconds=60)  # Δ, for a job without a timeout.
    clock: timedelta = timedelta(milliseconds=5)  # How far two readings of the clocks of one box may differ.
    grace: timedelta = timedelta(seconds=5)  # How long a handler that must stop may take.
    crashes: int = 3  # A run whose worker died so often in a row is not tried again.
    jobs: Mapping[str, Expect] = field(default_factory=dict)

    @property
    def recovered_after(self) -> timedelta:
        return (
            self.recovery if self.recovery is not None else self.lease + self.reaper + timedelta(seconds=10)
        )

    @property
    def punctual(self) -> timedelta:
        """How late a time may fire that all have known for long."""
        return self.forgiveness + self.tick

    @property
    def heartbeat(self) -> timedelta:
        return self.lease / 3

    def tolerance_of(self, job: str | None) -> timedelta:
        known = self.jobs.get(job or "")
        return timedelta(seconds=known.tolerance) if known and known.tolerance is not None else self.tolerance

    def run_max_of(self, job: str | None, timeout: float | None) -> timedelta:
        known = self.jobs.get(job or "")
        if known and known.run_max is not None:
            return timedelta(seconds=known.run_max)
        return self.run_max if timeout is None else timedelta(seconds=timeout)

    def effect_of(self, job: str | None) -> str | None:
        known = self.jobs.get(job or "")
        return known.effect if known else None


def parameters_of(events: Iterable[Event], base: Parameters | None = None) -> Parameters:
    """The parameters with what the history itself says."""
    found = base or Parameters()
    jobs = dict(found.jobs)
    for event in events:
        if isinstance(event, Expect):
            if event.job is not None:
                jobs[event.job] = event
            else:
                found = _with(found, event)
    return replace(found, jobs=jobs)


def _with(known: Parameters, said: Expect) -> Parameters:
    changes: dict[str, Any] = {
        name: timedelta(seconds=seconds)
        for name in _DURATIONS
        if (seconds := getattr(said, name)) is not None
    }
    if said.crashes is not None:
        changes["crashes"] = said.crashes
    return replace(known, **changes)
