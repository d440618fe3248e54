"""The one way in which a running execution changes: fenced, in batches, answered in order."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from gnomon.core.document import Document
from gnomon.core.execution import AttemptOutcome, ExecutionId, ExecutionStatus, Failure
from gnomon.core.job import DEFAULT_TENANT
from gnomon.core.lease import LEASE, Claim
from gnomon.core.lifecycle import (
    Cancelled,
    Change,
    Failed,
    LeaseExpired,
    Released,
    Snoozed,
    Succeeded,
    TimedOut,
)
from gnomon.store.base import Applied, Decision, Store
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
    change_to,
    claim,
    claim_one,
    create_one,
    decided,
    end,
    enqueue,
    new_id,
    running,
    seen,
    tries,
)

LATER = NOW + HOUR


async def crew(store: Store, size: int):  # type: ignore[no-untyped-def]
    """So many executions of one job, all in Ada's hands."""
    job = await create_one(store)
    await enqueue(store, *(ask(job) for _ in range(size)))
    return await claim(store, limit=size)


# One decision -----------------------------------------------------------------------------------------


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
    for number, outcome in enumerate(
        [Released(), FAILED, LeaseExpired(), Snoozed(MINUTE), TimedOut()], start=1
    ):
        assert leased.claim.number == number
        now += HOUR
        assert await end(store, leased, outcome, now=now) is Applied.APPLIED
        now += HOUR
        leased = await claim_one(store, now=now)
    await end(store, leased, DONE, now=now)

    assert (await seen(store, leased)).claim == 6


# The fence --------------------------------------------------------------------------------------------


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
    number_max = 2**31 - 1
    forged = [
        Claim(leased.claim.execution_id, 0),
        Claim(leased.claim.execution_id, 2),
        Claim(leased.claim.execution_id, number_max),
        Claim(ExecutionId(new_id()), 1),
    ]

    answers = await store.executions.apply([Decision(one, change) for one in forged], now=NOW)

    assert answers == [Applied.LOST] * 4
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


# Batches ----------------------------------------------------------------------------------------------


async def test_a_mixed_batch_is_answered_in_order(store: Store) -> None:
    a, b, c, d = await crew(store, 4)
    await end(store, b, DONE)
    stale = replace(d, claim=Claim(d.claim.execution_id, 7))

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


# The attempts -----------------------------------------------------------------------------------------


async def test_every_finished_attempt_is_listed_oldest_first(store: Store) -> None:
    leased = await running(store, tries(9))
    trail = [
        (FAILED, AttemptOutcome.FAILED),
        (Released(), AttemptOutcome.RELEASED),
        (LeaseExpired(), AttemptOutcome.EXPIRED),
        (Failed(Failure("worse", "…")), AttemptOutcome.FAILED),
        (DONE, AttemptOutcome.COMPLETED),
    ]
    now = NOW
    for outcome, _ in trail:
        leased = leased if now == NOW else await claim_one(store, BOB, now=now)
        await end(store, leased, outcome, now=now + MINUTE)
        now += HOUR

    attempts = await store.executions.attempts(DEFAULT_TENANT, leased.claim.execution_id)

    assert [one.claim for one in attempts] == [1, 2, 3, 4, 5]
    assert [one.outcome for one in attempts] == [outcome for _, outcome in trail]
    assert [one.worker for one in attempts] == ["ada", "bob", "bob", "bob", "bob"]
    assert [one.failure.kind if one.failure else None for one in attempts] == [
        "oops",
        None,
        "lease_expired",
        "worse",
        None,
    ]
    assert [one.started_at for one in attempts] == [NOW + n * HOUR for n in range(5)]
    assert [one.finished_at for one in attempts] == [NOW + n * HOUR + MINUTE for n in range(5)]


async def test_an_attempt_that_still_runs_is_not_listed(store: Store) -> None:
    leased = await running(store)

    assert list(await store.executions.attempts(DEFAULT_TENANT, leased.claim.execution_id)) == []


async def test_crashes_in_a_row_are_counted_and_forgotten_by_an_answer(store: Store) -> None:
    leased = await running(store, tries(9))
    crashes = []
    now = NOW
    for outcome in (LeaseExpired(), LeaseExpired(), FAILED, LeaseExpired()):
        now += HOUR
        await end(store, leased, outcome, now=now)
        now += HOUR
        leased = await claim_one(store, now=now)
        crashes.append(leased.crashes)

    assert crashes == [1, 2, 0, 1]


async def test_a_cancel_that_the_worker_obeys_ends_the_execution(store: Store) -> None:
    leased = await running(store)
    await store.executions.cancel(DEFAULT_TENANT, [leased.claim.execution_id], now=NOW)

    assert await end(store, leased, Cancelled(), now=NOW + SECOND) is Applied.APPLIED

    ended = await seen(store, leased)
    assert (ended.status, ended.finished_at) == (ExecutionStatus.CANCELLED, NOW + SECOND)


async def test_a_cancel_that_crosses_a_retry_wins(store: Store) -> None:
    leased = await running(store, tries(3))
    retry: Change = change_to(leased, FAILED)
    await store.executions.cancel(DEFAULT_TENANT, [leased.claim.execution_id], now=NOW)

    [answer] = await store.executions.apply([Decision(leased.claim, retry)], now=NOW)

    assert answer is Applied.APPLIED
    ended = await seen(store, leased)
    assert (ended.status, ended.failure, ended.attempts) == (ExecutionStatus.CANCELLED, OOPS, 1)
    assert await claim(store, now=LATER) == []
    attempts = await store.executions.attempts(DEFAULT_TENANT, leased.claim.execution_id)
    assert [one.outcome for one in attempts] == [AttemptOutcome.FAILED]


async def test_a_success_wins_over_a_cancel_that_comes_late(store: Store) -> None:
    leased = await running(store)
    await store.executions.cancel(DEFAULT_TENANT, [leased.claim.execution_id], now=NOW)

    await end(store, leased, DONE)

    assert (await seen(store, leased)).status is ExecutionStatus.COMPLETED
