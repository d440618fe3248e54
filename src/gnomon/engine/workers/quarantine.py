"""How one worker keeps suspects apart from all else: see core/executions/suspects.py."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from gnomon.core.executions.lease import Claim, Leased
from gnomon.core.executions.lifecycle import Outcome, Snoozed
from gnomon.core.executions.suspects import RESERVED_AGAIN_AFTER

logger = logging.getLogger(__name__)

# So often a worker that is busy asks whether a suspect waits for an empty one.
LOOK_EVERY = timedelta(seconds=5)


class HoldBack(Protocol):
    """Whether this worker shall claim nothing until it is empty. See ExecutionStore."""

    def __call__(self, *, now: datetime) -> Awaitable[bool]: ...


class Quarantine:
    """What may begin on a worker that holds `held`, now that some executions must run alone.

    Without `hold_back` the store counts what the worker holds, and decides by itself.
    """

    def __init__(self, held: Callable[[], Sequence[Claim]], hold_back: HoldBack | None) -> None:
        self.is_waiting = False  # For what runs to end, so that a suspect can run alone.
        self._held = held
        self._hold_back = hold_back
        self._suspect: Claim | None = None
        self._looked_at: datetime | None = None
        self._has_turned_away = False
        self._rests_until: datetime | None = None

    @property
    def is_active(self) -> bool:
        """An end that is written may change what is allowed."""
        return self.is_waiting or self._suspect is not None

    @property
    def is_open(self) -> bool:
        """Whether anything may begin beside what the worker holds."""
        if not self.is_active:
            return True
        held = self._held()
        if self._suspect not in held:
            self._suspect = None
        return self._suspect is None and not (self.is_waiting and held)

    async def look(self, now: datetime) -> None:
        """Whether to wait from now on, or no longer. A worker that holds nothing need not."""
        if self._hold_back is None or self._suspect is not None or self._rests(now):
            return
        is_fresh = self._looked_at is not None and timedelta(0) <= now - self._looked_at < LOOK_EVERY
        if (is_fresh and not self.is_waiting) or not (held := self._held()):
            return
        self._looked_at = now
        waits = await self._hold_back(now=now)
        if waits and not self.is_waiting:
            told = {"running": len(held)}
            logger.info("claims nothing until it is empty: a suspect waits to run alone", extra=told)
        self.is_waiting = waits

    def took(self, leased: Sequence[Leased]) -> None:
        """These begin, or there was no suspect to be had: in any case there is nothing to wait for."""
        self.is_waiting = False
        for one in leased:
            if one.crashes:
                self._suspect = one.claim
                told = {"execution": str(one.claim.execution_id), "crashes": one.crashes}
                logger.warning("a suspect runs alone, since its worker died", extra=told)

    def ended(self, leased: Leased, outcome: Outcome) -> None:
        """A suspect that was turned away stays one. This worker holds up no other work for it again."""
        if leased.crashes and isinstance(outcome, Snoozed) and not outcome.has_started:
            self._has_turned_away = True

    def _rests(self, now: datetime) -> bool:
        if self._has_turned_away:
            self._has_turned_away, self._rests_until = False, now + RESERVED_AGAIN_AFTER
        return self._rests_until is not None and now < self._rests_until
