"""Looks at jobs that are asked for at the same moment are one read: many who watch cost little more than one.

Nobody gets what was read before they asked: a look that has begun takes no more passengers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gnomon.core.execution import RecentRun
from gnomon.core.job import Job, JobId, TenantId
from gnomon.errors import JobNotFound
from gnomon.store.base import Store

RECENT_MAX = 10


@dataclass(frozen=True, slots=True)
class Look:
    """A job and its newest executions, newest first.

    All who share a look may share what is made of it: `made` is for them to fill.
    """

    job: Job
    recent: Sequence[RecentRun]
    made: dict[str, bytes] = field(default_factory=dict, compare=False)


class Looking:
    def __init__(self, store: Store, tenant_id: TenantId) -> None:
        self._store = store
        self._tenant_id = tenant_id
        self._waiting: dict[JobId, asyncio.Future[Look]] = {}
        self._reading: set[asyncio.Task[None]] = set()

    async def at(self, job_id: JobId) -> Look:
        """Raises JobNotFound."""
        waiting = self._waiting.get(job_id)
        if waiting is None:
            loop = asyncio.get_running_loop()
            waiting = loop.create_future()
            # Somebody who has gone away does not mind what became of it.
            waiting.add_done_callback(lambda done: done.cancelled() or done.exception())
            if not self._waiting:
                loop.call_soon(self._begin)
            self._waiting[job_id] = waiting
        return await asyncio.shield(waiting)

    def _begin(self) -> None:
        taken, self._waiting = self._waiting, {}
        task = asyncio.get_running_loop().create_task(self._read(taken))
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    async def _read(self, taken: Mapping[JobId, asyncio.Future[Look]]) -> None:
        try:
            jobs = await self._jobs(list(taken))
            recent = await self._store.executions.recent(self._tenant_id, jobs, limit=RECENT_MAX)
            for job_id, waiting in taken.items():
                job = jobs.get(job_id)
                if job is None:
                    waiting.set_exception(JobNotFound(job_id))
                else:
                    waiting.set_result(Look(job, recent[job_id]))
        except Exception as error:  # It belongs to those who asked.
            for waiting in taken.values():
                if not waiting.done():
                    waiting.set_exception(error)

    async def _jobs(self, job_ids: list[JobId]) -> Mapping[JobId, Job]:
        if len(job_ids) > 1:
            return {job.id: job for job in await self._store.jobs.many(self._tenant_id, job_ids)}
        try:
            return {job_ids[0]: await self._store.jobs.get(self._tenant_id, job_ids[0])}
        except JobNotFound:
            return {}
