"""From what was looked at to an answer: ready, or why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

import msgspec

from gnomon.errors import SchedulerUnavailable, SchemaMismatch
from gnomon.health.vitals import VitalFacts

# A scheduler fires within seconds of a due time; if one is older than this, none is at work.
LAG_MAX = timedelta(seconds=30)
# They step every second or so, and wait for the store for a second at most.
STEP_AGE_MAX = timedelta(seconds=30)
# By the name of the check: the service, and what its step is.
STEPS = {"scheduler_step": ("Scheduler", "step of the scheduler"), "claim": ("Worker", "claim")}
# Our own clock is not used for anything, but who reads our logs beside those of others wants to know.
CLOCK_OFFSET_NOTED = timedelta(seconds=5)

# Of the services in this process: how long ago each got through a step. None: it has no such service.
Age = Callable[[str], timedelta | None]


class Alive(msgspec.Struct, kw_only=True):
    status: str = "ok"


class Check(msgspec.Struct, kw_only=True):
    ok: bool
    note: str


class Ready(msgspec.Struct, kw_only=True):
    status: str
    checks: dict[str, Check]
    warnings: list[str]


class Version(msgspec.Struct, kw_only=True):
    name: str = "gnomon"
    version: str
    api: str = "v1"


def readiness(facts: VitalFacts, age: Age) -> Ready:
    """Of a process on a store that has answered. Raises SchedulerUnavailable."""
    lag = _lag(facts.next_due, facts.now)
    checks = {
        "store": Check(ok=True, note="answers"),
        "schema": Check(ok=facts.schema is None, note=facts.schema or "is that of this release"),
        "scheduler": Check(ok=lag <= LAG_MAX, note=f"the oldest due time is {lag.total_seconds():.0f} s old"),
    }
    return ready(checks | steps(age), _warnings(facts.clock_offset))


def ready(checks: dict[str, Check], warnings: list[str]) -> Ready:
    """Raises SchedulerUnavailable if one of them failed."""
    failed: Mapping[str, str] = {name: check.note for name, check in checks.items() if not check.ok}
    if failed:
        # What does not step because of the schema is a consequence, so the schema gives the code.
        problem = SchemaMismatch if "schema" in failed else SchedulerUnavailable
        raise problem({name: f"{name}: {note.removesuffix('.')}." for name, note in failed.items()})
    return Ready(status="ok", checks=checks, warnings=warnings)


def steps(age: Age) -> dict[str, Check]:
    """Of a scheduler and a worker in this process. A worker that is full does not claim, and is well."""
    ages = {name: (what, age(service)) for name, (service, what) in STEPS.items()}
    return {
        name: Check(ok=old <= STEP_AGE_MAX, note=f"the last {what} was {old.total_seconds():.0f} s ago")
        for name, (what, old) in ages.items()
        if old is not None
    }


def _lag(next_due: datetime | None, now: datetime) -> timedelta:
    return timedelta(0) if next_due is None else max(now - next_due, timedelta(0))


def _warnings(offset: timedelta) -> list[str]:
    if abs(offset) < CLOCK_OFFSET_NOTED:
        return []
    return [f"clock_skew={offset.total_seconds():.0f}s: this machine's clock is not that of the database"]
