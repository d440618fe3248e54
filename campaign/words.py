"""Jobs in the words of a history."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from gnomon.core.job import Job
from gnomon.core.nominal import seed_of
from gnomon.core.schedule import CronTiming, Delayed, Interval, Manual, Once


def sched_set(job: Job, *, since: datetime) -> dict[str, Any]:
    definition = job.definition
    schedule, retry = definition.schedule, definition.retry
    window, timeout = schedule.catchup_window, definition.timeout
    return {
        "job": str(job.id),
        "rev": job.revision,
        "since": since,
        "state": str(job.status),
        "seed": seed_of(job.tenant_id, job.name),
        "start_at": schedule.start_at,
        "end_at": schedule.end_at,
        "max_runs": schedule.max_runs,
        "jitter": schedule.jitter.total_seconds(),
        "misfire": str(schedule.misfire),
        "grace": schedule.misfire_grace.total_seconds(),
        "catchup_limit": schedule.catchup_limit,
        "catchup_window": None if window is None else window.total_seconds(),
        "overlap": str(schedule.overlap),
        "max_concurrent": definition.max_concurrent,
        "depends": bool(job.dependencies),
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
        **_timing(job),
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
