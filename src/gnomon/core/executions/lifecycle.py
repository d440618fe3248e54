"""How jobs and executions change. The one place that decides; stores only apply.

The two tables are the whole truth about status: the API, the dashboard and the docs are printed from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import assert_never

import msgspec

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import AttemptOutcome, ExecutionStatus, Failure, WaitsFor
from gnomon.core.executions.gates import gate_of_retry, last_gate
from gnomon.core.executions.lease import Leased
from gnomon.core.jobs.job import Definition, Delivery, Job, JobId, JobStatus, check_job
from gnomon.core.jobs.retry import BACKOFF_MAX, backoff
from gnomon.core.values.document import Document
from gnomon.errors import IllegalTransition

# Executions ----------------------------------------------------------------------------------------

_E = ExecutionStatus
EXECUTION_TRANSITIONS: dict[ExecutionStatus, frozenset[ExecutionStatus]] = {
    _E.PENDING: frozenset({_E.QUEUED, _E.CANCELLED, _E.SKIPPED}),
    _E.QUEUED: frozenset({_E.RUNNING, _E.CANCELLED}),
    _E.RUNNING: frozenset({_E.COMPLETED, _E.FAILED, _E.TIMEOUT, _E.CANCELLED, _E.PENDING, _E.QUEUED}),
    _E.COMPLETED: frozenset(),
    _E.FAILED: frozenset(),
    _E.TIMEOUT: frozenset(),
    _E.CANCELLED: frozenset(),
    _E.SKIPPED: frozenset(),
}
_AFTER_RUNNING, _PENDING = EXECUTION_TRANSITIONS[_E.RUNNING], _E.PENDING


@dataclass(frozen=True, slots=True)
class Succeeded:
    result: Document | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The handler failed. `permanent` means that no retry can help; `retry_after` is a receiver's wish."""

    failure: Failure
    permanent: bool = False
    retry_after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The attempt ran longer than the job allows and was stopped."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Somebody asked for the end, and the worker has stopped the attempt."""


@dataclass(frozen=True, slots=True)
class Snoozed:
    """The handler wants to be called again later. Costs no attempt.

    `has_started` is False if there was nothing here to be called. See Released. `failure` then says what this
    worker lacks.
    """

    delay: timedelta
    has_started: bool = True
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Released:
    """The worker gives the execution back: drain, capacity. Costs no attempt.

    `has_started` is False if the handler was not called. What runs at most once may only then run elsewhere.
    """

    has_started: bool = True


@dataclass(frozen=True, slots=True)
class LeaseExpired:
    """The worker stopped renewing: it died, hung, or lost the store."""


Outcome = Succeeded | Failed | TimedOut | Cancelled | Snoozed | Released | LeaseExpired


class DeadReason(StrEnum):
    EXHAUSTED = "exhausted"  # Used up its attempts.
    PERMANENT = "permanent"  # Failed in a way that no retry can help.
    CRASH_LOOP = "crash_loop"  # Its worker died too many times in a row.
    ABANDONED = "abandoned"  # At most once: it started, and nobody knows how far it came.


class Change(msgspec.Struct, frozen=True):
    """What to write about one attempt. `due` is set exactly when the execution goes back to wait.

    `waits_for` is the gate at which it then waits, besides its time, if the store counts the runs of its job;
    `waits_for_uncounted` the one if not. `if_cancelled` is what it ends as instead, if it was asked to stop
    since the lease was read: only the store sees that, in the statement that writes.
    """

    status: ExecutionStatus
    attempt: AttemptOutcome
    attempts: int
    crashes: int = 0
    due: datetime | None = None
    result: Document | None = None
    failure: Failure | None = None
    dead: DeadReason | None = None
    # Set by the reaper: the change holds only if the lease had run out by then, as the store sees it
    # in the same statement. A renewal that arrives in between wins.
    only_if_expired_at: datetime | None = None
    waits_for: WaitsFor | None = None
    waits_for_uncounted: WaitsFor | None = None
    if_cancelled: ExecutionStatus | None = None

    def __post_init__(self) -> None:
        status = self.status
        assert status in _AFTER_RUNNING
        if status is _PENDING:
            assert self.due is not None
            assert self.if_cancelled is _E.CANCELLED, "a cancel wins over going back to wait"
        else:
            assert self.due is None
            assert self.waits_for is None
            assert self.waits_for_uncounted is None
            assert self.if_cancelled is None
        assert self.dead is None or status in (ExecutionStatus.FAILED, ExecutionStatus.TIMEOUT)


# What nearly every attempt leads to. To name two members of enums takes as long as to make the change.
_SUCCESS = partial(Change, _E.COMPLETED, AttemptOutcome.COMPLETED)


