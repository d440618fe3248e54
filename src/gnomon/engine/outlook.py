"""When something will be due, as far as a service has seen or was told: so that it sleeps until then."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from typing import Protocol

FIRST_INSTANT = datetime(1, 1, 1, tzinfo=UTC)
# A pause is no shorter than this because of a due time: many that lie close together are one step.
PAUSE_MIN = timedelta(milliseconds=10)
# A timer may end a little early. A step before the due time would find nothing.
AFTER_DUE = timedelta(milliseconds=1)


class NextDue(Protocol):
    def __call__(self, *, after: datetime) -> Awaitable[datetime | None]: ...


def until_due(due: datetime | None, now: datetime, *, at_most: timedelta) -> timedelta:
    return at_most if due is None else min(at_most, max(PAUSE_MIN, due - now + AFTER_DUE))


class Outlook:
    """`next_due` finds the first due time after an instant; what it found holds for `fresh`.

    A due time that has passed never shortens a pause: what could not be taken waits for a poll or a hint.
    """

    def __init__(self, next_due: NextDue, *, fresh: timedelta = timedelta.max) -> None:
        self._next_due = next_due
        self._fresh = fresh
        self._due: datetime | None = None
        self._seen_at: datetime | None = None  # None: unknown, or told that there may be something earlier.
        self._looked_back_at: datetime | None = None

    def forget(self) -> None:
        """Something was put off until a time that may come before all that is known."""
        self._seen_at = None

    async def is_due(self, now: datetime) -> bool:
        """Whether there may be something to take. Asks, if what is known is not fresh."""
        if not self._holds(now):
            await self._look(FIRST_INSTANT, now)
        return self._due is not None and self._due <= now

    async def leaves(self, now: datetime) -> bool:
        """Whether something is due that was not taken, which a look for a pause does not see.

        Asks once in `fresh`, also if hints and ends of work leave no time for a pause. Meanwhile, False.
        """
        if self._looked_back_at is not None and timedelta(0) <= now - self._looked_back_at < self._fresh:
            return False
        self._looked_back_at = now
        due = await self._next_due(after=FIRST_INSTANT)
        return due is not None and due <= now

    async def pause(
        self, now: datetime, *, at_most: timedelta, taken_at: datetime | None = None
    ) -> timedelta:
        """How long to sleep after all that was due at `taken_at` was taken. What came due later is new."""
        after = now if taken_at is None else min(taken_at, now)
        if not self._holds(now) or (self._due is not None and self._due <= after):
            await self._look(after, now)
        return until_due(self._due, now, at_most=at_most)

    def _holds(self, now: datetime) -> bool:
        # Also when the clock was set back.
        return self._seen_at is not None and timedelta(0) <= now - self._seen_at < self._fresh

    async def _look(self, after: datetime, now: datetime) -> None:
        self._seen_at = now  # Before the question: what we are told meanwhile may be newer than the answer.
        try:
            self._due = await self._next_due(after=after)
        except BaseException:
            self._seen_at = None
            raise
