"""What becomes of a run of a workflow, story by story."""

from __future__ import annotations

from typing import Any

import pytest

from gnomon.core.runs.decisions import after
from gnomon.core.runs.events import (
    Approve,
    Arrived,
    Cancel,
    Changes,
    Ended,
    Event,
    Expired,
    Fail,
    Gate,
    Needs,
    OuterTurned,
    Pause,
    Redrive,
    Reject,
    Reopen,
    Rerun,
    RerunFailed,
    Resume,
    Retry,
    Skip,
    State,
    Succeed,
)
from gnomon.core.runs.state import RunStatus, TaskStatus
from gnomon.core.values.document import JSON, Document
from gnomon.core.workflows.references import Comparison, Condition, Reference, Source
from gnomon.core.workflows.trigger_rules import TriggerRule
from gnomon.core.workflows.workflow import (
    NESTING_MAX,
    Approval,
    AwaitEvent,
    FailureStrategy,
    Plan,
    SubDag,
    Workflow,
)
from gnomon.errors import IllegalTransition, InvalidInput
from tests.unit.core.builders import HOUR, NOON
from tests.unit.core.workflows import Bench, over, plan_of, task

COMPLETED, FAILED, CANCELLED, SKIPPED = "COMPLETED", "FAILED", "CANCELLED", "SKIPPED"
WAITING, RELEASED, HELD, HALTED, BLOCKED = "WAITING", "RELEASED", "HELD", "HALTED", "UPSTREAM_FAILED"
_T = TaskStatus


# Rules ----------------------------------------------------------------------------------------------


# How the child stands when its two parents ended so; "-" is one that has not ended.
ENDS = ("++", "+x", "xx", "+0", "00", "x0", "+-", "x-")
RULES = {
    "all_success": (RELEASED, BLOCKED, BLOCKED, SKIPPED, SKIPPED, BLOCKED, WAITING, WAITING),
    "all_done": (RELEASED, RELEASED, RELEASED, RELEASED, RELEASED, RELEASED, WAITING, WAITING),
    "one_success": (RELEASED, RELEASED, BLOCKED, RELEASED, SKIPPED, BLOCKED, RELEASED, WAITING),
    "one_failed": (SKIPPED, RELEASED, RELEASED, SKIPPED, SKIPPED, RELEASED, WAITING, RELEASED),
    "none_failed": (RELEASED, BLOCKED, BLOCKED, RELEASED, RELEASED, BLOCKED, WAITING, WAITING),
}


@pytest.mark.parametrize(
    ("rule", "ends", "expected"),
    [(rule, ends, status) for rule, row in RULES.items() for ends, status in zip(ENDS, row, strict=True)],
)
def test_a_rule_decides_by_how_the_parents_ended(rule: str, ends: str, expected: str) -> None:
    asks = [task(name, work=Approval()) for name in "ab"]
    run = Bench(plan_of(*asks, task("c", "a", "b", rule=TriggerRule(rule)))).start()
    for place, end in enumerate(ends):
        match end:
            case "+":
                run.send(Approve(place, "ada"))
            case "x":
                run.send(Reject(place, "ada"))
            case "0":
                run.send(Skip(place))

    assert run.statuses()["c"] == expected


def test_two_parents_that_end_together_release_their_child_once() -> None:
    run = Bench(plan_of(task("a"), task("b"), task("c", "a", "b"))).start()

    changes = run.send(run.ended("a", _T.COMPLETED), run.ended("b", _T.COMPLETED))

    assert [release.task for release in changes.releases] == [2]
    assert run.rows[2].round == 1


def test_a_rule_that_does_not_wait_releases_once_and_the_run_still_waits_for_all() -> None:
    run = Bench(plan_of(task("a"), task("b"), task("c", "a", "b", rule=TriggerRule.ONE_SUCCESS))).start()
    run.succeed("a", "c")
    assert run.run_status() is RunStatus.RUNNING

    run.succeed("b")

    assert len(run.begun) == 3
    assert run.run_status() is RunStatus.COMPLETED


# Strategies -----------------------------------------------------------------------------------------


