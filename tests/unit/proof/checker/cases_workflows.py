"""Stories about runs of workflows: G, V3, and what C7 says of them."""

from __future__ import annotations

from typing import Any

from proof.checker.history.events import (
    Cancelled,
    DagAct,
    DagAgain,
    DagEdge,
    DagEnd,
    DagNew,
    DagNode,
    DagRelease,
    DagStart,
    Dead,
    Done,
    Event,
)
from tests.unit.proof.checker.story import Story, case, t

ROOT: tuple[str, ...] = ()


class Flow:
    """A run `D` of a workflow `d`. What a method tells is one transaction, unless it is told which."""

    def __init__(
        self, story: Story, strategy: str = "FAIL_DOWNSTREAM", *, run: str = "D", **nodes: tuple[str, ...]
    ) -> None:
        self.story, self.run, self.job = story, run, run.lower()
        self.tx = 100 * ord(run)
        self.nodes: dict[str, tuple[str, ...]] = nodes
        story.job(self.job, kind="gnomon.dag")
        self.define(1, strategy)

    def define(self, rev: int, strategy: str = "FAIL_DOWNSTREAM", **fields: object) -> None:
        self.story.store(0, DagNew, job=self.job, rev=rev, strategy=strategy)
        for node, parents in self.nodes.items():
            rule = "all_done" if node == "always" else "one_success" if node == "either" else "all_success"
            does = "fan_out" if node == "each" else "approval" if node == "asks" else "run"
            fields = {"node": node, "parents": parents, "rule": rule, "does": does}
            self.story.store(0, DagEdge, job=self.job, rev=rev, **fields)
            if does != "approval":
                self.story.job(f"{self.job}/{node}", rev=rev)

    def next(self) -> int:
        self.tx += 1
        return self.tx

    def begin(self, *roots: str, at: float = 2, rev: int = 1) -> None:
        self.story.enqueue(self.run, 1, job=self.job)
        self.story.store(at, DagStart, run=self.run, job=self.job, rev=rev, tx=self.next())
        for root in roots:
            self.release(at, root)

    def release(self, at: float, node: str, *, turn: int = 1, **fields: object) -> None:
        self.node(at, node, "RELEASED", turn=turn)
        self.birth(at, node, turn=turn, **fields)

    def birth(self, at: float, node: str, *, turn: int = 1, **fields: object) -> None:
        name = f"{self.run}.{node}" if turn == 1 else f"{self.run}.{node}.{turn}"
        fields = {"run": name, "job": f"{self.job}/{node}", "tx": self.tx, **fields}
        self.story.store(at, DagRelease, dag=self.run, node=node, round=turn, **fields)

    def node(self, at: float, node: str, state: str, *, turn: int = 1) -> None:
        self.story.store(at, DagNode, dag=self.run, node=node, state=state, round=turn, tx=self.tx)

    def begins(self, at: float, node: str, **fields: Any) -> None:
        self.story.claim(at, f"{self.run}.{node}")
        self.story.start(at, f"{self.run}.{node}", **fields)

    def ends(
        self, at: float, node: str, state: str = "COMPLETED", kind: type[Event] = Done, turn: int = 1
    ) -> None:
        """Its run and the task, in one transaction, which goes on."""
        run = f"{self.run}.{node}" if turn == 1 else f"{self.run}.{node}.{turn}"
        self.story.exit(at, run)
        self.story.end(at, kind, run, tx=self.next())
        self.node(at, node, state, turn=turn)

    def lives(self, at: float, node: str, **fields: object) -> None:
        self.begins(at, node, **fields)
        self.ends(at + 1, node)

    def act(self, at: float, act: str, node: str | None = None, *, committed: float | None = None) -> None:
        seen = None if committed is None else t(committed)
        self.story.store(at, DagAct, dag=self.run, act=act, node=node, tx=self.next(), committed=seen)

    def end(self, at: float, state: str = "COMPLETED") -> None:
        self.story.store(at, DagEnd, run=self.run, state=state, tx=self.tx)


@case("G1")
def a_task_is_handed_out_before_its_parent_is_done(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT, b=("a",))
    flow.begin("a")
    flow.begins(3, "a")
    if wrong:
        flow.release(4, "b")
        flow.begins(5, "b")
    flow.ends(6, "a")
    if not wrong:
        flow.release(6, "b")
        flow.begins(7, "b")
    flow.ends(8, "b")
    flow.end(8)
    story.read()


