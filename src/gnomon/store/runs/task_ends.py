"""Ends of tasks are written at once where that can be, else the long way, and in any case."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from gnomon.errors import StoreUnavailable
from gnomon.store.databases.database import UniqueViolation
from gnomon.store.protocols.changes import Decision
from gnomon.store.queue.claims_with_ends import ClaimWithEnds
from gnomon.store.runs.aftermath import Aftermath
from gnomon.store.runs.ends import WentOn, end_tasks
from gnomon.store.runs.progress import Progress
from gnomon.store.runs.shortcut import Shortcut

logger = logging.getLogger(__name__)


class OpenProgress(Protocol):
    def __call__(
        self, run_ids: Collection[UUID], *, now: datetime
    ) -> AbstractAsyncContextManager[Progress]: ...


class Follow(Protocol):
    def __call__(self, aftermath: Aftermath, *, now: datetime) -> Awaitable[bool]:
        """Whether something may have begun by that."""


@dataclass(frozen=True, slots=True)
class TaskEnds:
    shortcut: Callable[[datetime], Shortcut]
    progress: OpenProgress
    follow: Follow

    async def apply(
        self, decisions: Sequence[Decision], *, now: datetime, claim: ClaimWithEnds | None = None
    ) -> WentOn:
        """What `apply` of executions does, for tasks of runs: what follows them goes on with it."""
        shortcut = self.shortcut(now)
        try:
            at_once = await shortcut.end(decisions, claim)
        except StoreUnavailable:
            raise
        except Exception as error:  # Whatever it is, the long way knows what to do about it.
            if not isinstance(error, UniqueViolation):
                logger.exception("ends of tasks cannot be written at once")
            at_once = None
        if at_once is None:
            return await self._take_long(decisions, claim, now=now)
        at_once = await self._with_aftermath(at_once, shortcut.aftermath, now=now)
        if not shortcut.rest:
            return at_once
        others = await self._take_long(shortcut.rest, None, now=now)
        return WentOn(others.refused, at_once.claimed, at_once.has_more or others.has_more)

    async def _take_long(
        self, decisions: Sequence[Decision], claim: ClaimWithEnds | None, *, now: datetime
    ) -> WentOn:
        """An end that nothing can follow, because of a mistake of ours, ends its run and no other."""
        try:
            went_on, progress = await self._end(decisions, claim, now=now)
        except StoreUnavailable:
            raise
        except Exception as error:
            if claim is not None:
                # Who waited too long for an answer has asked by this request without ends, and was first.
                if not isinstance(error, UniqueViolation):
                    logger.exception("nothing can be claimed with ends of tasks; they are written without")
                return await self._take_long(decisions, None, now=now)
            if len(decisions) > 1:
                logger.exception("ends of tasks cannot be written together; each is written by itself")
                each = [await self._take_long([one], None, now=now) for one in decisions]
                return WentOn([row for one in each for row in one.refused], has_more=True)
            logger.exception("what follows the end of a task cannot be written; its run is given up")
            went_on, progress = await self._end(decisions, None, now=now, gives_up=True)
        return await self._with_aftermath(went_on, progress.aftermath, now=now)

    async def _with_aftermath(self, went_on: WentOn, aftermath: Aftermath, *, now: datetime) -> WentOn:
        has_begun = await self.follow(aftermath, now=now)
        return went_on._replace(has_more=went_on.has_more or has_begun)

    async def _end(
        self,
        decisions: Sequence[Decision],
        claim: ClaimWithEnds | None,
        *,
        now: datetime,
        gives_up: bool = False,
    ) -> tuple[WentOn, Progress]:
        async with self.progress([], now=now) as progress:
            progress.gives_up, progress.looks_ahead = gives_up, True
            went_on = await end_tasks(progress, decisions, claim)
        return went_on, progress