def forked(strategy: FailureStrategy, *, partial: bool = False) -> Bench:
    """One branch fails, the other runs; both are joined by a task that minds failures and nothing else."""
    join = task("join", "after", "good", rule=TriggerRule.NONE_FAILED)
    plan = plan_of(task("bad"), task("after", "bad"), task("good"), join, strategy=strategy, partial=partial)
    run = Bench(plan).start()
    run.fail("bad")
    return run


def test_fail_fast_cancels_the_rest_and_asks_what_runs_to_stop() -> None:
    run = forked(FailureStrategy.FAIL_FAST)
    assert run.statuses() == {"bad": FAILED, "after": CANCELLED, "good": RELEASED, "join": CANCELLED}
    assert run.run_status() is RunStatus.RUNNING

    run.send(run.ended("good", _T.CANCELLED))

    assert run.run_status() is RunStatus.FAILED


def test_fail_downstream_skips_what_follows_and_that_counts_as_failed() -> None:
    run = forked(FailureStrategy.FAIL_DOWNSTREAM)
    run.succeed("good")
    assert run.statuses() == {"bad": FAILED, "after": BLOCKED, "good": COMPLETED, "join": BLOCKED}
    assert run.run_status() is RunStatus.FAILED


def test_continue_skips_what_follows_and_joins_of_branches_go_on() -> None:
    run = forked(FailureStrategy.CONTINUE, partial=True)
    run.succeed("good", "join")
    assert run.statuses() == {"bad": FAILED, "after": SKIPPED, "good": COMPLETED, "join": COMPLETED}
    assert run.run_status() is RunStatus.COMPLETED


@pytest.mark.parametrize("strategy", [FailureStrategy.FAIL_DOWNSTREAM, FailureStrategy.CONTINUE])
def test_partial_completion_is_enough_if_it_is_allowed_and_something_was_done(
    strategy: FailureStrategy,
) -> None:
    for partial, expected in ((True, RunStatus.COMPLETED), (False, RunStatus.FAILED)):
        run = Bench(plan_of(task("bad"), task("good"), strategy=strategy, partial=partial)).start()
        run.fail("bad")
        run.succeed("good")
        assert run.run.status is expected

    nothing = Bench(plan_of(task("bad"), strategy=strategy, partial=True)).start()
    nothing.fail("bad")
    assert nothing.run.status is RunStatus.FAILED


def test_pause_asks_a_person_and_holds_what_would_begin() -> None:
    run = Bench(plan_of(task("bad"), task("after", "bad"), task("good"), task("next", "good"),
                        strategy=FailureStrategy.PAUSE)).start()  # fmt: skip
    changes = run.send(run.ended("bad", _T.FAILED))
    assert changes.gate is Gate.HOLD
    assert run.run_status() is RunStatus.PAUSED
    assert run.send(run.ended("good", _T.COMPLETED)).is_held
    assert run.statuses() == {"bad": HALTED, "after": WAITING, "good": COMPLETED, "next": RELEASED}

    with pytest.raises(IllegalTransition, match="failed tasks to decide about"):
        run.send(Resume())
    assert run.send(Retry(run.place("bad"))).gate is Gate.LET_GO

    run.succeed("bad", "after", "next")
    assert run.run_status() is RunStatus.COMPLETED


@pytest.mark.parametrize(
    ("act", "status", "after_it", "ends"),
    [(Skip, SKIPPED, SKIPPED, "COMPLETED"), (Fail, FAILED, BLOCKED, "FAILED")],
)
def test_a_person_lets_a_halted_task_go(
    act: type[Skip | Fail], status: str, after_it: str, ends: str
) -> None:
    run = Bench(plan_of(task("bad"), task("after", "bad"), strategy=FailureStrategy.PAUSE)).start()
    run.fail("bad")
    run.send(act(0))
    assert run.statuses() == {"bad": status, "after": after_it}
    assert run.run.status.value == ends


def test_a_person_says_that_a_failed_task_is_done() -> None:
    run = Bench(plan_of(task("a"), task("b", "a", payload={"n": "${tasks.a.result.n}"}))).start()
    run.fail("a")
    assert run.run_status() is RunStatus.FAILED

    run.send(Succeed(0, Document('{"n":7}')))

    assert run.statuses() == {"a": COMPLETED, "b": RELEASED}
    assert run.payload("b") == {"n": 7}


