"""The one way in which a running execution changes: in batches, answered in order."""

from __future__ import annotations

import asyncio

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.executions.lease import Claim, Leased
from gnomon.core.executions.lifecycle import (
    LeaseExpired,
    Outcome,
    Released,
    Snoozed,
    Succeeded,
    TimedOut,
)
from gnomon.core.values.document import Document
from gnomon.store.protocols.changes import Applied
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    BOB,
    BROKEN,
    DONE,
    FAILED,
    HOUR,
    MINUTE,
    NOW,
    OOPS,
    SECOND,
    ask,
    claim,
    claim_one,
    create_one,
    decided,
    end,
    enqueue,
    running,
    seen,
    tries,
)

LATER = NOW + HOUR


async def crew(store: Store, size: int) -> list[Leased]:
    """So many executions of one job, all in Ada's hands."""
    job = await create_one(store)
    await enqueue(store, *(ask(job) for _ in range(size)))
    return await claim(store, limit=size)


async def test_a_success_ends_the_execution_with_its_result(store: Store) -> None:
    leased = await running(store)
    result = Document.of({"rows": 7}, field="result")

    assert await end(store, leased, Succeeded(result), now=NOW + SECOND) is Applied.APPLIED

    ended = await seen(store, leased)
    assert (ended.status, ended.result, ended.failure) == (ExecutionStatus.COMPLETED, result, None)
    assert (ended.claim, ended.attempts, ended.worker) == (1, 1, leased.worker)
    assert (ended.started_at, ended.finished_at) == (NOW, NOW + SECOND)
    assert await claim(store, now=LATER) == []


async def test_a_failure_with_tries_left_waits_and_then_runs_again(store: Store) -> None:
    leased = await running(store, tries(3))

    assert await end(store, leased, FAILED) is Applied.APPLIED

    waiting = await seen(store, leased)
    assert (waiting.status, waiting.due) == (ExecutionStatus.PENDING, NOW + MINUTE)
    assert (waiting.failure, waiting.attempts, waiting.claim) == (OOPS, 1, 1)
    assert (waiting.worker, waiting.started_at, waiting.finished_at) == (None, None, None)
    assert await claim(store, now=NOW + 59 * SECOND) == []
    again = await claim_one(store, BOB, now=NOW + MINUTE)
    assert (again.claim, again.attempts) == (Claim(leased.claim.execution_id, 2), 1)


async def test_the_due_time_of_an_execution_is_the_last_one_it_had(store: Store) -> None:
    leased = await running(store, tries(3))
    await end(store, leased, FAILED)
    again = await claim_one(store, now=NOW + 2 * MINUTE)
    assert (await seen(store, leased)).due == again.due == NOW + MINUTE

    await end(store, again, DONE, now=NOW + 2 * MINUTE)

    assert (await seen(store, leased)).due == NOW + MINUTE


async def test_a_success_after_a_failure_shows_no_failure(store: Store) -> None:
    leased = await running(store, tries(3))
    await end(store, leased, FAILED)
    again = await claim_one(store, BOB, now=LATER)

    await end(store, again, DONE, now=LATER)

    ended = await seen(store, leased)
    assert (ended.status, ended.failure, ended.attempts) == (ExecutionStatus.COMPLETED, None, 2)
    assert (ended.worker, ended.started_at) == (BOB, LATER)


async def test_the_last_failure_ends_the_execution(store: Store) -> None:
    leased = await running(store, tries(1))

    await end(store, leased, FAILED)

    ended = await seen(store, leased)
    assert (ended.status, ended.failure, ended.finished_at) == (ExecutionStatus.FAILED, OOPS, NOW)


async def test_a_timeout_is_retried_and_then_ends_as_a_timeout(store: Store) -> None:
    leased = await running(store, tries(2))
    await end(store, leased, TimedOut())
    assert (await seen(store, leased)).status is ExecutionStatus.PENDING

    again = await claim_one(store, now=LATER)
    await end(store, again, TimedOut(), now=LATER)

    assert (await seen(store, leased)).status is ExecutionStatus.TIMEOUT


