"""A claim that is made in the transaction that writes ends of tasks and releases what follows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from gnomon.core.access.tenants import DEFAULT_TENANT, TenantId
from gnomon.core.executions.lease import ClaimRequest
from gnomon.core.jobs.job import PRIORITIES, Definition
from gnomon.core.runs.write_set import WorkerClaim
from gnomon.store.databases.database import Database, Row, Rows, Session
from gnomon.store.databases.rows import FIRST_ID
from gnomon.store.queue.claimer import SCAN, Claimer, Scanned
from gnomon.store.queue.lanes import Turn


def with_ends(claimer: Claimer, claim: WorkerClaim) -> ClaimWithEnds:
    assert not claim.request.is_counted, "a claim with ends counts nothing"
    turn, *_ = claimer.turns(claim.request)
    # A tenant with a limit is claimed from under a lock that comes before all others, so not here.
    fits = turn if turn.limited is None else Turn(None, ())
    return ClaimWithEnds(claimer, claim.request, fits, claim.now, claim.lease_until)


def nothing_scanned(database: Database, *, now: datetime) -> Scanned:
    """For a statement that could claim and shall not."""
    values: dict[str, object] = {
        "lane_ids": [],
        "request_id": FIRST_ID,
        "worker": "",
        "limit": 0,
        "priorities": PRIORITIES,
        "now": now,
        "lease_until": now,
    }
    return ((Rows("scan", SCAN, ()),) if database.dead_rows_linger else ()), values


class ClaimWithEnds(NamedTuple):
    claimer: Claimer
    request: ClaimRequest
    turn: Turn
    now: datetime
    lease_until: datetime

    @property
    def scanned(self) -> Scanned:
        return self.claimer.scanned(self.request, self.turn, self.now, self.lease_until)

    def lane_without_a_look(self, tenant_id: TenantId, definition: Definition) -> int | None:
        """Of one new execution that this worker may have before the queue is searched.

        There must be room for another one: then nobody who comes meanwhile waits because of it.
        """
        if self.request.limit < 2 or not self.claimer.knows_that_nobody_waits(self.turn, now=self.now):
            return None
        lane_id = self.claimer.lane_id(tenant_id, definition)
        return lane_id if lane_id in self.turn.lane_ids else None

    def sees_all_of(self, tenants: Iterable[TenantId]) -> bool:
        """Whether it looks at all that an end of these may have made room for."""
        return bool(self.turn.lane_ids) and not any(map(self.claimer.is_limited, tenants))

    async def within(self, session: Session) -> Sequence[Row]:
        """After something was released. It may be in a lane that is new."""
        if not self.turn.lane_ids:
            return []
        where, values = self.scanned
        rows = await session.fetch(
            "claim", *where, **values, is_repeat=self.request.is_repeat, default_tenant=DEFAULT_TENANT
        )
        self.took(rows)
        return rows

    def took(self, rows: Sequence[Row], *, beside: int = 0) -> None:
        """From the queue. So many more never were in it."""
        self.claimer.note_with_ends(self.turn, rows, self.request.limit - beside, now=self.now)
