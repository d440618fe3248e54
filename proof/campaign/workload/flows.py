"""The workflows of a campaign: drawn as those of the simulator are, with work that real processes do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from msgspec.structs import replace

from proof.campaign.workload.workload import RUN_EXTRA
from proof.simulator.scenarios.flows import Does, FlowSpec, TaskSpec, document_of
from proof.simulator.seeds.flow_workload import STRATEGIES, draw_flow

FLOWS = 8
SECONDS_MAX = 2.0
EVERY = (None, 15.0, 30.0, 45.0)


@dataclass(frozen=True, slots=True)
class Flow:
    """A workflow as somebody would write it down."""

    name: str
    document: dict[str, Any]

    @property
    def tasks(self) -> Sequence[str]:
        return [task["name"] for task in self.document["tasks"]]

    @property
    def run_max(self) -> float:
        """Of one of its tasks."""
        return SECONDS_MAX + RUN_EXTRA


def flows(seed: int) -> Sequence[Flow]:
    """Nobody sits there to approve or to send something, so no task waits for that."""
    chance = Random(f"{seed}:flows")
    return [_flow(chance, number) for number in range(FLOWS)]


def _flow(chance: Random, number: int) -> Flow:
    drawn = draw_flow(chance, f"flow-{number}", ())
    spec = replace(
        drawn,
        strategy=STRATEGIES[number % len(STRATEGIES)],
        every=chance.choice(EVERY),
        tasks=tuple(_with_work(task) for task in drawn.tasks),
    )
    return Flow(spec.name, _written(spec))


def _with_work(task: TaskSpec) -> TaskSpec:
    return replace(task, does=Does.RUN, waits=None) if task.does in (Does.APPROVAL, Does.EVENT) else task


def _written(spec: FlowSpec) -> dict[str, Any]:
    document = document_of(spec)
    for task, written in zip(spec.tasks, document["tasks"], strict=True):
        does = task.behaviour
        arguments = {
            "seconds": min(does.longest, SECONDS_MAX),
            "fails": does.fails,
            "permanently": does.fails_for_good,
            "items": does.items,
            "inputs": written["payload"]["inputs"],
        }
        written |= {"kind": "python", "payload": {"function": "task", "arguments": arguments}}
    return document
