"""What each try left behind, and what a cancel makes of a running one."""

from __future__ import annotations

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import AttemptOutcome, ExecutionStatus, Failure
from gnomon.core.executions.lifecycle import (
    Cancelled,
    Change,
    Failed,
    LeaseExpired,
    Outcome,
    Released,
)
from gnomon.store.protocols.changes import Applied
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    BOB,
    DONE,
    FAILED,
    HOUR,
    MINUTE,
    NOW,
    OOPS,
    SECOND,
    change_to,
    claim,
    claim_one,
    end,
    running,
    seen,
    tries,
)

LATER = NOW + HOUR


async def test_every_finished_attempt_is_listed_oldest_first(store: Store) -> None:
    leased = await running(store, tries(9))
    trail: list[tuple[Outcome, AttemptOutcome]] = [
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


async def test_the_latest_attempts_come_newest_first_and_no_more_than_asked_for(store: Store) -> None:
    leased = await running(store, tries(9))
    for place in range(3):
        await end(store, leased, FAILED, now=NOW + place * HOUR)
        leased = await claim_one(store, BOB, now=NOW + (place + 1) * HOUR)
    execution_id = leased.claim.execution_id

    latest = await store.executions.latest_attempts(DEFAULT_TENANT, execution_id, limit=2)
    assert [one.claim for one in latest] == [3, 2]
    await end(store, leased, DONE, now=NOW + 3 * HOUR)
    latest = await store.executions.latest_attempts(DEFAULT_TENANT, execution_id, limit=2)
    assert [(one.claim, one.outcome) for one in latest] == [
        (4, AttemptOutcome.COMPLETED),
        (3, AttemptOutcome.FAILED),
    ]
