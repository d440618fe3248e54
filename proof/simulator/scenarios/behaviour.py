"""What the work of a scenario is like."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

KIND = "simulated"


class Behaviour(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a simulated handler does, with which probability. Durations are seconds."""

    shortest: float = 0.05
    longest: float = 2.0
    long: float = 0.0  # Takes `long_lasts` instead.
    long_lasts: float = 70.0
    fails: float = 0.0
    fails_for_good: float = 0.0
    crashes: float = 0.0  # Takes its process along.
    snoozes: float = 0.0
    stubborn: float = 0.0  # Goes on for a while after it was told to stop.
    checkpoints: int = 0
    lines: int = 0
    items: int = 0  # How long the list is that its result has.
    inputs: dict[str, Any] = {}  # In a workflow, what it is given of the tasks before it.
