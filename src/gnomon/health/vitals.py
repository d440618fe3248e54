"""What a probe looks at. Remembered for a moment, so that probing costs the store nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic

from gnomon.errors import StoreUnavailable
from gnomon.store.protocols.jobs import ScheduleStore

REMEMBERED_SECONDS = 1.0
PATIENCE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class VitalFacts:
    now: datetime
    next_due: datetime | None
    schema: str | None  # Why the schema is not ours, if it is not.
    clock_offset: timedelta  # How far this machine's clock is ahead of the database's.


@dataclass(slots=True)
class Vitals:
    """`schema` says why this release must not run on the schema as it is now, or nothing."""

    now: Callable[[], datetime]
    read_clock: Callable[[], Awaitable[datetime]]
    schedules: ScheduleStore
    schema: Callable[[], Awaitable[str | None]]
    # Of the services in this process: how long ago each got through a step. None: it has no such service.
    age: Callable[[str], timedelta | None] = lambda _: None
    _facts: VitalFacts | None = None
    _looked_at: float = 0.0
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def look(self) -> VitalFacts:
        """Raises StoreUnavailable."""
        async with self._turn:
            if self._facts is None or monotonic() - self._looked_at > REMEMBERED_SECONDS:
                try:
                    async with asyncio.timeout(PATIENCE_SECONDS):
                        self._facts = await self._ask()
                except TimeoutError as error:
                    raise StoreUnavailable(f"no answer within {PATIENCE_SECONDS:g} s") from error
                self._looked_at = monotonic()
            return self._facts

    async def _ask(self) -> VitalFacts:
        told = await self.read_clock()
        offset = datetime.now(UTC) - told
        return VitalFacts(self.now(), await self.schedules.next_due(), await self.schema(), offset)
