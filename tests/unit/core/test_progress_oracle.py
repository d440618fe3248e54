"""Random workflows through random lives, next to an oracle that works everything out anew each time."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.runs.events import (
    Approve,
    Arrived,
    Cancel,
    Ended,
    Event,
    Expired,
    Fail,
    Pause,
    Reject,
    Rerun,
    RerunFailed,
    Resume,
    Retry,
    Skip,
    Started,
    Succeed,
)
from gnomon.core.runs.state import RunStatus, TaskStatus
from gnomon.core.values.document import Document
from gnomon.core.workflows.trigger_rules import Ending, TriggerRule
from gnomon.core.workflows.workflow import Approval, AwaitEvent, FailureStrategy, Plan, Task
from gnomon.errors import IllegalTransition
from tests.unit.core.workflow_oracle import Oracle, Refused
from tests.unit.core.workflows import Bench, over, plan_of, result_is, task

STEPS_MAX = 5000
EAGER = (TriggerRule.ONE_SUCCESS, TriggerRule.ONE_FAILED)
_T = TaskStatus


def random_plan(size: int, random: Random) -> Plan:
    strategy = random.choice(list(FailureStrategy))
    width = random.choice([1, 3, size])
    tasks = [random_task(place, random, width=width, strategy=strategy) for place in range(size)]
    return plan_of(*tasks, strategy=strategy, partial=random.random() < 0.5)


def random_task(place: int, random: Random, *, width: int, strategy: FailureStrategy) -> Task:
    earlier = range(max(0, place - width * 2), place)
    parents = [f"t{parent}" for parent in random.sample(earlier, min(len(earlier), random.randint(0, width)))]
    rule = random.choice(list(TriggerRule) + [TriggerRule.ALL_SUCCESS] * 5)
    if not parents:
        rule = TriggerRule.ALL_SUCCESS
    kind = random.random()
    if kind < 0.08:
        return task(f"t{place}", *parents, rule=rule, work=Approval() if kind < 0.04 else AwaitEvent("paid"))
    if not parents or rule in EAGER:
        return task(f"t{place}", *parents, rule=rule)
    if kind < 0.2:
        return task(f"t{place}", *parents, rule=rule, conditions=[result_is(parents[0], [1, 2])])
    if kind < 0.4 and (strategy is not FailureStrategy.FAIL_FAST):
        return task(f"t{place}", *parents, rule=rule, fan_out=over(parents[0], items_max=2))
    if kind < 0.6 and rule is TriggerRule.ALL_SUCCESS and strategy is not FailureStrategy.FAIL_FAST:
        return task(f"t{place}", *parents, rule=rule, payload={"from": f"${{tasks.{parents[0]}.result}}"})
    return task(f"t{place}", *parents, rule=rule)


RESULTS = [Document("[]"), Document("[1]"), Document("[1,2]"), Document("[1,2]"), Document("[1,2,3]")]


class Life:
    """One run on the bench and in the oracle, held against each other after every step."""

    def __init__(self, plan: Plan, random: Random) -> None:
        self.bench, self.oracle, self.random = Bench(plan), Oracle(plan), random
        self.released: Counter[tuple[int, int]] = Counter()
        self.refusals = 0

    def step(self, *events: Event) -> None:
        before = dict(self.bench.rows)
        was_over, was_stopping = self.bench.run.status.is_final, self.bench.run.ends_as is not None
        try:
            self.oracle.take(*events)
        except Refused:
            with pytest.raises(IllegalTransition):
                self.bench.send(*events)
            assert self.bench.rows == before
            self.refusals += 1
            return
        changes = self.bench.send(*events)

        assert {place: row.status.value for place, row in self.bench.rows.items()} == self.oracle.now
        assert self.bench.run.status.value == self.oracle.run
        self.check_counters()
        for release in changes.releases:
            self.released[release.task, release.round] += 1
            assert self.bench.rows[release.task].status in (_T.RELEASED, _T.HELD)
            assert self.bench.rows[release.task].round == release.round
            assert release.round == self.oracle.rounds[release.task]  # G2
            assert not was_stopping or was_over  # G6
            self.check_may_begin(release.task)  # G1
        assert max(self.released.values(), default=1) == 1  # G2
        assert changes.has_ended == (not was_over and self.bench.run.status.is_final)  # G5
        if self.bench.run.status.is_final:
            assert not self.bench.live

    def check_may_begin(self, place: int) -> None:
        graph, spec = self.bench.plan.graph, self.bench.plan.task(place)
        endings = [self.bench.rows[parent].status.ending for parent in graph.parents[place]]
        match spec.rule:
            case TriggerRule.ALL_SUCCESS:
                assert set(endings) <= {Ending.SUCCESS}
            case TriggerRule.ALL_DONE:
                assert None not in endings
            case TriggerRule.NONE_FAILED:
                assert not {None, Ending.FAILURE} & set(endings)
            case TriggerRule.ONE_SUCCESS:
                assert Ending.SUCCESS in endings
            case TriggerRule.ONE_FAILED:
                assert Ending.FAILURE in endings
        for name in [name for _, reference in spec.reads() if (name := reference.task)]:
            payload = self.bench.payload(spec.name)
            if isinstance(payload, dict) and "from" in payload:  # G4
                accepted = self.oracle.results[graph.places[name]]
                assert accepted is not None
                assert payload["from"] == accepted.value

    def check_counters(self) -> None:
        rows, run, graph = self.bench.rows, self.bench.run, self.bench.plan.graph
        count = Counter(row.status for row in rows.values())
        assert run.left == sum(row.status.ending is None for row in rows.values())
        assert (run.live, run.halted) == (count[_T.RELEASED], count[_T.HALTED])
        assert (run.completed, run.failed, run.cancelled) == (
            count[_T.COMPLETED],
            count[_T.FAILED],
            count[_T.CANCELLED],
        )
        for place, row in rows.items():
            if row.status is _T.WAITING:
                endings = [rows[parent].status.ending for parent in graph.parents[place]]
                found = (endings.count(None), endings.count(Ending.FAILURE), endings.count(Ending.SKIP))
                assert (row.left, row.failed, row.skipped) == found

    # What happens ------------------------------------------------------------------------------------

    def report(self) -> Ended:
        place, item = self.random.choice(sorted(self.bench.live, key=str))
        status = self.random.choices([_T.COMPLETED, _T.FAILED, _T.CANCELLED], [15, 4, 1])[0]
        result = self.random.choice(RESULTS) if status is _T.COMPLETED else None
        return Ended(place, self.bench.live[place, item], status, result, item)

    def reports(self) -> list[Event]:
        """Some ends at once, as a worker sends them; never two of one execution."""
        found = {
            (end.task, end.item): end for end in (self.report() for _ in range(self.random.randint(1, 3)))
        }
        return list(found.values())

    def late_report(self) -> Event:
        place = self.random.randrange(len(self.bench.rows))
        late = self.bench.rows[place].round - 1
        reports: list[Event] = [
            Ended(place, late, _T.FAILED),
            Expired(place, late),
            Arrived(place, late, Document("1")),
        ]
        return self.random.choice(reports)

    def act(self) -> Event:
        place = self.random.randrange(len(self.bench.rows))
        held = [place for place, row in self.bench.rows.items() if row.status is _T.HELD]
        if held and self.random.random() < 0.6:
            place = self.random.choice(held)
            now = self.bench.rows[place].round
            answers: list[Event] = [
                Approve(place, "ada"),
                Reject(place, "bob", "no"),
                Arrived(place, now, Document("[1,2]")),
                Expired(place, now),
            ]
            return self.random.choice(answers)
        acts: list[Event] = [
            Pause(), Resume(), Resume(), Rerun(frozenset({place})), RerunFailed(), Retry(place), Skip(place),
            Succeed(place, Document("[1]")), Fail(place),
        ]  # fmt: skip
        return Cancel() if self.random.random() < 0.03 else self.random.choice(acts)

    def live(self, steps: int) -> None:
        self.step(Started())
        for _ in range(steps):
            chance = self.random.random()
            if self.bench.live and chance < 0.75:
                self.step(*self.reports())
            elif chance < 0.82:
                self.step(self.late_report())
            else:
                self.step(self.act())

    def finish(self) -> None:
        """From here on everybody does their part: then the run must end, whatever it has been through."""
        for _ in range(STEPS_MAX):
            rows = self.bench.rows
            held = [place for place, row in rows.items() if row.status is _T.HELD]
            halted = [place for place, row in rows.items() if row.status is _T.HALTED]
            if self.bench.run.status.is_final:
                return
            if self.bench.live:
                self.step(self.report())
            elif held:
                self.step(Expired(held[0], rows[held[0]].round))
            elif halted:
                self.step(Fail(halted[0]))
            else:
                assert self.bench.run.status is RunStatus.PAUSED, "stuck"
                self.step(Resume())
        raise AssertionError("it never ends")


@settings(max_examples=300, deadline=None)
@given(size=st.integers(1, 50), steps=st.integers(0, 120), seed=st.integers(0, 2**32 - 1))
def test_a_run_goes_as_the_oracle_says_and_always_ends(size: int, steps: int, seed: int) -> None:
    random = Random(seed)
    life = Life(random_plan(size, random), random)
    life.live(steps)
    life.finish()


def test_the_random_lives_see_everything() -> None:
    """A test that never meets a case proves nothing about it."""
    seen: Counter[str] = Counter()
    for seed in range(150):
        random = Random(seed)
        life = Life(random_plan(random.randint(1, 50), random), random)
        life.live(60)
        life.finish()
        seen.update(status.value for status in (row.status for row in life.bench.rows.values()))
        seen[f"run {life.bench.run.status.value}"] += 1
        seen["refused"] += life.refusals
        seen["anew"] += sum(row.round > 1 for row in life.bench.rows.values())
        seen["fanned"] += sum(bool(release.items) for release in life.bench.begun)
        seen["templates"] += sum(release.payload is not None for release in life.bench.begun)
        seen["held"] += any(isinstance(task.work, Approval) for task in life.bench.plan.workflow.tasks)
    wanted = {"COMPLETED", "FAILED", "CANCELLED", "SKIPPED", "UPSTREAM_FAILED", "refused", "anew", "fanned"}
    wanted |= {"templates", "held", "run COMPLETED", "run FAILED", "run CANCELLED"}
    assert {word for word in wanted if seen[word] < 5} == set()
