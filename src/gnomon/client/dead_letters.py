"""What a user does with executions that ended for good without success."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from gnomon.client.surroundings import Surroundings
from gnomon.core.execution import Enqueued, ExecutionId
from gnomon.core.job import JobId
from gnomon.core.limits import PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, check_limit
from gnomon.core.records import DeadLetter, Page, Redrive
from gnomon.store.hints import Topic

REDRIVE_MAX = 10_000


class DeadLetters:
    def __init__(self, surroundings: Surroundings) -> None:
        self._own = surroundings
        self._letters = surroundings.store.dead_letters

    async def get(self, execution_id: ExecutionId) -> DeadLetter:
        """Raises DeadLetterNotFound."""
        return await self._letters.get(self._own.tenant_id, execution_id)

    async def list(
        self, *, job_id: JobId | None = None, limit: int = PAGE_LIMIT_DEFAULT, after: UUID | None = None
    ) -> Page[DeadLetter]:
        """Newest first."""
        return await self._letters.page(self._own.tenant_id, limit=limit, job_id=job_id, after=after)

    async def redrive(self, execution_ids: Sequence[ExecutionId]) -> Sequence[Enqueued]:
        """Run these again, as new executions with the same input and revision. All or none.

        One that was redriven before answers with the execution it became. Raises DeadLetterNotFound.
        """
        if not execution_ids:
            return []
        now = self._own.clock.now()
        redrives = [Redrive(one, self._own.new_execution_id(now)) for one in execution_ids]
        made = await self._letters.redrive(self._own.tenant_id, redrives, now=now)
        self._own.announce(Topic.WORK)
        return made

    async def redrive_job(self, job_id: JobId | None, *, limit: int = REDRIVE_MAX) -> Sequence[Enqueued]:
        """Run the dead executions of a job again, the newest `limit` of those that were not redriven yet.

        None: of all jobs.
        """
        check_limit(limit, limit_max=REDRIVE_MAX)
        made: list[Enqueued] = []
        after: UUID | None = None
        while len(made) < limit:
            page = await self.list(job_id=job_id, limit=PAGE_LIMIT_MAX, after=after)
            waiting = [letter.execution_id for letter in page.items if letter.redriven_as is None]
            made += await self.redrive(waiting[: limit - len(made)])
            after = page.next
            if after is None:
                break
        return made

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
        return await self._letters.purge(self._own.tenant_id, execution_ids)
