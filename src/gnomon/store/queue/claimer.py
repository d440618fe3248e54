"""Where a claimer looks for work: the lanes that fit, from where it was last.

Deleted rows stay in PostgreSQL's indexes until no snapshot can see them. A claimer that started each scan
at the front would wade through all it ever took. So it remembers, per lane and priority, the `(due, id)` up
to which it took all, and goes on from there. It starts over once a second, and when a scan comes back short,
so work that arrives behind it waits no longer than that.

Tenants with a limit take turns with all others; the id of a request decides who comes first.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

from gnomon.core.access.tenants import DEFAULT_TENANT, TenantId
from gnomon.core.executions.execution import WorkerId
from gnomon.core.executions.lease import ClaimRequest, Offer
from gnomon.core.jobs.job import PRIORITIES, Definition
from gnomon.store.databases.database import Database, Row, Rows, Session, UniqueViolation
from gnomon.store.queue import suspects
from gnomon.store.queue.lanes import Lanes, Turn, lane_of

RESCAN = timedelta(seconds=1)
FIRST_INSTANT = datetime(1, 1, 1, tzinfo=UTC)

Position = tuple[datetime, UUID]
Scanned = tuple[Sequence[Rows], dict[str, object]]
_FRONT = (None, None)  # Of a scan: a column of NULLs is not sent.

SCAN = ("lane_id", "priority", "due", "execution_id")
UNIFORM_SCAN = frozenset({"lane_id"})


class AskedBefore(Exception):
    """This very request has been here before; perhaps its reply got lost. Its claims are in `claimed`."""


def is_of_request(violation: UniqueViolation) -> bool:
    """Whether the request of a claim has been here before."""
    return "claim_requests" in violation.constraint


class NoFreeSlot(Exception):
    """The worker holds as many leases as it has slots, or is not live."""


@dataclass(frozen=True, slots=True)
class Room:
    """How many executions a request may get, and where that holds. `is_full`: the worker has no free slot.

    `has_suspects`: it may get one of those in place of all others. `suspect_first`: others, if there is none.
    """

    session: Session
    limit: int
    is_full: bool = False
    has_suspects: bool = False
    suspect_first: bool = False


class Claimer:
    def __init__(self, database: Database, lanes: Lanes, *, rescan: timedelta = RESCAN) -> None:
        self._database = database
        self._lanes = lanes
        self._rescan = rescan
        self._positions: dict[tuple[int, int], Position] = {}
        self._front_at = FIRST_INSTANT
        self._took_all = False
        # The lanes of the last look that took all there was, and when that was.
        self._emptied: tuple[int, ...] = ()
        self._emptied_at = FIRST_INSTANT

    async def claim(self, request: ClaimRequest, *, now: datetime, lease_until: datetime) -> Sequence[Row]:
        if self._took_all and not request.is_repeat and not await self._may_find_something(request, now):
            return []
        try:
            if request.is_alone:
                return await self._claim_alone(request, now=now, lease_until=lease_until)
            rows = await self._claim(request, now=now, lease_until=lease_until)
        except NoFreeSlot:
            return []  # That says nothing of what waits: where to look stays as it was.
        except UniqueViolation as violation:  # Of a transaction it is told when that ends.
            if not is_of_request(violation):
                raise
            raise AskedBefore from None
        self._took_all = len(rows) < request.limit
        return rows

    async def _may_find_something(self, request: ClaimRequest, now: datetime) -> bool:
        """Behind who took all there is mostly nothing: a look costs a tenth of a claim."""
        if self._database.dead_rows_linger:
            return True  # There, a look is a round trip as a claim is.
        # Not a `read`, which is a hop to another thread.
        [row] = await self._database.fetch("claimable", request_id=request.id, now=now)
        return bool(row["claimable"])

    async def _claim(self, request: ClaimRequest, *, now: datetime, lease_until: datetime) -> Sequence[Row]:
        # Also when the clock was set back: the front must not lie in the future.
        starts_over = not timedelta(0) <= now - self._front_at < self._rescan
        if starts_over:
            await self._start_over(now)
        remembered = bool(self._positions)
        rows = await self._take_turns(request, now=now, lease_until=lease_until)
        # An empty answer must mean that there is nothing, also behind us and in new lanes.
        if not rows and not starts_over and (await self._start_over(now) or remembered):
            rows = await self._take_turns(request, now=now, lease_until=lease_until)
        return rows

    async def _take_turns(
        self, request: ClaimRequest, *, now: datetime, lease_until: datetime
    ) -> Sequence[Row]:
        """From the first of them that have something. A request that found nothing has not been used."""
        for turn in self.turns(request):
            async with self._room(turn.limited, request, now) as room:
                take = partial(
                    suspects.take, room.session, request, turn.lane_ids, now=now, lease_until=lease_until
                )
                if room.suspect_first and (rows := await take()):
                    return rows
                rows = await self._scan(request, turn, room, now=now, lease_until=lease_until)
                if not rows and room.has_suspects and (alone := await take()):
                    return alone
            if room.is_full:
                raise NoFreeSlot
            self._note(turn, rows, room.limit, now=now)
            if rows:
                return rows
        return []

    async def _claim_alone(
        self, request: ClaimRequest, *, now: datetime, lease_until: datetime
    ) -> Sequence[Row]:
        """It is rare, so it remembers nothing, and knows all lanes."""
        await self._lanes.refresh()
        for turn in self.turns(request):
            async with self._room(turn.limited, request, now) as room:
                if room.limit > 0:
                    rows = await suspects.take(
                        room.session, request, turn.lane_ids, now=now, lease_until=lease_until
                    )
                    if rows:
                        return rows
        return []

    async def hold_back(self, worker: WorkerId, offer: Offer, *, now: datetime) -> bool:
        return await suspects.reserve(self._database, worker, self._lanes.fitting(offer), now=now)

    def turns(self, request: ClaimRequest) -> Sequence[Turn]:
        turns = self._lanes.turns(request)
        if request.is_repeat or len(turns) == 1:
            return turns[:1]  # There a repeat uses its id up, whatever it finds.
        return sorted(turns, key=lambda turn: request.lot(turn.limited))

    @asynccontextmanager
    async def _room(
        self, limited: TenantId | None, request: ClaimRequest, now: datetime
    ) -> AsyncIterator[Room]:
        """How many may be claimed, and for as long as that holds."""
        if limited is None and not request.is_counted:
            yield Room(self._database, request.limit)
            return
        async with self._database.transaction() as session:
            counted = suspects.Counted(request.limit)
            if request.is_counted:
                counted = await suspects.count(session, request, self._lanes.fitting(request), now=now)
            free, left = min(request.limit, counted.free), request.limit
            if limited is not None and free > 0:
                await session.fetch("tenant_lock", tenant_id=limited)
                [row] = await session.fetch("tenant_room", tenant_id=limited)
                left = left if row["room"] is None else max(0, row["room"])
            may_take = counted.may_take_suspect and left > 0 and not request.is_repeat
            is_first = may_take and counted.suspect_first
            yield Room(session, min(free, left), free < 1, may_take, is_first)

    async def _start_over(self, now: datetime) -> bool:
        """True if there are lanes that were not known before."""
        self._positions.clear()
        self._front_at = now
        return await self._lanes.refresh()

    async def _scan(
        self,
        request: ClaimRequest,
        turn: Turn,
        room: Room,
        *,
        now: datetime,
        lease_until: datetime,
    ) -> Sequence[Row]:
        # A counted worker may be full of what this very request got before, and gets that again.
        if room.limit < 1 and not request.is_counted:
            return []
        where, values = self.scanned(request, turn, now, lease_until)
        return await room.session.fetch(
            "claim",
            *where,
            **values | {"limit": room.limit},
            is_repeat=request.is_repeat,
            default_tenant=DEFAULT_TENANT,
        )

    def scanned(self, request: ClaimRequest, turn: Turn, now: datetime, lease_until: datetime) -> Scanned:
        """What a statement that claims is given."""
        values: dict[str, object] = {
            "lane_ids": list(turn.lane_ids),
            "request_id": request.id,
            "worker": request.worker,
            "limit": request.limit,
            "priorities": PRIORITIES,
            "now": now,
            "lease_until": lease_until,
        }
        return self._starts(turn.lane_ids), values

    def _starts(self, lane_ids: Sequence[int]) -> Sequence[Rows]:
        """Where to start in each lane and priority, for a database where that is not the front."""
        if not self._database.dead_rows_linger:
            return ()
        starts = [
            (lane_id, priority, *self._positions.get((lane_id, priority), _FRONT))
            for priority in PRIORITIES
            for lane_id in lane_ids
        ]
        return (Rows("scan", SCAN, starts, UNIFORM_SCAN),)

    def is_limited(self, tenant_id: TenantId) -> bool:
        return self._lanes.is_limited(tenant_id)

    def lane_id(self, tenant_id: TenantId, definition: Definition) -> int | None:
        return self._lanes.known.get(lane_of(tenant_id, definition))

    def knows_that_nobody_waits(self, turn: Turn, *, now: datetime) -> bool:
        """Not for long: who came since then, and was not announced, is not passed over for ever."""
        return turn.lane_ids == self._emptied and timedelta(0) <= now - self._emptied_at < self._rescan

    def note_with_ends(self, turn: Turn, rows: Sequence[Row], limit: int, *, now: datetime) -> None:
        self._took_all = len(rows) < limit
        self._note(turn, rows, limit, now=now)

    def _note(self, turn: Turn, rows: Sequence[Row], limit: int, *, now: datetime) -> None:
        """How far the lanes are taken, for the next scan."""
        if len(rows) < limit:
            # Nobody looked behind the positions.
            self._emptied, self._emptied_at = (() if self._positions else turn.lane_ids), now
            self._positions.clear()
            return
        self._emptied = ()
        if not self._rescan or not self._database.dead_rows_linger:
            return
        # In the order of the scan, so the last one of a priority counts. If it is not the furthest, no harm.
        last = {row["priority"]: row for row in rows}
        # A scan takes the first of all its lanes, so each of them is taken as far as that.
        self._positions |= {
            (lane_id, priority): (row["due"], row["execution_id"])
            for priority, row in last.items()
            for lane_id in turn.lane_ids
        }
