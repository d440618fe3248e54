"""Which gates a run has to pass, and which ones a retry passes again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gnomon.core.executions.execution import Failure, WaitsFor
from gnomon.core.executions.gates import gate, gate_of_fire, gate_of_retry, is_counted, slots
from gnomon.core.executions.lifecycle import (
    Failed,
    LeaseExpired,
    Outcome,
    Released,
    Snoozed,
    Succeeded,
    TimedOut,
    after,
)
from gnomon.core.jobs.job import Definition, JobId
from gnomon.core.time.schedule import Overlap, Schedule
from tests.unit.core.builders import JOB_ID, MINUTE, NOON, job_with, leased


def definition(overlap: Overlap, max_concurrent: int | None) -> Definition:
    return Definition("report", schedule=Schedule(overlap=overlap), max_concurrent=max_concurrent)


@pytest.mark.parametrize("max_concurrent", [None, 1, 7])
@pytest.mark.parametrize("overlap", [Overlap.ALLOW, Overlap.SKIP, Overlap.REPLACE])
def test_a_job_has_as_many_slots_as_may_run_at_once(overlap: Overlap, max_concurrent: int | None) -> None:
    assert slots(definition(overlap, max_concurrent)) == max_concurrent


@pytest.mark.parametrize("max_concurrent", [None, 1, 7])
def test_a_job_whose_fires_stand_in_line_has_one_slot(max_concurrent: int | None) -> None:
    assert slots(definition(Overlap.QUEUE, max_concurrent)) == 1


def test_runs_are_counted_if_there_are_slots_or_an_overlap_policy() -> None:
    assert not is_counted(definition(Overlap.ALLOW, None))
    assert is_counted(definition(Overlap.ALLOW, 3))
    assert all(is_counted(definition(overlap, None)) for overlap in set(Overlap) - {Overlap.ALLOW})


def test_a_run_waits_for_a_slot_only_if_there_are_some() -> None:
    assert gate(None) is None
    assert gate(1) is WaitsFor.SLOT


def test_a_fire_waits_for_other_jobs_first_and_then_for_a_slot() -> None:
    plain = job_with(Schedule(), due=NOON)
    narrow = replace(plain, definition=definition(Overlap.ALLOW, 1))
    dependent = replace(narrow, dependencies=frozenset({JobId(JOB_ID)}))

    assert gate_of_fire(plain) is None
    assert gate_of_fire(narrow) is WaitsFor.SLOT
    assert gate_of_fire(dependent) is WaitsFor.JOBS


BACK: list[Outcome] = [
    Failed(Failure("oops", "It did not work.")),
    TimedOut(),
    Snoozed(MINUTE),
    Released(),
    Released(has_started=False),
    LeaseExpired(),
]


@pytest.mark.parametrize("outcome", BACK, ids=repr)
@pytest.mark.parametrize(
    ("overlap", "max_concurrent", "waits_for"),
    [
        (Overlap.ALLOW, None, None),
        (Overlap.SKIP, None, None),
        (Overlap.ALLOW, 2, WaitsFor.SLOT),
        (Overlap.REPLACE, 2, WaitsFor.SLOT),
        (Overlap.QUEUE, None, None),
        (Overlap.QUEUE, 2, None),
    ],
)
def test_what_goes_back_waits_for_a_slot_unless_it_keeps_its_own(
    outcome: Outcome, overlap: Overlap, max_concurrent: int | None, waits_for: WaitsFor | None
) -> None:
    held = leased()
    one = held._replace(revision=replace(held.revision, definition=definition(overlap, max_concurrent)))

    change = after(one, outcome, now=NOON, jitter=0.5)

    last = WaitsFor.EMPTY_WORKER if isinstance(outcome, LeaseExpired) else None
    assert change.due is not None
    assert change.waits_for is (waits_for or last)
    assert gate_of_retry(one.revision.definition) is waits_for


def test_what_has_ended_waits_for_nothing() -> None:
    held = leased()
    one = held._replace(revision=replace(held.revision, definition=definition(Overlap.ALLOW, 2)))

    assert after(one, Succeeded(), now=NOON, jitter=0.5).waits_for is None
