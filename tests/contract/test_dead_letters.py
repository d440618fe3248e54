"""What failed for good is kept, shown, run again as something new, and forgotten when told."""

from __future__ import annotations

import asyncio

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Enqueued, ExecutionId, ExecutionStatus, Trigger
from gnomon.core.executions.lease import Leased
from gnomon.core.executions.lifecycle import DeadReason, JobAction, JobChange, LeaseExpired, Outcome
from gnomon.core.executions.records import AtRevision, DeadLetter, Redrive, Redriven
from gnomon.core.jobs.job import Definition, Job
from gnomon.core.values.document import Document
from gnomon.errors import DeadLetterNotFound, ExecutionNotFound, IllegalTransition, JobNotFound
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    BROKEN,
    DONE,
    FAILED,
    HOUR,
    NOW,
    OOPS,
    SECOND,
    act,
    claim,
    claim_one,
    create_one,
    end,
    enqueue_one,
    new_id,
    new_job,
    other_tenant,
    running,
    seen,
    tries,
)


async def dead(store: Store, job: Job | None = None, outcome: Outcome = BROKEN) -> ExecutionId:
    """The id of a new execution that failed for good."""
    await enqueue_one(store, job)
    leased = await claim_one(store)
    await end(store, leased, outcome)
    return leased.claim.execution_id


def again(execution_id: ExecutionId) -> Redrive:
    return Redrive(execution_id, ExecutionId(new_id()))


async def mend(store: Store, job: Job) -> None:
    """Give the job a new revision, of another kind."""
    change = JobChange(
        job_id=job.id,
        tenant_id=job.tenant_id,
        expected_version=job.version,
        expected_next_run_time=job.next_run_time,
        name=job.name,
        status=job.status,
        next_run_time=job.next_run_time,
        tags=job.tags,
        dependencies=job.dependencies,
        definition=Definition("mended"),
    )
    await store.jobs.change([change], now=NOW)


async def letters(store: Store, job: Job | None = None) -> list[ExecutionId]:
    page = await store.dead_letters.page(DEFAULT_TENANT, limit=100, job_id=job.id if job else None)
    return [letter.execution_id for letter in page.items]


# Dying ------------------------------------------------------------------------------------------------


async def test_a_permanent_failure_leaves_a_dead_letter(store: Store) -> None:
    leased = await running(store)

    await end(store, leased, BROKEN, now=NOW + SECOND)

    letter = await store.dead_letters.get(DEFAULT_TENANT, leased.claim.execution_id)
    assert letter == DeadLetter(
        execution_id=leased.claim.execution_id,
        tenant_id=DEFAULT_TENANT,
        job_id=leased.job_id,
        reason=DeadReason.PERMANENT,
        failure=OOPS,
        attempts=1,
        died_at=NOW + SECOND,
        redriven_as=None,
        redriven_at=None,
    )


async def test_used_up_tries_and_crash_loops_leave_dead_letters_with_their_reason(store: Store) -> None:
    async def reason(leased: Leased, outcome: Outcome) -> DeadReason:
        now = NOW
        for _ in range(2):
            now += HOUR
            await end(store, leased, outcome, now=now)
            leased = await claim_one(store, now=now + HOUR)
            now += HOUR
        await end(store, leased, outcome, now=now + HOUR)
        return (await store.dead_letters.get(DEFAULT_TENANT, leased.claim.execution_id)).reason

    assert await reason(await running(store, tries(3)), FAILED) is DeadReason.EXHAUSTED
    assert await reason(await running(store, tries(9)), LeaseExpired()) is DeadReason.CRASH_LOOP


async def test_neither_a_success_nor_a_retry_nor_a_cancel_leaves_a_dead_letter(store: Store) -> None:
    await dead(store, outcome=DONE)
    retried = await dead(store, await create_one(store, new_job(definition=tries(3))), outcome=FAILED)
    await store.executions.cancel(DEFAULT_TENANT, [retried], now=NOW)

    assert await letters(store) == []
    with pytest.raises(DeadLetterNotFound):
        await store.dead_letters.get(DEFAULT_TENANT, retried)


async def test_a_replayed_death_leaves_one_letter(store: Store) -> None:
    leased = await running(store)

    for _ in range(2):
        await end(store, leased, BROKEN)

    assert await letters(store) == [leased.claim.execution_id]


# Reading ----------------------------------------------------------------------------------------------


async def test_dead_letters_are_listed_newest_first_in_pages_and_by_job(store: Store) -> None:
    mine, other = await create_one(store), await create_one(store)
    a, b, c = await dead(store, mine), await dead(store, other), await dead(store, mine)

    first = await store.dead_letters.page(DEFAULT_TENANT, limit=2)
    rest = await store.dead_letters.page(DEFAULT_TENANT, limit=2, after=first.next)

    assert [letter.execution_id for letter in first.items + rest.items] == [c, b, a]
    assert rest.next is None
    assert await letters(store, mine) == [c, a]