def after(leased: Leased, outcome: Outcome, *, now: datetime, jitter: float) -> Change:
    """What an outcome makes of a running execution. `jitter` is a number in [0, 1) drawn by the caller."""
    match outcome:
        case Succeeded(result):
            return _SUCCESS(leased.attempt, result=result)
        case Failed():
            return _after_failure(leased, outcome, now=now, jitter=jitter)
        case TimedOut():
            return _after_timeout(leased, now=now, jitter=jitter)
        case LeaseExpired():
            return _after_expiry(leased, now=now)
        case Cancelled():
            return Change(_E.CANCELLED, AttemptOutcome.CANCELLED, leased.attempt)
        case Snoozed() if leased.cancel_requested:
            return Change(_E.CANCELLED, AttemptOutcome.SNOOZED, leased.attempts)
        case Snoozed():
            return _after_snooze(leased, outcome, now=now)
        case Released(has_started):
            return _after_release(leased, has_started=has_started, now=now)
        case _:
            assert_never(outcome)


def _after_failure(leased: Leased, failed: Failed, *, now: datetime, jitter: float) -> Change:
    if leased.cancel_requested:
        # Whatever went wrong, nobody wants another try.
        return Change(_E.CANCELLED, AttemptOutcome.FAILED, leased.attempt, failure=failed.failure)
    dead = _verdict(leased, failed.failure, permanent=failed.permanent)
    if dead is not None:
        return Change(_E.FAILED, AttemptOutcome.FAILED, leased.attempt, failure=failed.failure, dead=dead)
    # The receiver's wish is granted within reason: nobody else may decide to wait for ever.
    wait = max(_wait(leased, jitter), min(failed.retry_after or timedelta(0), BACKOFF_MAX))
    return _again(
        leased, AttemptOutcome.FAILED, attempts=leased.attempt, due=now + wait, failure=failed.failure
    )


def _after_timeout(leased: Leased, *, now: datetime, jitter: float) -> Change:
    limit = leased.revision.definition.timeout
    failure = Failure(
        "timeout", f"Stopped after {limit.total_seconds():g} s." if limit else "Stopped: it ran too long."
    )
    if leased.cancel_requested:
        return Change(_E.CANCELLED, AttemptOutcome.TIMEOUT, leased.attempt, failure=failure)
    dead = _verdict(leased, failure, permanent=False)
    if dead is not None:
        return Change(_E.TIMEOUT, AttemptOutcome.TIMEOUT, leased.attempt, failure=failure, dead=dead)
    due = now + _wait(leased, jitter)
    return _again(leased, AttemptOutcome.TIMEOUT, attempts=leased.attempt, due=due, failure=failure)


def _after_expiry(leased: Leased, *, now: datetime) -> Change:
    failure = Failure("lease_expired", f"Worker {leased.worker} stopped renewing its lease.")
    crashes = leased.crashes + 1
    if leased.cancel_requested:
        return Change(
            _E.CANCELLED,
            AttemptOutcome.EXPIRED,
            leased.attempt,
            crashes,
            failure=failure,
            only_if_expired_at=now,
        )
    # `retry_on` is about errors of the handler; a dead worker says nothing about those.
    dead = DeadReason.EXHAUSTED if _is_used_up(leased) else None
    if crashes >= leased.revision.definition.retry.crash_limit:
        dead, failure = DeadReason.CRASH_LOOP, _crash_loop(leased, crashes)
    if leased.revision.definition.delivery is Delivery.AT_MOST_ONCE:
        dead = DeadReason.ABANDONED
    if dead is not None:
        return Change(
            _E.FAILED,
            AttemptOutcome.EXPIRED,
            leased.attempt,
            crashes,
            failure=failure,
            dead=dead,
            only_if_expired_at=now,
        )
    # At once: the wait of a retry policy is for a job that fails, and here it was the worker that died.
    again = _again(
        leased, AttemptOutcome.EXPIRED, attempts=leased.attempt, due=now, failure=failure, crashes=crashes
    )
    return msgspec.structs.replace(again, only_if_expired_at=now)


def _after_snooze(leased: Leased, snoozed: Snoozed, *, now: datetime) -> Change:
    due = now + min(max(snoozed.delay, timedelta(0)), BACKOFF_MAX)
    return _given_back(
        leased,
        AttemptOutcome.SNOOZED,
        has_started=snoozed.has_started,
        due=due,
        lacks=None if snoozed.has_started else snoozed.failure,
    )


def _crash_loop(leased: Leased, crashes: int) -> Failure:
    alone = f"the last {crashes - 1} times" if crashes > 2 else "the last time"
    return Failure(
        "crash_loop",
        f"Its worker died {crashes} times in a row, {alone} while it ran alone. The last one was "
        f"{leased.worker}. Find out what in it ends its process; raise crash_limit if it was not to blame.",
    )


def _after_release(leased: Leased, *, has_started: bool, now: datetime) -> Change:
    if leased.cancel_requested:
        return Change(_E.CANCELLED, AttemptOutcome.RELEASED, leased.attempts)
    # Its due time has come already; keeping it keeps its place in the queue.
    due = min(leased.due, now)
    return _given_back(leased, AttemptOutcome.RELEASED, has_started=has_started, due=due)