# Runs ------------------------------------------------------------------------------------------------


def test_cancelling_ends_what_waits_and_nothing_begins_any_more() -> None:
    run = Bench(plan_of(task("a"), task("b", "a"), task("c"))).start()
    assert run.send(Cancel()).sweep
    run.succeed("a")
    assert run.statuses() == {"a": COMPLETED, "b": CANCELLED, "c": RELEASED}
    with pytest.raises(IllegalTransition, match="being stopped"):
        run.send(Retry(1))
    run.send(Cancel())  # A client that lost the reply asks again.

    run.send(run.ended("c", _T.CANCELLED))

    assert run.run_status() is RunStatus.CANCELLED
    run.send(Cancel())
    assert (len(run.begun), run.ends) == (2, 1)


def test_a_run_that_was_done_before_it_could_be_stopped_is_done() -> None:
    run = Bench(plan_of(task("a"))).start()
    run.send(Cancel())
    run.succeed("a")
    assert run.run_status() is RunStatus.COMPLETED
    with pytest.raises(IllegalTransition, match="COMPLETED cannot be changed by 'cancel'"):
        run.send(Cancel())


def test_a_run_is_cancelled_before_it_begins() -> None:
    run = Bench(plan_of(task("a"), task("b", "a")))
    run.send(Cancel())
    assert run.run_status() is RunStatus.CANCELLED
    assert not run.start().begun


def test_a_paused_run_holds_what_begins_until_it_is_resumed() -> None:
    run = Bench(plan_of(task("a"), task("b", "a"))).start()
    assert run.send(Pause()).gate is Gate.HOLD
    assert run.send(Pause()).gate is None
    assert run.send(run.ended("a", _T.COMPLETED)).is_held
    assert run.send(Resume()).gate is Gate.LET_GO
    run.succeed("b")
    assert run.run_status() is RunStatus.COMPLETED


def test_a_run_inside_of_a_paused_one_is_held_with_it_and_for_its_own_reasons() -> None:
    plan = plan_of(task("a"))
    run = Bench(plan).start()

    def turned(*events: Event, is_outer_held: bool) -> Changes:
        state = State(run.run, run.rows, is_outer_held=is_outer_held)
        changes = after(plan, state, [*events, OuterTurned()], now=NOON)
        assert isinstance(changes, Changes)
        run.run = changes.run
        return changes

    assert turned(is_outer_held=True).gate is Gate.HOLD
    with pytest.raises(IllegalTransition, match="Let the run around it go on"):
        turned(Resume(), is_outer_held=True)
    assert turned(Pause(), is_outer_held=True).gate is None
    assert turned(is_outer_held=False).run.status is RunStatus.PAUSED
    assert turned(Resume(), is_outer_held=False).gate is Gate.LET_GO
    assert turned(Cancel(), is_outer_held=True).run.status is RunStatus.RUNNING


def test_a_rerun_from_the_failed_tasks_keeps_what_succeeded() -> None:
    run = Bench(plan_of(task("a"), task("b", "a"), task("c", "b"), task("d", "a"))).start()
    run.succeed("a", "d")
    run.fail("b")
    assert run.run_status() is RunStatus.FAILED

    changes = run.send(RerunFailed())

    assert [release.task for release in changes.releases] == [1]
    assert run.statuses() == {"a": COMPLETED, "b": RELEASED, "c": WAITING, "d": COMPLETED}
    run.succeed("b", "c")
    assert run.run_status() is RunStatus.COMPLETED
    assert (run.ends, run.run.failed) == (2, 0)
    with pytest.raises(IllegalTransition, match="without failed tasks"):
        run.send(RerunFailed())


def test_a_rerun_of_one_task_runs_it_and_all_after_it() -> None:
    run = Bench(plan_of(task("a"), task("b", "a"), task("c", "b"), task("d", "a"))).start()
    run.succeed("a", "b", "c", "d")
    run.send(Rerun(frozenset({1})))
    assert run.statuses() == {"a": COMPLETED, "b": RELEASED, "c": WAITING, "d": COMPLETED}
    assert run.rows[1].round == 2


