"""Why an execution waits because of its attempts, or ended: what they say, what follows, and what helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gnomon.core.executions.execution import Attempt, AttemptOutcome, Execution, ExecutionStatus, Failure
from gnomon.core.explain.obstacles import Obstacle, Reason
from gnomon.core.operations.workers import Worker
from gnomon.core.values.instants import instant_text

ATTEMPTS_MAX = 100  # The newest say enough.
_WORKERS_SHOWN_MAX = 10


@dataclass(frozen=True, slots=True)
class Past:
    """The latest attempts, newest first; how many there may be; and the function that its payload names."""

    attempts: Sequence[Attempt]
    attempts_max: int
    function: str | None = None


def why_it_waits(
    execution: Execution, past: Past, *, due: datetime, now: datetime, fitting: Sequence[Worker]
) -> tuple[Reason, ...]:
    """`fitting` are the live workers that fit. Empty if its attempts are no reason to wait."""
    if not past.attempts:
        return ()
    last = past.attempts[0]
    if last.was_turned_away:
        return _turned_away(past, due=due, now=now, fitting=fitting)
    if due <= now:
        return ()
    match last.outcome:
        case AttemptOutcome.FAILED | AttemptOutcome.TIMEOUT | AttemptOutcome.EXPIRED:
            return (_backs_off(execution, past, last, due),)
        case AttemptOutcome.SNOOZED:
            return (_snoozed(due),)
        case _:
            return ()


def why_it_failed(execution: Execution, *, attempts_max: int) -> tuple[Reason, ...]:
    """Of one that ended without success, by itself. Of a run of a workflow, see core/explain/runs.py."""
    if execution.status not in (ExecutionStatus.FAILED, ExecutionStatus.TIMEOUT):
        return ()
    told = (
        f"It ended as {execution.status} after {_attempts(execution.attempts, attempts_max)}"
        f"{said(execution.failure)}. It does not run again by itself. "
        "Mend what failed, then redrive it: gnomon dlq redrive."
    )
    details = {"status": execution.status, "attempts": execution.attempts, "max_attempts": attempts_max}
    return (Reason(Obstacle.FAILED, told, details | {"error": error_of(execution.failure)}),)


def said(failure: Failure | None) -> str:
    """On one line, after what failed."""
    return "" if failure is None else f" ({failure.kind}: {' '.join(failure.message.split())})"


def error_of(failure: Failure | None) -> dict[str, str] | None:
    return None if failure is None else {"kind": failure.kind, "message": failure.message}


def _backs_off(execution: Execution, past: Past, last: Attempt, due: datetime) -> Reason:
    next_try = instant_text(due)
    does = "ran too long" if last.outcome is AttemptOutcome.TIMEOUT else "failed"
    told = (
        f"Attempt {execution.attempts} of {past.attempts_max} {does}{said(last.failure)}. Its retry policy "
        f"waits: the next attempt begins at {next_try}. Its log says more; to give it up, cancel it."
    )
    details = {
        "due": next_try,
        "attempt": execution.attempts,
        "max_attempts": past.attempts_max,
        "error": error_of(last.failure),
    }
    return Reason(Obstacle.RETRY_BACKOFF, told, details)


def _snoozed(due: datetime) -> Reason:
    again = instant_text(due)
    told = f"Its handler put it off until {again}, without charge. To give it up, cancel it."
    return Reason(Obstacle.SNOOZED, told, {"due": again})


def _turned_away(
    past: Past, *, due: datetime, now: datetime, fitting: Sequence[Worker]
) -> tuple[Reason, ...]:
    """What a worker said before it was started anew counts no more."""
    turned = [one for one in past.attempts if one.was_turned_away]
    asked = [
        worker.id
        for worker in fitting
        if any(one.worker == worker.id and one.started_at >= worker.registered_at for one in turned)
    ]
    unasked = [worker.id for worker in fitting if worker.id not in asked]
    if due <= now and (unasked or not asked):
        return ()  # One of them would be given it now, and may have what it needs.
    last = turned[0]
    lacks = (
        f"{last.worker} turned it away{said(last.failure)}."
        if past.function is None
        else f"The function {past.function!r} is not registered on {_listed(asked or [last.worker])}."
    )
    when = f"at {instant_text(due)}" if due > now else "every ten seconds"
    rest = f", perhaps to {_listed(unasked)}" if unasked else ", to the same workers: no other one fits"
    advice = (
        "Start a worker whose app registers it (gnomon worker --app), or mend the name in the job."
        if past.function is not None
        else "Start a worker that has what it needs."
    )
    details = {
        "function": past.function,
        "error": error_of(last.failure),
        "asked": asked[:_WORKERS_SHOWN_MAX],
        "not_asked": unasked[:_WORKERS_SHOWN_MAX],
        "due": instant_text(due),
    }
    return (Reason(Obstacle.NO_FUNCTION, f"{lacks} It is offered again {when}{rest}. {advice}", details),)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_WORKERS_SHOWN_MAX])
    more = len(names) - _WORKERS_SHOWN_MAX
    return f"{shown} and {more} more" if more > 0 else shown


def _attempts(count: int, count_max: int) -> str:
    return "no attempt" if count == 0 else f"attempt {count} of {count_max}"


def why_alone(crashes: int) -> Reason:
    """Why a suspect that waits does not run now."""
    times = "once" if crashes == 1 else f"{crashes} times in a row"
    return Reason(
        Obstacle.SUSPECT,
        f"Its worker died {times}, so it waits for a worker that runs nothing else. "
        "An empty one takes it at once; after some seconds a busy one makes room.",
        {"crashes": crashes},
    )
