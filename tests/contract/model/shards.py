"""Shards and seats as dictionaries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gnomon.core.operations.shards import NOBODY, Division, Moves, ShardLease
from gnomon.core.values.document import check_name
from tests.contract.model.state import State


@dataclass(frozen=True, slots=True)
class ModelShards:
    state: State

    async def hold(self, owner: str, moves: Moves, *, now: datetime, until: datetime) -> Division:
        check_name(owner, field="owner")
        leases, seats = self.state.shards, self.state.seats
        for shard, lease in leases.items():
            if lease.owner == owner:
                is_kept = shard not in moves.give_back
                leases[shard] = (
                    lease._replace(expires_at=until)
                    if is_kept
                    else lease._replace(owner=NOBODY, expires_at=now)
                )
        for shard in moves.take:
            known = leases.get(shard)
            if known is None:
                leases[shard] = ShardLease((shard,), owner, 1, until)
            elif known.expires_at <= now:
                leases[shard] = ShardLease((shard,), owner, known.term + 1, until)
        seats[owner] = until
        for name in [name for name, expires_at in seats.items() if expires_at <= now and name != owner]:
            del seats[name]
        return Division(frozenset(seats), tuple(leases[shard] for shard in sorted(leases)))

    async def release(self, owner: str, *, now: datetime) -> None:
        for shard, lease in self.state.shards.items():
            if lease.owner == owner:
                self.state.shards[shard] = lease._replace(owner=NOBODY, expires_at=now)
        self.state.seats.pop(owner, None)