def test_a_redrive_does_what_failed_anew_and_nothing_that_the_run_has_gone_on_from() -> None:
    run = Bench(plan_of(task("a"), task("b", "a"))).start()
    run.fail("a")

    assert run.send(Redrive(frozenset({(0, 1)}))).repaired == {0, 1}
    assert run.statuses() == {"a": RELEASED, "b": WAITING}
    stale = run.send(Redrive(frozenset({(0, 1)})))

    assert (stale.tasks, stale.releases, stale.repaired) == ({}, (), frozenset())


def test_a_redrive_of_an_end_that_is_open_does_what_stands_anew_whatever_its_round() -> None:
    run = Bench(plan_of(task("a"))).start()
    run.fail("a")
    run.send(RerunFailed())
    run.fail("a")

    assert run.send(Redrive(frozenset({(0, 1)}))).tasks == {}
    assert run.send(Redrive(frozenset({(0, None)}))).repaired == {0}
    run.succeed("a")
    settled = run.send(Redrive(frozenset({(0, None)})))

    assert (settled.tasks, settled.repaired) == ({}, frozenset({0}))


def test_a_task_whose_inner_run_was_repaired_is_under_way_again() -> None:
    run = Bench(plan_of(task("inner", work=SubDag("etl")), task("after", "inner"))).start()
    run.fail("inner")
    assert run.run_status() is RunStatus.FAILED

    changes = run.send(Reopen(0, 1), Ended(0, 1, _T.COMPLETED))

    assert changes.repaired == {1}
    assert run.statuses() == {"inner": COMPLETED, "after": RELEASED}
    run.succeed("after")
    assert run.run_status() is RunStatus.COMPLETED
    assert run.send(Reopen(0, 0)).tasks == {}


def test_a_rerun_waits_until_what_it_would_set_back_has_ended() -> None:
    run = Bench(plan_of(task("a"), task("b", "a"))).start()
    run.succeed("a")
    with pytest.raises(IllegalTransition, match="task 'b' that is RELEASED cannot be changed by 'rerun'"):
        run.send(Rerun(frozenset({0})))


def test_a_report_from_an_earlier_round_changes_nothing() -> None:
    run = Bench(plan_of(task("a"), task("b", "a", payload={"from": "${tasks.a.result}"}))).start()
    run.succeed("a", result="old")
    run.succeed("b")
    run.send(Rerun(frozenset({0})))

    zombie = run.send(Ended(0, 1, _T.COMPLETED, Document('"zombie"')))
    assert not zombie.tasks
    run.succeed("a", result="new")

    assert run.payload("b") == {"from": "new"}


# Results ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "taken"), [({"kind": "big"}, "big"), ({"kind": "small"}, "small"), ({}, None)]
)
def test_a_condition_takes_one_branch_and_the_other_is_skipped(result: JSON, taken: str | None) -> None:
    kind = Reference(Source.TASKS, "look", ("kind",))
    branches = [
        task(name, "look", conditions=[Condition(kind, Comparison.EQUAL, name)]) for name in ("big", "small")
    ]
    run = Bench(
        plan_of(task("look"), *branches, task("join", "big", "small", rule=TriggerRule.NONE_FAILED))
    ).start()

    run.succeed("look", result=result)

    assert [name for name in ("big", "small") if run.status(name) is _T.RELEASED] == (
        [taken] if taken else []
    )
    assert run.status("join") is (_T.WAITING if taken else _T.RELEASED)


def test_a_result_that_is_not_there_fails_the_task_that_needs_it() -> None:
    run = Bench(plan_of(task("a"), task("b", "a", payload={"n": "${tasks.a.result.rows[3]}"}))).start()
    changes = run.send(run.ended("a", _T.COMPLETED, {"rows": [1]}))
    assert run.statuses() == {"a": COMPLETED, "b": FAILED}
    assert changes.failures[1].message == "The result of task 'a' has no 3."


