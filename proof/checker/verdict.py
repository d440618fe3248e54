"""What the checker says: how often it looked, what was broken, and what that adds up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from proof.checker.history.events import Event


@dataclass(frozen=True, slots=True)
class Violation:
    """`entity` is a word and an id, such as `run 7` or `job nightly`; `event` is where it shows."""

    invariant: str
    entity: str
    what: str
    event: Event | None = None


@dataclass(slots=True)
class Findings:
    """What one invariant found. `checked` counts the cases it looked at: one that had none proves nothing."""

    invariant: str
    checked: int = 0
    violations: list[Violation] = field(default_factory=list)
    measured: dict[str, float] = field(default_factory=dict)

    def add(self, entity: str, what: str, event: Event | None = None) -> None:
        self.violations.append(Violation(self.invariant, entity, what, event))


class Outcome(StrEnum):
    VALID = "valid"
    INVALID = "invalid"
    UNKNOWN = "unknown"  # Nothing is wrong, and too little happened to be sure.


@dataclass(frozen=True, slots=True)
class Told:
    """A violation with the story around it: at most five events of its entity."""

    violation: Violation
    around: Sequence[Event]


@dataclass(frozen=True, slots=True)
class Verdict:
    outcome: Outcome
    findings: Sequence[Findings]
    told: Sequence[Told]
    coverage: Mapping[str, int]
    missing: Sequence[str]  # Why the outcome is not more certain.
    events: int
