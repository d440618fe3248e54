"""What every story must tell, told wrong once and right once."""

from __future__ import annotations

from collections import Counter
from uuid import UUID

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import AttemptOutcome, Execution, ExecutionId, ExecutionStatus, Trigger
from gnomon.core.jobs.job import JobId
from proof.checker.history.events import Expired, Refused
from proof.simulator.judging.basics import basics
from proof.simulator.scenarios.scenario import Scenario
from proof.simulator.world.story import Story
from tests.unit.proof.checker.story import NOON, t
from tests.unit.proof.checker.story import Story as History

JOB = "00000000-0000-0000-0000-000000000001"
RUN = "00000000-0000-0000-0000-000000000002"
LATER = "00000000-0000-0000-0000-000000000003"
SECONDS = 1200.0


def story_of(history: History, *runs: Execution) -> Story:
    scenario = Scenario(seed=1, start=NOON, seconds=SECONDS, healed_at=SECONDS / 2, nodes=(), jobs=())
    return Story(scenario, history.events, "", list(runs), [], Counter(), Counter(), 0, 0, 0)


def run(name: str, status: ExecutionStatus, *, due: float) -> Execution:
    return Execution(
        id=ExecutionId(UUID(name)),
        tenant_id=DEFAULT_TENANT,
        job_id=JobId(UUID(JOB)),
        revision=1,
        status=status,
        trigger=Trigger.MANUAL,
        nominal_time=None,
        due=t(due),
        priority=5,
        claim=0,
        attempts=0,
        worker=None,
        input=None,
        result=None,
        failure=None,
        unique_key=None,
        cancel_requested=False,
        created_at=t(0),
        started_at=None,
        finished_at=None,
    )


@pytest.mark.parametrize("wrong", [True, False])
def test_who_wanted_to_take_a_run_back_too_late_does_not_excuse_who_forgot_it(wrong: bool) -> None:
    history = History()
    history.job(JOB)
    history.enqueue(RUN, job=JOB)
    history.enqueue(LATER, job=JOB)
    history.claim(2, RUN, req="lost")
    history.claim(3, LATER, req="next")
    history.end(24, Expired, RUN, next_at=t(24))
    by = AttemptOutcome.EXPIRED if wrong else AttemptOutcome.RELEASED
    history.store(25, Refused, run=RUN, token=1, op=str(by), holder_token=1)

    assert any("forgot it" in what for what in basics(story_of(history))) == wrong


@pytest.mark.parametrize("killed_at", [None, 4, 200])
def test_who_is_killed_while_it_gives_a_run_back_has_not_forgotten_it(killed_at: float | None) -> None:
    history = History()
    history.job(JOB)
    history.enqueue(RUN, job=JOB)
    history.enqueue(LATER, job=JOB)
    history.claim(2, RUN, req="slow")
    history.claim(3, LATER, req="next")
    if killed_at is not None:
        history.fault(killed_at, killed_at + 1, "kill", "w")
    history.end(24, Expired, RUN, next_at=t(24))

    assert any("forgot it" in what for what in basics(story_of(history))) == (killed_at != 4)


@pytest.mark.parametrize("wrong", [True, False])
def test_who_renews_what_it_gives_back_has_not_forgotten_it(wrong: bool) -> None:
    """What is given back waits behind a write whose answers get lost, until the process has ended."""
    history = History()
    history.job(JOB)
    history.enqueue(RUN, job=JOB)
    history.enqueue(LATER, job=JOB)
    history.claim(2, RUN, req="slow")
    history.claim(3, LATER, req="next")
    history.beat(9, LATER if wrong else RUN)
    history.fault(90, 110, "term", "w")
    history.end(124, Expired, RUN, next_at=t(124))

    assert any("forgot it" in what for what in basics(story_of(history))) == wrong


@pytest.mark.parametrize("wrong", [True, False])
def test_who_came_later_does_not_excuse_that_a_run_was_left_at_an_open_gate(wrong: bool) -> None:
    history = History()
    history.job(JOB, max_concurrent=1)
    history.enqueue(RUN, job=JOB, run_at=t(1 if wrong else SECONDS - 60))
    history.enqueue(LATER, job=JOB, run_at=t(SECONDS - 70))
    history.live(LATER, at=SECONDS - 70)
    left = run(RUN, ExecutionStatus.QUEUED, due=1 if wrong else SECONDS - 60)
    done = run(LATER, ExecutionStatus.COMPLETED, due=SECONDS - 70)

    assert any("nobody runs it" in what for what in basics(story_of(history, left, done))) == wrong


def test_a_run_that_was_let_in_when_the_one_ahead_of_it_ended_is_not_forgotten() -> None:
    history = History()
    history.job(JOB, max_concurrent=1)
    history.enqueue(LATER, job=JOB, run_at=t(1))
    history.enqueue(RUN, job=JOB, run_at=t(2))
    history.live(LATER, at=SECONDS - 70)
    left = run(RUN, ExecutionStatus.QUEUED, due=2)
    done = run(LATER, ExecutionStatus.COMPLETED, due=1)

    assert not any("nobody runs it" in what for what in basics(story_of(history, left, done)))
