"""From the words of a scenario to a job as somebody would make it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

from gnomon.client import Draft
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.jobs.job import Definition, Delivery, JobId
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.time.calendars import Calendar
from gnomon.core.time.dst import Fold, Gap
from gnomon.core.time.schedule import (
    CronTiming,
    Delayed,
    Interval,
    Manual,
    Misfire,
    Once,
    Overlap,
    Schedule,
    Timing,
)
from gnomon.core.values.document import Document
from proof.simulator.scenarios.behaviour import KIND
from proof.simulator.scenarios.scenario import JobSpec


def draft_of(spec: JobSpec, start: datetime, known: Mapping[str, JobId]) -> Draft:
    """`known` are the jobs it may depend on. What counts from the beginning counts from `start`."""
    window = spec.catchup_window
    schedule = Schedule(
        _timing(spec, start),
        max_runs=spec.max_runs,
        jitter=timedelta(seconds=spec.jitter),
        calendar=spec.name if spec.closed else None,
        misfire=Misfire(spec.misfire),
        misfire_grace=timedelta(seconds=spec.grace),
        catchup_limit=spec.catchup_limit,
        catchup_window=None if window is None else timedelta(seconds=window),
        overlap=Overlap(spec.overlap),
    )
    definition = Definition(
        KIND,
        Document(msgspec.json.encode(spec.behaviour).decode()),
        schedule,
        RetryPolicy(
            spec.max_attempts,
            backoff_base=timedelta(seconds=spec.backoff_base),
            crash_limit=spec.crash_limit,
        ),
        queue=spec.queue,
        priority=spec.priority,
        timeout=None if spec.timeout is None else timedelta(seconds=spec.timeout),
        max_concurrent=spec.max_concurrent,
        delivery=Delivery(spec.delivery),
    )
    dependencies = frozenset(known[name] for name in spec.after if name in known)
    return Draft(spec.name, definition, dependencies=dependencies)


def calendar_of(spec: JobSpec, start: datetime) -> Calendar | None:
    if not spec.closed:
        return None
    days = frozenset((start + timedelta(days=day)).date() for day in spec.closed)
    return Calendar(DEFAULT_TENANT, spec.name, days)


def _timing(spec: JobSpec, start: datetime) -> Timing:
    if spec.cron is not None:
        return CronTiming(spec.cron, spec.timezone, Gap(spec.gap), Fold(spec.fold))
    if spec.every is not None:
        return Interval(timedelta(seconds=spec.every))
    if spec.at is not None:
        return Once(start + timedelta(seconds=spec.at))
    if spec.delay is not None:
        return Delayed(timedelta(seconds=spec.delay))
    return Manual()