@case("G1")
def a_parent_counts_as_done_while_its_run_goes_on(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT, b=("a",))
    flow.begin("a")
    flow.begins(3, "a")
    if wrong:
        flow.next()
        flow.node(4, "a", "COMPLETED")
    else:
        flow.ends(4, "a")
    flow.release(4, "b")
    flow.begins(5, "b")
    if wrong:
        story.exit(6, "D.a")
        story.end(6, Done, "D.a", tx=flow.next())
    flow.ends(7, "b")
    flow.end(7)
    story.read()


@case("G2")
def a_join_is_released_by_both_parents(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT, b=ROOT, c=("a", "b"))
    flow.begin("a", "b")
    flow.begins(3, "a")
    flow.lives(3, "b")
    flow.ends(5, "a")
    flow.release(5, "c")
    if wrong:
        flow.birth(5, "c", run="D.c.again")
        story.live("D.c.again", 6)
    flow.lives(6, "c")
    flow.end(7)
    story.read()


@case("G2")
def a_child_is_released_by_a_later_transaction(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT, b=("a",))
    flow.begin("a")
    flow.lives(3, "a")
    if wrong:
        flow.next()
    flow.release(4, "b")
    flow.lives(5, "b")
    flow.end(6)
    story.read()


@case("G2")
def an_end_is_told_to_the_run_by_a_later_transaction(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT)
    flow.begin("a")
    flow.begins(3, "a")
    story.exit(4, "D.a")
    story.end(4, Done, "D.a", tx=flow.next())
    if wrong:
        flow.next()
    flow.node(4, "a", "COMPLETED")
    flow.end(4)
    story.read()


@case("G3")
def what_follows_a_failure_runs(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT, b=("a",))
    flow.begin("a")
    flow.begins(3, "a")
    flow.ends(4, "a", "FAILED", Dead)
    if wrong:
        flow.release(4, "b")
        flow.lives(5, "b")
    else:
        flow.node(4, "b", "UPSTREAM_FAILED", turn=0)
    flow.end(6, "FAILED")
    story.read()


@case("G3")
def what_may_begin_is_left_waiting(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT, either=("a", "slow"), slow=ROOT)
    flow.begin("a", "slow")
    flow.begins(3, "slow")
    flow.lives(3, "a")
    if not wrong:
        flow.release(4, "either")
    flow.ends(5, "slow")
    if wrong:
        flow.release(5, "either")
    flow.lives(6, "either")
    flow.end(7)
    story.read()


@case("G3")
def a_skipped_branch_does_not_skip_what_follows(story: Story, wrong: bool) -> None:
    flow = Flow(story, asks=ROOT, b=("asks",), always=("b",))
    flow.begin()
    flow.node(2, "asks", "HELD")
    flow.act(3, "skip", "asks")
    flow.node(3, "asks", "SKIPPED")
    flow.node(3, "b", "UPSTREAM_FAILED" if wrong else "SKIPPED", turn=0)
    flow.release(3, "always")
    flow.lives(4, "always")
    flow.end(5)
    story.read()


@case("G3")
def one_failure_fast_and_the_rest_waits_on(story: Story, wrong: bool) -> None:
    flow = Flow(story, "FAIL_FAST", a=ROOT, b=ROOT, c=("b",))
    flow.begin("a", "b")
    flow.begins(3, "a")
    flow.begins(3, "b")
    flow.ends(4, "a", "FAILED", Dead)
    if not wrong:
        flow.node(4, "c", "CANCELLED", turn=0)
    flow.ends(5, "b")
    if wrong:
        flow.node(5, "c", "CANCELLED", turn=0)
    flow.end(5, "FAILED")
    story.read()


@case("G4")
def a_child_is_given_what_a_refused_attempt_brought(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT, b=("a",))
    flow.begin("a")
    flow.lives(3, "a")
    flow.release(4, "b")
    flow.lives(5, "b", inputs={"a": ("D.a/7" if wrong else "D.a/1",)})
    flow.end(6)
    story.read()


@case("G4")
def the_results_of_items_are_given_in_another_order(story: Story, wrong: bool) -> None:
    flow = Flow(story, each=ROOT, b=("each",))
    flow.begin()
    flow.node(2, "each", "RELEASED")
    for item in (0, 1):
        flow.birth(2, "each", run=f"D.each{item}", item=item)
        story.claim(3, f"D.each{item}")
        story.start(3, f"D.each{item}")
    for item in (0, 1):
        story.exit(4, f"D.each{item}")
    story.end(4, Done, "D.each1", tx=flow.next())
    story.end(4, Done, "D.each0", tx=flow.next())
    flow.node(4, "each", "COMPLETED")
    flow.release(4, "b")
    marks = ("D.each1/1", "D.each0/1") if wrong else ("D.each0/1", "D.each1/1")
    flow.lives(5, "b", inputs={"each": marks})
    flow.end(6)
    story.read()


