"""A run of a workflow, told again from its definition: each transaction must leave it as the rules say."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from proof.checker.history.events import Claim, DagAct, DagEnd, DagNode, DagRelease, DagStart, Done, Ending
from proof.checker.workflows.dag_state import BLOCK, REPAIRS, RUN, SKIP, WAIT, DagState, Move
from proof.checker.workflows.dags import ENDED, DagRun, Plan, Told

PERSONS = frozenset({"HELD", "HALTED"})


class Replay(DagState):
    """`clock`: how far the times of two transactions may be off."""

    def __init__(self, dag: DagRun, plan: Plan, clock: timedelta) -> None:
        super().__init__(dag, plan)
        self.clock = clock

    def run(self) -> Replay:
        for step in self.dag.steps():
            if isinstance(step[0], Claim):
                self._claim(step[0])
            else:
                self._step(step)
        return self

    # One transaction -----------------------------------------------------------------------------------

    def _step(self, step: Sequence[Told]) -> None:
        was_stopped, was_ended = self.stop is not None, self.ended is not None
        self.acts = [event for event in step if isinstance(event, DagAct)]
        self.moves = []
        releases = [event for event in step if isinstance(event, DagRelease)]
        for event in step:
            self.enter(event)
        self._judge_moves(step)
        self._judge_releases(step, releases)
        self._judge_ends(step)
        if self.stop is not None and not was_stopped:
            self._judge_stop(step)
        self._judge_end(step, was_ended=was_ended)
        self._note_hold(step[-1])

    # Judging ---------------------------------------------------------------------------------------------

    def _claim(self, claim: Claim) -> None:
        birth = self.births.get(claim.run)
        if birth is None or birth.node not in self.plan.nodes:
            return
        self.claims.append((claim, birth))
        self.checked["G1"] += 1
        verdict = self.verdict(birth.node, by_runs=True)
        if verdict != RUN:
            self.wrong(
                "G1", f"{birth.node!r} was handed out, and {verdict} by {self._rule(birth.node)}.", claim
            )
        self.checked["G6"] += 1
        if self.held_at is not None and claim.db is not None and claim.db > self.held_at + self.clock:
            self.wrong("G6", f"{birth.node!r} was handed out while the run was paused.", claim)

    def _rule(self, node: str) -> str:
        return self.plan.nodes[node].rule

    def _judge_moves(self, step: Sequence[Told]) -> None:
        touched = set(self.plan.nodes) if any(isinstance(one, DagStart) for one in step) else set[str]()
        for move in self.moves:
            event, before, _ = move
            touched.update(self.plan.children.get(event.node, ()), [event.node])
            rule = "G5" if before == "RELEASED" else "G3"
            self.checked[rule] += 1
            if not self._is_due(move):
                said = f"it {self.verdict(event.node)} by {self._rule(event.node)}"
                self.wrong(rule, f"{event.node!r} was {before} and is {event.state}; {said}.", event)
        if self.stop is not None:
            return
        for node in sorted(touched):
            self.checked["G3"] += 1
            if self.states[node] == "WAITING" and (verdict := self.verdict(node)) != WAIT:
                self.wrong("G3", f"{node!r} {verdict} by {self._rule(node)}, and is left waiting.", step[-1])

    def _is_due(self, move: Move) -> bool:
        event, before, was_stopped = move
        is_mended = any(act.act in REPAIRS for act in self.acts)
        if event.state == "WAITING":
            return is_mended
        if before in ENDED and is_mended:
            before = "WAITING"  # It was set back, and decided anew at once.
        if before == "RELEASED":
            return event.state in ("RELEASED", self.state_by_runs(event.node, was_stopped=was_stopped))
        acts = {act.act for act in self.acts if act.node in (None, event.node)}
        return self._is_decided(event, before, acts)

    def _is_decided(self, event: DagNode, before: str, acts: set[str]) -> bool:
        """Whether a task that had not begun, or was held, came to this by its rule or by somebody's act."""
        verdict, edge, strategy = (
            self.verdict(event.node),
            self.plan.nodes[event.node],
            self.plan.new.strategy,
        )
        was_waiting, was_held = before == "WAITING", before == "HELD"
        match event.state:
            case "RELEASED" | "HELD":
                return verdict == RUN if was_waiting else "retry" in acts
            case "HALTED":
                return strategy == "PAUSE" and (was_held or verdict == RUN)
            case "COMPLETED":
                is_empty = was_waiting and verdict == RUN and edge.does == "fan_out"
                return is_empty or (was_held and edge.does == "event") or bool(acts & {"approve", "succeed"})
            case "FAILED":
                return was_held or "fail" in acts or (was_waiting and verdict == RUN)
            case "CANCELLED":
                return self.stop is not None
            case "SKIPPED":
                is_ruled = verdict == SKIP or (verdict == BLOCK and strategy == "CONTINUE")
                is_ruled |= verdict == RUN and edge.conditional
                return "skip" in acts or (was_waiting and is_ruled)
            case _:
                return was_waiting and verdict == BLOCK and strategy != "CONTINUE"

    def _judge_releases(self, step: Sequence[Told], releases: Sequence[DagRelease]) -> None:
        ended = {event.node for event, *_ in self.moves if event.state in ENDED}
        began = any(isinstance(event, DagStart | DagAct) for event in step)
        for release in releases:
            edge = self.plan.nodes.get(release.node)
            if edge is None:
                self.wrong("G7", f"its revision has no task {release.node!r}.", release)
                continue
            self.checked["G7"] += 1
            if edge.does in ("run", "fan_out") and release.rev != self.plan.new.rev:
                what = f"{release.node!r} is of revision {release.rev}, the run of {self.plan.new.rev}."
                self.wrong("G7", what, release)
            if not began and not ended.intersection(edge.parents):
                what = f"{release.node!r} was released, and nothing that it waits for ended with it."
                self.wrong("G2", what, release)
            self.given[release.run] = {
                parent: marks for parent in edge.parents if (marks := self._marks(parent)) is not None
            }

    def _marks(self, node: str) -> tuple[str, ...] | None:
        """Whose results those are that a task after this one is given; None if it is not a run's."""
        runs = sorted(self.begun.get((node, self.rounds[node]), ()), key=lambda one: one.item or 0)
        ends = [self.ends.get(one.run) for one in runs]
        if self.states.get(node) != "COMPLETED" or node in self.said or not runs:
            return None
        if self.plan.nodes[node].does == "dag":
            return (runs[0].run,)
        return tuple(f"{end.run}/{end.token}" for end in ends if isinstance(end, Done))

    def _judge_ends(self, step: Sequence[Told]) -> None:
        for event in step:
            if isinstance(event, Ending) and event.run in self.births and self.is_current(event.run):
                self.checked["G2"] += 1
                node = self.births[event.run].node
                if self.state_by_runs(node, was_stopped=self.stop is not None) is not None:
                    self.wrong("G2", f"the last of {node!r} has ended, and nobody told the run.", event)

    def _judge_stop(self, step: Sequence[Told]) -> None:
        stop = self.stop
        assert stop is not None
        rule = "G3" if stop.by is None else "G6"
        self.checked[rule] += 1
        left = [node for node, state in self.states.items() if state in PERSONS or state == "WAITING"]
        if left:
            self.wrong(rule, f"it was stopped, and {left[0]!r} still waits.", stop.by or step[-1])

    def _judge_end(self, step: Sequence[Told], *, was_ended: bool) -> None:
        ends = [one for one in step if isinstance(one, DagEnd) and one.run == self.dag.id]
        is_over = bool(self.states) and all(state in ENDED for state in self.states.values())
        self.checked["G5"] += len(ends)
        if len(ends) > 1 or (ends and self.ended is not None):
            self.wrong("G5", "it ended twice.", ends[-1])
        elif ends and not is_over:
            self.wrong("G5", "it ended before all of its tasks had.", ends[0])
        elif ends and ends[0].state != (state := self._outcome()):
            self.wrong("G5", f"it ended as {ends[0].state}; its tasks make it {state}.", ends[0])
        elif is_over and not ends and self.ended is None:
            self.wrong("G5", "all of its tasks have ended, and it has not.", step[-1])
        elif was_ended and self.ended is not None and self.moves:
            self.wrong("G5", "it had ended, and goes on.", self.moves[0].event)
        if ends:
            self.ended = ends[-1]

    def _outcome(self) -> str:
        states = set(self.states.values())
        if self.stop is not None and self.stop.by is not None and "CANCELLED" in states:
            return "CANCELLED"
        if not states & {"FAILED", "CANCELLED"}:
            return "COMPLETED"
        new = self.plan.new
        is_enough = new.partial and new.strategy != "FAIL_FAST" and "COMPLETED" in states
        return "COMPLETED" if is_enough else "FAILED"

    def _note_hold(self, last: Told) -> None:
        is_held = self.is_paused or any(state == "HALTED" for state in self.states.values())
        if not is_held or self.stop is not None:
            self.held_at = None
        elif self.held_at is None:
            self.held_at = last.seen