async def test_a_release_gives_the_try_back_but_not_the_number(store: Store) -> None:
    leased = await running(store)

    assert await end(store, leased, Released(), now=NOW + SECOND) is Applied.APPLIED

    waiting = await seen(store, leased)
    assert (waiting.status, waiting.attempts, waiting.due) == (ExecutionStatus.QUEUED, 0, NOW)
    again = await claim_one(store, BOB, now=NOW + SECOND)
    assert (again.claim.number, again.attempts) == (2, 0)


async def test_a_snooze_costs_no_try(store: Store) -> None:
    leased = await running(store, tries(1))

    await end(store, leased, Snoozed(HOUR))

    assert await claim(store, now=NOW) == []
    assert (await claim_one(store, now=LATER)).attempts == 0


async def test_the_claim_number_only_grows(store: Store) -> None:
    leased = await running(store, tries(9))
    now = NOW
    outcomes: list[Outcome] = [Released(), FAILED, LeaseExpired(), Snoozed(MINUTE), TimedOut()]
    for number, outcome in enumerate(outcomes, start=1):
        assert leased.claim.number == number
        now += HOUR
        assert await end(store, leased, outcome, now=now) is Applied.APPLIED
        now += HOUR
        leased = await claim_one(store, now=now)
    await end(store, leased, DONE, now=now)

    assert (await seen(store, leased)).claim == 6


# Batches ------------------------------------------------------------------------------------------------


async def test_a_mixed_batch_is_answered_in_order(store: Store) -> None:
    a, b, c, d = await crew(store, 4)
    await end(store, b, DONE)
    stale = d._replace(claim=Claim(d.claim.execution_id, 7))

    answers = await store.executions.apply(
        [decided(stale, DONE), decided(c, FAILED), decided(b, DONE), decided(a, DONE), decided(b, BROKEN)],
        now=NOW,
    )

    assert answers == [Applied.LOST, Applied.APPLIED, Applied.REPLAYED, Applied.APPLIED, Applied.LOST]
    statuses = [(await seen(store, one)).status.value for one in (a, b, c, d)]
    assert statuses == ["COMPLETED", "COMPLETED", "PENDING", "RUNNING"]


async def test_a_decision_twice_in_one_batch_is_applied_once(store: Store) -> None:
    leased = await running(store, tries(3))
    decision = decided(leased, FAILED)

    answers = await store.executions.apply([decision, decision], now=NOW)

    assert answers == [Applied.APPLIED, Applied.REPLAYED]
    assert len(await store.executions.attempts(DEFAULT_TENANT, leased.claim.execution_id)) == 1


async def test_the_first_of_two_decisions_in_one_batch_counts(store: Store) -> None:
    leased = await running(store, tries(1))

    answers = await store.executions.apply([decided(leased, DONE), decided(leased, FAILED)], now=NOW)

    assert answers == [Applied.APPLIED, Applied.LOST]
    assert (await seen(store, leased)).status is ExecutionStatus.COMPLETED


async def test_an_empty_batch_is_no_trouble(store: Store) -> None:
    assert list(await store.executions.apply([], now=NOW)) == []
    assert list(await store.executions.renew([], lease_until=NOW)) == []
    assert list(await store.executions.enqueue(DEFAULT_TENANT, [], now=NOW)) == []
    assert dict(await store.executions.cancel(DEFAULT_TENANT, [], now=NOW)) == {}


async def test_of_many_who_end_one_claim_together_one_is_first(store: Store) -> None:
    leased = await running(store)
    ends = [decided(leased, outcome) for outcome in (DONE, BROKEN) for _ in range(8)]

    answers = [
        answer for [answer] in await asyncio.gather(*(store.executions.apply([one], now=NOW) for one in ends))
    ]

    assert answers.count(Applied.APPLIED) == 1
    ended = (await seen(store, leased)).status
    mine = answers[:8] if ended is ExecutionStatus.COMPLETED else answers[8:]
    assert sorted(mine) == [Applied.APPLIED] + [Applied.REPLAYED] * 7
    assert answers.count(Applied.LOST) == 8
