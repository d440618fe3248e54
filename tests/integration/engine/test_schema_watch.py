"""A schema that is changed under a running process is noticed, told, and nothing more is claimed or fired."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

import pytest

from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.jobs.job import Definition
from gnomon.core.values.document import JSON
from gnomon.engine.node import Node
from gnomon.engine.schema_watch import AGAIN, EVERY, SchemaWatch
from gnomon.engine.service import Wakeup
from gnomon.handlers.base import Context
from gnomon.store.schema.migrations import Migration, MigrationKind, refusal
from tests.integration.engine.rig import Rig

LATER = Migration(9999, "later", MigrationKind.CONTRACT, "SELECT 1;")


async def done(context: Context) -> JSON:
    return None


def watch_over(rig: Rig) -> SchemaWatch:
    database = rig.store.database

    async def look() -> str | None:
        return refusal("sqlite", await database.applied_migrations())  # type: ignore[attr-defined]

    return SchemaWatch(look)


class Counting:
    """A service that counts its steps, and fails in the first one."""

    def __init__(self) -> None:
        self.wakeup = Wakeup()
        self.steps = 0

    async def step(self) -> timedelta:
        self.steps += 1
        if self.steps == 1:
            raise RuntimeError("no such column")
        return timedelta(0)


async def test_a_contract_migration_is_told_and_stops_claims(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    ada = rig.worker(done)
    watch = watch_over(rig)
    Node([ada.worker, watch], worker=ada.worker).watch(watch, halting=[])
    assert await watch.step() == EVERY
    await rig.store.database.apply_migration(LATER, now=rig.clock.now())  # type: ignore[attr-defined]
    run = await rig.enqueue(await rig.job(Definition(kind="test")))

    assert await watch.step() == AGAIN
    assert "The schema does not fit this process" in caplog.text
    assert "migration 9999 (later)" in caplog.text
    await ada.work()
    assert not await ada.worker.may_ask()
    assert (await rig.get(run)).status is ExecutionStatus.QUEUED


async def test_what_fits_again_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    reasons: list[str | None] = [None, "too new", None]

    async def look() -> str | None:
        return reasons.pop(0)

    watch = SchemaWatch(look)
    with caplog.at_level(logging.WARNING):
        found = [(await watch.step(), watch.is_unfit) for _ in range(3)]

    assert found == [(EVERY, False), (AGAIN, True), (EVERY, False)]
    assert caplog.messages[-1] == "the schema fits this process again"


async def test_a_service_that_fails_makes_the_watch_look_and_is_halted() -> None:
    looked = asyncio.Event()

    async def look() -> str | None:
        if service.steps:
            looked.set()
            return "too new"
        return None

    service, watch = Counting(), SchemaWatch(look)
    node = Node([watch, service])
    node.watch(watch, halting=[service])
    running = asyncio.create_task(node.run())
    await asyncio.wait_for(looked.wait(), 30)
    for _ in range(100):
        service.wakeup.set()
        await asyncio.sleep(0)
    assert watch.is_unfit
    assert service.steps == 1

    node.drain()
    await running
