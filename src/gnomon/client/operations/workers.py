"""What a user may know and ask of workers."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from gnomon.client.context import ClientContext
from gnomon.core.access.keys import KeyId
from gnomon.core.executions.execution import WorkerId
from gnomon.core.operations.workers import Registered, Registration, Worker, WorkerStatus, check_slots
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT
from gnomon.errors import IllegalTransition, WorkerNotFound, WorkerOfAnotherKey
from gnomon.store.databases.hints import Topic


class Workers:
    """Workers serve all tenants, so these verbs do not ask for one."""

    def __init__(self, context: ClientContext) -> None:
        self._clock = context.clock
        self._workers = context.store.workers
        self._announce = context.announce

    async def register(self, registration: Registration) -> Worker:
        """Create or replace: a worker that starts again is the same worker with a new boot.

        Raises WorkerNameTaken.
        """
        await self._workers.register(registration, now=self._clock.now())
        return await self._workers.get(registration.id)

    async def own(self, worker_id: WorkerId, key_id: KeyId) -> Registration:
        """What the key registered, perhaps long ago. Raises WorkerNotFound, WorkerOfAnotherKey."""
        return (await self._own(worker_id, key_id)).registration

    async def own_present(self, worker_id: WorkerId, key_id: KeyId) -> Registration:
        """Of a worker that has not left, too. Raises WorkerNotFound: register again; WorkerOfAnotherKey."""
        registration, status = await self._own(worker_id, key_id)
        if status is WorkerStatus.GONE:
            raise WorkerNotFound(worker_id)
        return registration

    async def _own(self, worker_id: WorkerId, key_id: KeyId) -> Registered:
        found = await self._workers.registered(worker_id)
        if found.registration.key_id != key_id:
            raise WorkerOfAnotherKey(worker_id)
        return found

    async def beat(self, worker_id: WorkerId, boot: UUID, *, slots: int | None = None) -> Worker:
        """It lives, perhaps with another number of slots. Raises WorkerNotFound: then register again."""
        if slots is not None:
            check_slots(slots)
        return await self._workers.beat(worker_id, boot, now=self._clock.now(), slots=slots)

    async def leave(self, worker_id: WorkerId, boot: UUID) -> Worker:
        """It says good-bye. Raises WorkerNotFound."""
        await self._workers.leave(worker_id, boot, now=self._clock.now())
        return await self._workers.get(worker_id)

    async def get(self, worker_id: WorkerId) -> Worker:
        """Raises WorkerNotFound."""
        return await self._workers.get(worker_id)

    async def list(
        self, *, limit: int = PAGE_LIMIT_DEFAULT, after: WorkerId | None = None
    ) -> Sequence[Worker]:
        """By id, those after `after`."""
        return await self._workers.list(limit=limit, after=after)

    async def drain(self, worker_id: WorkerId) -> Worker:
        """Ask the worker to take nothing new. What it runs goes on. Raises WorkerNotFound."""
        worker = await self._workers.drain(worker_id)
        self._announce(Topic.CANCEL)  # Workers beat at once when they hear it, and learn of the drain.
        return worker

    async def undrain(self, worker_id: WorkerId) -> Worker:
        """Let it take work again. Raises WorkerNotFound, and IllegalTransition if it has left."""
        worker = await self._workers.undrain(worker_id)
        if worker.status is WorkerStatus.GONE:
            advice = "It has left: start it again."
            raise IllegalTransition("worker", status=worker.status, action="undrain", advice=advice)
        self._announce(Topic.CANCEL)
        return worker
