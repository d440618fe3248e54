"""A job that fires, as the scheduler does it; and a time zone that is gone."""

from __future__ import annotations

from datetime import datetime

import pytest

from gnomon.core.executions.execution import ExecutionId
from gnomon.core.schedules.firing import plan
from gnomon.core.time import dst, zones
from gnomon.store.databases import rows
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    new_id,
)


async def fire(store: Store, *, now: datetime) -> list[ExecutionId]:
    """What a scheduler does. Returns the executions that came of it, oldest first."""
    due = (await store.schedules.due(now=now, limit=10)).jobs
    live = await store.schedules.live([job.id for job in due])
    firings = [
        plan(
            job,
            now=now,
            live=live[job.id],
            excluded_dates=frozenset(),
            new_id=lambda: ExecutionId(new_id(now)),
        )
        for job in due
    ]
    await store.schedules.fire(firings, now=now)
    return [one.execution_id for firing in firings for one in firing.occurrences if one.execution_id]


def vanish(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after an update of tzdata, in a new process: the zone is no more."""
    left = zones.names() - {zone}
    monkeypatch.setattr(zones, "names", lambda: left)
    zones.zone.cache_clear()
    dst._shared.cache_clear()
    rows.schedule_of.cache_clear()