@case("G5")
def a_run_ends_while_a_task_goes_on(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT, b=ROOT)
    flow.begin("a", "b")
    flow.begins(3, "a")
    flow.begins(3, "b")
    flow.ends(4, "a")
    if wrong:
        flow.end(4)
    flow.ends(5, "b")
    if not wrong:
        flow.end(5)
    story.read()


@case("G5")
def a_run_with_a_failed_task_is_completed(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT, b=ROOT)
    flow.begin("a", "b")
    flow.lives(3, "b")
    flow.begins(4, "a")
    flow.ends(5, "a", "FAILED", Dead)
    flow.end(5, "COMPLETED" if wrong else "FAILED")
    story.read()


@case("G5")
def a_task_is_completed_whose_run_failed(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT)
    flow.begin("a")
    flow.begins(3, "a")
    flow.ends(4, "a", "COMPLETED" if wrong else "FAILED", Dead)
    flow.end(4, "COMPLETED" if wrong else "FAILED")
    story.read()


@case("G5")
def a_run_that_had_ended_goes_on_by_itself(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT)
    flow.begin("a")
    flow.begins(3, "a")
    flow.ends(4, "a", "FAILED", Dead)
    flow.end(4, "FAILED")
    flow.act(5, "retry", "a")
    if not wrong:
        story.store(5, DagAgain, run="D", tx=flow.tx)
    flow.node(5, "a", "WAITING")
    flow.release(5, "a", turn=2)
    story.claim(6, "D.a.2")
    story.start(6, "D.a.2")
    flow.ends(7, "a", turn=2)
    if not wrong:
        flow.end(7)
    story.read()


@case("G6")
def a_task_is_handed_out_after_a_cancel(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT, b=ROOT)
    flow.begin("a", "b")
    flow.begins(3, "a")
    if not wrong:
        flow.begins(4, "b")
    flow.act(5, "cancel")
    if wrong:
        flow.begins(6, "b")
    flow.ends(7, "a")
    flow.ends(7, "b", "CANCELLED", Cancelled)
    flow.end(7, "CANCELLED")
    story.read()


@case("G6")
def a_task_is_handed_out_after_the_transaction_of_a_cancel(story: Story, wrong: bool) -> None:
    """While that is under way, nobody can know of it. It finds what was handed out, and asks it to stop."""
    flow = Flow(story, a=ROOT)
    flow.begin("a")
    flow.act(3, "cancel", committed=5)
    flow.begins(6 if wrong else 4, "a")
    flow.ends(7, "a", "CANCELLED", Cancelled)
    flow.end(7, "CANCELLED")
    story.read()


@case("G6")
def a_task_is_handed_out_after_the_transaction_of_a_pause(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT)
    flow.begin("a")
    flow.act(3, "pause", committed=5)
    flow.begins(6 if wrong else 4, "a")
    flow.act(6.5, "resume")
    flow.ends(7, "a")
    flow.end(7)
    story.read()


@case("G6")
def a_task_of_an_inner_run_is_handed_out_after_a_cancel(story: Story, wrong: bool) -> None:
    outer, inner = Flow(story, a=ROOT), Flow(story, run="E", x=ROOT)
    outer.begin()
    outer.node(2, "a", "RELEASED")
    outer.birth(2, "a", run="E", job="e")
    story.store(2, DagStart, run="E", job="e", rev=1, tx=inner.next())
    inner.release(2, "x")
    if not wrong:
        inner.begins(4, "x")
    outer.act(5, "cancel")
    if wrong:
        inner.begins(6, "x")
    else:
        inner.tx = outer.tx
        story.store(5, DagAct, dag="E", act="cancel", tx=outer.tx)
    inner.tx = outer.tx + 1
    inner.ends(7, "x", "CANCELLED" if not wrong else "COMPLETED", Cancelled if not wrong else Done)
    inner.end(7, "CANCELLED" if not wrong else "COMPLETED")
    outer.tx = inner.tx
    outer.node(7, "a", "CANCELLED" if not wrong else "COMPLETED")
    outer.end(7, "CANCELLED" if not wrong else "COMPLETED")
    story.read()


@case("G6")
def a_task_is_handed_out_while_its_run_is_paused(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT)
    flow.begin("a")
    flow.act(3, "pause")
    if not wrong:
        flow.act(4, "resume")
    flow.begins(5, "a")
    if wrong:
        flow.act(6, "resume")
    flow.ends(7, "a")
    flow.end(7)
    story.read()


