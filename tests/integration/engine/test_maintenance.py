"""Housekeeping, a chore at a time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.retention import RetentionPolicy
from gnomon.core.jobs.job import Definition
from gnomon.core.values.document import JSON
from gnomon.engine.schedulers.maintenance import BETWEEN_BATCHES, BETWEEN_CHORES, Maintenance
from gnomon.errors import ExecutionNotFound
from gnomon.handlers.base import Context
from tests.integration.engine.rig import Rig


async def done(context: Context) -> JSON:
    return None


async def test_a_round_of_chores_forgets_what_retention_lets_go_and_nothing_else(rig: Rig) -> None:
    job = await rig.job(Definition(kind="test"))
    old = await rig.enqueue(job)
    await rig.worker(done).work()
    rig.clock.advance(timedelta(days=31))
    recent = await rig.enqueue(job)
    await rig.worker(done).work()
    house = Maintenance(upkeep=rig.store.upkeep, clock=rig.clock, policy=RetentionPolicy())

    for _ in range(40):
        assert await house.step() in (BETWEEN_BATCHES, BETWEEN_CHORES)

    with pytest.raises(ExecutionNotFound):
        await rig.get(old)
    assert (await rig.get(recent)).id == recent
    assert (await rig.store.jobs.get(DEFAULT_TENANT, job.id)).id == job.id
