"""The loop around steps tells how its services get on."""

from __future__ import annotations

from datetime import timedelta

from gnomon.engine.service import Signs, Stopping, Wakeup, drive
from gnomon.errors import StoreUnavailable


class Stumbling:
    """Fails twice, gets through a step, and ends."""

    def __init__(self, stopping: Stopping) -> None:
        self.wakeup = Wakeup()
        self._stopping = stopping
        self._troubles: list[Exception] = [StoreUnavailable("not now"), RuntimeError("a bug")]

    async def step(self) -> timedelta:
        self.wakeup.set()
        if self._troubles:
            raise self._troubles.pop()
        self._stopping.set([self])
        return timedelta(0)


async def test_steps_and_failures_are_noted() -> None:
    signs, stopping = Signs(), Stopping()
    assert signs.age("Stumbling") is None

    await drive(Stumbling(stopping), stopping, signs)

    assert signs.failed == {"Stumbling": 2}
    age = signs.age("Stumbling")
    assert age is not None
    assert timedelta(0) <= age < timedelta(minutes=1)