def test_a_rendered_payload_that_is_too_large_fails_the_task_and_says_what_to_do() -> None:
    text = "${tasks.a.result}"
    run = Bench(plan_of(task("a"), task("b", "a", payload=[text] * 10))).start()
    changes = run.send(run.ended("a", _T.COMPLETED, "x" * 100_000))
    assert changes.failures[1].message == (
        "payload: 1000031 bytes as JSON with what it refers to; a task is given at most 262144. Refer to "
        "a part of the result, or let the task before keep its data elsewhere and return a path or an id."
    )


def test_results_come_from_ancestors_far_up_and_from_the_configuration() -> None:
    far: JSON = {
        "n": "${tasks.a.result.n}",
        "text": "run ${config.day} of ${tasks.a.result.n}",
        "plain": "${HOME} $${tasks.x}",
    }
    run = Bench(plan_of(task("a"), task("b", "a"), task("c", "b", payload=far)), config={"day": 3}).start()
    run.succeed("a", result={"n": 7})
    run.succeed("b")
    assert run.payload("c") == {"n": 7, "text": "run 3 of 7", "plain": "${HOME} ${tasks.x}"}


def test_a_run_may_override_the_configuration_of_its_workflow() -> None:
    first = task("a", payload=["${config.day}", "${config.city}"])
    plan = Plan.of(Workflow((first,), config=Document('{"day":1,"city":"Rome"}')))

    assert Bench(plan, config={"day": 2}).start().payload("a") == [2, "Rome"]
    assert Bench(plan).start().payload("a") == [1, "Rome"]
    with pytest.raises(InvalidInput, match="config: must be an object, not list"):
        Bench(plan, config=[1])


# Fan-out ---------------------------------------------------------------------------------------------


def fanned(result: JSON, **options: Any) -> Bench:
    payload: JSON = {"url": "${item.url}", "n": "${index}"}
    plan = plan_of(
        task("list"),
        task("each", "list", payload=payload, fan_out=over("list", items_max=3)),
        task("join", "each", payload={"all": "${tasks.each.result}"}),
        **options,
    )
    run = Bench(plan).start()
    run.succeed("list", result=result)
    return run


def test_a_fan_out_runs_each_item_and_is_its_own_join() -> None:
    run = fanned([{"url": "x"}, {"url": "y"}])
    assert run.begun[-1].items == (Document('{"url":"x","n":0}'), Document('{"url":"y","n":1}'))

    run.send(run.ended("each", _T.COMPLETED, "Y", item=1))
    assert run.statuses()["each"] == RELEASED
    run.send(run.ended("each", _T.COMPLETED, "X", item=0))

    assert run.statuses() == {"list": COMPLETED, "each": COMPLETED, "join": RELEASED}
    assert run.payload("join") == {"all": ["X", "Y"]}


def test_a_fan_out_over_nothing_is_done_at_once() -> None:
    run = fanned([])
    assert run.statuses() == {"list": COMPLETED, "each": COMPLETED, "join": RELEASED}
    assert run.payload("join") == {"all": []}


@pytest.mark.parametrize("result", [[{"url": "x"}] * 4, {"url": "x"}, "text", None])
def test_a_fan_out_over_too_much_or_over_no_list_fails(result: JSON) -> None:
    assert fanned(result).statuses() == {"list": COMPLETED, "each": FAILED, "join": BLOCKED}


def test_a_fan_out_whose_payloads_are_too_much_together_fails() -> None:
    plan = plan_of(task("a"), task("b", "a", payload={"x": "y" * 200_000}, fan_out=over("a")))
    run = Bench(plan).start()
    changes = run.send(run.ended("a", _T.COMPLETED, list(range(100))))
    assert changes.failures[1].message == "fan_out: its payloads are together more than 16777216 bytes."


def test_a_fan_out_that_was_kept_without_an_item_gives_each_the_payload_as_it_is() -> None:
    plan = plan_of(task("a"), task("b", "a", payload={"x": 1}, fan_out=over("a")))
    run = Bench(plan).start()
    run.send(run.ended("a", _T.COMPLETED, ["one", "two"]))
    assert run.begun[-1].items == (Document('{"x":1}'), Document('{"x":1}'))


def test_a_doubled_dollar_is_a_plain_one_even_where_nothing_is_referred_to() -> None:
    run = Bench(plan_of(task("a", payload={"x": "$${config.day} and ${HOME}"}))).start()
    assert run.begun[0].payload == Document('{"x":"${config.day} and ${HOME}"}')


