"""Make a failing scenario small: leave out what it fails without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from msgspec.structs import replace

from proof.simulator.judging.judge import judge
from proof.simulator.scenarios.flows import FlowSpec
from proof.simulator.scenarios.scenario import Act, Fault, JobSpec, NodeSpec, Role, Scenario

TRIES_MAX = 150
END_SHARES = (0.125, 0.25, 0.5, 0.75)
SECONDS_MIN = 120.0

Part = TypeVar("Part", Fault, Act, JobSpec, NodeSpec, FlowSpec)


class Shrinker:
    """Tries smaller scenarios, one after the other, and keeps each that breaks one of the same rules."""

    def __init__(self, failing: Scenario, rules: frozenset[str], *, tries: int = TRIES_MAX) -> None:
        self.best = failing
        self.tries = 0
        self._rules = rules
        self._tries_max = tries

    def run(self) -> Scenario:
        self._end_sooner()
        self._drop_kinds()
        self._drop("acts", self.best.acts)
        self._drop("faults", self.best.faults)
        self._drop("jobs", self.best.jobs)
        self._drop("flows", self.best.flows)
        self._drop("nodes", self.best.nodes)
        self._drop("acts", self.best.acts)
        self._drop("faults", self.best.faults)
        return replace(self.best, expects=", ".join(sorted(self._rules)))

    def _fails(self, scenario: Scenario) -> bool:
        if self.tries >= self._tries_max:
            return False
        self.tries += 1
        if not judge(scenario).rules & self._rules:
            return False
        self.best = scenario
        return True

    def _end_sooner(self) -> None:
        """What comes after the end cannot matter; the time to get well stays as long as it was."""
        quiet = self.best.seconds - self.best.healed_at
        for share in END_SHARES:
            healed_at = max(SECONDS_MIN, self.best.healed_at * share)
            if healed_at < self.best.healed_at and self._fails(_until(self.best, healed_at, quiet)):
                return

    def _drop_kinds(self) -> None:
        for kind in sorted({fault.kind for fault in self.best.faults}):
            left = tuple(fault for fault in self.best.faults if fault.kind is not kind)
            self._fails(replace(self.best, faults=left))

    def _drop(self, field: str, parts: Sequence[Part]) -> None:
        """Leave out halves, then quarters, down to single ones."""
        size = max(1, len(parts) // 2)
        while parts:
            for some in _pieces(parts, size):
                left = tuple(part for part in getattr(self.best, field) if part not in some)
                if _is_a_world(field, left) and len(left) < len(getattr(self.best, field)):
                    self._fails(replace(self.best, **{field: left}))
            if size == 1 or self.tries >= self._tries_max:
                return
            parts, size = getattr(self.best, field), max(1, size // 2)


def shrink(failing: Scenario, rules: frozenset[str], *, tries: int = TRIES_MAX) -> Scenario:
    """A scenario that breaks one of the same rules, and is as small as so many tries make it."""
    return Shrinker(failing, rules, tries=tries).run()


def _until(scenario: Scenario, healed_at: float, quiet: float) -> Scenario:
    return replace(
        scenario,
        seconds=healed_at + quiet,
        healed_at=healed_at,
        acts=tuple(act for act in scenario.acts if act.at < healed_at),
        faults=tuple(fault for fault in scenario.faults if fault.at < healed_at),
    )


def _pieces(parts: Sequence[Part], size: int) -> Iterator[Sequence[Part]]:
    for start in range(0, len(parts), size):
        yield parts[start : start + size]


def _is_a_world(field: str, left: Sequence[object]) -> bool:
    """Without a worker and a scheduler, everything fails; that says nothing."""
    roles = {part.role for part in left if isinstance(part, NodeSpec)}
    return field != "nodes" or {Role.SCHEDULER, Role.WORKER} <= roles