async def test_another_tenants_dead_letter_does_not_exist(store: Store) -> None:
    execution_id = await dead(store)
    neighbours = await other_tenant(store)

    with pytest.raises(DeadLetterNotFound):
        await store.dead_letters.get(neighbours, execution_id)
    with pytest.raises(DeadLetterNotFound):
        await store.dead_letters.redrive(neighbours, [again(execution_id)], now=NOW)

    assert (await store.dead_letters.page(neighbours, limit=10)).items == ()
    assert list(await store.dead_letters.purge(neighbours, [execution_id])) == []
    assert await letters(store) == [execution_id]


# Redriving --------------------------------------------------------------------------------------------


async def test_a_redrive_is_a_new_execution_with_the_old_input(store: Store) -> None:
    job = await create_one(store)
    data = Document.of({"user": 7}, field="input")
    await enqueue_one(store, job, input=data, priority=8, unique_key="user 7")
    leased = await claim_one(store)
    await end(store, leased, BROKEN)
    asked = again(leased.claim.execution_id)

    answer = await store.dead_letters.redrive(DEFAULT_TENANT, [asked], now=NOW + HOUR)

    assert answer == [Redriven(asked.new_id, is_new=True, revision=1)]
    new = await seen(store, asked.new_id, now=NOW + HOUR)
    assert (new.status, new.trigger, new.due) == (ExecutionStatus.QUEUED, Trigger.REDRIVE, NOW + HOUR)
    assert (new.job_id, new.revision, new.input, new.priority) == (job.id, 1, data, 8)
    assert (new.claim, new.attempts, new.failure) == (0, 0, None)
    letter = await store.dead_letters.get(DEFAULT_TENANT, asked.execution_id)
    assert (letter.redriven_as, letter.redriven_at) == (asked.new_id, NOW + HOUR)
    assert (await seen(store, asked.execution_id)).status is ExecutionStatus.FAILED


@pytest.mark.parametrize(("wanted", "used"), [(AtRevision.NEWEST, 2), (AtRevision.ORIGINAL, 1)])
async def test_a_redrive_runs_the_newest_revision_unless_the_original_is_wanted(
    store: Store, wanted: AtRevision, used: int
) -> None:
    job = await create_one(store)
    asked = again(await dead(store, job))
    await mend(store, job)

    [answer] = await store.dead_letters.redrive(DEFAULT_TENANT, [asked], now=NOW, revision=wanted)
    [repeated] = await store.dead_letters.redrive(DEFAULT_TENANT, [asked], now=NOW)

    assert (answer.is_new, answer.revision) == (True, used)
    assert (repeated.is_new, repeated.revision) == (False, used)
    leased = await claim(store, kinds=frozenset({"echo", "mended"}))
    assert [one.revision.number for one in leased] == [used]
    assert (await seen(store, asked.new_id)).revision == used


async def test_an_ended_execution_is_repeated_at_its_own_revision(store: Store) -> None:
    job = await create_one(store)
    await enqueue_one(store, job, input=Document.of({"user": 7}, field="input"), priority=8)
    leased = await claim_one(store)
    await end(store, leased, DONE)
    await mend(store, job)
    asked = again(leased.claim.execution_id)

    assert await store.executions.repeat(DEFAULT_TENANT, asked, now=NOW) == Enqueued(
        asked.new_id, is_new=True
    )
    assert await store.executions.repeat(DEFAULT_TENANT, asked, now=NOW) == Enqueued(
        asked.new_id, is_new=False
    )

    [new] = await claim(store)
    assert (new.claim.execution_id, new.revision.number, new.priority) == (asked.new_id, 1, 8)
    assert new.input == Document.of({"user": 7}, field="input")


async def test_what_does_not_exist_and_what_has_no_job_any_more_is_not_repeated(store: Store) -> None:
    job = await create_one(store)
    ended = await dead(store, job)
    with pytest.raises(ExecutionNotFound):
        await store.executions.repeat(await other_tenant(store), again(ended), now=NOW)
    await act(store, job, JobAction.DELETE)

    with pytest.raises(JobNotFound):
        await store.executions.repeat(DEFAULT_TENANT, again(ended), now=NOW)

    assert await claim(store) == []


async def test_a_redriven_execution_runs_and_may_die_again(store: Store) -> None:
    asked = again(await dead(store))
    await store.dead_letters.redrive(DEFAULT_TENANT, [asked], now=NOW)

    leased = await claim_one(store)
    assert (leased.claim.execution_id, leased.attempts) == (asked.new_id, 0)
    await end(store, leased, BROKEN)

    assert await letters(store) == [asked.new_id, asked.execution_id]