def test_a_fan_out_fails_when_all_have_ended_and_one_has_failed() -> None:
    run = fanned([{"url": "x"}, {"url": "y"}])
    run.send(run.ended("each", _T.FAILED, item=0))
    assert run.statuses()["each"] == RELEASED
    run.send(run.ended("each", _T.COMPLETED, item=1))
    assert run.statuses() == {"list": COMPLETED, "each": FAILED, "join": BLOCKED}


def test_a_fan_out_that_fails_fast_stops_at_the_first_failure() -> None:
    run = fanned([{"url": "x"}, {"url": "y"}], strategy=FailureStrategy.FAIL_FAST)
    assert run.send(run.ended("each", _T.FAILED, item=0)).sweep
    run.send(run.ended("each", _T.CANCELLED, item=1))
    assert run.statuses() == {"list": COMPLETED, "each": FAILED, "join": CANCELLED}
    assert run.run_status() is RunStatus.FAILED


def test_the_results_of_a_fan_out_may_be_too_large_to_be_read_at_once() -> None:
    run = fanned([{"url": "x"}])
    end = run.ended("each", _T.COMPLETED, "big", item=0)
    state = State(run.run, run.rows, too_large=frozenset({1}))
    changes = after(run.plan, state, [end], now=NOON)
    assert isinstance(changes, Changes)
    assert changes.failures[2].message == "The results of 'each' are together more than 1048576 bytes."


def test_a_fan_out_that_runs_anew_over_nothing_has_none_of_its_old_results() -> None:
    run = fanned([{"url": "x"}])
    run.send(run.ended("each", _T.COMPLETED, "old", item=0))
    run.succeed("join")

    run.send(Rerun(frozenset({0})))
    run.succeed("list", result=[])
    assert run.payload("join") == {"all": []}
    run.succeed("join")
    run.send(Rerun(frozenset({2})))  # In another transaction it is read from what the store has kept.

    assert run.payload("join") == {"all": []}


def test_what_is_run_anew_has_no_result_until_it_has_ended_anew() -> None:
    eager = task("c", "a", "b", rule=TriggerRule.ONE_SUCCESS, payload={"from": "${tasks.a.result}"})
    run = Bench(plan_of(task("a"), task("b"), eager)).start()
    run.succeed("a", result="old")
    run.succeed("b", "c")

    changes = run.send(Rerun(frozenset({0})))

    assert changes.failures[2].message == "Task 'a' has no result."


def test_a_result_given_by_a_person_lasts_until_the_task_runs_anew() -> None:
    run = Bench(plan_of(task("a"), task("b", "a", payload={"from": "${tasks.a.result}"}))).start()
    run.fail("a")
    run.send(Succeed(0, Document('"given"')))
    run.succeed("b")
    run.send(Rerun(frozenset({1})))
    assert run.payload("b") == {"from": "given"}
    run.succeed("b")

    run.send(Rerun(frozenset({0})))
    run.succeed("a", result="own")

    assert run.payload("b") == {"from": "own"}


def test_a_task_that_cannot_begin_stops_a_run_that_fails_fast_and_nothing_else_begins() -> None:
    broken = task("b", "a", payload={"x": "${tasks.a.result.gone}"})
    plan = plan_of(task("a"), broken, task("c", "a"), strategy=FailureStrategy.FAIL_FAST)
    run = Bench(plan).start()

    changes = run.send(run.ended("a", _T.COMPLETED, {}))

    assert (changes.releases, changes.sweep) == ((), True)
    assert run.statuses() == {"a": COMPLETED, "b": FAILED, "c": CANCELLED}
    assert run.run_status() is RunStatus.FAILED


def test_what_begins_and_is_stopped_in_one_transaction_never_began() -> None:
    plan = plan_of(task("a"), task("b"), task("c", "a"), strategy=FailureStrategy.FAIL_FAST)
    run = Bench(plan).start()

    changes = run.send(run.ended("a", _T.COMPLETED), run.ended("b", _T.FAILED))

    assert changes.releases == ()
    assert run.statuses() == {"a": COMPLETED, "b": FAILED, "c": CANCELLED}
    assert run.run_status() is RunStatus.FAILED


