"""Which statement writes what."""

from __future__ import annotations

from gnomon.core.executions.lifecycle import Succeeded
from gnomon.core.runs.write_set import WriteSet
from gnomon.store.writes.assemblies import Assembly, assembly_of
from tests.unit.core.builders import NOON
from tests.unit.core.workflows import plan_of, task
from tests.unit.core.write_sets import BOOM, CLAIM, begun, decided, ended, step_of

DONE, FAILED = decided(Succeeded()), decided(BOOM, 2)


def chosen(write_set: WriteSet, *, holds_locks: bool = False, lane_id: int | None = None) -> Assembly:
    return assembly_of(write_set, holds_locks=holds_locks, lane_id=lane_id)


def test_ends_that_tell_of_no_failure_have_a_statement_of_their_own() -> None:
    for holds_locks in (False, True):
        assert chosen(WriteSet(NOON, [DONE]), holds_locks=holds_locks) is Assembly.PLAIN_ENDINGS
        assert chosen(WriteSet(NOON, [DONE, FAILED]), holds_locks=holds_locks) is Assembly.CHANGES


def test_a_step_of_a_chain_is_handed_over_where_nothing_else_waits() -> None:
    plan = plan_of(task("a"), task("b", "a"))
    write_set = WriteSet(NOON, [DONE], [step_of(plan, *begun(plan), ended(0))], CLAIM)

    assert chosen(write_set, lane_id=4) is Assembly.CHAIN_STEP
    assert chosen(write_set) is Assembly.TASK_ENDS


def test_under_locks_runs_go_on_and_a_worker_claims_what_they_release() -> None:
    plan = plan_of(task("a"), task("b", "a"))
    step = step_of(plan, *begun(plan), ended(0))

    assert chosen(WriteSet(NOON, steps=[step]), holds_locks=True) is Assembly.RUN_STEPS
    assert chosen(WriteSet(NOON, claim=CLAIM), holds_locks=True) is Assembly.CLAIM