async def test_redriving_twice_answers_with_the_same_execution(store: Store) -> None:
    asked = again(await dead(store))
    await store.dead_letters.redrive(DEFAULT_TENANT, [asked], now=NOW)

    repeated = await store.dead_letters.redrive(DEFAULT_TENANT, [again(asked.execution_id)], now=NOW + HOUR)

    assert repeated == [Redriven(asked.new_id, is_new=False, revision=1)]
    letter = await store.dead_letters.get(DEFAULT_TENANT, asked.execution_id)
    assert letter.redriven_at == NOW


async def test_redriving_twice_in_one_batch_makes_one_execution(store: Store) -> None:
    execution_id = await dead(store)
    first, second = again(execution_id), again(execution_id)

    answer = await store.dead_letters.redrive(DEFAULT_TENANT, [first, second], now=NOW)

    assert answer == [
        Redriven(first.new_id, is_new=True, revision=1),
        Redriven(first.new_id, is_new=False, revision=1),
    ]


async def test_many_who_redrive_together_make_one_execution(store: Store) -> None:
    execution_id = await dead(store)
    calls = [store.dead_letters.redrive(DEFAULT_TENANT, [again(execution_id)], now=NOW) for _ in range(16)]

    answers = [answer for [answer] in await asyncio.gather(*calls)]

    assert len({answer.id for answer in answers}) == 1
    assert sum(answer.is_new for answer in answers) == 1


async def test_answers_to_a_batch_of_redrives_come_in_order(store: Store) -> None:
    a, b, c = await dead(store), await dead(store), await dead(store)
    before = again(b)
    await store.dead_letters.redrive(DEFAULT_TENANT, [before], now=NOW)
    asked = [again(c), again(b), again(a)]

    answers = await store.dead_letters.redrive(DEFAULT_TENANT, asked, now=NOW)

    assert answers == [
        Redriven(asked[0].new_id, is_new=True, revision=1),
        Redriven(before.new_id, is_new=False, revision=1),
        Redriven(asked[2].new_id, is_new=True, revision=1),
    ]


async def test_one_unknown_letter_refuses_the_whole_redrive(store: Store) -> None:
    execution_id, nobody = await dead(store), ExecutionId(new_id())

    with pytest.raises(DeadLetterNotFound) as refused:
        await store.dead_letters.redrive(DEFAULT_TENANT, [again(execution_id), again(nobody)], now=NOW)

    assert refused.value.id == nobody
    assert (await store.dead_letters.get(DEFAULT_TENANT, execution_id)).redriven_as is None


# Purging ----------------------------------------------------------------------------------------------


async def test_a_purge_forgets_letters_but_not_executions(store: Store) -> None:
    a, b = await dead(store), await dead(store)
    nobody = ExecutionId(new_id())

    assert set(await store.dead_letters.purge(DEFAULT_TENANT, [a, nobody])) == {a}
    assert list(await store.dead_letters.purge(DEFAULT_TENANT, [a])) == []

    assert await letters(store) == [b]
    assert (await seen(store, a)).status is ExecutionStatus.FAILED
    with pytest.raises(DeadLetterNotFound):
        await store.dead_letters.get(DEFAULT_TENANT, a)
    with pytest.raises(DeadLetterNotFound):
        await store.dead_letters.redrive(DEFAULT_TENANT, [again(a)], now=NOW)


async def test_purging_a_redriven_letter_leaves_what_it_became(store: Store) -> None:
    asked = again(await dead(store))
    await store.dead_letters.redrive(DEFAULT_TENANT, [asked], now=NOW)

    assert list(await store.dead_letters.purge(DEFAULT_TENANT, [asked.execution_id])) == [asked.execution_id]

    assert (await claim_one(store)).claim.execution_id == asked.new_id


async def test_the_same_redrive_asked_again_after_a_lost_reply_is_one_redrive(store: Store) -> None:
    asked = again(await dead(store))
    await store.dead_letters.redrive(DEFAULT_TENANT, [asked], now=NOW)

    [repeated] = await store.dead_letters.redrive(DEFAULT_TENANT, [asked], now=NOW)

    assert repeated == Redriven(asked.new_id, is_new=False, revision=1)
    assert len(await claim(store)) == 1


@pytest.mark.parametrize("action", [JobAction.DELETE, JobAction.CANCEL])
async def test_a_dead_letter_of_a_job_that_has_ended_is_not_redriven(store: Store, action: JobAction) -> None:
    job = await create_one(store)
    letter = await dead(store, job)
    await act(store, job, action)

    with pytest.raises((JobNotFound, IllegalTransition)):
        await store.dead_letters.redrive(DEFAULT_TENANT, [again(letter)], now=NOW)
    assert await claim(store) == []
