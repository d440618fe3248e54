"""What came of a scenario."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from gnomon.core.executions.execution import Execution
from gnomon.engine.telemetry import What
from proof.checker.history.events import AnyEvent
from proof.simulator.scenarios.scenario import Scenario


@dataclass(slots=True)
class Story:
    """`events` is the history, `digest` its SHA-256; `runs` is what the store holds at the end."""

    scenario: Scenario
    events: list[AnyEvent]
    digest: str
    runs: list[Execution]
    bugs: list[str]  # Exceptions that nobody expected.
    happened: Counter[What]
    seen: Counter[str]
    calls: int
    turns: int
    faults: int
