"""Where suspects wait, and which worker takes them: one at a time, while it holds nothing.

See core/executions/suspects.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import WorkerId
from gnomon.core.executions.lease import ClaimRequest
from gnomon.core.executions.suspects import PATIENCE, RESERVED_AGAIN_AFTER, RESERVED_FOR, RESERVED_MAX
from gnomon.core.operations.workers import SILENT
from gnomon.store.databases.database import Row, Session


class Counted(NamedTuple):
    """What a worker may have whose leases the store counts. `suspect_first`: others, if there is none."""

    free: int
    may_take_suspect: bool = False
    suspect_first: bool = False


async def count(
    session: Session, request: ClaimRequest, lane_ids: Sequence[int], *, now: datetime
) -> Counted:
    """Of a worker that is live. Nobody else counts its leases until the transaction ends."""
    rows = await session.fetch("worker_lock", worker_id=request.worker, silent_since=now - SILENT)
    if not rows:
        return Counted(0)
    [row] = await session.fetch(
        "worker_holds", worker_id=request.worker, lane_ids=lane_ids, now=now, waiting_since=now - PATIENCE
    )
    free: int = rows[0]["slots"] - row["held"]
    if row["suspects"] or free < 1:
        return Counted(0)
    if not row["one_waits"]:
        return Counted(free)
    if not row["held"]:
        # It may be empty whenever it asks, and never find the lanes empty.
        is_first = row["is_reserved"] or (row["one_has_waited"] and request.is_heads)
        return Counted(free, may_take_suspect=True, suspect_first=bool(is_first))
    if await reserve(session, request.worker, lane_ids, now=now):
        return Counted(0)
    return Counted(free)


async def reserve(session: Session, worker: WorkerId, lane_ids: Sequence[int], *, now: datetime) -> bool:
    """Whether this worker, which holds something, shall claim nothing until it is empty."""
    rows = await session.fetch(
        "suspect_reserve",
        lane_ids=list(lane_ids),
        worker=worker,
        now=now,
        waiting_since=now - PATIENCE,
        reserved_until=now + RESERVED_FOR,
        give_up_at=now + RESERVED_MAX,
        rest_until=now + RESERVED_AGAIN_AFTER,
    )
    return bool(rows)


async def take(
    session: Session, request: ClaimRequest, lane_ids: Sequence[int], *, now: datetime, lease_until: datetime
) -> Sequence[Row]:
    return await session.fetch(
        "claim_suspect",
        lane_ids=list(lane_ids),
        request_id=request.id,
        worker=request.worker,
        now=now,
        lease_until=lease_until,
        is_repeat=request.is_repeat,
        default_tenant=DEFAULT_TENANT,
    )
