"""Workers over HTTP: they register and send heartbeats; people list, drain and undrain them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from litestar import get, post
from litestar.params import FromPath, FromQuery, JSONBody

from gnomon.api.forms.ids import Cursors
from gnomon.api.forms.ids import worker_id as read_worker_id
from gnomon.api.forms.reading import Body
from gnomon.api.serving.call import Call
from gnomon.api.serving.policy import READS, READS_OR_WORKS, WORKS, WRITES
from gnomon.client.remote.worker_protocol import DRAIN, Beat, NewWorker, WorkerAnswer
from gnomon.core.executions.execution import WorkerId
from gnomon.core.operations.workers import Registration, Worker, WorkerStatus
from gnomon.core.values.choices import Choice, choice
from gnomon.core.values.forms import Answer
from gnomon.core.values.instants import seconds_of
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT
from gnomon.errors import InvalidInput


class Health(Choice):
    """What a worker may say of itself."""

    HEALTHY = "healthy"
    ACTIVE = "active"
    DRAINING = "draining"  # It takes nothing new. Counts as if somebody had drained it.


class WorkerPage(Answer):
    workers: list[WorkerAnswer]
    next_cursor: str | None


@post("/v1/workers", policy=WORKS, dto=Body[NewWorker], return_dto=None, status_code=200)
async def register_worker(data: JSONBody[NewWorker], request: Call) -> WorkerAnswer:
    """Create or replace: a worker that starts again is the same worker with a later boot."""
    capabilities = frozenset(data.capabilities or ())
    registration = Registration(
        WorkerId(data.worker_id),
        _boot(data.boot) or request.new_id(),
        data.hostname or "unknown",
        data.capacity,
        capabilities if data.kinds is None else frozenset(data.kinds),
        frozenset(data.queues or ("default",)),
        capabilities,
        request.caller.key.id,
    )
    return _worker(await request.verbs.workers.register(registration), request)


@post("/v1/workers/{worker_id:str}/heartbeat", policy=WORKS, dto=Body[Beat], return_dto=None, status_code=200)
async def beat(worker_id: FromPath[str], request: Call, data: JSONBody[Beat | None] = None) -> WorkerAnswer:
    """It lives. 404 means: register again."""
    own, workers = await own_worker(read_worker_id(worker_id), request), request.verbs.workers
    said = data or Beat()
    health = None if said.status is None else choice(Health, said.status.lower(), field="status")
    worker = await workers.beat(own.id, _boot(said.boot) or own.boot, slots=said.capacity)
    if health is Health.DRAINING:
        worker = await workers.drain(own.id)
    return _worker(worker, request)


@post("/v1/workers/{worker_id:str}/leave", policy=WORKS, dto=Body[Beat], return_dto=None, status_code=200)
async def leave(worker_id: FromPath[str], request: Call, data: JSONBody[Beat | None] = None) -> WorkerAnswer:
    """It says good-bye. What it still holds runs out."""
    own = await own_worker(read_worker_id(worker_id), request)
    boot = _boot(data.boot) if data else None
    return _worker(await request.verbs.workers.leave(own.id, boot or own.boot), request)


@get("/v1/workers", policy=READS)
async def list_workers(
    request: Call, limit: FromQuery[int] = PAGE_LIMIT_DEFAULT, cursor: FromQuery[str | None] = None
) -> WorkerPage:
    """By id."""
    cursors = Cursors(request.verbs.tenant_id, "workers")
    name = cursors.read_name(cursor)
    found = await request.verbs.workers.list(limit=limit, after=None if name is None else WorkerId(name))
    last = found[-1].id if len(found) == limit else None
    shown = [_worker(one, request) for one in found]
    return WorkerPage(workers=shown, next_cursor=cursors.write_name(last))


@get("/v1/workers/{worker_id:str}", policy=READS_OR_WORKS)
async def get_worker(worker_id: FromPath[str], request: Call) -> WorkerAnswer:
    """One worker, and whether it takes work."""
    return _worker(await request.verbs.workers.get(read_worker_id(worker_id)), request)


@post("/v1/workers/{worker_id:str}/drain", policy=WRITES, status_code=200)
async def drain_worker(worker_id: FromPath[str], request: Call) -> WorkerAnswer:
    """Ask it to take nothing new. What it runs goes on, its process stays, and `undrain` undoes it."""
    return _worker(await request.verbs.workers.drain(read_worker_id(worker_id)), request)


@post("/v1/workers/{worker_id:str}/undrain", policy=WRITES, status_code=200)
async def undrain_worker(worker_id: FromPath[str], request: Call) -> WorkerAnswer:
    """Let a drained worker take work again. 409 if it has left."""
    return _worker(await request.verbs.workers.undrain(read_worker_id(worker_id)), request)


async def own_worker(worker_id: WorkerId, request: Call) -> Registration:
    """Of the caller's own key. Raises WorkerNotFound, WorkerOfAnotherKey."""
    return await request.verbs.workers.own(worker_id, request.caller.key.id)


def _boot(text: str | None) -> UUID | None:
    if text is None:
        return None
    try:
        return UUID(text)
    except ValueError:
        raise InvalidInput("boot", f"{text[:40]!r} is not a UUID.") from None


def _worker(one: Worker, request: Call) -> WorkerAnswer:
    now = request.now
    return WorkerAnswer(
        worker_id=one.id,
        boot=str(one.boot),
        status=one.status_at(now),
        is_live=one.is_live(now),
        hostname=one.hostname,
        capacity=one.slots,
        current_jobs=one.running,
        kinds=sorted(one.kinds),
        queues=sorted(one.queues),
        capabilities=sorted(one.capabilities),
        registered_at=one.registered_at,
        last_heartbeat=one.last_seen_at,
        command=DRAIN if one.status is WorkerStatus.DRAINING else None,
        key_id=None if one.key_id is None else str(one.key_id),
        lease_seconds=seconds_of(request.verbs.leases.lease),
        server_time=now,
    )


ROUTES: list[Any] = [register_worker, beat, leave, list_workers, get_worker, drain_worker, undrain_worker]
