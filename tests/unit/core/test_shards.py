"""Schedulers share the shards: evenly, without a fight, in a few rounds, whatever they saw and when."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.jobs.job import SHARDS
from gnomon.core.operations.shards import NOBODY, STAY, Division, HeldShard, Moves, ShardLease, rebalance

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LEASE = timedelta(seconds=20)
ROUND = timedelta(seconds=5)
ROUNDS_MAX = 4
STALE_ROUNDS_MAX = 12
LOOKS_MAX = 3  # Who has taken its share may find that an odd one is left for it.

names = st.integers(1, 64).map(lambda count: [f"scheduler {number}" for number in range(count)])


@dataclass
class World:
    """What the store would say, and what each scheduler last saw."""

    now: datetime = NOW
    leases: dict[int, ShardLease] = field(default_factory=dict)
    seats: dict[str, datetime] = field(default_factory=dict)
    seen: dict[str, Division] = field(default_factory=dict)

    def visit(self, owner: str) -> None:
        """One round of a scheduler: look, and if there is something to do, do it at once and look again."""
        self.hold(owner, STAY)
        for _ in range(LOOKS_MAX):
            moves = rebalance(owner, self.seen[owner], now=self.now)
            if not moves:
                return
            self.hold(owner, moves)
        raise AssertionError(f"{owner} finds no rest")

    def hold(self, owner: str, moves: Moves) -> None:
        until = self.now + LEASE
        for shard, lease in self.leases.items():
            if lease.owner == owner:
                is_kept = shard not in moves.give_back
                self.leases[shard] = lease._replace(
                    owner=owner if is_kept else NOBODY,
                    expires_at=until if is_kept else self.now,
                )
        for shard in moves.take:
            known = self.leases.get(shard)
            if known is None or not known.is_live(self.now):
                self.leases[shard] = ShardLease((shard,), owner, known.term + 1 if known else 1, until)
        self.seats[owner] = until
        live = frozenset(name for name, expires_at in self.seats.items() if self.now < expires_at)
        self.seen[owner] = Division(live, tuple(self.leases.values()))

    def round(self, owners: list[str]) -> None:
        for owner in owners:
            self.visit(owner)
        self.now += ROUND

    def counts(self) -> dict[str, int]:
        owners = [lease.owner for lease in self.leases.values() if lease.is_live(self.now)]
        return {owner: owners.count(owner) for owner in set(owners)}

    def settles(self, orders: list[list[str]]) -> None:
        for order in orders:
            self.round(order)
        # The leases of the last round are the truth; nobody wants to change anything.
        assert not any(rebalance(owner, self.seen[owner], now=self.now) for owner in orders[-1])
        counts = self.counts()
        assert sum(counts.values()) == SHARDS
        assert set(counts) == set(orders[-1])
        assert max(counts.values()) - min(counts.values()) <= 1


def orders_of(owners: list[str]) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(st.permutations(owners), min_size=ROUNDS_MAX, max_size=ROUNDS_MAX)


@given(data=st.data(), owners=names)
@settings(deadline=None, max_examples=30)
def test_schedulers_that_start_together_share_evenly_within_a_few_rounds(
    data: st.DataObject, owners: list[str]
) -> None:
    World().settles(data.draw(orders_of(owners)))


@given(data=st.data(), owners=names)
@settings(deadline=None, max_examples=25)
def test_schedulers_that_act_on_what_they_saw_a_round_ago_share_evenly_too(
    data: st.DataObject, owners: list[str]
) -> None:
    world = World()
    for _ in range(STALE_ROUNDS_MAX):
        for owner in data.draw(st.permutations(owners)):
            seen = world.seen.get(owner)
            world.hold(owner, rebalance(owner, seen, now=world.now) if seen else STAY)
        world.now += ROUND
    assert sum(world.counts().values()) == SHARDS
    assert max(world.counts().values()) - min(world.counts().values()) <= 1
    assert world.counts().keys() == set(owners)


@given(data=st.data(), first=st.integers(1, 64), second=st.integers(1, 64))
@settings(deadline=None, max_examples=30)
def test_when_schedulers_come_and_go_the_others_even_out(
    data: st.DataObject, first: int, second: int
) -> None:
    everybody = [f"scheduler {number:02}" for number in range(64)]
    before = everybody[:first]
    after = data.draw(st.permutations(everybody).map(lambda names: names[:second]))
    world = World()
    world.settles(data.draw(orders_of(before)))

    # Who is gone said nothing; its leases run out. The others go on meanwhile, and so do their rounds.
    for _ in range(LEASE // ROUND + 1):
        world.round(after)

    world.settles(data.draw(orders_of(after)))


@given(data=st.data(), owners=names)
@settings(deadline=None, max_examples=30)
def test_nobody_is_told_to_take_what_somebody_has(data: st.DataObject, owners: list[str]) -> None:
    holders = data.draw(
        st.dictionaries(st.integers(0, SHARDS - 1), st.sampled_from([*owners, "stranger", NOBODY]))
    )
    ages = data.draw(st.lists(st.integers(-2, 2), min_size=SHARDS, max_size=SHARDS))
    leases = tuple(
        ShardLease((shard,), owner, 1, NOW + timedelta(seconds=ages[shard]))
        for shard, owner in holders.items()
    )
    division = Division(frozenset(owners), leases)
    live = {lease.shards[0]: lease.owner for lease in leases if lease.is_live(NOW)}
    taken: set[int] = set()
    for owner in owners:
        moves = rebalance(owner, division, now=NOW)
        assert not moves.take & live.keys()
        assert all(live.get(shard) == owner for shard in moves.give_back)
        assert not moves.take & taken, "two that saw the same want different shards"
        taken |= moves.take


def test_one_alone_takes_everything() -> None:
    assert rebalance("ada", Division(), now=NOW) == Moves(take=frozenset(range(SHARDS)))


def test_a_newcomer_gets_its_half_and_the_other_keeps_the_rest() -> None:
    leases = tuple(ShardLease((shard,), "ada", 3, NOW + LEASE) for shard in range(SHARDS))
    division = Division(frozenset({"ada", "bob"}), leases)

    assert rebalance("ada", division, now=NOW) == Moves(give_back=frozenset(range(32, 64)))
    assert rebalance("bob", division, now=NOW) == STAY


def test_what_is_even_stays_as_it_is() -> None:
    owners = ["ada", "bob", "eve"]
    leases = tuple(ShardLease((shard,), owners[shard % 3], 1, NOW + LEASE) for shard in range(SHARDS))
    division = Division(frozenset(owners), leases)
    assert [rebalance(owner, division, now=NOW) for owner in owners] == [STAY, STAY, STAY]
    # Whoever has the odd one keeps it, by whatever name.
    swapped = tuple(lease._replace(owner=owners[-1 - lease.shards[0] % 3]) for lease in leases)
    assert [rebalance(one, Division(frozenset(owners), swapped), now=NOW) for one in owners] == [STAY] * 3


def test_a_scheduler_without_a_share_does_no_harm() -> None:
    owners = [f"scheduler {number:03}" for number in range(SHARDS + 6)]
    world = World()
    for _ in range(ROUNDS_MAX):
        world.round(owners)
    assert sorted(world.counts().values()) == [1] * SHARDS


def test_what_somebody_holds_is_listed_with_its_terms() -> None:
    leases = (
        ShardLease((7,), "ada", 2, NOW),
        ShardLease((3,), "ada", 5, NOW),
        ShardLease((1,), "bob", 1, NOW),
    )
    assert Division(frozenset(), leases).held_by("ada") == (HeldShard(3, 5), HeldShard(7, 2))
