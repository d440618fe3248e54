"""Is this node alive, can it serve, and what is it: for probes, without a key."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from litestar import get

from gnomon.api.call import Call
from gnomon.api.policy import PUBLIC
from gnomon.api.reading import Answer
from gnomon.api.vitals import Vitals
from gnomon.errors import SchedulerUnavailable, SchemaMismatch

# A scheduler fires within seconds of a due time; if one is older than this, none is at work.
LAG_MAX = timedelta(seconds=30)
# They step every second or so, and wait for the store for a second at most.
STEP_AGE_MAX = timedelta(seconds=30)
# By the name of the check: the service, and what its step is.
STEPS = {"scheduler_step": ("Scheduler", "step of the scheduler"), "claim": ("Worker", "claim")}
# Our own clock is not used for anything, but who reads our logs beside those of others wants to know.
CLOCK_OFFSET_NOTED = timedelta(seconds=5)


class Alive(Answer):
    status: str


class Check(Answer):
    ok: bool
    note: str


class Ready(Answer):
    status: str
    checks: dict[str, Check]
    warnings: list[str]


class Version(Answer):
    name: str
    version: str
    api: str


@get("/livez", policy=PUBLIC)
async def livez() -> Alive:
    """This process answers. Nothing else is looked at."""
    return Alive(status="ok")


@get("/readyz", policy=PUBLIC)
async def readyz(request: Call) -> Ready:
    """The store answers, its schema is ours, what is due gets fired, and what runs here gets on."""
    facts = await request.vitals.look()
    lag = _lag(facts.next_due, facts.now)
    checks = {
        "store": Check(ok=True, note="answers"),
        "schema": Check(ok=facts.schema is None, note=facts.schema or "is that of this release"),
        "scheduler": Check(ok=lag <= LAG_MAX, note=f"the oldest due time is {lag.total_seconds():.0f} s old"),
    }
    checks |= _steps(request.vitals)
    failed = {name: check.note for name, check in checks.items() if not check.ok}
    if failed:
        # What does not step because of the schema is a consequence, so the schema gives the code.
        problem = SchemaMismatch if "schema" in failed else SchedulerUnavailable
        raise problem({name: f"{name}: {note.removesuffix('.')}." for name, note in failed.items()})
    return Ready(status="ok", checks=checks, warnings=_warnings(facts.clock_offset))


@get("/version", policy=PUBLIC)
async def version(request: Call) -> Version:
    return Version(name="gnomon", version=request.release, api="v1")


def _steps(vitals: Vitals) -> dict[str, Check]:
    """Of a scheduler and a worker in this process. A worker that is full does not claim, and is well."""
    ages = {name: (what, vitals.age(service)) for name, (service, what) in STEPS.items()}
    return {
        name: Check(ok=age <= STEP_AGE_MAX, note=f"the last {what} was {age.total_seconds():.0f} s ago")
        for name, (what, age) in ages.items()
        if age is not None
    }


def _lag(next_due: datetime | None, now: datetime) -> timedelta:
    return timedelta(0) if next_due is None else max(now - next_due, timedelta(0))


def _warnings(offset: timedelta) -> list[str]:
    if abs(offset) < CLOCK_OFFSET_NOTED:
        return []
    return [f"clock_skew={offset.total_seconds():.0f}s: this machine's clock is not that of the database"]


ROUTES: list[Any] = [livez, readyz, version]