def _given_back(
    leased: Leased,
    outcome: AttemptOutcome,
    *,
    has_started: bool,
    due: datetime,
    lacks: Failure | None = None,
) -> Change:
    if has_started and leased.revision.definition.delivery is Delivery.AT_MOST_ONCE:
        failure = Failure("abandoned", "It had started, and it runs at most once.")
        return Change(_E.FAILED, outcome, leased.attempt, failure=failure, dead=DeadReason.ABANDONED)
    # A worker that has not called the handler has not tried it: a suspect stays one.
    crashes = 0 if has_started else leased.crashes
    return _again(leased, outcome, attempts=leased.attempts, due=due, failure=lacks, crashes=crashes)


def _again(
    leased: Leased,
    outcome: AttemptOutcome,
    *,
    attempts: int,
    due: datetime,
    failure: Failure | None = None,
    crashes: int = 0,
) -> Change:
    """Back to the queue, and to the gate that its job has there. After a crash it is a suspect."""
    return Change(
        _E.PENDING,
        outcome,
        attempts,
        crashes,
        due=due,
        failure=failure,
        waits_for=gate_of_retry(leased.revision.definition, crashes=crashes),
        waits_for_uncounted=last_gate(crashes),
        if_cancelled=_E.CANCELLED,
    )


def _verdict(leased: Leased, failure: Failure, *, permanent: bool) -> DeadReason | None:
    definition = leased.revision.definition
    if permanent or not definition.retry.retries(failure.kind):
        return DeadReason.PERMANENT
    if definition.delivery is Delivery.AT_MOST_ONCE or _is_used_up(leased):
        return DeadReason.EXHAUSTED
    return None


def _is_used_up(leased: Leased) -> bool:
    return leased.attempt >= leased.revision.definition.retry.max_attempts


def _wait(leased: Leased, jitter: float) -> timedelta:
    return backoff(leased.revision.definition.retry, leased.attempt, jitter=jitter)


# Jobs ----------------------------------------------------------------------------------------------


class JobAction(StrEnum):
    UPDATE = "update"
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    DELETE = "delete"


_J = JobStatus
# Repeating an action that has been done already is fine: a client that lost the reply asks again.
JOB_TRANSITIONS: dict[tuple[JobStatus, JobAction], JobStatus] = {
    (_J.ACTIVE, JobAction.UPDATE): _J.ACTIVE,
    (_J.PAUSED, JobAction.UPDATE): _J.PAUSED,
    (_J.COMPLETED, JobAction.UPDATE): _J.ACTIVE,
    (_J.ACTIVE, JobAction.PAUSE): _J.PAUSED,
    (_J.PAUSED, JobAction.PAUSE): _J.PAUSED,
    (_J.PAUSED, JobAction.RESUME): _J.ACTIVE,
    (_J.ACTIVE, JobAction.RESUME): _J.ACTIVE,
    (_J.ACTIVE, JobAction.CANCEL): _J.CANCELLED,
    (_J.PAUSED, JobAction.CANCEL): _J.CANCELLED,
    (_J.COMPLETED, JobAction.CANCEL): _J.CANCELLED,
    (_J.CANCELLED, JobAction.CANCEL): _J.CANCELLED,
    (_J.ACTIVE, JobAction.DELETE): _J.DELETED,
    (_J.PAUSED, JobAction.DELETE): _J.DELETED,
    (_J.COMPLETED, JobAction.DELETE): _J.DELETED,
    (_J.CANCELLED, JobAction.DELETE): _J.DELETED,
    (_J.DELETED, JobAction.DELETE): _J.DELETED,
}


@dataclass(frozen=True, slots=True)
class JobChange:
    """A job as it shall be, if it is still as it was read. `definition` is set when it changes.

    A firing moves the job on without a new version, so what was read is the version and the next run time:
    a change that put an old time back would fire it again, or leave holes in the ledger.
    """

    job_id: JobId
    tenant_id: TenantId
    expected_version: int
    expected_next_run_time: datetime | None
    name: str
    status: JobStatus
    next_run_time: datetime | None
    tags: frozenset[str]
    dependencies: frozenset[JobId]
    anchor: datetime | None = None
    definition: Definition | None = None

    def __post_init__(self) -> None:
        check_job(self.name, self.tags, self.dependencies)

    @property
    def ends_executions(self) -> bool:
        """Cancelling or deleting a job ends its waiting executions and asks the running ones to stop."""
        return self.status in (JobStatus.CANCELLED, JobStatus.DELETED)


def job_status_after(job: Job, action: JobAction) -> JobStatus:
    try:
        return JOB_TRANSITIONS[job.status, action]
    except KeyError:
        raise IllegalTransition("job", status=job.status, action=action) from None


def change_of(job: Job, action: JobAction, *, next_run_time: datetime | None) -> JobChange:
    """The change that an action without a new definition makes. The schedule decides `next_run_time`."""
    status = job_status_after(job, action)
    return JobChange(
        job_id=job.id,
        tenant_id=job.tenant_id,
        expected_version=job.version,
        expected_next_run_time=job.next_run_time,
        name=job.name,
        status=status,
        next_run_time=next_run_time if status in (JobStatus.ACTIVE, JobStatus.PAUSED) else None,
        tags=job.tags,
        dependencies=job.dependencies,
        anchor=job.anchor,
    )
