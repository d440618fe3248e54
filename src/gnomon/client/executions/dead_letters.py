"""What a user does with executions that ended for good without success."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from gnomon.client.context import ClientContext
from gnomon.client.workflows.places import NamedPlace, named_places
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.records import AtRevision, DeadLetter, Page, Redrive, Redriven
from gnomon.core.jobs.job import JobId
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, check_limit
from gnomon.core.workflows.dag import is_dag
from gnomon.errors import DeadLetterNotFound, GnomonError, IllegalTransition, JobNotFound
from gnomon.store.databases.hints import Topic

REDRIVE_MAX = 10_000
_Ids = list[ExecutionId]  # Where `list` is a verb.


class Swept(NamedTuple):
    """What was redriven, and what could not be, with the reason."""

    made: list[Redriven]
    refused: list[tuple[ExecutionId, GnomonError]]


class DeadLetters:
    def __init__(self, context: ClientContext) -> None:
        self._context = context
        self._letters = context.store.dead_letters

    async def get(self, execution_id: ExecutionId) -> DeadLetter:
        """Raises DeadLetterNotFound."""
        return await self._letters.get(self._context.tenant_id, execution_id)

    async def list(
        self, *, job_id: JobId | None = None, limit: int = PAGE_LIMIT_DEFAULT, after: UUID | None = None
    ) -> Page[DeadLetter]:
        """Newest first."""
        return await self._letters.page(self._context.tenant_id, limit=limit, job_id=job_id, after=after)

    async def redrive(
        self, execution_ids: Sequence[ExecutionId], *, revision: AtRevision = AtRevision.NEWEST
    ) -> Sequence[Redriven]:
        """Run these again, as new executions with the same input. All or none.

        A task of a workflow is not run by itself: its run goes on from it. One that was redriven before
        answers with what it became. Raises DeadLetterNotFound, JobNotFound, IllegalTransition.
        """
        if not execution_ids:
            return []
        now = self._context.clock.now()
        redrives = [Redrive(one, self._context.new_execution_id(now)) for one in execution_ids]
        made = await self._letters.redrive(self._context.tenant_id, redrives, now=now, revision=revision)
        self._context.announce(Topic.WORK)
        return made

    async def redrive_job(
        self, job_id: JobId | None, *, limit: int = REDRIVE_MAX, revision: AtRevision = AtRevision.NEWEST
    ) -> Swept:
        """Run the dead executions of a job again, the newest `limit` of those that were not redriven yet.

        None: of all jobs. What cannot be redriven now does not keep the others from it.
        """
        check_limit(limit, limit_max=REDRIVE_MAX)
        swept = Swept([], [])
        after: UUID | None = None
        while len(swept.made) < limit:
            page = await self.list(job_id=job_id, limit=PAGE_LIMIT_MAX, after=after)
            waiting = [letter for letter in page.items if letter.redriven_as is None]
            for together in await self._groups(waiting[: limit - len(swept.made)]):
                await self._redrive_some(together, revision, swept)
            after = page.next
            if after is None:
                break
        return swept

    async def _groups(self, letters: Sequence[DeadLetter]) -> Sequence[Sequence[ExecutionId]]:
        """Those of one job, or of one run of a workflow: what is refused for one of them may be for all."""
        workflows = await self._workflows(letters)
        ids = [one.execution_id for one in letters if one.job_id in workflows]
        places = await self._context.store.runs.places(self._context.tenant_id, ids)
        groups = defaultdict[UUID, _Ids](_Ids)
        for letter in letters:
            place = places.get(letter.execution_id)
            groups[letter.job_id if place is None else place.run_id].append(letter.execution_id)
        return tuple(groups.values())

    async def _redrive_some(self, dead: Sequence[ExecutionId], revision: AtRevision, swept: Swept) -> None:
        try:
            swept.made.extend(await self.redrive(dead, revision=revision))
        except JobNotFound as error:
            swept.refused.extend((one, error) for one in dead)
        except (DeadLetterNotFound, IllegalTransition) as error:
            if len(dead) == 1:
                swept.refused.append((dead[0], error))
                return
            for one in dead:
                await self._redrive_some([one], revision, swept)

    async def _workflows(self, letters: Sequence[DeadLetter]) -> set[JobId]:
        jobs = await self._context.store.jobs.many(self._context.tenant_id, {one.job_id for one in letters})
        return {job.id for job in jobs if is_dag(job)}

    async def places(self, letters: Sequence[DeadLetter]) -> Mapping[ExecutionId, NamedPlace]:
        """Those of these that are of tasks of workflows."""
        workflows = await self._workflows(letters)
        ids = [one.execution_id for one in letters if one.job_id in workflows]
        return await named_places(self._context.store, self._context.task_names, self._context.tenant_id, ids)

    async def purge_job(self, job_id: JobId | None, *, limit: int = REDRIVE_MAX) -> Sequence[ExecutionId]:
        """Forget the dead letters of a job, or of all jobs, the newest `limit` of them."""
        check_limit(limit, limit_max=REDRIVE_MAX)
        gone: list[ExecutionId] = []
        while len(gone) < limit:
            page = await self.list(job_id=job_id, limit=min(PAGE_LIMIT_MAX, limit - len(gone)))
            gone += await self.purge([letter.execution_id for letter in page.items])
            if page.next is None:
                break
        return gone

    async def purge(self, execution_ids: Sequence[ExecutionId]) -> Sequence[ExecutionId]:
        """Forget these dead letters, not their executions. Returns those that were there."""
        return await self._letters.purge(self._context.tenant_id, execution_ids)
