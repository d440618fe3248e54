"""Hints that end a wait early."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from gnomon.client.executions.ends import Rooms
from gnomon.core.executions.execution import WorkerId
from gnomon.engine.service import Wakeup

ADA, BOB = WorkerId("ada"), WorkerId("bob")


async def test_room_for_one_worker_wakes_its_claims_and_no_others() -> None:
    rooms, ours, theirs = Rooms(), Wakeup(), Wakeup()
    with rooms.waking(ours, ADA), rooms.waking(theirs, BOB):
        waiting = asyncio.create_task(ours.wait(timedelta(hours=1)))
        await asyncio.sleep(0)
        rooms.tell(ADA)

        await waiting
        assert ours.was_early
        await theirs.wait(timedelta(milliseconds=1))
        assert not theirs.was_early
    rooms.tell(ADA)
    await ours.wait(timedelta(milliseconds=1))
    assert not ours.was_early