# Waiting for the outside -----------------------------------------------------------------------------


def test_an_approval_waits_for_a_person_and_keeps_who_when_and_why() -> None:
    run = Bench(
        plan_of(task("ask", work=Approval(HOUR)), task("go", "ask", payload={"by": "${tasks.ask.result.by}"}))
    )
    run.start()
    assert run.statuses()["ask"] == HELD
    assert run.begun[0].until == NOON + HOUR

    changes = run.send(Approve(0, "ada", "looks good"))

    said = {"by": "ada", "note": "looks good", "at": "2026-06-01T12:00:00.000000Z"}
    assert changes.results[0].value == said
    assert run.payload("go") == {"by": "ada"}
    with pytest.raises(IllegalTransition, match="'ask' that is COMPLETED"):
        run.send(Approve(0, "bob"))


def test_a_rejection_and_a_deadline_fail_the_task() -> None:
    run = Bench(
        plan_of(task("ask", work=Approval()), task("wait", work=AwaitEvent("paid", timeout=HOUR)))
    ).start()
    assert run.send(Reject(0, "bob", "no")).failures[0].message == "Rejected by bob: no"
    assert run.send(Expired(1, 1)).failures[1].kind == "timeout"
    assert run.run_status() is RunStatus.FAILED


def test_an_event_is_correlated_and_its_data_is_the_result() -> None:
    wait = task("wait", work=AwaitEvent("paid", "order-${config.order}"))
    ship = task("ship", "wait", payload={"sum": "${tasks.wait.result.sum}"})
    run = Bench(plan_of(wait, ship), config={"order": 17}).start()
    assert run.begun[0].correlation == "order-17"
    run.send(Arrived(0, 1, Document('{"sum":5}')))
    assert run.payload("ship") == {"sum": 5}


def test_a_sub_dag_is_a_run_of_its_own_that_ends_its_task() -> None:
    inner = SubDag("etl", Document('{"day":"${config.day}"}'))
    run = Bench(plan_of(task("inner", work=inner), task("after", "inner")), config={"day": "monday"}).start()
    assert run.payload("inner") == {"day": "monday"}
    run.fail("inner")
    assert run.statuses() == {"inner": FAILED, "after": BLOCKED}


def test_a_workflow_that_starts_itself_comes_to_an_end() -> None:
    run = Bench(plan_of(task("self", work=SubDag("me"))), nesting=NESTING_MAX).start()
    assert run.run_status() is RunStatus.FAILED


# Cost, counted and not timed -----------------------------------------------------------------------------


def test_a_chain_of_ten_thousand_costs_two_rows_a_task() -> None:
    run = Bench(plan_of(*(task(str(n), *([str(n - 1)] if n else [])) for n in range(10_000)))).start()
    for n in range(10_000):
        run.succeed(str(n))
    assert run.run_status() is RunStatus.COMPLETED
    assert run.loaded == run.written == 20_000
    assert run.questions == 10_001


def test_a_chain_of_ten_thousand_whose_first_task_fails_takes_few_questions() -> None:
    run = Bench(plan_of(*(task(str(n), *([str(n - 1)] if n else [])) for n in range(10_000)))).start()
    questions = run.questions
    run.fail("0")
    assert run.run_status() is RunStatus.FAILED
    assert run.questions - questions <= 15


def test_a_join_of_five_thousand_costs_two_rows_a_parent() -> None:
    parents = [str(n) for n in range(5_000)]
    run = Bench(plan_of(*map(task, parents), task("join", *parents))).start()
    loaded, written = run.loaded, run.written
    run.succeed(*parents)
    assert run.status("join") is _T.RELEASED
    assert run.loaded - loaded == run.written - written == 10_000


def test_an_end_in_a_large_run_asks_once_and_for_its_children_only() -> None:
    wide = [task(str(n), "root") for n in range(5_000)]
    run = Bench(plan_of(task("root"), task("small"), task("child", "small"), *wide)).start()
    asked = after(run.plan, State(run.run), [run.ended("small", _T.COMPLETED)], now=NOON)
    assert asked == Needs(tasks=frozenset({1, 2}))
