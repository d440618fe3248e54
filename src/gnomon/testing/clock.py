"""A clock that moves only when it is told to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class ManualClock:
    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        assert start.tzinfo is not None
        self._now = start
        self.is_settled = True

    def now(self) -> datetime:
        return self._now

    async def sure(self) -> None:
        """It is."""

    def advance(self, by: timedelta) -> datetime:
        assert by >= timedelta(0)
        self._now += by
        return self._now
