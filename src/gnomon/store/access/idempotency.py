"""The idempotency key, written in the transaction that does the work."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.values.idempotency import Idempotency
from gnomon.errors import IdempotencyConflict
from gnomon.store.databases.database import Session


async def first_answer(
    session: Session,
    tenant_id: TenantId,
    idempotency: Idempotency | None,
    answer: Sequence[UUID],
    *,
    now: datetime,
) -> Sequence[UUID] | None:
    """None: go on, this call is the first (or has no key). Otherwise the ids that the first call made.

    Ids are the caller's, so the answer is known before the work is done, and one row is enough.
    """
    if idempotency is None:
        return None
    taken = await session.fetch(
        "idempotency_take",
        tenant_id=tenant_id,
        key=idempotency.key,
        fingerprint=idempotency.fingerprint,
        answer=json.dumps([str(made) for made in answer]),
        now=now,
    )
    if taken:
        return None
    [first] = await session.fetch("idempotency_find", tenant_id=tenant_id, key=idempotency.key)
    if first["fingerprint"] != idempotency.fingerprint:
        raise IdempotencyConflict(idempotency.key)
    return [UUID(text) for text in json.loads(first["answer"])]


async def settle_answer(
    session: Session, tenant_id: TenantId, idempotency: Idempotency | None, answer: Sequence[UUID]
) -> None:
    """Correct the answer once the work is done: a unique key may have led to an execution that was there."""
    if idempotency is not None:
        await session.fetch(
            "idempotency_settle",
            tenant_id=tenant_id,
            key=idempotency.key,
            answer=json.dumps([str(made) for made in answer]),
        )
