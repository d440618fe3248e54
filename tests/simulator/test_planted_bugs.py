"""The simulator's own exam: a guard is taken out of the product, and a few seeds must tell."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from gnomon.core.executions import lifecycle
from gnomon.engine.schedulers import reaper
from gnomon.engine.workers.heartbeat import Heartbeat
from gnomon.engine.workers.worker import Worker
from gnomon.store.databases import statements
from proof.simulator.judging.judge import judge
from proof.simulator.judging.shrinking import shrink
from proof.simulator.scenarios.behaviour import Behaviour
from proof.simulator.scenarios.scenario import Fault, FaultKind, JobSpec, NodeSpec, Role, Scenario
from proof.simulator.seeds.profiles import draw

pytestmark = pytest.mark.thorough(
    "The simulator catches a guard that was taken out, and makes the failure small"
)

SEEDS = range(4)
Plant = Callable[[pytest.MonkeyPatch], None]


def no_fence(patch: pytest.MonkeyPatch) -> None:
    """A write is accepted from whoever held the run once: guarded by its state only."""
    edit(patch, "apply", "AND leases.claim = change.claim", "")
    edit(patch, "apply_endings", "AND leases.claim = change.claim", "")


def no_renewal(patch: pytest.MonkeyPatch) -> None:
    async def renew(self: Heartbeat) -> None: ...

    patch.setattr(Heartbeat, "_renew", renew)


def no_repeat_of_a_claim(patch: pytest.MonkeyPatch) -> None:
    """A claim whose answer got lost is forgotten: it takes a lease until somebody finds it."""
    claim = Worker._claim

    async def forgetful(self: Worker, **asked: bool) -> Any:
        self._slots.request = None
        return await claim(self, **asked)

    patch.setattr(Worker, "_claim", forgetful)


def no_guard_of_the_reaper(patch: pytest.MonkeyPatch) -> None:
    """What the reaper read is written, even if the worker has renewed since."""

    def after(*args: Any, **kwargs: Any) -> lifecycle.Change:
        return msgspec.structs.replace(lifecycle.after(*args, **kwargs), only_if_expired_at=None)

    patch.setattr(reaper, "after", after)


def edit(patch: pytest.MonkeyPatch, name: str, old: str, new: str) -> None:
    load = statements.load

    def edited(dialect: str) -> dict[str, str]:
        texts = dict(load(dialect))
        texts[name] = texts[name].replace(old, new)
        return texts

    patch.setattr(statements, "load", edited)


def scenario(seed: int, *, faults: list[Fault], scheduler_latency: float = 0.002) -> Scenario:
    """Long jobs on two workers, of which the first one has a hard time."""
    nodes = [
        NodeSpec(name="s1", role=Role.SCHEDULER, latency=scheduler_latency),
        NodeSpec(name="w1", role=Role.WORKER),
        NodeSpec(name="w2", role=Role.WORKER),
    ]
    long = Behaviour(shortest=20.0, longest=30.0)
    jobs = [JobSpec(name=f"job{n}", every=30.0, max_attempts=5, behaviour=long) for n in range(3)]
    jobs.append(JobSpec(name="quick", every=2.0))
    return Scenario(
        seed=seed,
        start=datetime(2026, 1, 1, tzinfo=UTC),
        seconds=1500.0,
        healed_at=1200.0,
        lease=10.0,
        nodes=tuple(nodes),
        jobs=tuple(jobs),
        faults=tuple(faults),
    )


def every(seconds: float, kind: FaultKind, lasts: float, amount: float = 0.0) -> list[Fault]:
    return [
        Fault(number=number, kind=kind, at=30.0 + number * seconds, seconds=lasts, target="w1", amount=amount)
        for number in range(int(1100 / seconds))
    ]


PAUSES = every(37.0, FaultKind.PAUSE, 16.0)
# Some end while the reaper has read that a lease ran out, and not yet written so.
SHORT_PAUSES = [
    msgspec.structs.replace(fault, seconds=7.5 + fault.number % 11 * 0.5)
    for fault in every(17.0, FaultKind.PAUSE, 8.0)
]
LOST_REPLIES = every(20.0, FaultKind.LOST_REPLY, 5.0, amount=0.5)


@pytest.mark.parametrize(
    ("plant", "faults", "latency", "rules"),
    [
        (no_fence, PAUSES, 0.002, {"L3", "BASICS"}),
        (no_renewal, [], 0.002, {"L5"}),
        (no_repeat_of_a_claim, LOST_REPLIES, 0.002, {"BASICS"}),
        (no_guard_of_the_reaper, SHORT_PAUSES, 0.3, {"L4"}),
    ],
)
def test_a_planted_bug_is_caught(
    plant: Plant,
    faults: list[Fault],
    latency: float,
    rules: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worlds = [scenario(seed, faults=faults, scheduler_latency=latency) for seed in SEEDS]
    assert not judge(worlds[0]).rules & rules

    plant(monkeypatch)

    assert any(judge(world).rules & rules for world in worlds)


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
