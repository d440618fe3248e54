"""Runs of workflows: what was accepted, and what happened in each run, in the order of the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from proof.checker.history.events import (
    AnyEvent,
    Claim,
    DagAct,
    DagAgain,
    DagEdge,
    DagEnd,
    DagNew,
    DagNode,
    DagRelease,
    DagStart,
    Ending,
    OfDag,
    OfRun,
)
from proof.checker.runs import Run

SUCCESS = frozenset({"COMPLETED"})
FAILURE = frozenset({"FAILED", "CANCELLED", "UPSTREAM_FAILED"})
SKIPPED = frozenset({"SKIPPED"})
ENDED = SUCCESS | FAILURE | SKIPPED

Told = DagStart | DagNode | DagAct | DagRelease | DagAgain | Claim | Ending
Key = tuple[str, int]


@dataclass(slots=True)
class Plan:
    """A revision of a workflow: its tasks, and for each of them those that wait for it."""

    new: DagNew
    nodes: dict[str, DagEdge] = field(default_factory=dict)
    children: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def parents(self, node: str) -> tuple[str, ...]:
        return self.nodes[node].parents


@dataclass(slots=True)
class DagRun:
    """`told`: all about it, with births, claims and ends of what its tasks began, in the order of `n`."""

    id: str
    run: Run | None
    plan: Plan | None = None
    outer: str | None = None
    told: list[Told] = field(default_factory=list)

    @property
    def entity(self) -> str:
        return f"dag {self.id}"

    @property
    def start(self) -> DagStart | None:
        return next((event for event in self.told if isinstance(event, DagStart)), None)

    def steps(self) -> Iterator[list[Told]]:
        """What one transaction wrote, together; a claim is a transaction of its own."""
        steps: dict[object, list[Told]] = {}
        for event in self.told:
            tx = None if isinstance(event, Claim) else event.tx
            steps.setdefault(("n", event.n) if tx is None else ("tx", tx), []).append(event)
        return iter(steps.values())


def plans_of(news: Iterable[DagNew], edges: Iterable[DagEdge]) -> dict[Key, Plan]:
    plans = {(new.job, new.rev): Plan(new) for new in news}
    for edge in edges:
        plan = plans.get((edge.job, edge.rev))
        if plan is not None:
            plan.nodes[edge.node] = edge
            for parent in edge.parents:
                plan.children[parent].append(edge.node)
    return plans


def dags_of(events: Iterable[OfDag], runs: Mapping[str, Run], plans: Mapping[Key, Plan]) -> dict[str, DagRun]:
    dags: dict[str, DagRun] = {}
    for event in events:
        assert isinstance(event, DagNode | DagAct)
        _dag(dags, event.dag, runs).told.append(event)
    for run in runs.values():
        if run.begun is not None:
            own = _dag(dags, run.id, runs)
            own.told += [row for row in run.rows if isinstance(row, DagStart | DagEnd | DagAgain)]
        releases = [birth for birth in run.births if isinstance(birth, DagRelease)]
        if releases:
            outer = _dag(dags, releases[0].dag, runs)
            outer.told += releases
            outer.told += [row for row in run.rows if isinstance(row, Claim | Ending)]
    for dag in dags.values():
        dag.told.sort(key=_number)
        _place(dag, plans)
    return dags


def _dag(dags: dict[str, DagRun], name: str, runs: Mapping[str, Run]) -> DagRun:
    if name not in dags:
        dags[name] = DagRun(name, runs.get(name))
    return dags[name]


def _place(dag: DagRun, plans: Mapping[Key, Plan]) -> None:
    """What it is pinned to, and the run it is in: its birth says so."""
    if dag.run is not None and dag.run.births:
        birth = dag.run.births[0]
        dag.plan = plans.get((birth.job, birth.rev))
        dag.outer = birth.dag if isinstance(birth, DagRelease) else None


def _number(event: AnyEvent | OfRun) -> int:
    return event.n


def was_held(dag: DagRun) -> bool:
    """Whether it ever waited for a person to go on."""
    return any(
        (isinstance(event, DagAct) and event.act == "pause")
        or (isinstance(event, DagNode) and event.state == "HALTED")
        for event in dag.told
    )
