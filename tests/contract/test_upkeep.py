"""Forgetting what has been kept for long enough, with all that belongs to it, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.lease import Leased
from gnomon.core.executions.records import Checkpoint, ExecutionFilter, LogLevel, LogLine
from gnomon.core.executions.retention import RetentionPolicy
from gnomon.core.jobs.job import Definition, Job
from gnomon.core.schedules.firing import plan
from gnomon.core.time.schedule import Interval, Schedule
from gnomon.core.values.document import Document
from gnomon.core.values.idempotency import Idempotency
from gnomon.errors import (
    DeadLetterNotFound,
    ExecutionNotFound,
    IdempotencyConflict,
    InvalidInput,
    WorkerNotFound,
)
from gnomon.store.operations import upkeep
from gnomon.store.protocols.operations import Forgotten
from gnomon.store.protocols.store import Store
from tests.conftest import EACH_SERVER
from tests.contract.conftest import SQLITE, FindGround
from tests.contract.given import (
    ADA,
    BOB,
    BROKEN,
    DONE,
    FAILED,
    HOUR,
    MINUTE,
    NOW,
    SECOND,
    ask,
    claim_one,
    create,
    create_one,
    end,
    enqueue,
    enqueue_one,
    new_id,
    new_job,
    registration,
    running,
    seen,
    tries,
)
from tests.contract.grounds import Ground

DAY = timedelta(days=1)
POLICY = RetentionPolicy(
    completed_days=30, failed_days=90, timeout_days=90, cancelled_days=30, skipped_days=30
)

Verb = Callable[[UUID | None], Awaitable[Forgotten]]


@pytest.fixture(params=[SQLITE, *EACH_SERVER])
def real_ground(request: pytest.FixtureRequest, ground: FindGround) -> Ground:
    """For what the model keeps no time of. Not async: a ground is prepared by a loop of its own."""
    return ground(request.param)


@pytest.fixture
async def real_store(real_ground: Ground) -> AsyncIterator[Store]:
    store = await real_ground.fresh()
    yield store
    await store.close()


async def all_of(verb: Verb) -> int:
    """Call until nothing is left. Returns how much went."""
    gone, position = 0, None
    while True:
        forgotten = await verb(position)
        gone += forgotten.gone
        if not forgotten.more:
            return gone
        position = forgotten.after


async def forget_ended(store: Store, *, now: datetime, limit: int = 2) -> int:
    return await all_of(lambda after: store.upkeep.forget_ended(POLICY, now=now, limit=limit, after=after))


async def ended(store: Store, count: int, *, job: Job | None = None) -> list[ExecutionId]:
    job = job or await create_one(store)
    ids = await enqueue(store, *(ask(job) for _ in range(count)))
    for _ in ids:
        await end(store, await claim_one(store))
    return ids


async def remark(store: Store, leased: Leased, *, lines: int = 1) -> None:
    """A checkpoint and log lines."""
    await store.checkpoints.save([Checkpoint(leased.claim, Document("1"), 0.5, NOW)])
    await store.logs.append(
        [LogLine(leased.claim, n, NOW, LogLevel.INFO, "words") for n in range(1, lines + 1)]
    )


# Executions -------------------------------------------------------------------------------------------


async def test_what_ended_long_ago_is_forgotten_and_the_rest_is_kept(store: Store) -> None:
    old = await ended(store, 5)
    waiting = await enqueue_one(store, due=NOW + 1000 * DAY)
    runs = await running(store)

    assert await forget_ended(store, now=NOW + 30 * DAY) == 0
    assert await forget_ended(store, now=NOW + 30 * DAY + SECOND) == 5

    for execution_id in old:
        with pytest.raises(ExecutionNotFound):
            await seen(store, execution_id)
    page = await store.executions.page(DEFAULT_TENANT, ExecutionFilter(), now=NOW, limit=10)
    assert {one.id for one in page.items} == {waiting, runs.claim.execution_id}
    assert await forget_ended(store, now=NOW + 3000 * DAY) == 0


async def test_each_way_to_end_is_kept_for_its_own_time(store: Store) -> None:
    completed, failed = await running(store), await running(store, tries(1))
    await end(store, completed, DONE)
    await end(store, failed, BROKEN)
    cancelled = await enqueue_one(store)
    await store.executions.cancel(DEFAULT_TENANT, [cancelled], now=NOW)

    assert await forget_ended(store, now=NOW + 31 * DAY) == 2
    assert (await seen(store, failed)).failure is not None
    assert await forget_ended(store, now=NOW + 90 * DAY) == 0
    assert await forget_ended(store, now=NOW + 91 * DAY) == 1


async def test_an_execution_counts_from_its_end_and_not_from_its_beginning(store: Store) -> None:
    late = await running(store)
    await end(store, late, DONE, now=NOW + 29 * DAY)

    assert await forget_ended(store, now=NOW + 31 * DAY) == 0
    assert await forget_ended(store, now=NOW + 60 * DAY) == 1


async def test_all_that_belongs_to_an_execution_goes_with_it(store: Store) -> None:
    leased = await running(store, tries(2))
    execution_id = leased.claim.execution_id
    await remark(store, leased)
    await end(store, leased, FAILED)
    leased = await claim_one(store, now=NOW + MINUTE)
    await remark(store, leased)
    await end(store, leased, FAILED, now=NOW + MINUTE)
    assert (await store.dead_letters.get(DEFAULT_TENANT, execution_id)).execution_id == execution_id

    assert await forget_ended(store, now=NOW + 90 * DAY) == 0
    assert (await store.dead_letters.get(DEFAULT_TENANT, execution_id)).execution_id == execution_id
    assert await forget_ended(store, now=NOW + 91 * DAY) == 1

    with pytest.raises(DeadLetterNotFound):
        await store.dead_letters.get(DEFAULT_TENANT, execution_id)
    assert not await store.logs.read(DEFAULT_TENANT, execution_id, limit=10)
    assert not await store.checkpoints.load([execution_id])
    with pytest.raises(ExecutionNotFound):
        await store.executions.get(DEFAULT_TENANT, execution_id, now=NOW)


async def test_an_execution_with_very_many_lines_goes_in_parts(
    real_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "LOG_LINES_AT_ONCE", 10)
    leased = await running(real_store)
    await remark(real_store, leased, lines=25)
    await end(real_store, leased)
    later = NOW + 31 * DAY

    first = await real_store.upkeep.forget_ended(POLICY, now=later, limit=5)

    assert first == Forgotten(0, more=True)
    left = await real_store.logs.read(DEFAULT_TENANT, leased.claim.execution_id, limit=100)
    assert len(left) == 15
    assert (await seen(real_store, leased)).id == leased.claim.execution_id
    assert await forget_ended(real_store, now=later) == 1


async def test_a_walk_passes_what_must_stay_and_looks_at_no_more_than_the_limit(real_store: Store) -> None:
    job = await create_one(real_store, new_job(definition=tries(1)))
    for _ in range(3):
        await enqueue_one(real_store, job)
        await end(real_store, await claim_one(real_store), BROKEN)
    await ended(real_store, 2, job=job)
    later = NOW + 31 * DAY

    first = await real_store.upkeep.forget_ended(POLICY, now=later, limit=3)

    assert (first.gone, first.more) == (0, True)
    assert first.after is not None
    second = await real_store.upkeep.forget_ended(POLICY, now=later, limit=3, after=first.after)
    assert second == Forgotten(2)


async def test_no_limit_is_no_limit(real_store: Store) -> None:
    for limit in (0, -1, upkeep.FORGET_LIMIT_MAX + 1):
        with pytest.raises(InvalidInput):
            await real_store.upkeep.forget_ended(POLICY, now=NOW, limit=limit)


# Everything else --------------------------------------------------------------------------------------


async def test_checkpoints_of_ended_executions_are_forgotten_and_those_of_live_ones_kept(
    store: Store,
) -> None:
    done, retried, runs = await running(store), await running(store, tries(3)), await running(store)
    for leased in (done, retried, runs):
        await remark(store, leased)
    await end(store, done, DONE)
    await end(store, retried, FAILED)
    ids = [leased.claim.execution_id for leased in (done, retried, runs)]

    async def forget(before: datetime) -> int:
        return await all_of(
            lambda after: store.upkeep.forget_checkpoints(ended_before=before, limit=1, after=after)
        )

    assert await forget(NOW) == 0
    assert len(await store.checkpoints.load(ids)) == 3
    assert await forget(NOW + SECOND) == 1
    assert set(await store.checkpoints.load(ids)) == set(ids[1:])


async def test_workers_that_fell_silent_are_forgotten(store: Store) -> None:
    boot = new_id()
    await store.workers.register(registration(ADA, boot=boot), now=NOW)
    await store.workers.register(registration(BOB), now=NOW)
    await store.workers.beat(ADA, boot, now=NOW + HOUR)

    assert (await store.upkeep.forget_workers(before=NOW + SECOND, limit=10)).gone == 1

    assert [worker.id for worker in await store.workers.list(limit=10)] == [ADA]
    await store.workers.leave(ADA, boot, now=NOW + 2 * HOUR)
    assert (await store.upkeep.forget_workers(before=NOW + DAY, limit=10)).gone == 1
    with pytest.raises(WorkerNotFound):
        await store.workers.get(ADA)


async def test_idempotency_keys_are_forgotten_by_age_a_few_at_a_time(real_store: Store) -> None:
    for number in range(3):
        key = Idempotency(f"key {number}", "one request")
        await real_store.jobs.create([new_job()], now=NOW + number * SECOND, idempotency=key)

    first = await real_store.upkeep.forget_idempotency_keys(before=NOW + HOUR, limit=2)

    assert (first.gone, first.more) == (2, True)
    again = Idempotency("key 0", "another request")
    await real_store.jobs.create([new_job()], now=NOW + HOUR, idempotency=again)
    kept = Idempotency("key 2", "another request")
    with pytest.raises(IdempotencyConflict):
        await real_store.jobs.create([new_job()], now=NOW + HOUR, idempotency=kept)
    assert await real_store.upkeep.forget_idempotency_keys(before=NOW + HOUR, limit=2) == Forgotten(1)


async def test_the_ledger_is_forgotten_up_to_an_instant(real_store: Store) -> None:
    every_hour = Definition("echo", schedule=Schedule(Interval(HOUR, NOW)))
    jobs = await create(
        real_store, *(new_job(definition=every_hour, next_run_time=NOW) for _ in range(3)), new_job()
    )
    for hour in range(4):
        due = await real_store.schedules.due(now=NOW + hour * HOUR, limit=10)
        firings = [
            plan(
                job,
                now=NOW + hour * HOUR,
                live=0,
                excluded_dates=frozenset(),
                new_id=lambda: ExecutionId(new_id()),
            )
            for job in due.jobs
        ]
        await real_store.schedules.fire(firings, now=NOW + hour * HOUR)

    async def forget(before: datetime) -> int:
        return await all_of(
            lambda after: real_store.upkeep.forget_occurrences(before=before, limit=2, after=after)
        )

    assert await forget(NOW) == 0
    assert await forget(NOW + 3 * HOUR) == 9
    for job in jobs[:3]:
        [left] = await real_store.schedules.occurrences(DEFAULT_TENANT, job.id, limit=10)
        assert left.nominal_time == NOW + 3 * HOUR


async def test_a_time_that_was_recorded_late_is_kept_as_long_as_any_other(real_store: Store) -> None:
    definition = Definition("echo", schedule=Schedule(Interval(HOUR, NOW)))
    [job] = await create(real_store, new_job(definition=definition, next_run_time=NOW))
    firing = plan(
        job,
        now=NOW + 100 * DAY,
        live=0,
        excluded_dates=frozenset(),
        new_id=lambda: ExecutionId(new_id()),
    )
    assert await real_store.schedules.fire([firing], now=NOW + 100 * DAY)
    assert await real_store.upkeep.forget_occurrences(before=NOW + 99 * DAY, limit=10) == Forgotten(0)


async def test_requests_are_forgotten_a_few_at_a_time(real_store: Store) -> None:
    await ended(real_store, 3)
    first = await real_store.upkeep.forget_requests(before=NOW + SECOND, limit=2)
    assert (first.gone, first.more) == (2, True)
    assert await real_store.upkeep.forget_requests(before=NOW + SECOND, limit=2) == Forgotten(1)


async def test_months_are_made_once_and_a_young_one_is_never_dropped(store: Store) -> None:
    await ended(store, 2)
    await store.upkeep.make_months(now=NOW)

    assert await store.upkeep.make_months(now=NOW) == []
    assert await store.upkeep.drop_month(POLICY, now=NOW, limit=10) == Forgotten(0)


async def test_events_are_forgotten_oldest_first_and_young_ones_stay(real_store: Store) -> None:
    await create_one(real_store, now=NOW)
    await create_one(real_store, now=NOW + HOUR)

    async def forget(limit: int) -> Forgotten:
        return await real_store.upkeep.forget_events(before=NOW + MINUTE, limit=limit)

    assert await forget(1) == Forgotten(1, more=True)
    assert await forget(10) == Forgotten(0)
