"""Only the current claim may change a running execution; an old one changes nothing."""

from __future__ import annotations

from datetime import timedelta

from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus
from gnomon.core.executions.lease import LEASE, Claim
from gnomon.core.executions.lifecycle import (
    LeaseExpired,
    Released,
)
from gnomon.store.protocols.changes import Applied
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    BOB,
    BROKEN,
    DONE,
    FAILED,
    HOUR,
    NOW,
    change_to,
    claim_one,
    decided,
    end,
    new_id,
    running,
    seen,
    tries,
)

LATER = NOW + HOUR


async def test_a_zombie_cannot_finish_what_somebody_else_runs(store: Store) -> None:
    zombie = await running(store)
    await end(store, zombie, Released())
    current = await claim_one(store, BOB)
    before = await seen(store, current)

    assert await end(store, zombie, DONE) is Applied.LOST
    assert await end(store, zombie, FAILED) is Applied.LOST

    assert await seen(store, current) == before
    assert await end(store, current, DONE) is Applied.APPLIED


async def test_claims_that_never_were_are_lost(store: Store) -> None:
    leased = await running(store)
    change = change_to(leased, DONE)
    numbers = [0, -1, 2, 2**31 - 1, 2**31, 2**63, 2**64]
    forged = [Claim(leased.claim.execution_id, number) for number in numbers]
    forged.append(Claim(ExecutionId(new_id()), 1))

    answers = await store.executions.apply([Decision(one, change) for one in forged], now=NOW)

    assert answers == [Applied.LOST] * 8
    assert list(await store.executions.renew(forged, lease_until=LATER)) == []
    assert (await seen(store, leased)).status is ExecutionStatus.RUNNING


async def test_the_same_decision_twice_is_a_replay(store: Store) -> None:
    leased = await running(store)
    decision = decided(leased, DONE)
    await store.executions.apply([decision], now=NOW)
    before = await seen(store, leased)

    assert await store.executions.apply([decision], now=LATER) == [Applied.REPLAYED]

    assert await seen(store, leased) == before


async def test_a_retry_twice_is_a_replay_even_after_the_next_claim(store: Store) -> None:
    leased = await running(store, tries(3))
    decision = decided(leased, FAILED)
    await store.executions.apply([decision], now=NOW)
    assert await store.executions.apply([decision], now=NOW) == [Applied.REPLAYED]
    current = await claim_one(store, BOB, now=LATER)

    assert await store.executions.apply([decision], now=LATER) == [Applied.REPLAYED]

    assert await end(store, current, DONE, now=LATER) is Applied.APPLIED
    assert await store.executions.apply([decision], now=LATER) == [Applied.REPLAYED]


async def test_another_end_for_a_spent_claim_is_lost(store: Store) -> None:
    leased = await running(store)
    await end(store, leased, DONE)

    assert await end(store, leased, BROKEN) is Applied.LOST

    assert (await seen(store, leased)).status is ExecutionStatus.COMPLETED


async def test_a_late_worker_loses_to_the_reaper(store: Store) -> None:
    leased = await running(store)
    reaper = decided(leased, LeaseExpired(), now=LATER)
    assert await store.executions.apply([reaper], now=LATER) == [Applied.APPLIED]

    assert await end(store, leased, DONE, now=LATER) is Applied.LOST
    assert await store.executions.apply([reaper], now=LATER) == [Applied.REPLAYED]

    assert (await seen(store, leased)).status is ExecutionStatus.PENDING


async def test_a_late_worker_loses_to_the_reaper_that_ended_it(store: Store) -> None:
    leased = await running(store, tries(1))
    await end(store, leased, LeaseExpired(), now=LATER)

    assert await end(store, leased, DONE, now=LATER) is Applied.LOST

    ended = await seen(store, leased)
    assert (ended.status, ended.result) == (ExecutionStatus.FAILED, None)


async def test_a_renewal_wins_over_the_reaper(store: Store) -> None:
    leased = await running(store)
    reaper = decided(leased, LeaseExpired(), now=LATER)
    await store.executions.renew([leased.claim], lease_until=LATER + LEASE)

    assert await store.executions.apply([reaper], now=LATER) == [Applied.LOST]

    assert (await seen(store, leased)).status is ExecutionStatus.RUNNING
    assert await end(store, leased, DONE, now=LATER) is Applied.APPLIED


async def test_the_reaper_cannot_take_a_lease_that_has_not_run_out(store: Store) -> None:
    leased = await running(store)
    at_its_end = decided(leased, LeaseExpired(), now=leased.lease_until)

    assert await store.executions.apply([at_its_end], now=LATER) == [Applied.LOST]

    just_after = decided(leased, LeaseExpired(), now=leased.lease_until + timedelta(microseconds=1))
    assert await store.executions.apply([just_after], now=LATER) == [Applied.APPLIED]


async def test_a_worker_may_finish_after_its_lease_ran_out_if_nobody_took_it(store: Store) -> None:
    leased = await running(store)

    assert await end(store, leased, DONE, now=LATER) is Applied.APPLIED
