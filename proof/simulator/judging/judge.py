"""From a scenario to a judgement: run it, and let the checker look at its history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from gnomon.testing.virtual.loop import Deadlock
from proof.checker.coverage import COVERAGE
from proof.checker.faults import DRAIN
from proof.checker.history.events import Again, Claim, Done, Event, FaultBegin
from proof.checker.judge import check
from proof.checker.parameters import Parameters
from proof.simulator.judging.basics import basics
from proof.simulator.scenarios.scenario import Scenario
from proof.simulator.world.world import World

# A node knows the time of the store to within the quickest round trip of its life, and drifts until it
# asks again.
CLOCK = timedelta(milliseconds=270)
# What a simulated world does not have: a leader, and a disk.
WITHOUT = frozenset({"leader change while a time is due", "disk full during complete"})

# What a simulated world must show beside what every history must.
ANSWERED_AGAIN = "submit answered again"
LEFT_IN_PEACE = "drain that waits for a run"

# What is not judged world by world.
# L9: Gnomon fences by claim, not by boot: what a dead process has sent counts while its claim is current.
# L10 asks whether a whole campaign needed the fence; of many worlds together, `uncovered` does.
LEFT_OUT = frozenset({"L9", "L10"})
# One broken rule must not hide another.
WRONG_PER_RULE_MAX = 20


@dataclass(frozen=True, slots=True)
class Wrong:
    """Something that must not be: which rule, about what, and the events around it."""

    rule: str
    entity: str
    what: str
    around: tuple[Event, ...] = ()

    def __str__(self) -> str:
        return f"{self.rule} {self.entity}: {self.what}"


@dataclass(frozen=True, slots=True)
class Judgement:
    scenario: Scenario
    wrong: tuple[Wrong, ...]
    digest: str = ""
    coverage: Counter[str] = field(default_factory=Counter)
    events: int = 0
    runs: int = 0
    faults: int = 0
    calls: int = 0
    cpu: float = 0.0  # Seconds of one core.

    @property
    def rules(self) -> frozenset[str]:
        return frozenset(one.rule for one in self.wrong)


def judge(scenario: Scenario) -> Judgement:
    """Run the scenario. What went wrong is in the answer; nothing is raised for it."""
    try:
        story = World(scenario).run()
    except Deadlock as error:
        return Judgement(scenario, (Wrong("DEADLOCK", "world", str(error)),))
    verdict = check(story.events, Parameters(clock=CLOCK), without=WITHOUT)
    wrong = [Wrong("BASICS", "world", what) for what in basics(story)]
    around = {id(told.violation): tuple(told.around) for told in verdict.told}
    wrong += [
        Wrong(one.invariant, one.entity, one.what, around.get(id(one), ()))
        for found in verdict.findings
        if found.invariant not in LEFT_OUT
        for one in found.violations[:WRONG_PER_RULE_MAX]
    ]
    seen = {name: count for name, count in verdict.coverage.items() if name not in WITHOUT}
    seen |= _seen(story.events)
    return Judgement(
        scenario,
        tuple(wrong),
        story.digest,
        Counter(seen),
        len(story.events),
        len(story.runs),
        story.faults,
        story.calls,
    )


def _seen(told: Sequence[Event]) -> dict[str, int]:
    leaving: set[str] = set()
    holder: dict[str, str] = {}
    seen = {ANSWERED_AGAIN: 0, LEFT_IN_PEACE: 0}
    for event in told:
        match event:
            case Again(op="submit"):
                seen[ANSWERED_AGAIN] += 1
            case FaultBegin(kind=kind, target=target) if kind == DRAIN:
                leaving.add(target)
            case Claim(run=run):
                holder[run] = event.holder
            case Done(run=run) if holder.get(run) in leaving:
                seen[LEFT_IN_PEACE] += 1
            case _:
                pass
    return seen


def uncovered(coverage: Counter[str], *, at_least: int = 1) -> list[str]:
    """What happened less often, or never, so that its rules were not tried."""
    names = [*(name for name in COVERAGE if name not in WITHOUT), ANSWERED_AGAIN, LEFT_IN_PEACE]
    return [name for name in names if coverage[name] < at_least]
