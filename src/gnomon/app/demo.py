"""A handful of jobs that show what Gnomon does: made by `gnomon up --demo`, and by nobody else."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from gnomon.app.processes.engine import Engine
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.jobs.job import Definition, JobId, NewJob
from gnomon.core.jobs.retry import Backoff, RetryPolicy
from gnomon.core.time.nominal import first_run, seed_of
from gnomon.core.time.schedule import CronTiming, Interval, Overlap, Schedule, resolved
from gnomon.core.values.document import Document
from gnomon.errors import JobAlreadyExists
from gnomon.store.databases.hints import Topic

TAG = "demo"


def _dummy(**payload: object) -> Document:
    return Document.of(payload, field="payload")


def _quickly(attempts: int) -> RetryPolicy:
    """Waits that fit into the patience of somebody who watches."""
    return RetryPolicy(
        max_attempts=attempts, backoff=Backoff.FIXED, backoff_base=timedelta(seconds=2), jitter=0.0
    )


def demo_jobs() -> dict[str, Definition]:
    return {
        "heartbeat": Definition(
            kind="dummy",
            payload=_dummy(output={"alive": True}),
            schedule=Schedule(CronTiming("*/3 * * * * *")),
        ),
        "sync-orders": Definition(
            kind="dummy",
            payload=_dummy(sleep_seconds=1.5, log_lines=3, output={"orders": 17}),
            schedule=Schedule(Interval(timedelta(seconds=5)), overlap=Overlap.SKIP),
            timeout=timedelta(seconds=30),
        ),
        "flaky-webhook": Definition(
            kind="dummy",
            payload=_dummy(
                sleep_seconds=0.3, fail_times=2, fail_kind="connection_reset", output="third time"
            ),
            schedule=Schedule(CronTiming("*/10 * * * * *")),
            retry=_quickly(attempts=3),
        ),
        "hopeless-import": Definition(
            kind="dummy",
            payload=_dummy(sleep_seconds=0.3, fail_times=99, fail_kind="bad_file"),
            schedule=Schedule(Interval(timedelta(seconds=20))),
            retry=_quickly(attempts=2),
        ),
        "rebuild-index": Definition(
            kind="dummy",
            payload=_dummy(sleep_seconds=8, steps=16, log_lines=2, output={"pages": 1600}),
            schedule=Schedule(Interval(timedelta(seconds=12)), overlap=Overlap.SKIP),
        ),
    }


async def add_demo_jobs(engine: Engine) -> None:
    """Those that are not there yet: a second start finds the ones of the first."""
    for name, definition in demo_jobs().items():
        now = engine.clock.now()
        schedule = resolved(definition.schedule, now=now)
        job = NewJob(
            JobId(engine.ids.next(now)),
            DEFAULT_TENANT,
            name,
            replace(definition, schedule=schedule),
            first_run(schedule, now=now, seed=seed_of(DEFAULT_TENANT, name)),
            tags=frozenset({TAG}),
        )
        with suppress(JobAlreadyExists):
            await engine.store.jobs.create([job], now=now)
    engine.hints.announce(Topic.SCHEDULE)