@case("G6")
def a_cancelled_run_does_not_end(story: Story, wrong: bool) -> None:
    flow = Flow(story, asks=ROOT)
    flow.begin()
    flow.node(2, "asks", "HELD")
    flow.act(5, "cancel")
    if not wrong:
        flow.node(5, "asks", "CANCELLED")
        flow.end(5, "CANCELLED")
    story.read()


@case("G7")
def a_run_begins_with_a_revision_that_came_later(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT)
    flow.define(2)
    flow.begin(rev=2 if wrong else 1)
    flow.release(2, "a")
    flow.lives(3, "a")
    flow.end(4)
    story.read()


@case("G7")
def a_task_of_another_revision_runs(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT)
    flow.define(2)
    flow.begin()
    flow.release(2, "a", rev=2 if wrong else 1)
    flow.lives(3, "a")
    flow.end(4)
    story.read()


@case("G8")
def a_workflow_with_a_circle_is_accepted(story: Story, wrong: bool) -> None:
    Flow(story, a=("c",) if wrong else ROOT, b=("a",), c=("b",))
    story.read()


@case("G8")
def a_workflow_waits_for_a_task_that_it_does_not_have(story: Story, wrong: bool) -> None:
    Flow(story, a=("gone",) if wrong else ROOT)
    story.read()


@case("V3")
def a_run_of_a_workflow_is_stuck(story: Story, wrong: bool) -> None:
    flow = Flow(story, a=ROOT, b=("a",))
    flow.begin("a")
    flow.lives(3, "a")
    if not wrong:
        flow.release(4, "b")
        flow.lives(5, "b")
        flow.end(6)
    story.read()


@case("C7")
def a_run_of_a_workflow_begins_beside_the_one_that_it_replaces(story: Story, wrong: bool) -> None:
    story.job(kind="gnomon.dag", every=100.0, anchor=t(0), overlap="replace", end_at=t(250))
    story.store(0, DagNew, job="j", rev=1)
    story.store(0, DagEdge, job="j", rev=1, node="asks", does="approval")
    for run, at, tx in (("D", 100, 1), ("E", 200, 3)):
        story.fire(at, at, run)
        if run == "E" and not wrong:
            story.store(200, DagAct, dag="D", act="cancel", tx=2)
            story.store(200, DagNode, dag="D", node="asks", state="CANCELLED", tx=2)
            story.store(200, DagEnd, run="D", state="CANCELLED", tx=2)
        story.store(at + 1, DagStart, run=run, job="j", rev=1, tx=tx)
        story.store(at + 1, DagNode, dag=run, node="asks", state="HELD", round=1, tx=tx)
    story.read()


@case("G5")
def a_task_halts_in_the_transaction_that_then_stops_its_run(story: Story, wrong: bool) -> None:
    """Two ends are accepted together: this one, and one after which the run around it is stopped."""
    flow = Flow(story, "PAUSE", a=ROOT, b=ROOT)
    flow.begin("a", "b")
    flow.begins(3, "a")
    flow.lives(3, "b")
    story.exit(5, "D.a")
    story.end(5, Dead, "D.a", tx=flow.next())
    acts = {"dag": "D", "act": "cancel", "tx": flow.tx}
    if wrong:
        story.store(5, DagAct, **acts)
    flow.node(5, "a", "HALTED")
    if not wrong:
        story.store(5, DagAct, **acts)
    flow.node(5, "a", "CANCELLED")
    flow.end(5, "CANCELLED")
    story.read()


@case("Q5")
def a_task_of_an_inner_run_is_passed_over_while_nobody_waits_for_a_person(story: Story, wrong: bool) -> None:
    outer, inner = Flow(story, a=ROOT), Flow(story, run="E", x=ROOT)
    others = Flow(story, run="O", r0=ROOT, r1=ROOT, r2=ROOT, r3=ROOT)
    outer.begin()
    outer.node(2, "a", "RELEASED")
    outer.birth(2, "a", run="E", job="e")
    story.store(2, DagStart, run="E", job="e", rev=1, tx=inner.next())
    inner.release(2, "x")
    if not wrong:
        outer.act(3, "pause")
    others.tx = outer.tx + 10
    others.begin("r0", "r1", "r2", "r3", at=4)
    for number in range(4):
        others.lives(10 + 2 * number, f"r{number}")
    others.end(18)
    outer.tx = others.tx + 10
    if not wrong:
        outer.act(19, "resume")
    inner.tx = outer.tx + 10
    inner.lives(20, "x")
    inner.end(22)
    outer.tx = inner.tx
    outer.node(22, "a", "COMPLETED")
    outer.end(22)
    story.read()
