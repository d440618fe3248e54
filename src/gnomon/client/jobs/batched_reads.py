"""Looks at jobs that are asked for at the same moment are one read: many who watch cost little more than one.

Nobody gets what was read before they asked: a look that has begun takes no more passengers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId, RecentRun
from gnomon.core.explain.job_state import OF_RUNS, RECENT_MAX
from gnomon.core.jobs.job import DAG_KIND, Job, JobId
from gnomon.core.jobs.shown import ShownJob
from gnomon.errors import JobNotFound
from gnomon.store.protocols.workflows import WorkflowStore

# Between two reads of a long list, others have a turn.
AT_ONCE = 100


class Look(NamedTuple):
    """A job and its newest executions, newest first."""

    job: ShownJob
    recent: Sequence[RecentRun]


class JobReader:
    def __init__(self, store: WorkflowStore, tenant_id: TenantId) -> None:
        self._store = store
        self._tenant_id = tenant_id
        self._waiting: dict[JobId, list[asyncio.Future[Look]]] = {}
        self._reading: set[asyncio.Task[None]] = set()

    async def at(self, job_id: JobId) -> Look:
        """Raises JobNotFound."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._begin)
        waiting: asyncio.Future[Look] = loop.create_future()
        self._waiting.setdefault(job_id, []).append(waiting)
        return await waiting

    async def recent(self, jobs: Collection[Job]) -> Mapping[JobId, Sequence[RecentRun]]:
        """The newest runs of each of these jobs: of a list, in few reads."""
        dags = [job.id for job in jobs if job.definition.kind == DAG_KIND]
        plain = [job.id for job in jobs if job.definition.kind != DAG_KIND]
        found: dict[JobId, Sequence[RecentRun]] = {}
        for ids in batched(plain, AT_ONCE):
            found |= await self._store.executions.recent(self._tenant_id, ids, limit=RECENT_MAX)
        for ids in batched(dags, AT_ONCE):
            found |= await self._store.runs.recent(self._tenant_id, ids, limit=RECENT_MAX)
        return found

    def _begin(self) -> None:
        taken, self._waiting = self._waiting, {}
        task = asyncio.get_running_loop().create_task(self._read(taken))
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    async def _read(self, taken: Mapping[JobId, Sequence[asyncio.Future[Look]]]) -> None:
        try:
            jobs = {job.id: job for job in await self._store.jobs.shown(self._tenant_id, list(taken))}
            # Of the same jobs in the same order: a store may have them at hand still.
            plain = [job_id for job_id, job in jobs.items() if job.kind != DAG_KIND]
            recent = dict(await self._store.executions.recent(self._tenant_id, plain, limit=RECENT_MAX))
            for job_id in jobs.keys() - recent.keys():
                recent[job_id] = await self._runs(job_id)
        except Exception as error:  # It belongs to those who asked.
            for waiting in taken.values():
                _answer(waiting, error)
            return
        for job_id, waiting in taken.items():
            job = jobs.get(job_id)
            _answer(waiting, JobNotFound(job_id) if job is None else Look(job, recent[job_id]))

    async def _runs(self, dag_id: JobId) -> Sequence[RecentRun]:
        """Of a workflow, its runs. Its executions are also those of their tasks, which nobody asked about."""
        page = await self._store.runs.page(self._tenant_id, dag_id, limit=RECENT_MAX)
        return [
            RecentRun(
                ExecutionId(run.id), OF_RUNS[run.status], None, 0, run.started_at, run.finished_at, run.due
            )
            for run in page.items
        ]


def _answer(waiting: Sequence[asyncio.Future[Look]], answer: Look | Exception) -> None:
    for one in waiting:
        if one.done():  # Whoever asked has gone away.
            continue
        if isinstance(answer, Look):
            one.set_result(answer)
        else:
            one.set_exception(answer)
            one.exception()  # It was seen, even if whoever asked goes away right now.


def batched(ids: Sequence[JobId], size: int) -> Iterator[Sequence[JobId]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))
