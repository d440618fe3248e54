"""What one moment writes: what a write set tells about itself, before anything is written."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from msgspec.structs import replace as with_

from gnomon.core.executions.lifecycle import Cancelled, LeaseExpired, Outcome, Released, Succeeded
from gnomon.core.runs.events import Approve, Ended, RerunFailed
from gnomon.core.runs.state import RunStatus, TaskStatus
from gnomon.core.runs.write_set import WriteSet
from gnomon.core.workflows.workflow import Approval
from tests.unit.core.builders import NOON
from tests.unit.core.workflows import plan_of, task
from tests.unit.core.write_sets import BOOM, CLAIM, begun, changes_of, decided, ended, moved, step_of


@pytest.mark.parametrize(
    ("outcome", "is_plain", "retries", "dead"),
    [
        (Succeeded(), True, 0, 0),
        (Cancelled(), True, 0, 0),
        (BOOM, False, 1, 0),
        (replace(BOOM, permanent=True), False, 0, 1),
        (Released(), False, 1, 0),
        (LeaseExpired(), False, 1, 0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_batch_is_plain_if_none_of_it_failed_or_goes_back(
    outcome: Outcome, is_plain: bool, retries: int, dead: int
) -> None:
    written = WriteSet(NOON, [decided(Succeeded()), decided(outcome, 2)])

    assert written.are_plain_endings is is_plain
    assert (len(written.retries), len(written.dead_letters)) == (retries, dead)


def test_a_task_that_the_next_one_follows_is_a_step_of_a_chain() -> None:
    plan = plan_of(task("a"), task("b", "a"), task("c", "b"))
    first = step_of(plan, *begun(plan), ended(0))
    alone = WriteSet(NOON, [decided(Succeeded())], [first], CLAIM)

    assert alone.is_step_of_chain
    assert [(one.run.version, release.task) for one, release in alone.releases] == [(3, 1)]
    # Without a claim, the worker does not go on with it; two ends are a batch.
    assert not with_(alone, claim=None).is_step_of_chain
    assert not with_(alone, decisions=[*alone.decisions, decided(Succeeded(), 2)]).is_step_of_chain


def test_a_task_that_several_or_a_person_follow_is_no_step_of_a_chain() -> None:
    for plan in (
        plan_of(task("a"), task("b", "a"), task("c", "a")),
        plan_of(task("a"), task("b", "a", work=Approval())),
        plan_of(task("a"), task("beside"), task("b", "a", "beside")),
        plan_of(task("a")),
    ):
        step = step_of(plan, *begun(plan), ended(0))
        assert not WriteSet(NOON, [decided(Succeeded())], [step], CLAIM).is_step_of_chain


def test_a_run_ends_with_its_last_task_and_anew_when_a_repair_finds_nothing_to_do() -> None:
    plan = plan_of(task("a"), task("b", "a"))
    run, rows = begun(plan)
    assert WriteSet(NOON, steps=[step_of(plan, run, rows, ended(0))]).ended_runs == []

    run, rows = moved(plan, run, rows, ended(0))
    last = step_of(plan, run, rows, ended(1, TaskStatus.FAILED))
    assert WriteSet(NOON, steps=[last]).ended_runs == [last]

    run, rows = moved(plan, run, rows, ended(1, TaskStatus.FAILED))
    assert run.status is RunStatus.FAILED
    repaired = step_of(plan, run, rows, RerunFailed())
    assert repaired.changes.is_repaired
    assert WriteSet(NOON, steps=[repaired]).ended_runs == []  # It goes on.


def test_a_step_makes_a_new_version_unless_nothing_of_the_run_moves() -> None:
    plan = plan_of(task("a"), task("b", "a"))
    run, rows = begun(plan)
    step = step_of(plan, run, rows, ended(0))
    late = step_of(plan, run, rows, Ended(0, 5, TaskStatus.COMPLETED))

    later = NOON + timedelta(seconds=1)
    assert (step.run_after(later).version, step.run_after(later).moved_at) == (4, later)
    assert (late.moves, late.run_after(later)) == (False, late.run)
    assert not step._replace(is_new=True).moves  # Its rows have just been made as they are.


def test_what_a_person_has_decided_is_held_no_longer() -> None:
    plan = plan_of(task("ask", work=Approval()), task("beside"), task("b", "ask"))
    run, rows = begun(plan)
    approved = changes_of(plan, run, rows, Approve(0, "ada"))

    assert rows[0].status is TaskStatus.HELD
    assert approved.unheld == {0}
    assert approved.does_more_than_release
    assert changes_of(plan, run, rows, ended(1)).unheld == frozenset()


def test_a_write_set_can_be_read() -> None:
    plan = plan_of(task("extract"), task("load", "extract"))
    step = step_of(plan, *begun(plan), ended(0))
    written = WriteSet(NOON, [decided(Succeeded()), decided(replace(BOOM, permanent=True), 2)], [step], CLAIM)

    assert str(written).splitlines() == [
        "at 2026-06-01T12:00:00+00:00",
        f"task {UUID(int=1)} (claim 1) becomes COMPLETED",
        f"task {UUID(int=2)} (claim 1) becomes FAILED, dead letter: permanent",
        f"run {UUID(int=7)} (version 3) becomes RUNNING",
        "  task extract becomes COMPLETED",
        "  task load becomes RELEASED",
        "  task load begins round 1",
        "worker ada claims up to 5",
    ]
