"""Values of the core in the words of a history."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

from gnomon.core.executions.execution import AttemptOutcome, ExecutionStatus
from gnomon.core.executions.lifecycle import Change, DeadReason
from gnomon.core.jobs.job import Definition, Job
from gnomon.core.schedules.occurrence import Firing, Occurrence
from gnomon.core.time.nominal import seed_of
from gnomon.core.time.schedule import CronTiming, Delayed, Interval, Manual, Once
from proof.checker.history import events

_AGAIN: dict[AttemptOutcome, type[events.Change]] = {
    AttemptOutcome.FAILED: events.Failed,
    AttemptOutcome.TIMEOUT: events.Failed,
    AttemptOutcome.EXPIRED: events.Expired,
    AttemptOutcome.RELEASED: events.Released,
    AttemptOutcome.SNOOZED: events.Released,
}


def change_event(change: Change, *, now: datetime) -> tuple[type[events.Change], dict[str, Any]]:
    """What became of an attempt: the event, and its fields beside run, version and token."""
    fields: dict[str, Any] = {"at": now, "kind": change.failure.kind if change.failure else None}
    if change.status is ExecutionStatus.COMPLETED:
        return events.Done, fields
    if change.due is not None:
        why = str(change.attempt).lower()
        return _AGAIN[change.attempt], {**fields, "next_at": change.due, "why": why}
    if change.status is ExecutionStatus.CANCELLED:
        return events.Cancelled, {**fields, "why": str(change.attempt).lower()}
    if change.dead is DeadReason.ABANDONED:
        return events.Abandoned, {**fields, "why": str(change.attempt).lower()}
    return events.Dead, {**fields, "why": None if change.dead is None else str(change.dead)}


def sched_set(job: Job, *, since: datetime, closed: Iterable[date]) -> dict[str, Any]:
    definition = job.definition
    schedule = definition.schedule
    window = schedule.catchup_window
    return {
        "job": str(job.id),
        "rev": job.revision,
        "since": since,
        "state": str(job.status),
        "seed": seed_of(job.tenant_id, job.name),
        "start_at": schedule.start_at,
        "end_at": schedule.end_at,
        "max_runs": schedule.max_runs,
        "closed": tuple(sorted(closed)),
        "jitter": schedule.jitter.total_seconds(),
        "misfire": str(schedule.misfire),
        "grace": schedule.misfire_grace.total_seconds(),
        "catchup_limit": schedule.catchup_limit,
        "catchup_window": None if window is None else window.total_seconds(),
        "overlap": str(schedule.overlap),
        "depends": bool(job.dependencies),
        **work_of(definition),
        **_timing(job),
    }


def work_of(definition: Definition) -> dict[str, Any]:
    """What is run, and how often: all but the schedule."""
    retry, timeout = definition.retry, definition.timeout
    return {
        "max_concurrent": definition.max_concurrent,
        "queue": definition.queue,
        "kind": definition.kind,
        "priority": definition.priority,
        "timeout": None if timeout is None else timeout.total_seconds(),
        "delivery": str(definition.delivery),
        "max_attempts": retry.max_attempts,
        "backoff": str(retry.backoff),
        "backoff_base": retry.backoff_base.total_seconds(),
        "backoff_multiplier": retry.multiplier,
        "backoff_max": retry.backoff_max.total_seconds(),
        "backoff_jitter": retry.jitter,
        "retry_on": None if retry.retry_on is None else tuple(sorted(retry.retry_on)),
        "crash_limit": retry.crash_limit,
    }


def _timing(job: Job) -> dict[str, Any]:
    match job.definition.schedule.timing:
        case CronTiming(expression, timezone, gap, fold):
            return {"cron": expression, "tz": timezone, "gap": str(gap), "fold": str(fold)}
        case Interval(every, anchor):
            return {"every": every.total_seconds(), "anchor": job.anchor or anchor}
        case Once(at) | Delayed(at=at):
            return {"at": at}
        case Manual():
            return {}


def fire_event(
    firing: Firing, one: Occurrence, *, rev: int, now: datetime
) -> tuple[type[events.Fire | events.Skip], dict[str, Any]]:
    """What became of a due time: a run, or a reason why there is none."""
    fields = {
        "job": str(firing.job_id),
        "rev": rev,
        "due": one.nominal_time,
        "late": (now - one.nominal_time).total_seconds(),
    }
    if one.execution_id is not None:
        return events.Fire, fields | {"run": str(one.execution_id), "run_at": one.due}
    return events.Skip, fields | {
        "until": one.nominal_until,
        "count": one.count,
        "why": str(one.reason),
        "anchor": firing.anchor,
    }
