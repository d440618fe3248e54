"""How schedulers share the shards among themselves. Each decides for itself, from what it last saw.

This divides work and nothing else. Two schedulers that believe in the same shard, or none that does for a
while, cost time only: a firing is guarded by the job's own cursor. So nobody is ever thrown out; a scheduler
gives back what is more than its share, and takes what is free.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from gnomon.core.jobs.job import SHARDS

NOBODY = ""


class ShardLease(NamedTuple):
    """Who has some shards until when. `term` grows with every new owner of a shard."""

    shards: tuple[int, ...]
    owner: str
    term: int
    expires_at: datetime

    def is_live(self, now: datetime) -> bool:
        return self.owner != NOBODY and now < self.expires_at


class HeldShard(NamedTuple):
    shard: int
    term: int


@dataclass(frozen=True, slots=True)
class Division:
    """Who was there and who had what, at one look. A scheduler is there also while it has nothing."""

    schedulers: frozenset[str] = frozenset()
    leases: tuple[ShardLease, ...] = ()

    def __post_init__(self) -> None:
        assert all(
            lease.term >= 1 and 0 <= min(lease.shards) <= max(lease.shards) < SHARDS for lease in self.leases
        )

    def held_by(self, owner: str) -> tuple[HeldShard, ...]:
        """The shards of a scheduler, in order."""
        held = [
            HeldShard(shard, lease.term)
            for lease in self.leases
            if lease.owner == owner
            for shard in lease.shards
        ]
        return tuple(sorted(held))


@dataclass(frozen=True, slots=True)
class Moves:
    """What a scheduler is to do next. Taking is an attempt: somebody else may be first."""

    give_back: frozenset[int] = frozenset()
    take: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        assert not self.give_back & self.take

    def __bool__(self) -> bool:
        return bool(self.give_back or self.take)


STAY = Moves()


def rebalance(owner: str, division: Division, *, now: datetime) -> Moves:
    """What `owner` should give back or take, so that all live schedulers end up with equal shares.

    Schedulers that saw the same division choose different shards, so they do not run into each other.
    """
    held: dict[str, set[int]] = {name: set() for name in division.schedulers | {owner}}
    for lease in division.leases:
        if lease.is_live(now):
            held.setdefault(lease.owner, set()).update(lease.shards)
    shares = _shares(held)
    mine = held[owner]
    if len(mine) > shares[owner]:
        return Moves(give_back=frozenset(sorted(mine)[shares[owner] :]))
    free = iter(sorted(frozenset(range(SHARDS)).difference(*held.values())))
    return Moves(take=_allotted(owner, held, shares, free))


def _shares(held: Mapping[str, Set[int]]) -> dict[str, int]:
    """How many each should have, in the order in which they choose. Who has one more keeps the odd ones.

    Who has too many ranks like who has one more, so that giving back changes nobody's rank.
    """
    share, odd = divmod(SHARDS, len(held))
    order = sorted(held, key=lambda name: (-min(len(held[name]), share + 1), name))
    return {name: share + (place < odd) for place, name in enumerate(order)}


def _allotted(
    owner: str, held: Mapping[str, Set[int]], shares: Mapping[str, int], free: Iterator[int]
) -> frozenset[int]:
    for name, share in shares.items():
        allotted = frozenset(shard for _, shard in zip(range(share - len(held[name])), free, strict=False))
        if name == owner:
            return allotted
    raise AssertionError(f"{owner} has no share")
