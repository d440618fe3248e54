"""The simulator's own exam: a guard is taken out of the product, and a few seeds must tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gnomon.core import lifecycle
from gnomon.engine import reaper
from gnomon.engine.heartbeat import Heartbeat
from gnomon.engine.worker import Worker
from gnomon.store import statements
from gnomon.testing.sim.judging import judge
from gnomon.testing.sim.profiles import draw
from gnomon.testing.sim.shrinking import shrink

SEEDS = range(12)
Plant = Callable[[pytest.MonkeyPatch], None]


def no_fence(patch: pytest.MonkeyPatch) -> None:
    """A write is accepted from whoever held the run once: guarded by its state only."""
    edit(patch, "apply", "AND leases.claim = change.claim", "")
    edit(patch, "apply_endings", "AND leases.claim = change.claim", "")
    edit(patch, "apply_endings", "AND leases.claim = ending.claim", "")


def no_renewal(patch: pytest.MonkeyPatch) -> None:
    async def renew(self: Heartbeat) -> None: ...

    patch.setattr(Heartbeat, "_renew", renew)


def no_repeat_of_a_claim(patch: pytest.MonkeyPatch) -> None:
    """A claim whose answer got lost is forgotten: it takes a lease until somebody finds it."""
    claim = Worker._claim

    async def forgetful(self: Worker, limit: int) -> Any:
        self._unanswered = None
        return await claim(self, limit)

    patch.setattr(Worker, "_claim", forgetful)


def no_guard_of_the_reaper(patch: pytest.MonkeyPatch) -> None:
    """What the reaper read is written, even if the worker has renewed since."""

    def after(*args: Any, **kwargs: Any) -> lifecycle.Change:
        return replace(lifecycle.after(*args, **kwargs), only_if_expired_at=None)

    patch.setattr(reaper, "after", after)


def no_unique_fire(patch: pytest.MonkeyPatch) -> None:
    """A scheduler writes what it decided, even if another one was faster."""
    edit(patch, "fire", "AND jobs.next_run_time = firing.expected_next_run_time", "")


def edit(patch: pytest.MonkeyPatch, name: str, old: str, new: str) -> None:
    load = statements.load

    def edited(dialect: str) -> dict[str, str]:
        texts = dict(load(dialect))
        texts[name] = texts[name].replace(old, new)
        return texts

    patch.setattr(statements, "load", edited)


@pytest.mark.parametrize(
    ("plant", "profile", "rules"),
    [
        (no_fence, "pauses", {"L3", "BASICS"}),
        (no_renewal, "calm", {"L5"}),
        (no_repeat_of_a_claim, "network", {"L6", "L5", "L7"}),
        (no_guard_of_the_reaper, "storm", {"L4", "L5"}),
    ],
)
def test_a_planted_bug_is_caught(
    plant: Plant, profile: str, rules: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)

    for seed in SEEDS:
        if judge(draw(seed, hours=0.25, profile=profile)).rules & rules:
            return
    pytest.fail(f"none of {len(SEEDS)} seeds found it")


def test_a_failure_is_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    no_renewal(monkeypatch)
    failing = next(
        scenario
        for scenario in (draw(seed, hours=0.25, profile="crashes") for seed in SEEDS)
        if "L5" in judge(scenario).rules
    )

    small = shrink(failing, frozenset({"L5"}), tries=25)

    assert "L5" in judge(small).rules
    assert len(small.acts) + len(small.faults) < len(failing.acts) + len(failing.faults)
    assert small.seconds < failing.seconds
