"""Leases on shards, and the seats of schedulers, over any SQL database."""

from __future__ import annotations

from datetime import datetime

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.operations.shards import Division, Moves, ShardLease
from gnomon.core.values.document import check_name
from gnomon.store.databases.database import Database


class SqlShards:
    """A seat is a row of `leaders`: a lease on the scheduler's own name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def hold(self, owner: str, moves: Moves, *, now: datetime, until: datetime) -> Division:
        check_name(owner, field="owner")
        rows = await self._database.fetch(
            "shards_hold",
            owner=owner,
            seat=_seat(owner),
            tenant_id=DEFAULT_TENANT,  # A scheduler serves all tenants.
            give_back=sorted(moves.give_back),
            take=sorted(moves.take),
            now=now,
            until=until,
        )
        # By place, not by name: these are read often.
        seats = [name for shards, name, *_ in rows if shards is None]
        leases = [
            ShardLease(tuple(sorted(map(int, shards.split(",")))), name, term, expires_at)
            for shards, name, term, expires_at in rows
            if shards is not None
        ]
        return Division(schedulers=frozenset({owner, *seats}), leases=tuple(sorted(leases)))

    async def release(self, owner: str, *, now: datetime) -> None:
        await self._database.fetch("shards_release", owner=owner, seat=_seat(owner), now=now)


def _seat(owner: str) -> str:
    return f"scheduler/{owner}"
