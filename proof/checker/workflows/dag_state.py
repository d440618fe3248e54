"""A run of a workflow as far as it has been told: the states of its tasks, and what its rules say of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from proof.checker.history.events import (
    Cancelled,
    Claim,
    DagAct,
    DagAgain,
    DagEnd,
    DagNode,
    DagRelease,
    DagStart,
    Done,
    Ending,
    Event,
)
from proof.checker.workflows.dags import ENDED, FAILURE, SKIPPED, SUCCESS, DagRun, Plan, Told

WAIT, RUN, SKIP, BLOCK = "waits", "may begin", "is skipped", "is blocked"
REPAIRS = frozenset({"rerun", "rerun_failed", "retry", "skip", "succeed", "fail"})


class Problem(NamedTuple):
    rule: str
    what: str
    event: Event | None


class Stop(NamedTuple):
    """From when nothing of a run may begin, and until somebody mended it."""

    n: int
    at: datetime | None
    until: int | None
    by: DagAct | None  # None: by a failure.


class Move(NamedTuple):
    """What a task was before, and whether its run had been stopped by then, if only in this transaction."""

    event: DagNode
    before: str
    was_stopped: bool


@dataclass(slots=True)
class DagState:
    dag: DagRun
    plan: Plan
    states: dict[str, str] = field(default_factory=dict)
    rounds: Counter[str] = field(default_factory=Counter)
    begun: dict[tuple[str, int], list[DagRelease]] = field(default_factory=dict)
    births: dict[str, DagRelease] = field(default_factory=dict)
    ends: dict[str, Ending] = field(default_factory=dict)
    given: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    stops: list[Stop] = field(default_factory=list)
    claims: list[tuple[Claim, DagRelease]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    ended: DagEnd | None = None
    held_at: datetime | None = None  # Since when it waits for a person.
    is_paused: bool = False
    said: set[str] = field(default_factory=set)  # Tasks that completed because somebody said so.
    acts: list[DagAct] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)

    @property
    def stop(self) -> Stop | None:
        return self.stops[-1] if self.stops and self.stops[-1].until is None else None

    def wrong(self, rule: str, what: str, event: Event | None) -> None:
        self.problems.append(Problem(rule, what, event))

    # What happens ------------------------------------------------------------------------------------------

    def enter(self, event: Told) -> None:
        match event:
            case DagStart():
                self.states = dict.fromkeys(self.plan.nodes, "WAITING")
            case DagAct():
                self._act(event)
            case DagNode(node=node) if node not in self.plan.nodes:
                self.wrong("G7", f"its revision has no task {node!r}.", event)
            case DagNode():
                self._move(event)
            case DagRelease():
                self._release(event)
            case DagAgain():
                self.ended = None
            case DagEnd(run=run) if run == self.dag.id:
                pass  # Judged when the whole transaction is known.
            case _:
                assert isinstance(event, Ending)
                self.ends[event.run] = event
                if self.state_of(event) != "COMPLETED" and self.is_current(event.run):
                    self._failed(event)

    def _move(self, event: DagNode) -> None:
        node, state = event.node, event.state
        self.moves.append(Move(event, self.states.get(node, "WAITING"), self.stop is not None))
        self.states[node], self.rounds[node] = state, event.round
        self.said.discard(node)
        if state == "COMPLETED" and any(act.node == node for act in self.acts):
            self.said.add(node)
        if state in ("FAILED", "CANCELLED"):
            self._failed(event)

    def _act(self, act: DagAct) -> None:
        if act.act == "cancel" and self.stop is None and self.ended is None:
            self._stop(act, act)
        elif act.act in REPAIRS and self.stop is not None:
            self.stops[-1] = self.stop._replace(until=act.n)
        if act.act in ("pause", "resume"):
            self.is_paused = act.act == "pause"

    def _failed(self, event: DagNode | Ending) -> None:
        if self.plan.new.strategy == "FAIL_FAST" and self.stop is None:
            self._stop(event, None)

    def _stop(self, event: DagAct | DagNode | Ending, by: DagAct | None) -> None:
        self.stops.append(Stop(event.n, event.seen, None, by))
        self.is_paused = False

    def _release(self, release: DagRelease) -> None:
        self.checked["G2"] += 1
        same = self.begun.setdefault((release.node, release.round), [])
        if any(one.item == release.item for one in same):
            self.wrong("G2", f"{release.node!r} was released twice.", release)
        same.append(release)
        self.births[release.run] = release

    def is_current(self, run: str) -> bool:
        birth = self.births.get(run)
        return (
            birth is not None
            and self.rounds[birth.node] == birth.round
            and self.states.get(birth.node) == "RELEASED"
        )

    # What a rule says ------------------------------------------------------------------------------------

    def verdict(self, node: str, *, by_runs: bool = False) -> str:
        """`by_runs`: a parent has ended only if what it began has."""
        edge = self.plan.nodes[node]
        states = [
            "RELEASED" if by_runs and not self.has_ended(parent) else self.states.get(parent, "WAITING")
            for parent in edge.parents
        ]
        failed = any(state in FAILURE for state in states)
        if edge.rule == "one_success" and any(state in SUCCESS for state in states):
            return RUN
        if edge.rule == "one_failed" and failed:
            return RUN
        if any(state not in ENDED for state in states):
            return WAIT
        match edge.rule:
            case "all_done":
                return RUN
            case "one_failed":
                return SKIP
            case "none_failed":
                return BLOCK if failed else RUN
            case _:
                return BLOCK if failed else SKIP if any(state in SKIPPED for state in states) else RUN

    def has_ended(self, node: str) -> bool:
        runs = self.begun.get((node, self.rounds[node]), ())
        return self.states.get(node) in ENDED and all(one.run in self.ends for one in runs)

    def state_of(self, end: Ending) -> str:
        if isinstance(end, DagEnd):
            return end.state
        return (
            "COMPLETED" if isinstance(end, Done) else "CANCELLED" if isinstance(end, Cancelled) else "FAILED"
        )

    def state_by_runs(self, node: str, *, was_stopped: bool) -> str | None:
        """What a task that began comes to; None if something of it has not ended."""
        runs = self.begun.get((node, self.rounds[node]), ())
        ends = [self.state_of(self.ends[one.run]) for one in runs if one.run in self.ends]
        if len(ends) < len(runs):
            return None
        # What could not begin at all has failed.
        state = (
            "FAILED" if "FAILED" in ends or not ends else "CANCELLED" if "CANCELLED" in ends else "COMPLETED"
        )
        halts = state == "FAILED" and self.plan.new.strategy == "PAUSE" and not was_stopped
        return "HALTED" if halts else state
