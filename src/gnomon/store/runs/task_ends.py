"""Ends of tasks: what follows them is written with them, in one of two ways."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Protocol
from uuid import UUID

from gnomon.core.executions.decisions import Decision
from gnomon.core.runs.write_set import WorkerClaim
from gnomon.errors import StoreUnavailable
from gnomon.store.databases.database import Database, Rows, UniqueViolation
from gnomon.store.databases.rows import FIRST_ID
from gnomon.store.queue.claimer import is_of_request
from gnomon.store.runs.aftermath import Aftermath
from gnomon.store.runs.ends import end_tasks
from gnomon.store.runs.memory import RunMemory
from gnomon.store.runs.progress import Progress
from gnomon.store.runs.recall import Recalled, recall
from gnomon.store.workflows.plans import Plans
from gnomon.store.writes.writer import Writer
from gnomon.store.writes.written import Written

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
    database: Database
    plans: Plans
    memory: RunMemory
    writer: Writer
    progress: OpenProgress
    follow: Follow

    async def apply(
        self, decisions: Sequence[Decision], *, now: datetime, claim: WorkerClaim | None = None
    ) -> Written:
        """What `apply` of executions does, for tasks of runs: what follows them goes on with it.

        At most two ways. The runs as they are remembered decide, and one statement writes that unless one of
        them has moved. The rest is decided and written under the locks of its runs. If that cannot be written
        together, each run is written by itself, so that a mistake of ours about one run stops no other.
        """
        written, rest = Written(may_be_more=False), decisions
        try:
            recalled = recall(self.memory, self.plans, rest, claim, now=now)
            if recalled is not None and (at_once := await self._write(recalled, now=now)) is not None:
                written, rest, claim = at_once, recalled.rest, None
            if rest:
                written = written.and_then(await self._write_under_locks(rest, claim, now=now))
        except StoreUnavailable:
            raise
        except Exception as error:
            if claim is not None and isinstance(error, UniqueViolation) and is_of_request(error):
                # The worker waited too long for an answer, asked by this request without ends, and was first.
                return await self.apply(rest, now=now)
            logger.exception("ends of tasks cannot be written together; each run is written by itself")
            for ours in await self._by_run(rest):
                written = written.and_then(await self._write_alone(ours, now=now))
        return written

    async def _write(self, recalled: Recalled, *, now: datetime) -> Written | None:
        """None: a run has moved, or a lease, and nothing has happened."""
        write_set = recalled.write_set
        written = await self.writer.write(write_set)
        if written.is_refused:
            for step in write_set.steps:
                self.memory.share(step.run.id)
            return None
        for step in write_set.steps:
            self.memory.learn(step.run_after(write_set.now), step.changes.tasks, since=step.run.version)
        self.memory.forget_ended(write_set.decisions)
        self.memory.learn_begun(written.begun)
        aftermath = Aftermath()
        for step in write_set.ended_runs:
            aftermath.note_end(step.run)
        return await self._with_aftermath(written, aftermath, now=now)

    async def _write_under_locks(
        self,
        decisions: Sequence[Decision],
        claim: WorkerClaim | None,
        *,
        now: datetime,
        gives_up: bool = False,
    ) -> Written:
        """`gives_up`: the runs come to their end, and the ends are accepted."""
        async with self.progress([], now=now) as progress:
            progress.gives_up, progress.looks_ahead = gives_up, True
            written = await end_tasks(progress, decisions, claim)
        return await self._with_aftermath(written, progress.aftermath, now=now)

    async def _by_run(self, decisions: Sequence[Decision]) -> list[list[Decision]]:
        held = Rows("held", ("execution_id", "claim"), sorted(one.claim for one in decisions))
        rows = await self.database.read("claims_in_runs", held)
        runs: dict[UUID, UUID] = {row["execution_id"]: row["dag_run_id"] for row in rows}

        def run_of(one: Decision) -> UUID:
            return runs.get(one.claim.execution_id, FIRST_ID)  # What is in no run will be refused.

        return [list(ours) for _, ours in groupby(sorted(decisions, key=run_of), key=run_of)]

    async def _write_alone(self, decisions: Sequence[Decision], *, now: datetime) -> Written:
        """Ends of one run. If nothing can follow them, because of a mistake of ours, the run is given up."""
        try:
            return await self._write_under_locks(decisions, None, now=now)
        except StoreUnavailable:
            raise
        except Exception:
            logger.exception("what follows the end of a task cannot be written; its run is given up")
            return await self._write_under_locks(decisions, None, now=now, gives_up=True)

    async def _with_aftermath(self, written: Written, aftermath: Aftermath, *, now: datetime) -> Written:
        has_begun = await self.follow(aftermath, now=now)
        return written._replace(may_be_more=True) if has_begun else written
