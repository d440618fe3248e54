"""How jobs and executions change: the stories, and what holds for all of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.executions.execution import LIVE, AttemptOutcome, ExecutionStatus, Failure, WaitsFor
from gnomon.core.executions.lease import Leased
from gnomon.core.executions.lifecycle import (
    EXECUTION_TRANSITIONS,
    JOB_TRANSITIONS,
    Cancelled,
    Change,
    DeadReason,
    Failed,
    JobAction,
    LeaseExpired,
    Outcome,
    Released,
    Snoozed,
    Succeeded,
    TimedOut,
    after,
    change_of,
    job_status_after,
)
from gnomon.core.jobs.job import Delivery, JobStatus
from gnomon.core.jobs.retry import BACKOFF_MAX, RetryPolicy, backoff
from gnomon.core.time.schedule import CronTiming, Schedule
from gnomon.errors import IllegalTransition
from tests.unit.core.builders import HOUR, MINUTE, NOON, SECOND, job_with, leased

BROKEN = Failure("ValueError", "no such column")
THREE = RetryPolicy(max_attempts=3, jitter=0.0)
E = ExecutionStatus


def end(lease: Leased, outcome: Outcome) -> Change:
    return after(lease, outcome, now=NOON + MINUTE, jitter=0.5)


# Executions -------------------------------------------------------------------------------------------


def test_a_success_ends_the_execution() -> None:
    change = end(leased(attempts=1), Succeeded())

    assert (change.status, change.attempt, change.attempts) == (E.COMPLETED, AttemptOutcome.COMPLETED, 2)


def test_a_failure_with_attempts_left_waits_for_its_retry() -> None:
    change = end(leased(retry=THREE, attempts=1), Failed(BROKEN))

    assert (change.status, change.attempts) == (E.PENDING, 2)
    assert change.due == NOON + MINUTE + 2 * MINUTE
    assert change.failure == BROKEN
    assert change.dead is None


def test_a_receiver_may_ask_for_a_longer_wait_and_not_for_a_shorter_one() -> None:
    longer = end(leased(retry=THREE), Failed(BROKEN, retry_after=HOUR))
    shorter = end(leased(retry=THREE), Failed(BROKEN, retry_after=SECOND))

    assert longer.due == NOON + MINUTE + HOUR
    assert shorter.due == NOON + MINUTE + MINUTE


def test_the_last_failure_is_a_dead_letter_in_the_same_change() -> None:
    change = end(leased(retry=THREE, attempts=2), Failed(BROKEN))

    assert (change.status, change.attempts, change.dead) == (E.FAILED, 3, DeadReason.EXHAUSTED)


@pytest.mark.parametrize(
    ("retry", "failed"),
    [
        (THREE, Failed(BROKEN, permanent=True)),
        (RetryPolicy(retry_on=frozenset({"OSError"})), Failed(BROKEN)),
    ],
)
def test_a_failure_that_no_retry_can_help_is_a_dead_letter_at_once(
    retry: RetryPolicy, failed: Failed
) -> None:
    change = end(leased(retry=retry), failed)

    assert (change.status, change.attempts, change.dead) == (E.FAILED, 1, DeadReason.PERMANENT)


def test_a_timeout_is_tried_again_and_ends_as_a_timeout() -> None:
    first = end(leased(retry=THREE, timeout=90 * SECOND), TimedOut())
    last = end(leased(retry=THREE, timeout=90 * SECOND, attempts=2), TimedOut())

    assert (first.status, first.attempt) == (E.PENDING, AttemptOutcome.TIMEOUT)
    assert (last.status, last.dead) == (E.TIMEOUT, DeadReason.EXHAUSTED)
    assert last.failure == Failure("timeout", "Stopped after 90 s.")


def test_a_dead_worker_costs_an_attempt_and_only_if_the_lease_had_run_out() -> None:
    change = end(leased(retry=THREE), LeaseExpired())

    assert (change.status, change.attempts, change.crashes) == (E.PENDING, 1, 1)
    assert change.attempt is AttemptOutcome.EXPIRED
    assert change.due == NOON + MINUTE
    assert change.only_if_expired_at == NOON + MINUTE


def test_a_dead_worker_is_tried_again_whatever_errors_are_worth_a_retry() -> None:
    change = end(leased(retry=RetryPolicy(retry_on=frozenset({"OSError"}))), LeaseExpired())

    assert change.status is E.PENDING


@pytest.mark.parametrize("limit", [2, 3, 7])
def test_a_worker_that_died_as_often_as_the_policy_allows_ends_the_execution(limit: int) -> None:
    policy = RetryPolicy(max_attempts=100, crash_limit=limit)
    before = end(leased(retry=policy, crashes=limit - 2), LeaseExpired())
    change = end(leased(retry=policy, crashes=limit - 1), LeaseExpired())

    assert (before.status, before.dead, before.crashes) == (E.PENDING, None, limit - 1)
    assert (change.status, change.dead, change.crashes) == (E.FAILED, DeadReason.CRASH_LOOP, limit)


def test_a_crash_loop_says_how_often_its_worker_died() -> None:
    change = end(leased(retry=RetryPolicy(max_attempts=100), crashes=2), LeaseExpired())

    assert change.failure is not None
    assert change.failure.kind == "crash_loop"
    assert change.failure.message.startswith(
        "Its worker died 3 times in a row, the last 2 times while it ran alone."
    )


@pytest.mark.parametrize("outcome", [Failed(BROKEN), TimedOut(), Snoozed(MINUTE), Released()])
def test_an_attempt_that_ended_in_words_breaks_the_row_of_crashes(outcome: Outcome) -> None:
    assert end(leased(crashes=2), outcome).crashes == 0


def test_a_worker_that_lacks_what_a_suspect_needs_does_not_clear_it() -> None:
    lacks = Snoozed(MINUTE, has_started=False, failure=Failure("not_here", "no such function"))
    change = end(leased(crashes=2), lacks)

    assert (change.crashes, change.waits_for, change.attempts) == (2, WaitsFor.EMPTY_WORKER, 0)


def test_a_worker_that_gives_a_suspect_back_before_it_began_does_not_clear_it() -> None:
    change = end(leased(crashes=2), Released(has_started=False))

    assert (change.crashes, change.waits_for, change.attempts) == (2, WaitsFor.EMPTY_WORKER, 0)


def test_at_most_once_is_never_tried_again_and_says_if_nobody_knows() -> None:
    lease = leased(delivery=Delivery.AT_MOST_ONCE, retry=RetryPolicy(max_attempts=9))

    assert end(lease, Failed(BROKEN)).dead is DeadReason.EXHAUSTED
    assert end(lease, LeaseExpired()).dead is DeadReason.ABANDONED


def test_a_snooze_and_a_release_cost_no_attempt() -> None:
    snoozed = end(leased(attempts=1), Snoozed(HOUR))
    released = end(leased(attempts=1), Released())

    assert (snoozed.status, snoozed.attempts, snoozed.due) == (E.PENDING, 1, NOON + MINUTE + HOUR)
    assert (released.status, released.attempts, released.due) == (E.PENDING, 1, NOON)


OUTCOMES = st.sampled_from(
    [
        Succeeded(),
        Failed(BROKEN),
        Failed(BROKEN, permanent=True),
        Failed(BROKEN, retry_after=timedelta(days=1)),
        TimedOut(),
        Cancelled(),
        Snoozed(SECOND),
        Released(),
        LeaseExpired(),
    ]
)
LEASES = st.builds(
    leased,
    retry=st.builds(RetryPolicy, max_attempts=st.integers(1, 5), jitter=st.just(0.2)),
    delivery=st.sampled_from(Delivery),
    attempts=st.integers(0, 4),
    crashes=st.integers(0, 2),
    cancel_requested=st.booleans(),
)


@given(lease=LEASES, outcome=OUTCOMES, jitter=st.floats(0, 1, exclude_max=True))
def test_what_holds_for_every_outcome(lease: Leased, outcome: Outcome, jitter: float) -> None:
    policy = lease.revision.definition.retry
    change = after(lease, outcome, now=NOON, jitter=jitter)

    is_free = isinstance(outcome, Snoozed | Released) and change.dead is None
    assert change.attempts == lease.attempts + (0 if is_free else 1)
    if change.status is E.PENDING:
        assert not lease.cancel_requested
        assert is_free or change.attempts < policy.max_attempts
    if change.status in (E.FAILED, E.TIMEOUT):
        assert change.dead is not None
        assert change.failure is not None
    if isinstance(outcome, Failed | TimedOut) and change.due is not None:
        least = backoff(policy, lease.attempt, jitter=0.0)
        assert change.due >= NOON + least
    assert (change.only_if_expired_at is not None) == isinstance(outcome, LeaseExpired)


@given(lease=LEASES, outcome=OUTCOMES.filter(lambda outcome: not isinstance(outcome, Succeeded)))
def test_an_execution_that_shall_stop_is_never_tried_again(lease: Leased, outcome: Outcome) -> None:
    change = end(lease._replace(cancel_requested=True), outcome)

    assert change.status is E.CANCELLED
    assert change.dead is None


def test_final_statuses_lead_nowhere_and_every_status_has_a_row() -> None:
    assert set(EXECUTION_TRANSITIONS) == set(ExecutionStatus)
    assert {status for status, ways in EXECUTION_TRANSITIONS.items() if ways} == LIVE


# Jobs ------------------------------------------------------------------------------------------------


def test_an_action_that_the_table_does_not_name_is_refused() -> None:
    job = replace(job_with(Schedule(), due=None), status=JobStatus.CANCELLED)

    with pytest.raises(IllegalTransition) as refused:
        job_status_after(job, JobAction.RESUME)
    assert refused.value.details == {"status": "CANCELLED", "action": "resume"}


def test_repeating_an_action_is_fine() -> None:
    for (status, action), target in JOB_TRANSITIONS.items():
        if action is not JobAction.UPDATE:
            assert JOB_TRANSITIONS[target, action] is target, (status, action)


def test_deleted_jobs_stay_deleted() -> None:
    ways = {target for (status, _), target in JOB_TRANSITIONS.items() if status is JobStatus.DELETED}

    assert ways == {JobStatus.DELETED}


def test_a_pause_keeps_the_next_run_time_so_that_skipped_times_are_recorded() -> None:
    job = job_with(Schedule(CronTiming("0 * * * *")), due=NOON)

    change = change_of(job, JobAction.PAUSE, next_run_time=NOON)

    assert (change.status, change.next_run_time) == (JobStatus.PAUSED, NOON)
    assert not change.ends_executions
    assert change.expected_version == job.version


@pytest.mark.parametrize("action", [JobAction.CANCEL, JobAction.DELETE])
def test_a_job_that_ends_takes_its_executions_along_and_never_fires_again(action: JobAction) -> None:
    change = change_of(job_with(Schedule(), due=NOON), action, next_run_time=NOON)

    assert change.ends_executions
    assert change.next_run_time is None


@pytest.mark.parametrize("outcome", [Released(), Snoozed(MINUTE)])
def test_what_runs_at_most_once_is_abandoned_rather_than_started_again(outcome: Outcome) -> None:
    change = end(leased(delivery=Delivery.AT_MOST_ONCE), outcome)

    assert (change.status, change.dead) == (E.FAILED, DeadReason.ABANDONED)


def test_what_runs_at_most_once_may_be_given_back_before_it_has_started() -> None:
    change = end(leased(delivery=Delivery.AT_MOST_ONCE), Released(has_started=False))

    assert change.status is E.PENDING


@pytest.mark.parametrize("outcome", [Failed(BROKEN, retry_after=timedelta.max), Snoozed(timedelta.max)])
def test_nobody_can_ask_to_wait_for_ever(outcome: Outcome) -> None:
    change = end(leased(), outcome)

    assert change.due == NOON + MINUTE + BACKOFF_MAX
