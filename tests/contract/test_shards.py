"""Schedulers hold shards for a while: taken when free, never while somebody has them; terms only grow."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from gnomon.core.jobs.job import SHARDS
from gnomon.core.operations.shards import NOBODY, STAY, Division, HeldShard, Moves, rebalance
from gnomon.errors import InvalidInput
from gnomon.store.protocols.store import Store
from tests.contract.given import NOW, SECOND

LEASE = timedelta(seconds=20)
ADA, BOB = "ada", "bob"


def taking(*shards: int) -> Moves:
    return Moves(take=frozenset(shards))


def giving_back(*shards: int) -> Moves:
    return Moves(give_back=frozenset(shards))


async def hold(store: Store, owner: str, moves: Moves = STAY, *, after: timedelta = timedelta(0)) -> Division:
    now = NOW + after
    return await store.shards.hold(owner, moves, now=now, until=now + LEASE)


async def test_a_free_shard_is_taken_for_a_first_term(store: Store) -> None:
    division = await hold(store, ADA, taking(0, 7, 63))

    assert division.schedulers == {ADA}
    assert {lease.expires_at for lease in division.leases} == {NOW + LEASE}
    assert division.held_by(ADA) == (HeldShard(0, 1), HeldShard(7, 1), HeldShard(63, 1))


async def test_a_live_shard_is_not_taken_away(store: Store) -> None:
    await hold(store, ADA, taking(1, 2))

    seen = await hold(store, BOB, taking(1, 2, 3), after=LEASE - SECOND)

    assert seen.held_by(BOB) == (HeldShard(3, 1),)
    assert seen.held_by(ADA) == (HeldShard(1, 1), HeldShard(2, 1))


async def test_a_shard_that_ran_out_is_taken_for_the_next_term(store: Store) -> None:
    await hold(store, ADA, taking(1, 2))

    seen = await hold(store, BOB, taking(1), after=LEASE)

    assert seen.held_by(BOB) == (HeldShard(1, 2),)
    assert seen.held_by(ADA) == (HeldShard(2, 1),)
    # Ada was only late: what nobody took is hers again, and the rest is gone.
    assert (await hold(store, ADA, taking(1), after=LEASE)).held_by(ADA) == (HeldShard(2, 1),)


async def test_every_round_renews(store: Store) -> None:
    await hold(store, ADA, taking(1))
    renewed = await hold(store, ADA, after=LEASE - SECOND)

    assert [lease.expires_at for lease in renewed.leases] == [NOW + LEASE * 2 - SECOND]
    assert not (await hold(store, BOB, taking(1), after=LEASE + SECOND)).held_by(BOB)


async def test_taking_what_one_has_changes_nothing(store: Store) -> None:
    await hold(store, ADA, taking(1))
    assert (await hold(store, ADA, taking(1, 2), after=LEASE)).held_by(ADA) == (
        HeldShard(1, 1),
        HeldShard(2, 1),
    )


async def test_what_is_given_back_is_free_at_once_and_keeps_its_term(store: Store) -> None:
    await hold(store, ADA, taking(1, 2, 3))

    seen = await hold(store, ADA, giving_back(1, 3), after=SECOND)

    assert seen.held_by(ADA) == (HeldShard(2, 1),)
    assert seen.held_by(NOBODY) == (HeldShard(1, 1), HeldShard(3, 1))
    assert (await hold(store, BOB, taking(1), after=SECOND)).held_by(BOB) == (HeldShard(1, 2),)


async def test_nobody_gives_back_what_is_not_theirs(store: Store) -> None:
    await hold(store, ADA, taking(1))
    assert (await hold(store, BOB, giving_back(1))).held_by(ADA) == (HeldShard(1, 1),)


async def test_a_scheduler_without_a_shard_is_seen_until_it_falls_silent(store: Store) -> None:
    await hold(store, ADA)
    assert (await hold(store, BOB, after=SECOND)).schedulers == {ADA, BOB}
    assert (await hold(store, BOB, after=LEASE - SECOND)).schedulers == {ADA, BOB}
    assert (await hold(store, BOB, after=LEASE)).schedulers == {BOB}
    assert (await hold(store, ADA, after=LEASE)).schedulers == {ADA, BOB}


async def test_who_leaves_frees_everything_at_once(store: Store) -> None:
    await hold(store, ADA, taking(1, 2))
    await hold(store, BOB, taking(3))

    await store.shards.release(ADA, now=NOW + SECOND)
    await store.shards.release(ADA, now=NOW + SECOND)

    seen = await hold(store, BOB, taking(1, 2), after=SECOND)
    assert seen.schedulers == {BOB}
    assert seen.held_by(BOB) == (HeldShard(1, 2), HeldShard(2, 2), HeldShard(3, 1))
    assert not seen.held_by(ADA)


async def test_an_owner_has_a_name(store: Store) -> None:
    with pytest.raises(InvalidInput):
        await hold(store, NOBODY, taking(1))


async def test_schedulers_that_come_and_go_share_evenly(store: Store) -> None:
    clock = timedelta(0)
    for owners in (["a"], ["a", "b", "c"], ["b", "c", "d", "e", "f"], ["f"]):
        for _ in range(4 + LEASE // SECOND // 5):
            clock += 5 * SECOND
            for owner in owners:
                seen = await hold(store, owner, after=clock)
                while moves := rebalance(owner, seen, now=NOW + clock):
                    seen = await hold(store, owner, moves, after=clock)
        counts = [len(seen.held_by(owner)) for owner in owners]
        assert sum(counts) == SHARDS
        assert max(counts) - min(counts) <= 1


async def test_a_shard_that_two_want_at_the_same_moment_goes_to_one(store: Store) -> None:
    everything = taking(*range(SHARDS))
    await asyncio.gather(*(hold(store, f"scheduler {number}", everything) for number in range(8)))

    seen = await hold(store, ADA)

    assert len(seen.schedulers) == 9
    held = [one for owner in seen.schedulers for one in seen.held_by(owner)]
    assert sorted(held) == [HeldShard(shard, 1) for shard in range(SHARDS)]
